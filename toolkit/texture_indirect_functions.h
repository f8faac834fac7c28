// Texture fetches: device code has them without an include.
#ifndef MUSCOPE_TEXTURE_INDIRECT_FUNCTIONS_H
#define MUSCOPE_TEXTURE_INDIRECT_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
