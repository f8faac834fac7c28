// __half: 16 bits, IEEE binary16. On the device every operation is one PTX instruction; the host computes in float and
// rounds, which gives the same results for +, -, *, / and sqrt.
#ifndef MUSCOPE_HALF_HALF_H
#define MUSCOPE_HALF_HALF_H

#include "../../cuda_runtime.h"

struct __half_raw {
  unsigned short x;
};
struct __nv_bfloat16;  // bfloat162.h defines the conversions between the two types

namespace muscope_toolkit {
MUSCOPE_HD float half_bits_to_float(unsigned short bits) {
#if defined(__CUDA_ARCH__)
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
  return f;
#else
  const unsigned sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | fraction << 13);
  if (exponent) return __builtin_bit_cast(float, sign | (exponent + 112) << 23 | fraction << 13);
  const float tiny = (float)fraction * 0x1p-24f;
  return sign ? -tiny : tiny;
#endif
}
/// Rounded to nearest even.
MUSCOPE_HD unsigned short float_to_half_bits(float f) {
#if defined(__CUDA_ARCH__)
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(f));
  return bits;
#else
  const unsigned u = __builtin_bit_cast(unsigned, f), sign = (u >> 16) & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fffu;
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal: adding 2^-1 lets the addition round at 2^-24
    const float sum = __builtin_bit_cast(float, magnitude) + 0.5f;
    return (unsigned short)(sign | (__builtin_bit_cast(unsigned, sum) - 0x3f000000u));
  }
  const unsigned rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return (unsigned short)(sign | (rounded - 0x38000000u) >> 13);
#endif
}
}  // namespace muscope_toolkit

struct __attribute__((aligned(2))) __half {
  unsigned short __x;

  __half() = default;
  MUSCOPE_INLINE __host__ __device__ __half(__half_raw raw) : __x(raw.x) {}
  MUSCOPE_INLINE __host__ __device__ __half(float f) : __x(muscope_toolkit::float_to_half_bits(f)) {}
  MUSCOPE_INLINE __host__ __device__ __half(double f) : __x(muscope_toolkit::float_to_half_bits(odd_float(f))) {}
  explicit __host__ __device__ __half(const __nv_bfloat16& b);
#define MUSCOPE_HALF_FROM(type) \
  MUSCOPE_INLINE __host__ __device__ __half(type i) : __x(muscope_toolkit::float_to_half_bits((float)i)) {}
  MUSCOPE_HALF_FROM(char)
  MUSCOPE_HALF_FROM(signed char)
  MUSCOPE_HALF_FROM(unsigned char)
  MUSCOPE_HALF_FROM(short)
  MUSCOPE_HALF_FROM(unsigned short)
  MUSCOPE_HALF_FROM(int)
  MUSCOPE_HALF_FROM(unsigned)
  MUSCOPE_HALF_FROM(long)
  MUSCOPE_HALF_FROM(unsigned long)
  MUSCOPE_HALF_FROM(long long)
  MUSCOPE_HALF_FROM(unsigned long long)
#undef MUSCOPE_HALF_FROM

  MUSCOPE_INLINE __host__ __device__ operator float() const { return muscope_toolkit::half_bits_to_float(__x); }
  MUSCOPE_INLINE __host__ __device__ operator __half_raw() const { return __half_raw{__x}; }
  MUSCOPE_INLINE __host__ __device__ operator bool() const { return (__x & 0x7fffu) != 0; }
#define MUSCOPE_HALF_TO(type) \
  MUSCOPE_INLINE __host__ __device__ operator type() const { return (type)(float)*this; }
  MUSCOPE_HALF_TO(signed char)
  MUSCOPE_HALF_TO(unsigned char)
  MUSCOPE_HALF_TO(char)
  MUSCOPE_HALF_TO(short)
  MUSCOPE_HALF_TO(unsigned short)
  MUSCOPE_HALF_TO(int)
  MUSCOPE_HALF_TO(unsigned)
  MUSCOPE_HALF_TO(long)
  MUSCOPE_HALF_TO(unsigned long)
  MUSCOPE_HALF_TO(long long)
  MUSCOPE_HALF_TO(unsigned long long)
#undef MUSCOPE_HALF_TO
#define MUSCOPE_HALF_ASSIGN(type) \
  MUSCOPE_INLINE __host__ __device__ __half& operator=(type v) { return *this = __half(v); }
  MUSCOPE_HALF_ASSIGN(float)
  MUSCOPE_HALF_ASSIGN(double)
  MUSCOPE_HALF_ASSIGN(char)
  MUSCOPE_HALF_ASSIGN(signed char)
  MUSCOPE_HALF_ASSIGN(unsigned char)
  MUSCOPE_HALF_ASSIGN(short)
  MUSCOPE_HALF_ASSIGN(unsigned short)
  MUSCOPE_HALF_ASSIGN(int)
  MUSCOPE_HALF_ASSIGN(unsigned)
  MUSCOPE_HALF_ASSIGN(long long)
  MUSCOPE_HALF_ASSIGN(unsigned long long)
#undef MUSCOPE_HALF_ASSIGN

