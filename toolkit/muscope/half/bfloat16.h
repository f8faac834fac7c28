// __nv_bfloat16: the upper half of a float. Arithmetic in float, then rounded: 24 bits are enough for that to be correct.
#ifndef MUSCOPE_HALF_BFLOAT16_H
#define MUSCOPE_HALF_BFLOAT16_H

#include "../../cuda_runtime.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __half;  // bfloat162.h defines the conversions between the two types

namespace muscope_toolkit {
MUSCOPE_HD float bfloat16_bits_to_float(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }
/// Rounded to nearest even.
MUSCOPE_HD unsigned short float_to_bfloat16_bits(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(f));
  return bits;
#else
  const unsigned u = __builtin_bit_cast(unsigned, f);
  if (f != f) return 0x7fffu;
  return (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
#endif
}
}  // namespace muscope_toolkit

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  MUSCOPE_INLINE __host__ __device__ __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
  explicit __host__ __device__ __nv_bfloat16(const __half& h);
#define MUSCOPE_BFLOAT16_FROM(type)                                                                                    \
  MUSCOPE_INLINE __host__ __device__ __nv_bfloat16(type v) : __x(muscope_toolkit::float_to_bfloat16_bits((float)v)) {} \
  MUSCOPE_INLINE __host__ __device__ __nv_bfloat16& operator=(type v) { return *this = __nv_bfloat16(v); }             \
  MUSCOPE_INLINE __host__ __device__ operator type() const { return (type)muscope_toolkit::bfloat16_bits_to_float(__x); }
  MUSCOPE_BFLOAT16_FROM(float)
  MUSCOPE_BFLOAT16_FROM(char)
  MUSCOPE_BFLOAT16_FROM(signed char)
  MUSCOPE_BFLOAT16_FROM(unsigned char)
  MUSCOPE_BFLOAT16_FROM(short)
  MUSCOPE_BFLOAT16_FROM(unsigned short)
  MUSCOPE_BFLOAT16_FROM(int)
  MUSCOPE_BFLOAT16_FROM(unsigned)
  MUSCOPE_BFLOAT16_FROM(long)
  MUSCOPE_BFLOAT16_FROM(unsigned long)
  MUSCOPE_BFLOAT16_FROM(long long)
  MUSCOPE_BFLOAT16_FROM(unsigned long long)
#undef MUSCOPE_BFLOAT16_FROM
  MUSCOPE_INLINE __host__ __device__ __nv_bfloat16(double v)
      : __x(muscope_toolkit::float_to_bfloat16_bits((float)v)) {}
  MUSCOPE_INLINE __host__ __device__ __nv_bfloat16& operator=(double v) { return *this = __nv_bfloat16(v); }
  MUSCOPE_INLINE __host__ __device__ operator bool() const { return (__x & 0x7fffu) != 0; }
  MUSCOPE_INLINE __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;

MUSCOPE_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16(__nv_bfloat16_raw{bits}); }
MUSCOPE_HD __nv_bfloat16 __short_as_bfloat16(short bits) { return __ushort_as_bfloat16((unsigned short)bits); }
MUSCOPE_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
MUSCOPE_HD short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.__x; }
MUSCOPE_HD __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
MUSCOPE_HD __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
MUSCOPE_HD __nv_bfloat16 __float2bfloat16_rz(float f) {
  return f != f ? __ushort_as_bfloat16(0x7fffu)
                : __ushort_as_bfloat16((unsigned short)(__builtin_bit_cast(unsigned, f) >> 16));
}
MUSCOPE_HD __nv_bfloat16 __double2bfloat16(double f) { return __nv_bfloat16(f); }
MUSCOPE_HD float __bfloat162float(__nv_bfloat16 h) { return muscope_toolkit::bfloat16_bits_to_float(h.__x); }
#define MUSCOPE_BFLOAT16_INTEGER(name, type)                                                                      \
  MUSCOPE_HD __nv_bfloat16 __##name##2bfloat16_rn(type i) { return __nv_bfloat16(i); }                            \
  MUSCOPE_HD type __bfloat162##name##_rz(__nv_bfloat16 h) { return (type)__bfloat162float(h); }                   \
  MUSCOPE_HD type __bfloat162##name##_rn(__nv_bfloat16 h) { return (type)__builtin_rintf(__bfloat162float(h)); }  \
  MUSCOPE_HD type __bfloat162##name##_rd(__nv_bfloat16 h) { return (type)__builtin_floorf(__bfloat162float(h)); } \
  MUSCOPE_HD type __bfloat162##name##_ru(__nv_bfloat16 h) { return (type)__builtin_ceilf(__bfloat162float(h)); }
MUSCOPE_BFLOAT16_INTEGER(int, int)
MUSCOPE_BFLOAT16_INTEGER(uint, unsigned)
MUSCOPE_BFLOAT16_INTEGER(short, short)
MUSCOPE_BFLOAT16_INTEGER(ushort, unsigned short)
MUSCOPE_BFLOAT16_INTEGER(ll, long long)
MUSCOPE_BFLOAT16_INTEGER(ull, unsigned long long)
#undef MUSCOPE_BFLOAT16_INTEGER

