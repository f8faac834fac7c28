// Texture fetches through texture objects: one PTX tex or tld4 instruction each.
#ifndef MUSCOPE_DEVICE_TEXTURES_H
#define MUSCOPE_DEVICE_TEXTURES_H

#include "../../cuda_runtime_api.h"

namespace muscope_toolkit {

template <class C>
struct Texel4 {
  C x, y, z, w;
};
/// How a texel of type T is fetched: the component type of the instruction, and how T is made of its four results.
template <class T>
struct TexelOf;
#define MUSCOPE_TEXEL1(T, C)                                                                \
  template <>                                                                               \
  struct TexelOf<T> {                                                                       \
    typedef C Component;                                                                    \
    MUSCOPE_DEVICE T make(Texel4<C> t) { return (T)t.x; }                                   \
  };
#define MUSCOPE_TEXEL2(T, C)                                                                \
  template <>                                                                               \
  struct TexelOf<T> {                                                                       \
    typedef C Component;                                                                    \
    MUSCOPE_DEVICE T make(Texel4<C> t) {                                                    \
      T r;                                                                                  \
      r.x = (decltype(r.x))t.x;                                                             \
      r.y = (decltype(r.y))t.y;                                                             \
      return r;                                                                             \
    }                                                                                       \
  };
#define MUSCOPE_TEXEL4(T, C)                                                                \
  template <>                                                                               \
  struct TexelOf<T> {                                                                       \
    typedef C Component;                                                                    \
    MUSCOPE_DEVICE T make(Texel4<C> t) {                                                    \
      T r;                                                                                  \
      r.x = (decltype(r.x))t.x;                                                             \
      r.y = (decltype(r.y))t.y;                                                             \
      r.z = (decltype(r.z))t.z;                                                             \
      r.w = (decltype(r.w))t.w;                                                             \
      return r;                                                                             \
    }                                                                                       \
  };
#define MUSCOPE_TEXELS(name, scalar, C) \
  MUSCOPE_TEXEL1(scalar, C)             \
  MUSCOPE_TEXEL2(name##2, C)            \
  MUSCOPE_TEXEL4(name##4, C)            \
  template <>                           \
  struct TexelOf<name##1> {             \
    typedef C Component;                \
    MUSCOPE_DEVICE name##1 make(Texel4<C> t) { return name##1{(scalar)t.x}; } \
  };
MUSCOPE_TEXELS(float, float, float)
MUSCOPE_TEXELS(int, int, int)
MUSCOPE_TEXELS(uint, unsigned, unsigned)
MUSCOPE_TEXELS(char, signed char, int)
MUSCOPE_TEXELS(uchar, unsigned char, unsigned)
MUSCOPE_TEXELS(short, short, int)
MUSCOPE_TEXELS(ushort, unsigned short, unsigned)
MUSCOPE_TEXEL1(char, int)
#undef MUSCOPE_TEXEL1
#undef MUSCOPE_TEXEL2
#undef MUSCOPE_TEXEL4
#undef MUSCOPE_TEXELS

// One overload per component type; the last parameter only selects it. `op` is the instruction up to its types,
// `coordinates` its operands from the sixth on (%4 is the object).
#define MUSCOPE_FETCH_AS(name, params, op, coordinate_type, coordinates, operands, C, ptx, c)                     \
  MUSCOPE_DEVICE Texel4<C> name(cudaTextureObject_t object, MUSCOPE_UNPACK params, C) {                           \
    Texel4<C> t;                                                                                                  \
    asm(op ".v4." ptx "." coordinate_type " {%0, %1, %2, %3}, [%4, " coordinates ";"                              \
        : "=" c(t.x), "=" c(t.y), "=" c(t.z), "=" c(t.w)                                                          \
        : "l"(object), MUSCOPE_UNPACK operands);                                                                  \
    return t;                                                                                                     \
  }
#define MUSCOPE_UNPACK(...) __VA_ARGS__
// The function that users call, in both of its forms.
#define MUSCOPE_FETCH(name, params, arguments, op, coordinate_type, coordinates, operands)                        \
  MUSCOPE_FETCH_AS(fetch_##name, params, op, coordinate_type, coordinates, operands, float, "f32", "f")           \
  MUSCOPE_FETCH_AS(fetch_##name, params, op, coordinate_type, coordinates, operands, int, "s32", "r")             \
  MUSCOPE_FETCH_AS(fetch_##name, params, op, coordinate_type, coordinates, operands, unsigned, "u32", "r")        \
  }                                                                                                               \
  template <class T>                                                                                              \
  MUSCOPE_DEVICE T name(cudaTextureObject_t object, MUSCOPE_UNPACK params) {                                      \
    using Texel = muscope_toolkit::TexelOf<T>;                                                                    \
    return Texel::make(muscope_toolkit::fetch_##name(object, MUSCOPE_UNPACK arguments,                            \
                                                     typename Texel::Component{}));                               \
  }                                                                                                               \
  template <class T>                                                                                              \
  MUSCOPE_DEVICE void name(T* result, cudaTextureObject_t object, MUSCOPE_UNPACK params) {                        \
    *result = name<T>(object, MUSCOPE_UNPACK arguments);                                                          \
  }                                                                                                               \
  namespace muscope_toolkit {

MUSCOPE_FETCH(tex1Dfetch, (int x), (x), "tex.1d", "s32", "{%5}]", ("r"(x)))
MUSCOPE_FETCH(tex1D, (float x), (x), "tex.1d", "f32", "{%5}]", ("f"(x)))
MUSCOPE_FETCH(tex2D, (float x, float y), (x, y), "tex.2d", "f32", "{%5, %6}]", ("f"(x), "f"(y)))
MUSCOPE_FETCH(tex3D, (float x, float y, float z), (x, y, z), "tex.3d", "f32", "{%5, %6, %7, %7}]",
              ("f"(x), "f"(y), "f"(z)))
MUSCOPE_FETCH(tex1DLayered, (float x, int layer), (x, layer), "tex.a1d", "f32", "{%5, %6}]", ("r"(layer), "f"(x)))
MUSCOPE_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer), "tex.a2d", "f32", "{%5, %6, %7, %7}]",
              ("r"(layer), "f"(x), "f"(y)))
MUSCOPE_FETCH(texCubemap, (float x, float y, float z), (x, y, z), "tex.cube", "f32", "{%5, %6, %7, %7}]",
              ("f"(x), "f"(y), "f"(z)))
MUSCOPE_FETCH(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer), "tex.acube", "f32",
              "{%5, %6, %7, %8}]", ("r"(layer), "f"(x), "f"(y), "f"(z)))

MUSCOPE_FETCH(tex1DLod, (float x, float level), (x, level), "tex.level.1d", "f32", "{%5}], %6",
              ("f"(x), "f"(level)))
MUSCOPE_FETCH(tex2DLod, (float x, float y, float level), (x, y, level), "tex.level.2d", "f32", "{%5, %6}], %7",
              ("f"(x), "f"(y), "f"(level)))
MUSCOPE_FETCH(tex3DLod, (float x, float y, float z, float level), (x, y, z, level), "tex.level.3d", "f32",
              "{%5, %6, %7, %7}], %8", ("f"(x), "f"(y), "f"(z), "f"(level)))
MUSCOPE_FETCH(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level), "tex.level.a1d", "f32",
              "{%5, %6}], %7", ("r"(layer), "f"(x), "f"(level)))
