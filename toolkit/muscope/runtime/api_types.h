// All types of the runtime API, its flags, and the macros its declarations use.
#ifndef MUSCOPE_RUNTIME_API_TYPES_H
#define MUSCOPE_RUNTIME_API_TYPES_H

#include <stddef.h>
#include "../../host_defines.h"
#include "../../vector_types.h"
#include "error.h"
#include "handles.h"
#include "device_attributes.h"
#include "device_prop.h"
#include "memory_types.h"
#include "texture_types.h"
#include "launch_types.h"
#include "graph_types.h"
#include "flags.h"

// The runtime's calls are host functions; seen by the device pass too, where calling one is an error that names the line.
#define MUSCOPE_API extern __host__

// Default arguments exist in C++ only.
#if defined(__cplusplus)
#define MUSCOPE_DEFAULT(value) = value
#else
#define MUSCOPE_DEFAULT(value)
#endif

#endif
