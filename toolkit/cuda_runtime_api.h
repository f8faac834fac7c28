#ifndef MUSCOPE_CUDA_RUNTIME_API_H
#define MUSCOPE_CUDA_RUNTIME_API_H
#include <stddef.h>
#include "host_defines.h"
#include "vector_types.h"
#define CUDART_VERSION 13000
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
typedef struct CUstream_st* cudaStream_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
#if defined(__cplusplus)
extern "C" {
#endif
cudaError_t cudaMalloc(void** p, size_t n);
cudaError_t cudaFree(void* p);
cudaError_t cudaMemcpy(void* d, const void* s, size_t n, enum cudaMemcpyKind k);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char* cudaGetErrorString(cudaError_t e);
#if defined(__cplusplus)
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t sharedMem = 0, struct CUstream_st* stream = 0);
}
#endif
#endif
