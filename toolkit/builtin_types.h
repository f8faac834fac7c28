// CUDA's types under an older name.
#ifndef MUSCOPE_BUILTIN_TYPES_H
#define MUSCOPE_BUILTIN_TYPES_H

#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif
