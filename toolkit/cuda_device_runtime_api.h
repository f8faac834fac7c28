// The runtime as device code sees it.
#ifndef MUSCOPE_CUDA_DEVICE_RUNTIME_API_H
#define MUSCOPE_CUDA_DEVICE_RUNTIME_API_H

#include "cuda_runtime.h"

#endif
