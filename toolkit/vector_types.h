// CUDA's built-in vector types: sizes and alignments as in the CUDA C++ Programming Guide, "Built-in Vector Types".
#ifndef MUSCOPE_VECTOR_TYPES_H
#define MUSCOPE_VECTOR_TYPES_H

// Programs ask by these names whether the header is in.
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define MUSCOPE_VECTOR1(name, type) \
  struct name##1 {                  \
    type x;                         \
  };                                \
  typedef struct name##1 name##1
#define MUSCOPE_VECTOR2(name, type, align)   \
  struct __attribute__((aligned(align))) name##2 { \
    type x, y;                               \
  };                                         \
  typedef struct name##2 name##2
#define MUSCOPE_VECTOR3(name, type) \
  struct name##3 {                  \
    type x, y, z;                   \
  };                                \
  typedef struct name##3 name##3
#define MUSCOPE_VECTOR4(name, type, align)   \
  struct __attribute__((aligned(align))) name##4 { \
    type x, y, z, w;                         \
  };                                         \
  typedef struct name##4 name##4
#define MUSCOPE_VECTORS(name, type, align2, align4) \
  MUSCOPE_VECTOR1(name, type);                      \
  MUSCOPE_VECTOR2(name, type, align2);              \
  MUSCOPE_VECTOR3(name, type);                      \
  MUSCOPE_VECTOR4(name, type, align4)

MUSCOPE_VECTORS(char, signed char, 2, 4);
MUSCOPE_VECTORS(uchar, unsigned char, 2, 4);
MUSCOPE_VECTORS(short, short, 4, 8);
MUSCOPE_VECTORS(ushort, unsigned short, 4, 8);
MUSCOPE_VECTORS(int, int, 8, 16);
MUSCOPE_VECTORS(uint, unsigned int, 8, 16);
MUSCOPE_VECTORS(long, long int, 16, 16);
MUSCOPE_VECTORS(ulong, unsigned long int, 16, 16);
MUSCOPE_VECTORS(longlong, long long int, 16, 16);
MUSCOPE_VECTORS(ulonglong, unsigned long long int, 16, 16);
MUSCOPE_VECTORS(float, float, 8, 16);
MUSCOPE_VECTORS(double, double, 16, 16);

// CUDA 13 adds four-component 64-bit types with a stated alignment.
#define MUSCOPE_VECTOR4_ALIGNED(name, type, align)           \
  struct __attribute__((aligned(align))) name##4_##align##a { \
    type x, y, z, w;                                         \
  };                                                         \
  typedef struct name##4_##align##a name##4_##align##a
MUSCOPE_VECTOR4_ALIGNED(long, long int, 16);
MUSCOPE_VECTOR4_ALIGNED(long, long int, 32);
MUSCOPE_VECTOR4_ALIGNED(ulong, unsigned long int, 16);
MUSCOPE_VECTOR4_ALIGNED(ulong, unsigned long int, 32);
MUSCOPE_VECTOR4_ALIGNED(longlong, long long int, 16);
MUSCOPE_VECTOR4_ALIGNED(longlong, long long int, 32);
MUSCOPE_VECTOR4_ALIGNED(ulonglong, unsigned long long int, 16);
MUSCOPE_VECTOR4_ALIGNED(ulonglong, unsigned long long int, 32);
MUSCOPE_VECTOR4_ALIGNED(double, double, 16);
MUSCOPE_VECTOR4_ALIGNED(double, double, 32);

#undef MUSCOPE_VECTOR1
#undef MUSCOPE_VECTOR2
#undef MUSCOPE_VECTOR3
#undef MUSCOPE_VECTOR4
#undef MUSCOPE_VECTORS
#undef MUSCOPE_VECTOR4_ALIGNED

/// Grid and block shapes; unset components are 1.
struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
  MUSCOPE_INLINE __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  MUSCOPE_INLINE __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  MUSCOPE_INLINE __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif
