// Surface functions: device code has them without an include.
#ifndef MUSCOPE_SURFACE_FUNCTIONS_H
#define MUSCOPE_SURFACE_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
