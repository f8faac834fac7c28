// threadIdx and its kin: device code has them without an include.
#ifndef MUSCOPE_DEVICE_LAUNCH_PARAMETERS_H
#define MUSCOPE_DEVICE_LAUNCH_PARAMETERS_H

#include "cuda_runtime.h"

#endif
