// The driver API: types, codes and the functions that muscope's stand-in for libcuda has.
#ifndef MUSCOPE_CUDA_H
#define MUSCOPE_CUDA_H

// Programs ask by this name whether the header is in.
#define __cuda_cuda_h__

#define CUDA_VERSION 13000
#define CUDAAPI
#define CUDA_CB

#include "muscope/driver/api.h"
#include "muscope/driver/names.h"

#endif
