// __half2: two halves in one 32-bit register.
#ifndef MUSCOPE_HALF_HALF2_H
#define MUSCOPE_HALF_HALF2_H

#include "half.h"

struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(4))) __half2 {
  __half x, y;

  __half2() = default;
  MUSCOPE_INLINE __host__ __device__ __half2(const __half& low, const __half& high) : x(low), y(high) {}
  MUSCOPE_INLINE __host__ __device__ __half2(const __half2_raw& raw)
      : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  MUSCOPE_INLINE __host__ __device__ operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half2 half2;
typedef __half2 nv_half2;

namespace muscope_toolkit {
MUSCOPE_HD unsigned half2_bits(__half2 h) { return (unsigned)h.x.__x | (unsigned)h.y.__x << 16; }
MUSCOPE_HD __half2 half2_from_bits(unsigned bits) {
  return __half2(half_from_bits((unsigned short)bits), half_from_bits((unsigned short)(bits >> 16)));
}
}  // namespace muscope_toolkit

#if defined(__CUDA_ARCH__)
#define MUSCOPE_HALF2_OP2(name, ptx, one)                                                                        \
  MUSCOPE_HD __half2 name(__half2 a, __half2 b) {                                                                \
    unsigned r;                                                                                                  \
    asm(ptx " %0, %1, %2;" : "=r"(r) : "r"(muscope_toolkit::half2_bits(a)), "r"(muscope_toolkit::half2_bits(b))); \
    return muscope_toolkit::half2_from_bits(r);                                                                  \
  }
#define MUSCOPE_HALF2_OP3(name, ptx, one)                                                                        \
  MUSCOPE_HD __half2 name(__half2 a, __half2 b, __half2 c) {                                                     \
    unsigned r;                                                                                                  \
    asm(ptx " %0, %1, %2, %3;"                                                                                   \
        : "=r"(r)                                                                                                \
        : "r"(muscope_toolkit::half2_bits(a)), "r"(muscope_toolkit::half2_bits(b)),                              \
          "r"(muscope_toolkit::half2_bits(c)));                                                                  \
    return muscope_toolkit::half2_from_bits(r);                                                                  \
  }
#else
#define MUSCOPE_HALF2_OP2(name, ptx, one) \
  MUSCOPE_HD __half2 name(__half2 a, __half2 b) { return __half2(one(a.x, b.x), one(a.y, b.y)); }
#define MUSCOPE_HALF2_OP3(name, ptx, one) \
  MUSCOPE_HD __half2 name(__half2 a, __half2 b, __half2 c) { return __half2(one(a.x, b.x, c.x), one(a.y, b.y, c.y)); }
#endif
MUSCOPE_HALF2_OP2(__hadd2, "add.f16x2", __hadd)
MUSCOPE_HALF2_OP2(__hsub2, "sub.f16x2", __hsub)
MUSCOPE_HALF2_OP2(__hmul2, "mul.f16x2", __hmul)
MUSCOPE_HALF2_OP2(__hadd2_rn, "add.rn.f16x2", __hadd)
MUSCOPE_HALF2_OP2(__hsub2_rn, "sub.rn.f16x2", __hsub)
MUSCOPE_HALF2_OP2(__hmul2_rn, "mul.rn.f16x2", __hmul)
MUSCOPE_HALF2_OP2(__hadd2_sat, "add.sat.f16x2", __hadd_sat)
MUSCOPE_HALF2_OP2(__hsub2_sat, "sub.sat.f16x2", __hsub_sat)
MUSCOPE_HALF2_OP2(__hmul2_sat, "mul.sat.f16x2", __hmul_sat)
MUSCOPE_HALF2_OP2(__hmin2, "min.f16x2", __hmin)
MUSCOPE_HALF2_OP2(__hmax2, "max.f16x2", __hmax)
MUSCOPE_HALF2_OP3(__hfma2, "fma.rn.f16x2", __hfma)
MUSCOPE_HALF2_OP3(__hfma2_sat, "fma.rn.sat.f16x2", __hfma_sat)
MUSCOPE_HALF2_OP3(__hfma2_relu, "fma.rn.relu.f16x2", __hfma_relu)
#undef MUSCOPE_HALF2_OP2
#undef MUSCOPE_HALF2_OP3
MUSCOPE_HD __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
MUSCOPE_HD __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
MUSCOPE_HD __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }

