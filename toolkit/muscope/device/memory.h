// Loads and stores with a cache operator, read-only loads, and questions about address spaces.
#ifndef MUSCOPE_DEVICE_MEMORY_H
#define MUSCOPE_DEVICE_MEMORY_H

#include "../../host_defines.h"
#include "../../vector_types.h"

// ---- __ldg: ld.global.nc. Scalars by clang's builtins, which let the address computation fold into the instruction;
// vectors by assembly: clang 22 makes plain loads of its builtins for them where the kernel also stores.
#define MUSCOPE_LDG(type, suffix) \
  MUSCOPE_DEVICE type __ldg(const type* pointer) { return __nvvm_ldg_##suffix(pointer); }
#define MUSCOPE_LDG2(type, ptx, reg, c)                                                              \
  MUSCOPE_DEVICE type __ldg(const type* pointer) {                                                   \
    reg x, y;                                                                                        \
    asm("ld.global.nc.v2." ptx " {%0, %1}, [%2];" : "=" c(x), "=" c(y) : "l"(pointer));              \
    type result;                                                                                     \
    result.x = x;                                                                                    \
    result.y = y;                                                                                    \
    return result;                                                                                   \
  }
#define MUSCOPE_LDG4(type, ptx, reg, c)                                                              \
  MUSCOPE_DEVICE type __ldg(const type* pointer) {                                                   \
    reg x, y, z, w;                                                                                  \
    asm("ld.global.nc.v4." ptx " {%0, %1, %2, %3}, [%4];"                                            \
        : "=" c(x), "=" c(y), "=" c(z), "=" c(w)                                                     \
        : "l"(pointer));                                                                             \
    type result;                                                                                     \
    result.x = x;                                                                                    \
    result.y = y;                                                                                    \
    result.z = z;                                                                                    \
    result.w = w;                                                                                    \
    return result;                                                                                   \
  }
MUSCOPE_LDG(char, c)
MUSCOPE_LDG(short, s)
MUSCOPE_LDG(int, i)
MUSCOPE_LDG(long, l)
MUSCOPE_LDG(long long, ll)
MUSCOPE_LDG(unsigned char, uc)
MUSCOPE_LDG(unsigned short, us)
MUSCOPE_LDG(unsigned int, ui)
MUSCOPE_LDG(unsigned long, ul)
MUSCOPE_LDG(unsigned long long, ull)
MUSCOPE_LDG(float, f)
MUSCOPE_LDG(double, d)
MUSCOPE_DEVICE signed char __ldg(const signed char* pointer) {
  return (signed char)__ldg(reinterpret_cast<const unsigned char*>(pointer));
}
MUSCOPE_LDG2(char2, "s8", int, "r")
MUSCOPE_LDG4(char4, "s8", int, "r")
MUSCOPE_LDG2(uchar2, "u8", unsigned, "r")
MUSCOPE_LDG4(uchar4, "u8", unsigned, "r")
MUSCOPE_LDG2(short2, "s16", short, "h")
MUSCOPE_LDG4(short4, "s16", short, "h")
MUSCOPE_LDG2(ushort2, "u16", unsigned short, "h")
MUSCOPE_LDG4(ushort4, "u16", unsigned short, "h")
MUSCOPE_LDG2(int2, "s32", int, "r")
MUSCOPE_LDG4(int4, "s32", int, "r")
MUSCOPE_LDG2(uint2, "u32", unsigned, "r")
MUSCOPE_LDG4(uint4, "u32", unsigned, "r")
MUSCOPE_LDG2(longlong2, "s64", long long, "l")
MUSCOPE_LDG2(ulonglong2, "u64", unsigned long long, "l")
MUSCOPE_LDG2(float2, "f32", float, "f")
MUSCOPE_LDG4(float4, "f32", float, "f")
MUSCOPE_LDG2(double2, "f64", double, "d")
#undef MUSCOPE_LDG
#undef MUSCOPE_LDG2
#undef MUSCOPE_LDG4

// ---- __ldca, __ldcg, __ldcs, __ldlu, __ldcv and __stwb, __stcg, __stcs, __stwt
// `reg` is the type of the assembly operand: PTX has no 8-bit registers.
#define MUSCOPE_LOAD1(name, op, type, ptx, reg, c)                                                          \
  MUSCOPE_DEVICE type name(const type* pointer) {                                                           \
    reg value;                                                                                              \
    asm volatile("ld.global." op "." ptx " %0, [%1];" : "=" c(value) : "l"(pointer) : "memory");            \
    return (type)value;                                                                                     \
  }
#define MUSCOPE_LOAD2(name, op, type, ptx, reg, c)                                                          \
  MUSCOPE_DEVICE type name(const type* pointer) {                                                           \
    reg x, y;                                                                                               \
    asm volatile("ld.global." op ".v2." ptx " {%0, %1}, [%2];"                                              \
                 : "=" c(x), "=" c(y)                                                                       \
                 : "l"(pointer)                                                                             \
                 : "memory");                                                                               \
    type result;                                                                                            \
    result.x = x;                                                                                           \
    result.y = y;                                                                                           \
    return result;                                                                                          \
  }
#define MUSCOPE_LOAD4(name, op, type, ptx, reg, c)                                                          \
  MUSCOPE_DEVICE type name(const type* pointer) {                                                           \
    reg x, y, z, w;                                                                                         \
    asm volatile("ld.global." op ".v4." ptx " {%0, %1, %2, %3}, [%4];"                                      \
                 : "=" c(x), "=" c(y), "=" c(z), "=" c(w)                                                   \
                 : "l"(pointer)                                                                             \
                 : "memory");                                                                               \
    type result;                                                                                            \
    result.x = x;                                                                                           \
    result.y = y;                                                                                           \
    result.z = z;                                                                                           \
    result.w = w;                                                                                           \
    return result;                                                                                          \
  }
#define MUSCOPE_STORE1(name, op, type, ptx, reg, c)                                                         \
  MUSCOPE_DEVICE void name(type* pointer, type value) {                                                     \
    asm volatile("st.global." op "." ptx " [%0], %1;" ::"l"(pointer), c((reg)value) : "memory");            \
  }
#define MUSCOPE_STORE2(name, op, type, ptx, reg, c)                                                         \
  MUSCOPE_DEVICE void name(type* pointer, type value) {                                                     \
    asm volatile("st.global." op ".v2." ptx " [%0], {%1, %2};" ::"l"(pointer), c((reg)value.x),             \
                 c((reg)value.y)                                                                            \
                 : "memory");                                                                               \
  }
#define MUSCOPE_STORE4(name, op, type, ptx, reg, c)                                                         \
  MUSCOPE_DEVICE void name(type* pointer, type value) {                                                     \
    asm volatile("st.global." op ".v4." ptx " [%0], {%1, %2, %3, %4};" ::"l"(pointer), c((reg)value.x),     \
                 c((reg)value.y), c((reg)value.z), c((reg)value.w)                                          \
                 : "memory");                                                                               \
  }
#define MUSCOPE_EVERY_TYPE(kind, name, op)                         \
  kind##1(name, op, char, "s8", int, "r")                          \
  kind##1(name, op, signed char, "s8", int, "r")                   \
  kind##1(name, op, unsigned char, "u8", unsigned, "r")            \
  kind##1(name, op, short, "s16", short, "h")                      \
  kind##1(name, op, unsigned short, "u16", unsigned short, "h")    \
  kind##1(name, op, int, "s32", int, "r")                          \
  kind##1(name, op, unsigned, "u32", unsigned, "r")                \
  kind##1(name, op, long, "s64", long, "l")                        \
  kind##1(name, op, unsigned long, "u64", unsigned long, "l")      \
  kind##1(name, op, long long, "s64", long long, "l")              \
  kind##1(name, op, unsigned long long, "u64", unsigned long long, "l") \
  kind##1(name, op, float, "f32", float, "f")                      \
  kind##1(name, op, double, "f64", double, "d")                    \
  kind##2(name, op, char2, "s8", int, "r")                         \
  kind##4(name, op, char4, "s8", int, "r")                         \
  kind##2(name, op, uchar2, "u8", unsigned, "r")                   \
  kind##4(name, op, uchar4, "u8", unsigned, "r")                   \
  kind##2(name, op, short2, "s16", short, "h")                     \
  kind##4(name, op, short4, "s16", short, "h")                     \
  kind##2(name, op, ushort2, "u16", unsigned short, "h")           \
  kind##4(name, op, ushort4, "u16", unsigned short, "h")           \
  kind##2(name, op, int2, "s32", int, "r")                         \
  kind##4(name, op, int4, "s32", int, "r")                         \
  kind##2(name, op, uint2, "u32", unsigned, "r")                   \
  kind##4(name, op, uint4, "u32", unsigned, "r")                   \
  kind##2(name, op, longlong2, "s64", long long, "l")              \
  kind##2(name, op, ulonglong2, "u64", unsigned long long, "l")    \
  kind##2(name, op, float2, "f32", float, "f")                     \
  kind##4(name, op, float4, "f32", float, "f")                     \
  kind##2(name, op, double2, "f64", double, "d")
MUSCOPE_EVERY_TYPE(MUSCOPE_LOAD, __ldca, "ca")
MUSCOPE_EVERY_TYPE(MUSCOPE_LOAD, __ldcg, "cg")
MUSCOPE_EVERY_TYPE(MUSCOPE_LOAD, __ldcs, "cs")
MUSCOPE_EVERY_TYPE(MUSCOPE_LOAD, __ldlu, "lu")
MUSCOPE_EVERY_TYPE(MUSCOPE_LOAD, __ldcv, "cv")
MUSCOPE_EVERY_TYPE(MUSCOPE_STORE, __stwb, "wb")
MUSCOPE_EVERY_TYPE(MUSCOPE_STORE, __stcg, "cg")
MUSCOPE_EVERY_TYPE(MUSCOPE_STORE, __stcs, "cs")
MUSCOPE_EVERY_TYPE(MUSCOPE_STORE, __stwt, "wt")
#undef MUSCOPE_LOAD1
#undef MUSCOPE_LOAD2
#undef MUSCOPE_LOAD4
#undef MUSCOPE_STORE1
#undef MUSCOPE_STORE2
#undef MUSCOPE_STORE4
#undef MUSCOPE_EVERY_TYPE

// ---- address spaces (clang numbers them 1 global, 3 shared, 4 constant, 5 local)
// const: so that __builtin_assume(__isShared(p)) is allowed.
#define MUSCOPE_SPACE(name, Name, number)                                                                    \
  static MUSCOPE_INLINE __device__ __attribute__((const)) unsigned __is##Name(const void* pointer) {         \
    return MUSCOPE_ISSPACE(name)(pointer);                                                                   \
  }                                                                                                          \
  MUSCOPE_DEVICE size_t __cvta_generic_to_##name(const void* pointer) {                                      \
    return (size_t)(const __attribute__((address_space(number))) void*)pointer;                              \
  }                                                                                                          \
  MUSCOPE_DEVICE void* __cvta_##name##_to_generic(size_t address) {                                          \
    return (void*)(__attribute__((address_space(number))) void*)address;                                     \
  }
#define MUSCOPE_ISSPACE(name) __nvvm_isspacep_##name
#define __nvvm_isspacep_constant __nvvm_isspacep_const
MUSCOPE_SPACE(global, Global, 1)
MUSCOPE_SPACE(shared, Shared, 3)
MUSCOPE_SPACE(constant, Constant, 4)
MUSCOPE_SPACE(local, Local, 5)
#undef __nvvm_isspacep_constant
#undef MUSCOPE_ISSPACE
#undef MUSCOPE_SPACE

#endif
