// Halves across lanes and in memory: shuffles, cached loads, atomics.
#ifndef MUSCOPE_HALF_HALF_MEMORY_H
#define MUSCOPE_HALF_HALF_MEMORY_H

#include "half2.h"

#if defined(__CUDA__) && defined(__clang__)

// For each 16-bit type H, its pair H2 and their PTX suffix; used by bfloat162.h too.
#define MUSCOPE_HALF_SHUFFLE(H, H2, name, lane_type)                                                        \
  MUSCOPE_DEVICE H name(unsigned mask, H value, lane_type lane, int width = warpSize) {                     \
    return __builtin_bit_cast(                                                                              \
        H, (unsigned short)name(mask, (unsigned)__builtin_bit_cast(unsigned short, value), lane, width));   \
  }                                                                                                         \
  MUSCOPE_DEVICE H2 name(unsigned mask, H2 value, lane_type lane, int width = warpSize) {                   \
    return __builtin_bit_cast(H2, name(mask, __builtin_bit_cast(unsigned, value), lane, width));            \
  }
#define MUSCOPE_HALF_LOAD(H, H2, name)                                                                      \
  MUSCOPE_DEVICE H name(const H* p) { return __builtin_bit_cast(H, name((const unsigned short*)p)); }       \
  MUSCOPE_DEVICE H2 name(const H2* p) { return __builtin_bit_cast(H2, name((const unsigned*)p)); }
#define MUSCOPE_HALF_STORE(H, H2, name)                                                                     \
  MUSCOPE_DEVICE void name(H* p, H v) { name((unsigned short*)p, __builtin_bit_cast(unsigned short, v)); }  \
  MUSCOPE_DEVICE void name(H2* p, H2 v) { name((unsigned*)p, __builtin_bit_cast(unsigned, v)); }
#define MUSCOPE_HALF_ATOMIC(H, H2, ptx)                                                                     \
  MUSCOPE_DEVICE H atomicAdd(H* p, H v) {                                                                   \
    unsigned short r;                                                                                       \
    asm volatile("atom.add.noftz." ptx " %0, [%1], %2;"                                                     \
                 : "=h"(r)                                                                                  \
                 : "l"(p), "h"(__builtin_bit_cast(unsigned short, v))                                       \
                 : "memory");                                                                               \
    return __builtin_bit_cast(H, r);                                                                        \
  }                                                                                                         \
  MUSCOPE_DEVICE H2 atomicAdd(H2* p, H2 v) {                                                                \
    unsigned r;                                                                                             \
    asm volatile("atom.add.noftz." ptx "x2 %0, [%1], %2;"                                                   \
                 : "=r"(r)                                                                                  \
                 : "l"(p), "r"(__builtin_bit_cast(unsigned, v))                                             \
                 : "memory");                                                                               \
    return __builtin_bit_cast(H2, r);                                                                       \
  }
#define MUSCOPE_HALF_MEMORY(H, H2, ptx)                    \
  MUSCOPE_HALF_SHUFFLE(H, H2, __shfl_sync, int)            \
  MUSCOPE_HALF_SHUFFLE(H, H2, __shfl_up_sync, unsigned)    \
  MUSCOPE_HALF_SHUFFLE(H, H2, __shfl_down_sync, unsigned)  \
  MUSCOPE_HALF_SHUFFLE(H, H2, __shfl_xor_sync, int)        \
  MUSCOPE_HALF_LOAD(H, H2, __ldg)                          \
  MUSCOPE_HALF_LOAD(H, H2, __ldca)                         \
  MUSCOPE_HALF_LOAD(H, H2, __ldcg)                         \
  MUSCOPE_HALF_LOAD(H, H2, __ldcs)                         \
  MUSCOPE_HALF_LOAD(H, H2, __ldlu)                         \
  MUSCOPE_HALF_LOAD(H, H2, __ldcv)                         \
  MUSCOPE_HALF_STORE(H, H2, __stwb)                        \
  MUSCOPE_HALF_STORE(H, H2, __stcg)                        \
  MUSCOPE_HALF_STORE(H, H2, __stcs)                        \
  MUSCOPE_HALF_STORE(H, H2, __stwt)                        \
  MUSCOPE_HALF_ATOMIC(H, H2, ptx)

MUSCOPE_HALF_MEMORY(__half, __half2, "f16")

#endif

#endif
