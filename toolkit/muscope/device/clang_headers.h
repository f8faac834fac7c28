// Clang's own device headers: built-in variables, mathematics, integer and bit functions, complex arithmetic. Its header
// of warp and memory intrinsics is not used: what it holds depends on clang's version (warp.h, memory.h are ours).
#ifndef MUSCOPE_DEVICE_CLANG_HEADERS_H
#define MUSCOPE_DEVICE_CLANG_HEADERS_H

// An instruction that comes from one of these wrappers belongs to the user's line, so the wrappers must leave no debug
// information. `#pragma clang attribute` does not take nodebug; these headers spell every function with one of two words.
#pragma push_macro("inline")
#pragma push_macro("__forceinline__")
#undef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline, nodebug))
#define inline __inline__ __attribute__((always_inline, nodebug))
// clang-format off: the order matters
#include <__clang_cuda_builtin_vars.h>
// For CUDA 9.0 the functions of packed bytes call libdevice; for later ones they are video instructions.
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 9000
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#pragma pop_macro("CUDA_VERSION")
#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#include <__clang_cuda_complex_builtins.h>
// clang-format on
#pragma pop_macro("inline")
#pragma pop_macro("__forceinline__")

#endif
