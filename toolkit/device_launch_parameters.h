// threadIdx and its kin: device code has them without an include.
#ifndef MUSCOPE_DEVICE_LAUNCH_PARAMETERS_H
#define MUSCOPE_DEVICE_LAUNCH_PARAMETERS_H

// Programs ask by these names whether the header is in.
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "cuda_runtime.h"

#endif
