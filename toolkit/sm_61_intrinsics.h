// Dot product intrinsics: device code has them without an include.
#ifndef MUSCOPE_SM_61_INTRINSICS_H
#define MUSCOPE_SM_61_INTRINSICS_H

#include "cuda_runtime.h"

#endif
