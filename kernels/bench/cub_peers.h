// CUB as a peer, behind plain functions: its headers are compiled once, apart from the kernels that are measured.
// All follow CUB's convention: with temporary == nullptr only `bytes` is set.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace bench {

template <typename T, typename Out>
cudaError_t cub_sum(void* temporary, std::size_t& bytes, const T* in, Out* out, int n, cudaStream_t stream);
template <typename T>
cudaError_t cub_max(void* temporary, std::size_t& bytes, const T* in, T* out, int n, cudaStream_t stream);
/// Equal segments; offsets come from an iterator that multiplies.
cudaError_t cub_segments(void* temporary, std::size_t& bytes, const float* in, float* out, int segments, int length,
                         cudaStream_t stream);
cudaError_t cub_ragged(void* temporary, std::size_t& bytes, const float* in, float* out, int segments,
                       const int* offsets, cudaStream_t stream);
template <typename T>
cudaError_t cub_exclusive(void* temporary, std::size_t& bytes, const T* in, T* out, int n, cudaStream_t stream);
template <typename T>
cudaError_t cub_inclusive(void* temporary, std::size_t& bytes, const T* in, T* out, int n, cudaStream_t stream);
/// Prefixes of floats in double, to verify against.
cudaError_t cub_exclusive_double(void* temporary, std::size_t& bytes, const float* in, double* out, int n,
                                 cudaStream_t stream);
template <typename T, typename Level>
cudaError_t cub_histogram(void* temporary, std::size_t& bytes, const T* in, unsigned* counts, int bins, Level lower,
                          Level upper, int n, cudaStream_t stream);
int cub_version();

}  // namespace bench
