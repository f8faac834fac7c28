// bfloat16: __nv_bfloat16, __nv_bfloat162 and their functions.
#ifndef MUSCOPE_CUDA_BF16_H
#define MUSCOPE_CUDA_BF16_H

// Programs ask by these names whether the header is in.
#define __CUDA_BF16_H__

#include "muscope/half/bfloat16.h"
#include "muscope/half/bfloat162.h"

#endif
