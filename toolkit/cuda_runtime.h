#ifndef MUSCOPE_CUDA_RUNTIME_H
#define MUSCOPE_CUDA_RUNTIME_H
#include "vector_functions.h"
#include "cuda_runtime_api.h"
#if defined(__cplusplus)
template <class T> static inline cudaError_t cudaMalloc(T** p, size_t n) { return cudaMalloc((void**)(void*)p, n); }
#endif
#endif
