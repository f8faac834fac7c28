// Surface types.
#ifndef MUSCOPE_CUDA_SURFACE_TYPES_H
#define MUSCOPE_CUDA_SURFACE_TYPES_H

#include "muscope/runtime/texture_types.h"

#endif
