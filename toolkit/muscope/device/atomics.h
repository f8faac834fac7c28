// Atomic functions. Clang's primitives resolve the address space (atom.global, atom.shared) and order the compiler's own
// memory accesses; nvcc writes the same instructions. `_block` and `_system` carry the scope.
#ifndef MUSCOPE_DEVICE_ATOMICS_H
#define MUSCOPE_DEVICE_ATOMICS_H

#include "../../host_defines.h"
#include "memory.h"

#define MUSCOPE_ATOMIC(name, primitive, type)                                                                        \
  MUSCOPE_DEVICE type name(type* address, type value) { return primitive(address, value); }                          \
  MUSCOPE_DEVICE type name##_block(type* address, type value) { return primitive##_block(address, value); }          \
  MUSCOPE_DEVICE type name##_system(type* address, type value) { return primitive##_system(address, value); }
#define MUSCOPE_ATOMIC_AS(name, primitive, type, other)                                                              \
  MUSCOPE_DEVICE type name(type* address, type value) { return (type)primitive((other*)address, (other)value); }     \
  MUSCOPE_DEVICE type name##_block(type* address, type value) {                                                      \
    return (type)primitive##_block((other*)address, (other)value);                                                   \
  }                                                                                                                  \
  MUSCOPE_DEVICE type name##_system(type* address, type value) {                                                     \
    return (type)primitive##_system((other*)address, (other)value);                                                  \
  }
