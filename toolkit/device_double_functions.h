// Double precision intrinsics: device code has them without an include.
#ifndef MUSCOPE_DEVICE_DOUBLE_FUNCTIONS_H
#define MUSCOPE_DEVICE_DOUBLE_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
