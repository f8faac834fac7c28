// Half precision: __half, __half2 and their functions.
#ifndef MUSCOPE_CUDA_FP16_H
#define MUSCOPE_CUDA_FP16_H

// Programs ask by these names whether the header is in.
#define __CUDA_FP16_H__

#include "muscope/half/half.h"
#include "muscope/half/half2.h"
#include "muscope/half/half_math.h"
#include "muscope/half/half_memory.h"

#endif
