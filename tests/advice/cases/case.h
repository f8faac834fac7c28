// What the case programs share. A comment that begins with //! says what is expected of the accesses of its line:
//   //! P-G1b global load sectors=16 lines=4 eff=25 advice=A101 says="..."
// sectors, lines, wavefronts (wf), conflicts (cf): per request; eff: bytes asked of bytes of sectors, in percent;
// words: constant requests per load; requests, bytes: of the launch; advice: a code that must be given for this line, or
// none; not: a code that must not; after: what the advice's metric becomes, global: per request of the line, shared: for
// the whole array; says: words in the advice's text or change.
#pragma once

#include <cstdio>
#include <cstdlib>

template <typename T>
T* device_array(size_t elements) {
  T* p = nullptr;
  if (cudaMalloc(&p, elements * sizeof(T)) != cudaSuccess || cudaMemset(p, 0, elements * sizeof(T)) != cudaSuccess) {
    std::fputs("no memory\n", stderr);
    std::exit(1);
  }
  return p;
}

inline void finish() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// An access of exactly this width that no compiler changes.
template <typename T>
__device__ T load(const T* p) {
  return *static_cast<const volatile T*>(p);
}
template <typename T>
__device__ void store(T* p, T value) {
  *static_cast<volatile T*>(p) = value;
}
__device__ inline float4 load(const float4* p) {
  float4 v;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}
__device__ inline float4 load_shared16(unsigned offset) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(offset));
  return v;
}
