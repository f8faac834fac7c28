// Texture types.
#ifndef MUSCOPE_TEXTURE_TYPES_H
#define MUSCOPE_TEXTURE_TYPES_H

#include "muscope/runtime/texture_types.h"

#endif
