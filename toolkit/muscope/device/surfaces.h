// Surface reads and writes through surface objects: PTX suld.b and sust.b. The x coordinate counts bytes.
#ifndef MUSCOPE_DEVICE_SURFACES_H
#define MUSCOPE_DEVICE_SURFACES_H

#include "../../cuda_runtime_api.h"

namespace muscope_toolkit {

/// Raw bits of an element of Size bytes, moved by one instruction.
template <int Size>
struct SurfaceBits;
template <>
struct SurfaceBits<1> {
  unsigned short a;
};
template <>
struct SurfaceBits<2> {
  unsigned short a;
};
template <>
struct SurfaceBits<4> {
  unsigned a;
};
template <>
struct SurfaceBits<8> {
  unsigned a, b;
};
template <>
struct SurfaceBits<16> {
  unsigned a, b, c, d;
};

// `geometry`: "1d", "2d", ...; `address`: the operands behind the object. The object is operand %[object].
#define MUSCOPE_SURFACE_MODE(Size, type, list, outputs, inputs, geometry, params, address, operands, suffix, mode)     \
  MUSCOPE_DEVICE void surface_read(SurfaceBits<Size>& v, cudaSurfaceObject_t object, MUSCOPE_SURFACE_UNPACK params,     \
                                   suffix) {                                                                           \
    asm volatile("suld.b." geometry "." type "." mode " " list ", [%[object], " address "];"                           \
                 : MUSCOPE_SURFACE_UNPACK outputs                                                                      \
                 : [object] "l"(object), MUSCOPE_SURFACE_UNPACK operands                                               \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  MUSCOPE_DEVICE void surface_write(const SurfaceBits<Size>& v, cudaSurfaceObject_t object,                            \
                                    MUSCOPE_SURFACE_UNPACK params, suffix) {                                           \
    asm volatile("sust.b." geometry "." type "." mode " [%[object], " address "], " list ";" ::[object] "l"(object),   \
                 MUSCOPE_SURFACE_UNPACK operands, MUSCOPE_SURFACE_UNPACK inputs                                        \
                 : "memory");                                                                                          \
  }
#define MUSCOPE_SURFACE_UNPACK(...) __VA_ARGS__
struct SurfaceTrap {};
struct SurfaceClamp {};
struct SurfaceZero {};
#define MUSCOPE_SURFACE_SIZE(Size, type, list, outputs, inputs, geometry, params, address, operands)                       \
  MUSCOPE_SURFACE_MODE(Size, type, list, outputs, inputs, geometry, params, address, operands, SurfaceTrap, "trap")    \
  MUSCOPE_SURFACE_MODE(Size, type, list, outputs, inputs, geometry, params, address, operands, SurfaceClamp, "clamp")  \
  MUSCOPE_SURFACE_MODE(Size, type, list, outputs, inputs, geometry, params, address, operands, SurfaceZero, "zero")
#define MUSCOPE_SURFACE_BITS(geometry, params, address, operands)                                                          \
  MUSCOPE_SURFACE_SIZE(1, "b8", "{%[a]}", ([a] "=h"(v.a)), ([a] "h"(v.a)), geometry, params, address, operands)        \
  MUSCOPE_SURFACE_SIZE(2, "b16", "{%[a]}", ([a] "=h"(v.a)), ([a] "h"(v.a)), geometry, params, address, operands)       \
  MUSCOPE_SURFACE_SIZE(4, "b32", "{%[a]}", ([a] "=r"(v.a)), ([a] "r"(v.a)), geometry, params, address, operands)       \
  MUSCOPE_SURFACE_SIZE(8, "v2.b32", "{%[a], %[b]}", ([a] "=r"(v.a), [b] "=r"(v.b)), ([a] "r"(v.a), [b] "r"(v.b)),      \
                       geometry, params, address, operands)                                                            \
  MUSCOPE_SURFACE_SIZE(16, "v4.b32", "{%[a], %[b], %[c], %[d]}",                                                       \
                       ([a] "=r"(v.a), [b] "=r"(v.b), [c] "=r"(v.c), [d] "=r"(v.d)),                                   \
                       ([a] "r"(v.a), [b] "r"(v.b), [c] "r"(v.c), [d] "r"(v.d)), geometry, params, address, operands)

// The tag keeps geometries with the same coordinates apart.
struct Surface1D {};
struct Surface2D {};
struct Surface3D {};
struct Surface1DLayered {};
struct Surface2DLayered {};
MUSCOPE_SURFACE_BITS("1d", (Surface1D, int x), "{%[x]}", ([x] "r"(x)))
MUSCOPE_SURFACE_BITS("2d", (Surface2D, int x, int y), "{%[x], %[y]}", ([x] "r"(x), [y] "r"(y)))
MUSCOPE_SURFACE_BITS("3d", (Surface3D, int x, int y, int z), "{%[x], %[y], %[z], %[z]}",
                     ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
MUSCOPE_SURFACE_BITS("a1d", (Surface1DLayered, int x, int layer), "{%[layer], %[x]}", ([x] "r"(x), [layer] "r"(layer)))
MUSCOPE_SURFACE_BITS("a2d", (Surface2DLayered, int x, int y, int layer), "{%[layer], %[x], %[y], %[y]}",
                     ([x] "r"(x), [y] "r"(y), [layer] "r"(layer)))
#undef MUSCOPE_SURFACE_MODE
#undef MUSCOPE_SURFACE_SIZE
#undef MUSCOPE_SURFACE_BITS

}  // namespace muscope_toolkit

// surf...read(object, coordinates), the form with a result pointer, and surf...write(value, object, coordinates).
#define MUSCOPE_SURFACE(name, Geometry, params, arguments)                                                             \
  template <class T>                                                                                                   \
  MUSCOPE_DEVICE T name##read(cudaSurfaceObject_t object, MUSCOPE_SURFACE_UNPACK params,                               \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                   \
    using namespace muscope_toolkit;                                                                                   \
    SurfaceBits<sizeof(T)> bits;                                                                                       \
    if (mode == cudaBoundaryModeZero)                                                                                  \
      surface_read(bits, object, Geometry{}, MUSCOPE_SURFACE_UNPACK arguments, SurfaceZero{});                         \
    else if (mode == cudaBoundaryModeClamp)                                                                            \
      surface_read(bits, object, Geometry{}, MUSCOPE_SURFACE_UNPACK arguments, SurfaceClamp{});                        \
    else                                                                                                               \
      surface_read(bits, object, Geometry{}, MUSCOPE_SURFACE_UNPACK arguments, SurfaceTrap{});                         \
    T value;                                                                                                           \
    __builtin_memcpy(&value, &bits, sizeof(T));                                                                        \
    return value;                                                                                                      \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  MUSCOPE_DEVICE void name##read(T* result, cudaSurfaceObject_t object, MUSCOPE_SURFACE_UNPACK params,                 \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                \
    *result = name##read<T>(object, MUSCOPE_SURFACE_UNPACK arguments, mode);                                           \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  MUSCOPE_DEVICE void name##write(T value, cudaSurfaceObject_t object, MUSCOPE_SURFACE_UNPACK params,                  \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                               \
    using namespace muscope_toolkit;                                                                                   \
    SurfaceBits<sizeof(T)> bits = {};                                                                                  \
    __builtin_memcpy(&bits, &value, sizeof(T));                                                                        \
    if (mode == cudaBoundaryModeZero)                                                                                  \
      surface_write(bits, object, Geometry{}, MUSCOPE_SURFACE_UNPACK arguments, SurfaceZero{});                        \
    else if (mode == cudaBoundaryModeClamp)                                                                            \
      surface_write(bits, object, Geometry{}, MUSCOPE_SURFACE_UNPACK arguments, SurfaceClamp{});                       \
    else                                                                                                               \
      surface_write(bits, object, Geometry{}, MUSCOPE_SURFACE_UNPACK arguments, SurfaceTrap{});                        \
  }
MUSCOPE_SURFACE(surf1D, Surface1D, (int x), (x))
MUSCOPE_SURFACE(surf2D, Surface2D, (int x, int y), (x, y))
MUSCOPE_SURFACE(surf3D, Surface3D, (int x, int y, int z), (x, y, z))
MUSCOPE_SURFACE(surf1DLayered, Surface1DLayered, (int x, int layer), (x, layer))
MUSCOPE_SURFACE(surf2DLayered, Surface2DLayered, (int x, int y, int layer), (x, y, layer))
// The faces of cubes are layers.
MUSCOPE_SURFACE(surfCubemap, Surface2DLayered, (int x, int y, int face), (x, y, face))
MUSCOPE_SURFACE(surfCubemapLayered, Surface2DLayered, (int x, int y, int face), (x, y, face))
#undef MUSCOPE_SURFACE

#endif