 private:
  // Double to half without rounding twice: an inexact float is made odd, so that the second rounding sees it.
  static MUSCOPE_INLINE __host__ __device__ float odd_float(double d) {
    const float f = (float)d;
    unsigned u = __builtin_bit_cast(unsigned, f);
    if ((double)f == d || f != f || (u & 1)) return f;
    if ((u & 0x7f800000u) == 0x7f800000u) return f;
    const bool too_big = __builtin_fabs((double)f) > __builtin_fabs(d);
    return __builtin_bit_cast(float, too_big ? u - 1 : u + 1);
  }
};
typedef __half half;
typedef __half nv_half;
typedef __half_raw nv_half_raw;

namespace muscope_toolkit {
MUSCOPE_HD __half half_from_bits(unsigned short bits) { return __half(__half_raw{bits}); }
}  // namespace muscope_toolkit

// ---- arithmetic: name, PTX instruction, host expression in float
#if defined(__CUDA_ARCH__)
#define MUSCOPE_HALF_OP2(name, ptx, host)                                                              \
  MUSCOPE_HD __half name(__half a, __half b) {                                                         \
    unsigned short r;                                                                                  \
    asm(ptx " %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));                                        \
    return muscope_toolkit::half_from_bits(r);                                                         \
  }
#define MUSCOPE_HALF_OP3(name, ptx, host)                                                              \
  MUSCOPE_HD __half name(__half a, __half b, __half c) {                                               \
    unsigned short r;                                                                                  \
    asm(ptx " %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));                        \
    return muscope_toolkit::half_from_bits(r);                                                         \
  }
#else
#define MUSCOPE_HALF_OP2(name, ptx, host)                                                              \
  MUSCOPE_HD __half name(__half ha, __half hb) {                                                       \
    const float a = ha, b = hb;                                                                        \
    return __half((float)(host));                                                                      \
  }
#define MUSCOPE_HALF_OP3(name, ptx, host)                                                              \
  MUSCOPE_HD __half name(__half ha, __half hb, __half hc) {                                            \
    const double a = (float)ha, b = (float)hb, c = (float)hc;                                          \
    return __half((double)(host));                                                                     \
  }
#endif
#define MUSCOPE_SATURATED(x) ((x) > 0 ? (x) < 1 ? (x) : 1 : 0)
MUSCOPE_HALF_OP2(__hadd, "add.f16", a + b)
MUSCOPE_HALF_OP2(__hsub, "sub.f16", a - b)
MUSCOPE_HALF_OP2(__hmul, "mul.f16", a * b)
MUSCOPE_HALF_OP2(__hadd_rn, "add.rn.f16", a + b)
MUSCOPE_HALF_OP2(__hsub_rn, "sub.rn.f16", a - b)
MUSCOPE_HALF_OP2(__hmul_rn, "mul.rn.f16", a * b)
MUSCOPE_HALF_OP2(__hadd_sat, "add.sat.f16", MUSCOPE_SATURATED(a + b))
MUSCOPE_HALF_OP2(__hsub_sat, "sub.sat.f16", MUSCOPE_SATURATED(a - b))
MUSCOPE_HALF_OP2(__hmul_sat, "mul.sat.f16", MUSCOPE_SATURATED(a * b))
MUSCOPE_HALF_OP2(__hmin, "min.f16", __builtin_fminf(a, b))
MUSCOPE_HALF_OP2(__hmax, "max.f16", __builtin_fmaxf(a, b))
MUSCOPE_HALF_OP2(__hmin_nan, "min.NaN.f16", a != a ? a : b != b ? b : a < b ? a : b)
MUSCOPE_HALF_OP2(__hmax_nan, "max.NaN.f16", a != a ? a : b != b ? b : a > b ? a : b)
MUSCOPE_HALF_OP3(__hfma, "fma.rn.f16", a * b + c)
MUSCOPE_HALF_OP3(__hfma_sat, "fma.rn.sat.f16", MUSCOPE_SATURATED(a * b + c))
MUSCOPE_HALF_OP3(__hfma_relu, "fma.rn.relu.f16", a * b + c > 0 ? a * b + c : 0)
#undef MUSCOPE_HALF_OP2
#undef MUSCOPE_HALF_OP3
MUSCOPE_HD __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
MUSCOPE_HD __half __hneg(__half a) { return muscope_toolkit::half_from_bits(a.__x ^ 0x8000u); }
MUSCOPE_HD __half __habs(__half a) { return muscope_toolkit::half_from_bits(a.__x & 0x7fffu); }

#define MUSCOPE_HALF_COMPARE(name, op) \
  MUSCOPE_HD bool __h##name(__half a, __half b) { return (float)a op (float)b; } \
  MUSCOPE_HD bool __h##name##u(__half a, __half b) {                             \
    const float x = a, y = b;                                                    \
    return x op y || x != x || y != y;                                           \
  }
MUSCOPE_HALF_COMPARE(eq, ==)
MUSCOPE_HALF_COMPARE(lt, <)
MUSCOPE_HALF_COMPARE(le, <=)
MUSCOPE_HALF_COMPARE(gt, >)
MUSCOPE_HALF_COMPARE(ge, >=)
#undef MUSCOPE_HALF_COMPARE
MUSCOPE_HD bool __hne(__half a, __half b) {
  const float x = a, y = b;
  return x < y || x > y;
}
MUSCOPE_HD bool __hneu(__half a, __half b) { return (float)a != (float)b; }
MUSCOPE_HD bool __hisnan(__half a) { return (a.__x & 0x7fffu) > 0x7c00u; }
MUSCOPE_HD int __hisinf(__half a) { return (a.__x & 0x7fffu) == 0x7c00u ? (a.__x >> 15 ? -1 : 1) : 0; }

MUSCOPE_HD __half operator+(const __half& a, const __half& b) { return __hadd(a, b); }
MUSCOPE_HD __half operator-(const __half& a, const __half& b) { return __hsub(a, b); }
MUSCOPE_HD __half operator*(const __half& a, const __half& b) { return __hmul(a, b); }
MUSCOPE_HD __half operator/(const __half& a, const __half& b) { return __hdiv(a, b); }
MUSCOPE_HD __half& operator+=(__half& a, const __half& b) { return a = __hadd(a, b); }
MUSCOPE_HD __half& operator-=(__half& a, const __half& b) { return a = __hsub(a, b); }
MUSCOPE_HD __half& operator*=(__half& a, const __half& b) { return a = __hmul(a, b); }
MUSCOPE_HD __half& operator/=(__half& a, const __half& b) { return a = __hdiv(a, b); }
MUSCOPE_HD __half operator+(const __half& a) { return a; }
MUSCOPE_HD __half operator-(const __half& a) { return __hneg(a); }
MUSCOPE_HD __half& operator++(__half& a) { return a = __hadd(a, __half(1.f)); }
MUSCOPE_HD __half& operator--(__half& a) { return a = __hsub(a, __half(1.f)); }
MUSCOPE_HD bool operator==(const __half& a, const __half& b) { return __heq(a, b); }
MUSCOPE_HD bool operator!=(const __half& a, const __half& b) { return __hneu(a, b); }
MUSCOPE_HD bool operator<(const __half& a, const __half& b) { return __hlt(a, b); }
MUSCOPE_HD bool operator>(const __half& a, const __half& b) { return __hgt(a, b); }
MUSCOPE_HD bool operator<=(const __half& a, const __half& b) { return __hle(a, b); }
MUSCOPE_HD bool operator>=(const __half& a, const __half& b) { return __hge(a, b); }

// ---- conversions
MUSCOPE_HD __half __float2half(float f) { return __half(f); }
MUSCOPE_HD __half __float2half_rn(float f) { return __half(f); }
MUSCOPE_HD __half __double2half(double f) { return __half(f); }
MUSCOPE_HD float __half2float(__half h) { return (float)h; }
MUSCOPE_HD short __half_as_short(__half h) { return (short)h.__x; }
MUSCOPE_HD unsigned short __half_as_ushort(__half h) { return h.__x; }
MUSCOPE_HD __half __short_as_half(short bits) { return muscope_toolkit::half_from_bits((unsigned short)bits); }
MUSCOPE_HD __half __ushort_as_half(unsigned short bits) { return muscope_toolkit::half_from_bits(bits); }
#if defined(__CUDA__) && defined(__clang__)
#define MUSCOPE_HALF_ROUNDING(m, ptx)                                                  \
  MUSCOPE_DEVICE __half __float2half_##m(float f) {                                    \
    unsigned short r;                                                                  \
    asm("cvt." ptx ".f16.f32 %0, %1;" : "=h"(r) : "f"(f));                             \
    return muscope_toolkit::half_from_bits(r);                                         \
  }
MUSCOPE_HALF_ROUNDING(rz, "rz")
MUSCOPE_HALF_ROUNDING(rd, "rm")
MUSCOPE_HALF_ROUNDING(ru, "rp")
#undef MUSCOPE_HALF_ROUNDING
#define MUSCOPE_HALF_INTEGER(name, type, ptx, c)                                                   \
  MUSCOPE_DEVICE type __half2##name##_rn(__half h) {                                               \
    type r;                                                                                        \
    asm("cvt.rni." ptx ".f16 %0, %1;" : "=" c(r) : "h"(h.__x));                                    \
    return r;                                                                                      \
  }                                                                                                \
  MUSCOPE_DEVICE type __half2##name##_rd(__half h) {                                               \
    type r;                                                                                        \
    asm("cvt.rmi." ptx ".f16 %0, %1;" : "=" c(r) : "h"(h.__x));                                    \
    return r;                                                                                      \
  }                                                                                                \
  MUSCOPE_DEVICE type __half2##name##_ru(__half h) {                                               \
    type r;                                                                                        \
    asm("cvt.rpi." ptx ".f16 %0, %1;" : "=" c(r) : "h"(h.__x));                                    \
    return r;                                                                                      \
  }
MUSCOPE_HALF_INTEGER(int, int, "s32", "r")
MUSCOPE_HALF_INTEGER(uint, unsigned, "u32", "r")
MUSCOPE_HALF_INTEGER(short, short, "s16", "h")
MUSCOPE_HALF_INTEGER(ushort, unsigned short, "u16", "h")
MUSCOPE_HALF_INTEGER(ll, long long, "s64", "l")
MUSCOPE_HALF_INTEGER(ull, unsigned long long, "u64", "l")
#undef MUSCOPE_HALF_INTEGER
#endif
#define MUSCOPE_HALF_INTEGER(name, type)                               \
  MUSCOPE_HD __half __##name##2half_rn(type i) { return __half(i); }   \
  MUSCOPE_HD type __half2##name##_rz(__half h) { return (type)(float)h; }
MUSCOPE_HALF_INTEGER(int, int)
MUSCOPE_HALF_INTEGER(uint, unsigned)
MUSCOPE_HALF_INTEGER(short, short)
MUSCOPE_HALF_INTEGER(ushort, unsigned short)
MUSCOPE_HALF_INTEGER(ll, long long)
MUSCOPE_HALF_INTEGER(ull, unsigned long long)
#undef MUSCOPE_HALF_INTEGER

#endif
