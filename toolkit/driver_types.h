// The runtime's types.
#ifndef MUSCOPE_DRIVER_TYPES_H
#define MUSCOPE_DRIVER_TYPES_H

#include "muscope/runtime/api_types.h"

#endif
