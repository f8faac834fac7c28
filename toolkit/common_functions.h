// Common functions: device code has them without an include.
#ifndef MUSCOPE_COMMON_FUNCTIONS_H
#define MUSCOPE_COMMON_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
