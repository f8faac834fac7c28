// Version and minimal driver types; the driver API itself is not provided.
#ifndef MUSCOPE_CUDA_H
#define MUSCOPE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define CUDA_VERSION 13000

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

#endif
