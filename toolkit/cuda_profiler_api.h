// Starting and stopping a profiler from within the program.
#ifndef MUSCOPE_CUDA_PROFILER_API_H
#define MUSCOPE_CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#if defined(__cplusplus)
extern "C" {
#endif
MUSCOPE_API cudaError_t cudaProfilerStart(void);
MUSCOPE_API cudaError_t cudaProfilerStop(void);
#if defined(__cplusplus)
}
#endif

#endif
