// CUDA's function and variable qualifiers, for clang's CUDA mode and for plain host compilers.
#ifndef MUSCOPE_HOST_DEFINES_H
#define MUSCOPE_HOST_DEFINES_H

// Programs ask by these names whether the header is in.
#define __HOST_DEFINES_H__

#if defined(__CUDA__) && defined(__clang__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// The runtime finds managed variables by the section of their host shadow: clang ignores its own attribute on NVPTX.
#if defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, section("__nv_managed_data__"), used))
#endif
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#if __has_attribute(cluster_dims)
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#endif

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __thread__ __thread
#define __import__
#define __export__
#define __cdecl
#define __annotate__(a) __attribute__((a))
#define __location__(a) __annotate__(a)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDA_CB
#define CUDART_CB
#define CUDAAPI

// __noinline__ is CUDA's qualifier and also the inside of GNU's __attribute__((__noinline__)), which libstdc++ writes: it
// must not be a macro. clang's CUDA mode knows it as a keyword, and a plain host compiler sees no device functions.

// Our own inline functions: no line of theirs may show up between the lines of the user's program.
#if defined(__clang__)
#define MUSCOPE_INLINE __inline__ __attribute__((always_inline, nodebug))
#else
#define MUSCOPE_INLINE __inline__ __attribute__((always_inline))
#endif
#define MUSCOPE_HD static MUSCOPE_INLINE __host__ __device__
#define MUSCOPE_DEVICE static MUSCOPE_INLINE __device__

#endif
