// Mathematics: device code has them without an include.
#ifndef MUSCOPE_MATH_FUNCTIONS_H
#define MUSCOPE_MATH_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