MUSCOPE_ATOMIC(atomicAdd, __iAtomicAdd, int)
MUSCOPE_ATOMIC(atomicAdd, __uAtomicAdd, unsigned)
MUSCOPE_ATOMIC(atomicAdd, __ullAtomicAdd, unsigned long long)
MUSCOPE_ATOMIC(atomicAdd, __fAtomicAdd, float)
MUSCOPE_ATOMIC(atomicAdd, __dAtomicAdd, double)
MUSCOPE_ATOMIC_AS(atomicAdd, __ullAtomicAdd, unsigned long, unsigned long long)
MUSCOPE_ATOMIC(atomicExch, __iAtomicExch, int)
MUSCOPE_ATOMIC(atomicExch, __uAtomicExch, unsigned)
MUSCOPE_ATOMIC(atomicExch, __ullAtomicExch, unsigned long long)
MUSCOPE_ATOMIC(atomicExch, __fAtomicExch, float)
MUSCOPE_ATOMIC_AS(atomicExch, __ullAtomicExch, unsigned long, unsigned long long)
MUSCOPE_ATOMIC(atomicMin, __iAtomicMin, int)
MUSCOPE_ATOMIC(atomicMin, __uAtomicMin, unsigned)
MUSCOPE_ATOMIC(atomicMin, __illAtomicMin, long long)
MUSCOPE_ATOMIC(atomicMin, __ullAtomicMin, unsigned long long)
MUSCOPE_ATOMIC_AS(atomicMin, __illAtomicMin, long, long long)
MUSCOPE_ATOMIC_AS(atomicMin, __ullAtomicMin, unsigned long, unsigned long long)
MUSCOPE_ATOMIC(atomicMax, __iAtomicMax, int)
MUSCOPE_ATOMIC(atomicMax, __uAtomicMax, unsigned)
MUSCOPE_ATOMIC(atomicMax, __illAtomicMax, long long)
MUSCOPE_ATOMIC(atomicMax, __ullAtomicMax, unsigned long long)
MUSCOPE_ATOMIC_AS(atomicMax, __illAtomicMax, long, long long)
MUSCOPE_ATOMIC_AS(atomicMax, __ullAtomicMax, unsigned long, unsigned long long)
MUSCOPE_ATOMIC(atomicInc, __uAtomicInc, unsigned)
MUSCOPE_ATOMIC(atomicDec, __uAtomicDec, unsigned)
#define MUSCOPE_ATOMIC_BITS(name, Op)                                                    \
  MUSCOPE_ATOMIC(name, __iAtomic##Op, int)                                               \
  MUSCOPE_ATOMIC(name, __uAtomic##Op, unsigned)                                          \
  MUSCOPE_ATOMIC(name, __llAtomic##Op, long long)                                        \
  MUSCOPE_ATOMIC(name, __ullAtomic##Op, unsigned long long)                              \
  MUSCOPE_ATOMIC_AS(name, __ullAtomic##Op, unsigned long, unsigned long long)
MUSCOPE_ATOMIC_BITS(atomicAnd, And)
MUSCOPE_ATOMIC_BITS(atomicOr, Or)
MUSCOPE_ATOMIC_BITS(atomicXor, Xor)
#undef MUSCOPE_ATOMIC
#undef MUSCOPE_ATOMIC_AS
#undef MUSCOPE_ATOMIC_BITS

// Subtraction is the addition of the negative, as in nvcc's PTX.
#define MUSCOPE_ATOMIC_SUB(scope)                                                                               \
  MUSCOPE_DEVICE int atomicSub##scope(int* address, int value) {                                                \
    return __iAtomicAdd##scope(address, (int)-(unsigned)value);                                                 \
  }                                                                                                             \
  MUSCOPE_DEVICE unsigned atomicSub##scope(unsigned* address, unsigned value) {                                 \
    return __uAtomicAdd##scope(address, -value);                                                                \
  }
MUSCOPE_ATOMIC_SUB()
MUSCOPE_ATOMIC_SUB(_block)
MUSCOPE_ATOMIC_SUB(_system)
#undef MUSCOPE_ATOMIC_SUB

// Compare-and-swap. Not clang's __nvvm_atom_cas: clang 22 puts fences around it, CUDA's function has none. The empty
// assembly keeps the compiler from moving other accesses across, which locks built from atomicCAS rely on.
#define MUSCOPE_ATOMIC_CAS(type, bits, scope, memory_scope)                                                     \
  MUSCOPE_DEVICE type atomicCAS##scope(type* address, type compare, type value) {                               \
    bits expected = (bits)compare;                                                                              \
    asm volatile("" ::: "memory");                                                                              \
    __scoped_atomic_compare_exchange_n((bits*)address, &expected, (bits)value, false, __ATOMIC_RELAXED,         \
                                       __ATOMIC_RELAXED, memory_scope);                                         \
    asm volatile("" ::: "memory");                                                                              \
    return (type)expected;                                                                                      \
  }
#define MUSCOPE_ATOMIC_CAS_SCOPES(type, bits)                                  \
  MUSCOPE_ATOMIC_CAS(type, bits, , __MEMORY_SCOPE_DEVICE)                      \
  MUSCOPE_ATOMIC_CAS(type, bits, _block, __MEMORY_SCOPE_WRKGRP)                \
  MUSCOPE_ATOMIC_CAS(type, bits, _system, __MEMORY_SCOPE_SYSTEM)
MUSCOPE_ATOMIC_CAS_SCOPES(int, unsigned)
MUSCOPE_ATOMIC_CAS_SCOPES(unsigned, unsigned)
MUSCOPE_ATOMIC_CAS_SCOPES(unsigned long, unsigned long long)
MUSCOPE_ATOMIC_CAS_SCOPES(long long, unsigned long long)
MUSCOPE_ATOMIC_CAS_SCOPES(unsigned long long, unsigned long long)
#undef MUSCOPE_ATOMIC_CAS
#undef MUSCOPE_ATOMIC_CAS_SCOPES

#define MUSCOPE_ATOMIC_CAS16(scope, ptx)                                                                          \
  MUSCOPE_DEVICE unsigned short atomicCAS##scope(unsigned short* address, unsigned short compare,                 \
                                                 unsigned short value) {                                          \
    unsigned short old;                                                                                           \
    asm volatile("atom" ptx ".cas.b16 %0, [%1], %2, %3;"                                                          \
                 : "=h"(old)                                                                                      \
                 : "l"(address), "h"(compare), "h"(value)                                                         \
                 : "memory");                                                                                     \
    return old;                                                                                                   \
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
MUSCOPE_ATOMIC_CAS16(, "")
MUSCOPE_ATOMIC_CAS16(_block, ".cta")
MUSCOPE_ATOMIC_CAS16(_system, ".sys")
#endif
#undef MUSCOPE_ATOMIC_CAS16

// Vectors of floats: sm_90 and newer, global memory only.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define MUSCOPE_ATOMIC_FLOATS(scope, ptx)                                                                         \
  MUSCOPE_DEVICE float2 atomicAdd##scope(float2* address, float2 value) {                                         \
    float2 old;                                                                                                   \
    asm volatile("atom" ptx ".global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"                                        \
                 : "=f"(old.x), "=f"(old.y)                                                                       \
                 : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y)                             \
                 : "memory");                                                                                     \
    return old;                                                                                                   \
  }                                                                                                               \
  MUSCOPE_DEVICE float4 atomicAdd##scope(float4* address, float4 value) {                                         \
    float4 old;                                                                                                   \
    asm volatile("atom" ptx ".global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"                        \
                 : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)                                             \
                 : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w) \
                 : "memory");                                                                                     \
    return old;                                                                                                   \
  }
MUSCOPE_ATOMIC_FLOATS(, "")
MUSCOPE_ATOMIC_FLOATS(_block, ".cta")
MUSCOPE_ATOMIC_FLOATS(_system, ".sys")
#undef MUSCOPE_ATOMIC_FLOATS
#endif

#endif
