// Half precision: the same names as CUDA's.
#ifndef MUSCOPE_MUSA_FP16_H
#define MUSCOPE_MUSA_FP16_H

#include "cuda_fp16.h"

typedef __half mt_half;
typedef __half2 mt_half2;

#endif