#define MUSCOPE_BFLOAT16_OP(name, expression)                         \
  MUSCOPE_HD __nv_bfloat16 name(__nv_bfloat16 ha, __nv_bfloat16 hb) { \
    const float a = __bfloat162float(ha), b = __bfloat162float(hb);   \
    return __nv_bfloat16((float)(expression));                        \
  }
MUSCOPE_BFLOAT16_OP(__hadd, a + b)
MUSCOPE_BFLOAT16_OP(__hsub, a - b)
MUSCOPE_BFLOAT16_OP(__hmul, a * b)
MUSCOPE_BFLOAT16_OP(__hdiv, a / b)
MUSCOPE_BFLOAT16_OP(__hmin, __builtin_fminf(a, b))
MUSCOPE_BFLOAT16_OP(__hmax, __builtin_fmaxf(a, b))
#undef MUSCOPE_BFLOAT16_OP
MUSCOPE_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short r;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
  return __ushort_as_bfloat16(r);
#else
  return __nv_bfloat16(__builtin_fmaf(__bfloat162float(a), __bfloat162float(b), __bfloat162float(c)));
#endif
}
MUSCOPE_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.__x ^ 0x8000u); }
MUSCOPE_HD __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.__x & 0x7fffu); }
MUSCOPE_HD bool __hisnan(__nv_bfloat16 a) { return (a.__x & 0x7fffu) > 0x7f80u; }
MUSCOPE_HD int __hisinf(__nv_bfloat16 a) { return (a.__x & 0x7fffu) == 0x7f80u ? (a.__x >> 15 ? -1 : 1) : 0; }

#define MUSCOPE_BFLOAT16_COMPARE(name, op)                                                                            \
  MUSCOPE_HD bool name(__nv_bfloat16 a, __nv_bfloat16 b) { return __bfloat162float(a) op __bfloat162float(b); }       \
  MUSCOPE_HD bool operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) {                                       \
    return __bfloat162float(a) op __bfloat162float(b);                                                                \
  }
MUSCOPE_BFLOAT16_COMPARE(__heq, ==)
MUSCOPE_BFLOAT16_COMPARE(__hneu, !=)
MUSCOPE_BFLOAT16_COMPARE(__hlt, <)
MUSCOPE_BFLOAT16_COMPARE(__hle, <=)
MUSCOPE_BFLOAT16_COMPARE(__hgt, >)
MUSCOPE_BFLOAT16_COMPARE(__hge, >=)
#undef MUSCOPE_BFLOAT16_COMPARE
MUSCOPE_HD bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) {
  const float x = __bfloat162float(a), y = __bfloat162float(b);
  return x < y || x > y;
}

#define MUSCOPE_BFLOAT16_OPERATOR(op, name)                                                                           \
  MUSCOPE_HD __nv_bfloat16 operator op(const __nv_bfloat16& a, const __nv_bfloat16& b) { return name(a, b); }         \
  MUSCOPE_HD __nv_bfloat16& operator op##=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = name(a, b); }
MUSCOPE_BFLOAT16_OPERATOR(+, __hadd)
MUSCOPE_BFLOAT16_OPERATOR(-, __hsub)
MUSCOPE_BFLOAT16_OPERATOR(*, __hmul)
MUSCOPE_BFLOAT16_OPERATOR(/, __hdiv)
#undef MUSCOPE_BFLOAT16_OPERATOR
MUSCOPE_HD __nv_bfloat16 operator-(const __nv_bfloat16& a) { return __hneg(a); }

#define MUSCOPE_BFLOAT16_FUNCTION(name, expression)                  \
  MUSCOPE_DEVICE __nv_bfloat16 h##name(__nv_bfloat16 h) {            \
    const float x = __bfloat162float(h);                             \
    return __nv_bfloat16((float)(expression));                       \
  }
#if defined(__CUDA__) && defined(__clang__)
MUSCOPE_BFLOAT16_FUNCTION(exp, __expf(x))
MUSCOPE_BFLOAT16_FUNCTION(exp2, exp2f(x))
MUSCOPE_BFLOAT16_FUNCTION(log, logf(x))
MUSCOPE_BFLOAT16_FUNCTION(log2, log2f(x))
MUSCOPE_BFLOAT16_FUNCTION(sin, sinf(x))
MUSCOPE_BFLOAT16_FUNCTION(cos, cosf(x))
MUSCOPE_BFLOAT16_FUNCTION(tanh, tanhf(x))
MUSCOPE_BFLOAT16_FUNCTION(sqrt, sqrtf(x))
MUSCOPE_BFLOAT16_FUNCTION(rsqrt, rsqrtf(x))
MUSCOPE_BFLOAT16_FUNCTION(rcp, 1.f / x)
MUSCOPE_BFLOAT16_FUNCTION(floor, floorf(x))
MUSCOPE_BFLOAT16_FUNCTION(ceil, ceilf(x))
MUSCOPE_BFLOAT16_FUNCTION(trunc, truncf(x))
MUSCOPE_BFLOAT16_FUNCTION(rint, rintf(x))
#endif
#undef MUSCOPE_BFLOAT16_FUNCTION

#endif
