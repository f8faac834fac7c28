// Integer intrinsics that clang's headers leave out: funnel shifts and dot products of packed bytes.
#ifndef MUSCOPE_DEVICE_INTEGER_H
#define MUSCOPE_DEVICE_INTEGER_H

#include "../../host_defines.h"
#include "../../vector_types.h"

#define MUSCOPE_FUNNEL(name, op)                                                                      \
  MUSCOPE_DEVICE unsigned name(unsigned low, unsigned high, unsigned shift) {                         \
    unsigned result;                                                                                  \
    asm("shf." op ".b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));           \
    return result;                                                                                    \
  }
MUSCOPE_FUNNEL(__funnelshift_l, "l.wrap")
MUSCOPE_FUNNEL(__funnelshift_lc, "l.clamp")
MUSCOPE_FUNNEL(__funnelshift_r, "r.wrap")
MUSCOPE_FUNNEL(__funnelshift_rc, "r.clamp")
#undef MUSCOPE_FUNNEL

// dp4a: four 8-bit products added to c; dp2a: two products of 16-bit halves of a with the low or high bytes of b.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
#define MUSCOPE_DOT(name, op, type, a_type, b_type, bits_a, bits_b)                                   \
  MUSCOPE_DEVICE type name(a_type a, b_type b, type c) {                                              \
    type result;                                                                                      \
    asm(op " %0, %1, %2, %3;" : "=r"(result) : "r"(bits_a), "r"(bits_b), "r"(c));                     \
    return result;                                                                                    \
  }
#define MUSCOPE_BITS(v) __builtin_bit_cast(unsigned, v)
MUSCOPE_DOT(__dp4a, "dp4a.s32.s32", int, int, int, a, b)
MUSCOPE_DOT(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned, a, b)
MUSCOPE_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4, MUSCOPE_BITS(a), MUSCOPE_BITS(b))
MUSCOPE_DOT(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4, MUSCOPE_BITS(a), MUSCOPE_BITS(b))
MUSCOPE_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int, a, b)
MUSCOPE_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned, unsigned, a, b)
MUSCOPE_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4, MUSCOPE_BITS(a), MUSCOPE_BITS(b))
MUSCOPE_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4, MUSCOPE_BITS(a), MUSCOPE_BITS(b))
MUSCOPE_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int, a, b)
MUSCOPE_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned, unsigned, a, b)
MUSCOPE_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4, MUSCOPE_BITS(a), MUSCOPE_BITS(b))
MUSCOPE_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4, MUSCOPE_BITS(a), MUSCOPE_BITS(b))
#undef MUSCOPE_BITS
#undef MUSCOPE_DOT
#endif

#endif
