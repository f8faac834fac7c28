// Device functions: device code has them without an include.
#ifndef MUSCOPE_DEVICE_FUNCTIONS_H
#define MUSCOPE_DEVICE_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
