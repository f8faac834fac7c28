// bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions.
#ifndef MUSCOPE_CUDA_BF16_H
#define MUSCOPE_CUDA_BF16_H

#include "muscope/half/bfloat16.h"
#include "muscope/half/bfloat162.h"

#endif
