// make_<type><n>(): builds CUDA's vector types from their components.
#ifndef MUSCOPE_VECTOR_FUNCTIONS_H
#define MUSCOPE_VECTOR_FUNCTIONS_H

// Programs ask by these names whether the header is in.
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define MUSCOPE_MAKE(name, type)                                                                               \
  MUSCOPE_HD name##1 make_##name##1(type x) { return name##1{x}; }                                             \
  MUSCOPE_HD name##2 make_##name##2(type x, type y) { return name##2{x, y}; }                                  \
  MUSCOPE_HD name##3 make_##name##3(type x, type y, type z) { return name##3{x, y, z}; }                       \
  MUSCOPE_HD name##4 make_##name##4(type x, type y, type z, type w) { return name##4{x, y, z, w}; }
#define MUSCOPE_MAKE4(name, type) \
  MUSCOPE_HD name make_##name(type x, type y, type z, type w) { return name{x, y, z, w}; }

#if defined(__cplusplus)
MUSCOPE_MAKE(char, signed char)
MUSCOPE_MAKE(uchar, unsigned char)
MUSCOPE_MAKE(short, short)
MUSCOPE_MAKE(ushort, unsigned short)
MUSCOPE_MAKE(int, int)
MUSCOPE_MAKE(uint, unsigned int)
MUSCOPE_MAKE(long, long int)
MUSCOPE_MAKE(ulong, unsigned long int)
MUSCOPE_MAKE(longlong, long long int)
MUSCOPE_MAKE(ulonglong, unsigned long long int)
MUSCOPE_MAKE(float, float)
MUSCOPE_MAKE(double, double)
MUSCOPE_MAKE4(long4_16a, long int)
MUSCOPE_MAKE4(long4_32a, long int)
MUSCOPE_MAKE4(ulong4_16a, unsigned long int)
MUSCOPE_MAKE4(ulong4_32a, unsigned long int)
MUSCOPE_MAKE4(longlong4_16a, long long int)
MUSCOPE_MAKE4(longlong4_32a, long long int)
MUSCOPE_MAKE4(ulonglong4_16a, unsigned long long int)
MUSCOPE_MAKE4(ulonglong4_32a, unsigned long long int)
MUSCOPE_MAKE4(double4_16a, double)
MUSCOPE_MAKE4(double4_32a, double)
#endif

#undef MUSCOPE_MAKE
#undef MUSCOPE_MAKE4

#endif
