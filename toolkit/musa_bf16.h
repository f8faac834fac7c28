// bfloat16: CUDA's types with mt for nv.
#ifndef MUSCOPE_MUSA_BF16_H
#define MUSCOPE_MUSA_BF16_H

#include "cuda_bf16.h"

typedef __nv_bfloat16 __mt_bfloat16;
typedef __nv_bfloat162 __mt_bfloat162;
typedef __nv_bfloat16 mt_bfloat16;
typedef __nv_bfloat162 mt_bfloat162;

#endif
