// __nv_*: arithmetic with a stated rounding, and conversions; one PTX instruction each.
#ifndef MUSCOPE_MATH_LIBDEVICE_EXACT_H
#define MUSCOPE_MATH_LIBDEVICE_EXACT_H

#include "libdevice.h"

// By assembly with an explicit rounding: the compiler neither fuses nor folds these.
#define MUSCOPE_NV_ASM1(name, R, A, op, r, a)              \
  MUSCOPE_NV R name(A x) {                                 \
    R y;                                                   \
    asm(op " %0, %1;" : "=" r(y) : a(x));                  \
    return y;                                              \
  }
#define MUSCOPE_NV_ASM2(name, T, op, c)                    \
  MUSCOPE_NV T name(T x, T z) {                            \
    T y;                                                   \
    asm(op " %0, %1, %2;" : "=" c(y) : c(x), c(z));        \
    return y;                                              \
  }
#define MUSCOPE_NV_ASM3(name, T, op, c)                    \
  MUSCOPE_NV T name(T x, T z, T w) {                       \
    T y;                                                   \
    asm(op " %0, %1, %2, %3;" : "=" c(y) : c(x), c(z), c(w)); \
    return y;                                              \
  }
// m: the rounding in libdevice's names; p: in PTX; pi: in PTX where the result is a whole number.
#define MUSCOPE_NV_ROUNDING(m, p, pi)                                                                                  \
  MUSCOPE_NV_ASM2(__nv_fadd_##m, float, "add." #p ".f32", "f")                                                      \
  MUSCOPE_NV_ASM2(__nv_fsub_##m, float, "sub." #p ".f32", "f")                                                      \
  MUSCOPE_NV_ASM2(__nv_fmul_##m, float, "mul." #p ".f32", "f")                                                      \
  MUSCOPE_NV_ASM2(__nv_fdiv_##m, float, "div." #p ".f32", "f")                                                      \
  MUSCOPE_NV_ASM1(__nv_frcp_##m, float, float, "rcp." #p ".f32", "f", "f")                                          \
  MUSCOPE_NV_ASM1(__nv_fsqrt_##m, float, float, "sqrt." #p ".f32", "f", "f")                                        \
  MUSCOPE_NV_ASM3(__nv_fmaf_##m, float, "fma." #p ".f32", "f")                                                      \
  MUSCOPE_NV_ASM3(__nv_fmaf_ieee_##m, float, "fma." #p ".f32", "f")                                                 \
  MUSCOPE_NV_ASM2(__nv_dadd_##m, double, "add." #p ".f64", "d")                                                     \
  MUSCOPE_NV_ASM2(__nv_dsub_##m, double, "sub." #p ".f64", "d")                                                     \
  MUSCOPE_NV_ASM2(__nv_dmul_##m, double, "mul." #p ".f64", "d")                                                     \
  MUSCOPE_NV_ASM2(__nv_ddiv_##m, double, "div." #p ".f64", "d")                                                     \
  MUSCOPE_NV_ASM1(__nv_drcp_##m, double, double, "rcp." #p ".f64", "d", "d")                                        \
  MUSCOPE_NV_ASM1(__nv_dsqrt_##m, double, double, "sqrt." #p ".f64", "d", "d")                                      \
  MUSCOPE_NV_ASM3(__nv_fma_##m, double, "fma." #p ".f64", "d")                                                      \
  MUSCOPE_NV_ASM1(__nv_double2float_##m, float, double, "cvt." #p ".f32.f64", "f", "d")                             \
  MUSCOPE_NV_ASM1(__nv_int2float_##m, float, int, "cvt." #p ".f32.s32", "f", "r")                                   \
  MUSCOPE_NV_ASM1(__nv_uint2float_##m, float, unsigned, "cvt." #p ".f32.u32", "f", "r")                             \
  MUSCOPE_NV_ASM1(__nv_ll2float_##m, float, long long, "cvt." #p ".f32.s64", "f", "l")                              \
  MUSCOPE_NV_ASM1(__nv_ull2float_##m, float, unsigned long long, "cvt." #p ".f32.u64", "f", "l")                    \
  MUSCOPE_NV_ASM1(__nv_ll2double_##m, double, long long, "cvt." #p ".f64.s64", "d", "l")                            \
  MUSCOPE_NV_ASM1(__nv_ull2double_##m, double, unsigned long long, "cvt." #p ".f64.u64", "d", "l")                  \
  MUSCOPE_NV_ASM1(__nv_float2int_##m, int, float, "cvt." #pi ".s32.f32", "r", "f")                                  \
  MUSCOPE_NV_ASM1(__nv_float2uint_##m, unsigned, float, "cvt." #pi ".u32.f32", "r", "f")                            \
  MUSCOPE_NV_ASM1(__nv_float2ll_##m, long long, float, "cvt." #pi ".s64.f32", "l", "f")                             \
  MUSCOPE_NV_ASM1(__nv_float2ull_##m, unsigned long long, float, "cvt." #pi ".u64.f32", "l", "f")                   \
  MUSCOPE_NV_ASM1(__nv_double2int_##m, int, double, "cvt." #pi ".s32.f64", "r", "d")                                \
  MUSCOPE_NV_ASM1(__nv_double2uint_##m, unsigned, double, "cvt." #pi ".u32.f64", "r", "d")                          \
  MUSCOPE_NV_ASM1(__nv_double2ll_##m, long long, double, "cvt." #pi ".s64.f64", "l", "d")                           \
  MUSCOPE_NV_ASM1(__nv_double2ull_##m, unsigned long long, double, "cvt." #pi ".u64.f64", "l", "d")
MUSCOPE_NV_ROUNDING(rn, rn, rni)
MUSCOPE_NV_ROUNDING(rz, rz, rzi)
MUSCOPE_NV_ROUNDING(rd, rm, rmi)
MUSCOPE_NV_ROUNDING(ru, rp, rpi)
#undef MUSCOPE_NV_ROUNDING
MUSCOPE_NV_ASM1(__nv_saturatef, float, float, "cvt.sat.f32.f32", "f", "f")
MUSCOPE_NV_ASM1(__nv_rcp64h, double, double, "rcp.approx.ftz.f64", "d", "d")
MUSCOPE_NV_ASM1(__nv_float2half_rn, unsigned short, float, "cvt.rn.f16.f32", "h", "f")
MUSCOPE_NV_ASM1(__nv_half2float, float, unsigned short, "cvt.f32.f16", "f", "h")
#undef MUSCOPE_NV_ASM1
#undef MUSCOPE_NV_ASM2
#undef MUSCOPE_NV_ASM3

MUSCOPE_NV float __nv_frsqrt_rn(float a) { return (float)muscope_math::rsqrt((double)a); }
MUSCOPE_NV double __nv_int2double_rn(int a) { return (double)a; }
MUSCOPE_NV double __nv_uint2double_rn(unsigned a) { return (double)a; }
MUSCOPE_NV int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
MUSCOPE_NV unsigned __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
MUSCOPE_NV float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
MUSCOPE_NV float __nv_uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
MUSCOPE_NV unsigned long long __nv_double_as_longlong(double a) { return __builtin_bit_cast(unsigned long long, a); }
MUSCOPE_NV double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
MUSCOPE_NV int __nv_double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }
MUSCOPE_NV int __nv_double2loint(double a) { return (int)__builtin_bit_cast(unsigned long long, a); }
MUSCOPE_NV double __nv_hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

#endif