#define MUSCOPE_HALF2_COMPARE(name)                                                                      \
  MUSCOPE_HD __half2 __h##name##2(__half2 a, __half2 b) {                                                \
    return __half2(__half(__h##name(a.x, b.x) ? 1.f : 0.f), __half(__h##name(a.y, b.y) ? 1.f : 0.f));    \
  }                                                                                                      \
  MUSCOPE_HD bool __hb##name##2(__half2 a, __half2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
  MUSCOPE_HD unsigned __h##name##2_mask(__half2 a, __half2 b) {                                          \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);              \
  }
MUSCOPE_HALF2_COMPARE(eq)
MUSCOPE_HALF2_COMPARE(ne)
MUSCOPE_HALF2_COMPARE(lt)
MUSCOPE_HALF2_COMPARE(le)
MUSCOPE_HALF2_COMPARE(gt)
MUSCOPE_HALF2_COMPARE(ge)
#undef MUSCOPE_HALF2_COMPARE
MUSCOPE_HD __half2 __hisnan2(__half2 a) {
  return __half2(__half(__hisnan(a.x) ? 1.f : 0.f), __half(__hisnan(a.y) ? 1.f : 0.f));
}

MUSCOPE_HD __half2 operator+(const __half2& a, const __half2& b) { return __hadd2(a, b); }
MUSCOPE_HD __half2 operator-(const __half2& a, const __half2& b) { return __hsub2(a, b); }
MUSCOPE_HD __half2 operator*(const __half2& a, const __half2& b) { return __hmul2(a, b); }
MUSCOPE_HD __half2 operator/(const __half2& a, const __half2& b) { return __h2div(a, b); }
MUSCOPE_HD __half2& operator+=(__half2& a, const __half2& b) { return a = __hadd2(a, b); }
MUSCOPE_HD __half2& operator-=(__half2& a, const __half2& b) { return a = __hsub2(a, b); }
MUSCOPE_HD __half2& operator*=(__half2& a, const __half2& b) { return a = __hmul2(a, b); }
MUSCOPE_HD __half2& operator/=(__half2& a, const __half2& b) { return a = __h2div(a, b); }
MUSCOPE_HD __half2 operator-(const __half2& a) { return __hneg2(a); }
MUSCOPE_HD bool operator==(const __half2& a, const __half2& b) { return __hbeq2(a, b); }
MUSCOPE_HD bool operator!=(const __half2& a, const __half2& b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
MUSCOPE_HD bool operator<(const __half2& a, const __half2& b) { return __hblt2(a, b); }
MUSCOPE_HD bool operator>(const __half2& a, const __half2& b) { return __hbgt2(a, b); }
MUSCOPE_HD bool operator<=(const __half2& a, const __half2& b) { return __hble2(a, b); }
MUSCOPE_HD bool operator>=(const __half2& a, const __half2& b) { return __hbge2(a, b); }

MUSCOPE_HD __half2 make_half2(__half x, __half y) { return __half2(x, y); }
MUSCOPE_HD __half2 __halves2half2(__half low, __half high) { return __half2(low, high); }
MUSCOPE_HD __half2 __half2half2(__half h) { return __half2(h, h); }
MUSCOPE_HD __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
MUSCOPE_HD __half2 __floats2half2_rn(float low, float high) { return __half2(__half(low), __half(high)); }
MUSCOPE_HD __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
MUSCOPE_HD float2 __half22float2(__half2 h) { return make_float2((float)h.x, (float)h.y); }
MUSCOPE_HD float __low2float(__half2 h) { return (float)h.x; }
MUSCOPE_HD float __high2float(__half2 h) { return (float)h.y; }
MUSCOPE_HD __half __low2half(__half2 h) { return h.x; }
MUSCOPE_HD __half __high2half(__half2 h) { return h.y; }
MUSCOPE_HD __half2 __low2half2(__half2 h) { return __half2(h.x, h.x); }
MUSCOPE_HD __half2 __high2half2(__half2 h) { return __half2(h.y, h.y); }
MUSCOPE_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
MUSCOPE_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
MUSCOPE_HD __half2 __lowhigh2highlow(__half2 h) { return __half2(h.y, h.x); }

#endif
