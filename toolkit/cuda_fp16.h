// Half precision: __half, __half2 and their functions.
#ifndef MUSCOPE_CUDA_FP16_H
#define MUSCOPE_CUDA_FP16_H

#include "muscope/half/half.h"
#include "muscope/half/half2.h"
#include "muscope/half/half_math.h"
#include "muscope/half/half_memory.h"

#endif
