// __nv_*: integer functions.
#ifndef MUSCOPE_MATH_LIBDEVICE_INTEGER_H
#define MUSCOPE_MATH_LIBDEVICE_INTEGER_H

#include "libdevice.h"

MUSCOPE_NV int __nv_abs(int a) { return a < 0 ? (int)(0u - (unsigned)a) : a; }
MUSCOPE_NV long long __nv_llabs(long long a) { return a < 0 ? (long long)(0ull - (unsigned long long)a) : a; }
MUSCOPE_NV int __nv_max(int a, int b) { return a > b ? a : b; }
MUSCOPE_NV int __nv_min(int a, int b) { return a < b ? a : b; }
MUSCOPE_NV unsigned __nv_umax(unsigned a, unsigned b) { return a > b ? a : b; }
MUSCOPE_NV unsigned __nv_umin(unsigned a, unsigned b) { return a < b ? a : b; }
MUSCOPE_NV long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
MUSCOPE_NV long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
MUSCOPE_NV unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
MUSCOPE_NV unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }

MUSCOPE_NV int __nv_brev(int a) { return (int)__builtin_bitreverse32((unsigned)a); }
MUSCOPE_NV long long __nv_brevll(long long a) { return (long long)__builtin_bitreverse64((unsigned long long)a); }
MUSCOPE_NV int __nv_clz(int a) { return __builtin_clzg((unsigned)a, 32); }
MUSCOPE_NV int __nv_clzll(long long a) { return __builtin_clzg((unsigned long long)a, 64); }
MUSCOPE_NV int __nv_ffs(int a) { return __builtin_ffs(a); }
MUSCOPE_NV int __nv_ffsll(long long a) { return __builtin_ffsll(a); }
MUSCOPE_NV int __nv_popc(unsigned a) { return __builtin_popcount(a); }
MUSCOPE_NV int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
MUSCOPE_NV int __nv_byte_perm(int a, int b, int selector) {
  int y;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(selector));
  return y;
}
MUSCOPE_NV int __nv_mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
MUSCOPE_NV unsigned __nv_umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
MUSCOPE_NV long long __nv_mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
MUSCOPE_NV unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
MUSCOPE_NV int __nv_mul24(int a, int b) {
  int y;
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
MUSCOPE_NV unsigned __nv_umul24(unsigned a, unsigned b) {
  unsigned y;
  asm("mul24.lo.u32 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
// Averages without overflow: rounded down, and (r...) up.
MUSCOPE_NV int __nv_hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
MUSCOPE_NV int __nv_rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
MUSCOPE_NV int __nv_uhadd(unsigned a, unsigned b) { return (int)((a & b) + ((a ^ b) >> 1)); }
MUSCOPE_NV unsigned __nv_urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
// |a - b| + c.
MUSCOPE_NV int __nv_sad(int a, int b, int c) {
  return (int)((a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + (unsigned)c);
}
MUSCOPE_NV unsigned __nv_usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }

#endif
