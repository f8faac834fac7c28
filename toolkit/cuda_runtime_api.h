// The CUDA 13 runtime API as C declarations; usable from C, C++ and both passes of a .cu file.
#ifndef MUSCOPE_CUDA_RUNTIME_API_H
#define MUSCOPE_CUDA_RUNTIME_API_H

// Programs ask by these names whether the header is in.
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __DEVICE_TYPES_H__

#define CUDART_VERSION 13000

#include "muscope/runtime/per_thread_stream.h"

#include "muscope/runtime/api_types.h"

#include "muscope/runtime/api_device.h"
#include "muscope/runtime/api_graph.h"
#include "muscope/runtime/api_launch.h"
#include "muscope/runtime/api_memory.h"
#include "muscope/runtime/api_memory_pools.h"
#include "muscope/runtime/api_stream.h"
#include "muscope/runtime/api_texture.h"

#endif
