// __nv_bfloat162: two bfloat16 in one 32-bit register.
#ifndef MUSCOPE_HALF_BFLOAT162_H
#define MUSCOPE_HALF_BFLOAT162_H

#include "bfloat16.h"
#include "half_memory.h"

MUSCOPE_INLINE __host__ __device__ __half::__half(const __nv_bfloat16& b) : __half(__bfloat162float(b)) {}
MUSCOPE_INLINE __host__ __device__ __nv_bfloat16::__nv_bfloat16(const __half& h) : __nv_bfloat16((float)h) {}

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  MUSCOPE_INLINE __host__ __device__ __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high)
      : x(low), y(high) {}
};
typedef __nv_bfloat162 nv_bfloat162;

#define MUSCOPE_BFLOAT162_OP(name, one)                                                   \
  MUSCOPE_HD __nv_bfloat162 name(__nv_bfloat162 a, __nv_bfloat162 b) {                    \
    return __nv_bfloat162(one(a.x, b.x), one(a.y, b.y));                                  \
  }
MUSCOPE_BFLOAT162_OP(__hadd2, __hadd)
MUSCOPE_BFLOAT162_OP(__hsub2, __hsub)
MUSCOPE_BFLOAT162_OP(__hmul2, __hmul)
MUSCOPE_BFLOAT162_OP(__h2div, __hdiv)
MUSCOPE_BFLOAT162_OP(__hmin2, __hmin)
MUSCOPE_BFLOAT162_OP(__hmax2, __hmax)
#undef MUSCOPE_BFLOAT162_OP
MUSCOPE_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;"
      : "=r"(r)
      : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)),
        "r"(__builtin_bit_cast(unsigned, c)));
  return __builtin_bit_cast(__nv_bfloat162, r);
#else
  return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
MUSCOPE_HD __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __nv_bfloat162(__hneg(a.x), __hneg(a.y)); }
MUSCOPE_HD __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }

#define MUSCOPE_BFLOAT162_OPERATOR(op, name)                                                                            \
  MUSCOPE_HD __nv_bfloat162 operator op(const __nv_bfloat162& a, const __nv_bfloat162& b) { return name(a, b); }        \
  MUSCOPE_HD __nv_bfloat162& operator op##=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = name(a, b); }
MUSCOPE_BFLOAT162_OPERATOR(+, __hadd2)
MUSCOPE_BFLOAT162_OPERATOR(-, __hsub2)
MUSCOPE_BFLOAT162_OPERATOR(*, __hmul2)
MUSCOPE_BFLOAT162_OPERATOR(/, __h2div)
#undef MUSCOPE_BFLOAT162_OPERATOR
MUSCOPE_HD __nv_bfloat162 operator-(const __nv_bfloat162& a) { return __hneg2(a); }
MUSCOPE_HD bool operator==(const __nv_bfloat162& a, const __nv_bfloat162& b) { return a.x == b.x && a.y == b.y; }
MUSCOPE_HD bool operator!=(const __nv_bfloat162& a, const __nv_bfloat162& b) { return !(a == b); }

MUSCOPE_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MUSCOPE_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
MUSCOPE_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
MUSCOPE_HD __nv_bfloat162 __float2bfloat162_rn(float f) { return __bfloat162bfloat162(__nv_bfloat16(f)); }
MUSCOPE_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
MUSCOPE_HD __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __floats2bfloat162_rn(f.x, f.y); }
MUSCOPE_HD float2 __bfloat1622float2(__nv_bfloat162 h) {
  return make_float2(__bfloat162float(h.x), __bfloat162float(h.y));
}
MUSCOPE_HD float __low2float(__nv_bfloat162 h) { return __bfloat162float(h.x); }
MUSCOPE_HD float __high2float(__nv_bfloat162 h) { return __bfloat162float(h.y); }
MUSCOPE_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 h) { return h.x; }
MUSCOPE_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 h) { return h.y; }
MUSCOPE_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.x, h.x); }
MUSCOPE_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 h) { return __nv_bfloat162(h.y, h.y); }

#if defined(__CUDA__) && defined(__clang__)
MUSCOPE_HALF_MEMORY(__nv_bfloat16, __nv_bfloat162, "bf16")
#endif

#endif