MUSCOPE_FETCH(tex2DLayeredLod, (float x, float y, int layer, float level), (x, y, layer, level), "tex.level.a2d",
              "f32", "{%5, %6, %7, %7}], %8", ("r"(layer), "f"(x), "f"(y), "f"(level)))
MUSCOPE_FETCH(texCubemapLod, (float x, float y, float z, float level), (x, y, z, level), "tex.level.cube", "f32",
              "{%5, %6, %7, %7}], %8", ("f"(x), "f"(y), "f"(z), "f"(level)))

MUSCOPE_FETCH(tex1DGrad, (float x, float dx, float dy), (x, dx, dy), "tex.grad.1d", "f32", "{%5}], {%6}, {%7}",
              ("f"(x), "f"(dx), "f"(dy)))
MUSCOPE_FETCH(tex2DGrad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), "tex.grad.2d", "f32",
              "{%5, %6}], {%7, %8}, {%9, %10}",
              ("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
MUSCOPE_FETCH(tex3DGrad, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), "tex.grad.3d", "f32",
              "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}",
              ("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))

#define MUSCOPE_GATHER(name, op)                                                                              \
  MUSCOPE_FETCH_AS(name, (float x, float y), op, "f32", "{%5, %6}]", ("f"(x), "f"(y)), float, "f32", "f")      \
  MUSCOPE_FETCH_AS(name, (float x, float y), op, "f32", "{%5, %6}]", ("f"(x), "f"(y)), int, "s32", "r")        \
  MUSCOPE_FETCH_AS(name, (float x, float y), op, "f32", "{%5, %6}]", ("f"(x), "f"(y)), unsigned, "u32", "r")
MUSCOPE_GATHER(gather_red, "tld4.r.2d")
MUSCOPE_GATHER(gather_green, "tld4.g.2d")
MUSCOPE_GATHER(gather_blue, "tld4.b.2d")
MUSCOPE_GATHER(gather_alpha, "tld4.a.2d")
#undef MUSCOPE_GATHER

}  // namespace muscope_toolkit

/// One component (0 to 3) of the four texels that a bilinear fetch would read.
template <class T>
MUSCOPE_DEVICE T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0) {
  using Texel = muscope_toolkit::TexelOf<T>;
  const typename Texel::Component kind{};
  switch (component) {
    case 1: return Texel::make(muscope_toolkit::gather_green(object, x, y, kind));
    case 2: return Texel::make(muscope_toolkit::gather_blue(object, x, y, kind));
    case 3: return Texel::make(muscope_toolkit::gather_alpha(object, x, y, kind));
    default: return Texel::make(muscope_toolkit::gather_red(object, x, y, kind));
  }
}

#undef MUSCOPE_FETCH
#undef MUSCOPE_FETCH_AS

#endif
