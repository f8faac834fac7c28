// make_cudaExtent and its kin.
#ifndef MUSCOPE_DRIVER_FUNCTIONS_H
#define MUSCOPE_DRIVER_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
