// Cube maps, gathers, gradients, levels of mipmapped arrays, volumes: what texture objects return, as bits. The same
// lines on an H200 are kept in tests/counters/textures_more_h200.txt.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef unsigned u32;
typedef unsigned char u8;

#define R(call)                                         \
  do {                                                  \
    const int code = static_cast<int>(call);            \
    std::printf("api | %s -> %d\n", #call, code);       \
    cudaGetLastError();                                 \
  } while (0)

constexpr int kMany = 96;
static u32 host_out[4 * kMany];
static u32* device_out;
static float4* device_points;

static void show(const char* what, int components) {
  const int code = static_cast<int>(cudaDeviceSynchronize());
  cudaMemcpy(host_out, device_out, sizeof host_out, cudaMemcpyDeviceToHost);
  std::printf("%s |", what);
  if (code != 0) std::printf(" %d", code);
  for (int i = 0; i < kMany; ++i)
    for (int c = 0; c < components; ++c) std::printf(" %x", host_out[4 * i + c]);
  std::printf("\n");
  cudaMemset(device_out, 0xee, sizeof host_out);
}

enum class Fetch { k1d, k2d, k3d, kCube, kCubeLayered, kGather0, kGather1, kGather2, kGather3, kLod1d, kLod2d, kLod3d, kLodCube, kGrad2d, kGradZero };

/// Four results per thread. T: float4, int4 ...
template <Fetch kFetch, class T>
__global__ void fetch(u32* out, cudaTextureObject_t t, const float4* points, float level) {
  const int i = static_cast<int>(threadIdx.x);
  const float4 p = points[i];
  T v{};
  switch (kFetch) {
    case Fetch::k1d: v = tex1D<T>(t, p.x); break;
    case Fetch::k2d: v = tex2D<T>(t, p.x, p.y); break;
    case Fetch::k3d: v = tex3D<T>(t, p.x, p.y, p.z); break;
    case Fetch::kCube: v = texCubemap<T>(t, p.x, p.y, p.z); break;
    case Fetch::kCubeLayered: v = texCubemapLayered<T>(t, p.x, p.y, p.z, i % 5 - 1); break;
    case Fetch::kGather0: v = tex2Dgather<T>(t, p.x, p.y, 0); break;
    case Fetch::kGather1: v = tex2Dgather<T>(t, p.x, p.y, 1); break;
    case Fetch::kGather2: v = tex2Dgather<T>(t, p.x, p.y, 2); break;
    case Fetch::kGather3: v = tex2Dgather<T>(t, p.x, p.y, 3); break;
    case Fetch::kLod1d: v = tex1DLod<T>(t, p.x, p.w + level); break;
    case Fetch::kLod2d: v = tex2DLod<T>(t, p.x, p.y, p.w + level); break;
    case Fetch::kLod3d: v = tex3DLod<T>(t, p.x, p.y, p.z, p.w + level); break;
    case Fetch::kLodCube: v = texCubemapLod<T>(t, p.x, p.y, p.z, p.w + level); break;
    case Fetch::kGrad2d: v = tex2DGrad<T>(t, p.x, p.y, make_float2(p.z, p.w), make_float2(level, -p.z)); break;
    case Fetch::kGradZero: v = tex2DGrad<T>(t, p.x, p.y, make_float2(0, 0), make_float2(0, 0)); break;
  }
  memcpy(out + 4 * i, &v, sizeof v);
}
template <Fetch kFetch, class T = float4>
static void take(cudaTextureObject_t t, float level = 0) {
  fetch<kFetch, T><<<1, kMany>>>(device_out, t, device_points, level);
}

static u32 random_state = 1;
static u32 random_bits() { return (random_state = random_state * 1664525u + 1013904223u) >> 8; }
static float random_float(float low, float high) {
  return low + (high - low) * static_cast<float>(random_bits() & 0xffff) / 65536.0f;
}
/// The last coordinate is drawn first.
static float4 random_point(float low, float high, float w) {
  const float z = random_float(low, high), y = random_float(low, high), x = random_float(low, high);
  return make_float4(x, y, z, w);
}
static void points(const float4* list) { cudaMemcpy(device_points, list, kMany * sizeof *list, cudaMemcpyHostToDevice); }

static cudaChannelFormatDesc format_of(const char* name) {
  const char kind = name[0];
  const int bits = std::atoi(name + 1), channels = std::strchr(name, 'x') ? std::atoi(std::strchr(name, 'x') + 1) : 1;
  return cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                               kind == 'u'   ? cudaChannelFormatKindUnsigned
                               : kind == 's' ? cudaChannelFormatKindSigned
                                             : cudaChannelFormatKindFloat);
}

/// Texels that differ and are not round: floats between -8 and 8, anything else all bits.
static void fill(cudaArray_t a, const char* format, int w, int h, int d) {
  const cudaChannelFormatDesc f = format_of(format);
  const int texel = (f.x + f.y + f.z + f.w) / 8, count = w * h * d * texel;
  static u8 host[1 << 17];
  if (format[0] == 'f' && f.x == 32) {
    for (int i = 0; i < count / 4; ++i) {
      const float v = random_float(-8, 8);
      memcpy(host + 4 * i, &v, 4);
    }
  } else {
    for (int i = 0; i < count; ++i) host[i] = static_cast<u8>(random_bits());
  }
  cudaMemcpy3DParms p{};
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  p.srcPtr = make_cudaPitchedPtr(host, w * texel, w, h);
  p.dstArray = a;
  const int code = static_cast<int>(cudaMemcpy3D(&p));
  if (code != 0) std::printf("copy %d\n", code);
}
static cudaArray_t array_of(const char* format, int w, int h, int d, unsigned flags) {
  cudaArray_t a = nullptr;
  const cudaChannelFormatDesc f = format_of(format);
  const int code = static_cast<int>(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags));
  if (code != 0) std::printf("array %d\n", code);
  fill(a, format, w, h ? h : 1, d ? d : 1);
  return a;
}
static cudaTextureObject_t texture_of(cudaArray_t a, cudaTextureDesc d) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureObject_t t = 0;
  const int code = static_cast<int>(cudaCreateTextureObject(&t, &r, &d, nullptr));
  cudaGetLastError();
  if (code != 0) std::printf("texture %d\n", code);
  return t;
}
static cudaTextureDesc sampling(bool linear, bool normalized, cudaTextureAddressMode mode, bool fractions = false) {
  cudaTextureDesc d{};
  for (auto& m : d.addressMode) m = mode;
  d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  d.normalizedCoords = normalized;
  d.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.borderColor[0] = 0.5f, d.borderColor[1] = 2, d.borderColor[2] = -1, d.borderColor[3] = 0.25f;
  return d;
}

static void cubes() {
  random_state = 11;
  static float4 list[kMany] = {{1, 0, 0, 0},       {-1, 0, 0, 0},     {0, 1, 0, 0},      {0, -1, 0, 0},    {0, 0, 1, 0},
                               {0, 0, -1, 0},      {1, 1, 0, 0},      {1, -1, 0, 0},     {-1, 1, 0, 0},    {-1, -1, 0, 0},
                               {1, 0, 1, 0},       {1, 0, -1, 0},     {-1, 0, 1, 0},     {-1, 0, -1, 0},   {0, 1, 1, 0},
                               {0, 1, -1, 0},      {0, -1, 1, 0},     {0, -1, -1, 0},    {1, 1, 1, 0},     {-1, 1, 1, 0},
                               {1, -1, 1, 0},      {1, 1, -1, 0},     {-1, -1, 1, 0},    {-1, 1, -1, 0},   {1, -1, -1, 0},
                               {-1, -1, -1, 0},    {0, 0, 0, 0},      {NAN, 1, 0.5f, 0}, {1, NAN, 0, 0},   {INFINITY, 1, 1, 0},
                               {-INFINITY, INFINITY, 0, 0},           {3, 0.5f, -0.75f, 0}, {-3, 0.5f, -0.75f, 0},
                               {0.5f, 3, -0.75f, 0}, {0.5f, -3, -0.75f, 0}, {0.5f, -0.75f, 3, 0}, {0.5f, -0.75f, -3, 0},
                               {1e-30f, 2e-31f, 0, 0}, {1e30f, 2e29f, 0, 0}, {1e-40f, 0, 0, 0}, {3, 2.999f, 0, 0}, {3, 2.99999f, 1, 0},
                               {1, 0.5f, 0.25f, 0}, {1, 0.25f, -0.5f, 0}, {1, 0.0009765625f, 0.003f, 0}};
  for (int i = 45; i < kMany; ++i)
    list[i] = random_point(-2, 2, 0);
  points(list);
  struct {
    const char* format;
    int size;
    bool fractions;
  } const formats[] = {{"f32", 4, false}, {"f32", 7, false}, {"u8", 4, true}, {"u32", 5, false}};
  for (const auto& f : formats) {
    cudaArray_t a = array_of(f.format, f.size, f.size, 6, cudaArrayCubemap);
    for (int linear = 0; linear < (f.format[0] == 'u' && !f.fractions ? 1 : 2); ++linear)
      for (int seamless = 0; seamless < 2; ++seamless)
        for (int mode : {0, 1, 3}) {
          cudaTextureDesc d = sampling(linear, true, static_cast<cudaTextureAddressMode>(mode), f.fractions);
          d.seamlessCubemap = seamless;
          const cudaTextureObject_t t = texture_of(a, d);
          char text[96];
          std::snprintf(text, sizeof text, "cube %s %d linear %d seamless %d mode %d", f.format, f.size, linear,
                        seamless, mode);
          if (f.format[0] == 'u' && !f.fractions)
            take<Fetch::kCube, uint4>(t);
          else
            take<Fetch::kCube>(t);
          show(text, 1);
          cudaDestroyTextureObject(t);
        }
    cudaFreeArray(a);
  }
  cudaArray_t a = array_of("f32", 4, 4, 18, cudaArrayCubemap | cudaArrayLayered);
  for (int linear = 0; linear < 2; ++linear) {
    const cudaTextureObject_t t = texture_of(a, sampling(linear, true, cudaAddressModeClamp));
    take<Fetch::kCubeLayered>(t), show(linear ? "layered cube, linear" : "layered cube", 1);
    cudaDestroyTextureObject(t);
  }
  cudaFreeArray(a);
  a = array_of("f32x4", 4, 4, 6, cudaArrayCubemap);
  const cudaTextureObject_t t = texture_of(a, sampling(false, false, cudaAddressModeClamp));
  take<Fetch::kCube>(t), show("cube, coordinates not normalized", 4);
  cudaDestroyTextureObject(t);
  cudaFreeArray(a);
}

static void plane_points(float low, float high) {
  static float4 list[kMany];
  static const float odd[] = {0, 0.5f, 1, 1.5f, -0.25f, NAN, INFINITY, -INFINITY, 1e9f, 3.998f, 3.999f, 0.001953125f, 0.498f, 0.499f, 1.998f, 1.9981f};
  for (int i = 0; i < kMany; ++i)
    list[i] = i < 16   ? make_float4(odd[i], odd[(i * 7 + 3) % 16], odd[(i * 5 + 1) % 16], 0)
              : i < 32 ? make_float4(static_cast<float>(i - 18) * 0.25f * high / 2, static_cast<float>(i % 5) * high / 4, static_cast<float>(i % 7) * 0.5f, 0)
                       : random_point(low, high, 0);
  points(list);
}

static void gathers() {
  random_state = 22;
  for (const char* format : {"f32x4", "u8x4", "s16x2", "u32"}) {
    cudaArray_t a = array_of(format, 4, 4, 0, cudaArrayTextureGather);
    const bool fractions = std::strcmp(format, "u8x4") == 0;
    for (int mode : {0, 1, 2, 3})
      for (int linear = 0; linear < (fractions || format[0] == 'f' ? 2 : 1); ++linear) {
        const bool normalized = mode == 0 || mode == 2;
        random_state = 23;
        plane_points(normalized ? -1.5f : -2, normalized ? 1.5f : 6);
        const cudaTextureObject_t t = texture_of(a, sampling(linear, normalized, static_cast<cudaTextureAddressMode>(mode), fractions));
        char text[96];
        std::snprintf(text, sizeof text, "gather %s mode %d linear %d", format, mode, linear);
        if (format[0] == 'f' || fractions) {
          take<Fetch::kGather0>(t), show(text, 4);
          if (mode == 1 || mode == 3) {
            take<Fetch::kGather1>(t), show("  y", 4);
            take<Fetch::kGather3>(t), show("  w", 4);
          }
        } else if (format[0] == 's') {
          take<Fetch::kGather1, int4>(t), show(text, 4);
          if (mode == 1) take<Fetch::kGather2, int4>(t), show("  z", 4);
        } else {
          take<Fetch::kGather0, uint4>(t), show(text, 4);
        }
        cudaDestroyTextureObject(t);
      }
    cudaFreeArray(a);
  }
}

static void volumes() {
  for (const char* format : {"f32", "u8", "f32x4"}) {
    random_state = 33;
    cudaArray_t a = array_of(format, 5, 4, 3, 0);
    for (int mode : {0, 1, 3}) {
      const bool normalized = mode == 0;
      plane_points(normalized ? -1.5f : -1, normalized ? 1.5f : 4);
      for (int linear = 0; linear < 2; ++linear) {
        const cudaTextureObject_t t =
            texture_of(a, sampling(linear, normalized, static_cast<cudaTextureAddressMode>(mode), format[0] == 'u'));
        char text[96];
        std::snprintf(text, sizeof text, "3d %s mode %d linear %d", format, mode, linear);
        take<Fetch::k3d>(t), show(text, 1);
        cudaDestroyTextureObject(t);
      }
    }
    cudaFreeArray(a);
  }
}

// One level: what gradients and levels of detail do there.
static void one_level() {
  random_state = 44;
  cudaArray_t a = array_of("f32", 4, 4, 0, 0);
  plane_points(-0.5f, 1.5f);
  for (int linear = 0; linear < 2; ++linear) {
    const cudaTextureDesc d = sampling(linear, true, cudaAddressModeWrap);
    const cudaTextureObject_t t = texture_of(a, d);
    take<Fetch::k2d>(t), show("one level, plain", 1);
    take<Fetch::kLod2d>(t, 0), show("one level, level 0", 1);
    take<Fetch::kLod2d>(t, 2.5f), show("one level, level 2.5", 1);
    take<Fetch::kGrad2d>(t, 0.3f), show("one level, gradient", 1);
    take<Fetch::kGradZero>(t), show("one level, no gradient", 1);
    cudaDestroyTextureObject(t);
  }
  cudaFreeArray(a);
}

static cudaTextureObject_t levels_of(cudaMipmappedArray_t m, cudaTextureDesc d) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  cudaTextureObject_t t = 0;
  const int got = static_cast<int>(cudaCreateTextureObject(&t, &r, &d, nullptr));
  cudaGetLastError();
  if (got != 0) std::printf("texture %d\n", got);
  return t;
}
static void fill_levels(cudaMipmappedArray_t m, const char* format, int w, int h, int d, int levels, bool layers) {
  for (int level = 0; level < levels; ++level) {
    cudaArray_t a = nullptr;
    const int code = static_cast<int>(cudaGetMipmappedArrayLevel(&a, m, static_cast<u32>(level)));
    cudaExtent e{};
    cudaArrayGetInfo(nullptr, &e, nullptr, a);
    std::printf("level %d -> %d (%d %d %d)\n", level, code, static_cast<int>(e.width), static_cast<int>(e.height),
                static_cast<int>(e.depth));
    const auto part = [&](int n) { return n == 0 ? 1 : n >> level == 0 ? 1 : n >> level; };
    fill(a, format, part(w), part(h), layers ? d : part(d));
  }
}
static void lod_points(float spread) {
  static float4 list[kMany];
  static const float lods[] = {0, 0.25f, 0.5f, 0.499f, 0.501f, 0.75f, 1, 1.5f, 1.499f, 1.5001f, 2, 2.3f, 2.7f, 3, 3.9f, 4, 5, 100, -1, -0.3f, NAN, INFINITY, -INFINITY, 0.0019f, 0.002f, 0.0039f, 0.00390625f, 0.998f, 0.999f, 0.9981f, 1.9f, 1.1f};
  for (int i = 0; i < kMany; ++i)
    list[i] = random_point(-spread, spread, lods[i % 32]);
  points(list);
}
static void mipmaps() {
  random_state = 55;
  cudaMipmappedArray_t m = nullptr;
  const cudaChannelFormatDesc f = format_of("f32");
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 8, 0), 5));
  cudaArray_t a = nullptr;
  R(cudaGetMipmappedArrayLevel(&a, m, 5));
  R(cudaGetMipmappedArrayLevel(nullptr, m, 0));
  fill_levels(m, "f32", 16, 8, 0, 5, false);
  char text[128];
  for (int linear = 0; linear < 2; ++linear)
    for (int between = 0; between < 2; ++between)
      for (int setting = 0; setting < 6; ++setting) {
        cudaTextureDesc d = sampling(linear, true, setting == 1 ? cudaAddressModeClamp : cudaAddressModeWrap);
        d.mipmapFilterMode = between ? cudaFilterModeLinear : cudaFilterModePoint;
        d.maxMipmapLevelClamp = setting == 2 ? 2.25f : setting == 5 ? 0 : 10;
        d.minMipmapLevelClamp = setting == 3 ? 1.4f : 0;
        d.mipmapLevelBias = setting == 4 ? 0.6f : 0;
        const cudaTextureObject_t t = levels_of(m, d);
        random_state = 56;
        lod_points(1.5f);
        std::snprintf(text, sizeof text, "levels, linear %d between %d setting %d", linear, between, setting);
        take<Fetch::kLod2d>(t), show(text, 1);
        take<Fetch::k2d>(t), show("  plain", 1);
        cudaDestroyTextureObject(t);
      }
  R(cudaFreeMipmappedArray(m));
  R(cudaFreeMipmappedArray(nullptr));
  // Other shapes.
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(20, 0, 0), 9));
  fill_levels(m, "f32", 20, 0, 0, 5, false);
  cudaTextureDesc d = sampling(true, true, cudaAddressModeWrap);
  d.mipmapFilterMode = cudaFilterModeLinear;
  d.maxMipmapLevelClamp = 10;
  cudaTextureObject_t t = levels_of(m, d);
  lod_points(1.5f);
  take<Fetch::kLod1d>(t), show("levels 1d", 1);
  cudaDestroyTextureObject(t);
  R(cudaFreeMipmappedArray(m));
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 4), 3));
  fill_levels(m, "f32", 8, 8, 4, 3, false);
  for (int linear = 0; linear < 2; ++linear) {
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    t = levels_of(m, d);
    take<Fetch::kLod3d>(t), show("levels 3d", 1);
    cudaDestroyTextureObject(t);
  }
  R(cudaFreeMipmappedArray(m));
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 6), 4, cudaArrayCubemap));
  fill_levels(m, "f32", 8, 8, 6, 4, true);
  for (int linear = 0; linear < 2; ++linear) {
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.seamlessCubemap = linear;
    t = levels_of(m, d);
    take<Fetch::kLodCube>(t), show("levels of a cube", 1);
    cudaDestroyTextureObject(t);
  }
  R(cudaFreeMipmappedArray(m));
  d = sampling(true, true, cudaAddressModeWrap);
  d.mipmapFilterMode = cudaFilterModeLinear;
  d.maxMipmapLevelClamp = 10;
  const cudaChannelFormatDesc bytes = format_of("u8x4");
  d.readMode = cudaReadModeNormalizedFloat;
  R(cudaMallocMipmappedArray(&m, &bytes, make_cudaExtent(8, 8, 0), 4));
  fill_levels(m, "u8x4", 8, 8, 0, 4, false);
  t = levels_of(m, d);
  take<Fetch::kLod2d>(t), show("levels of bytes", 4);
  cudaDestroyTextureObject(t);
  R(cudaFreeMipmappedArray(m));
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 3), 2, cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  cudaSurfaceObject_t s = 0;
  R(cudaCreateSurfaceObject(&s, &r));
  R(cudaGetMipmappedArrayLevel(&a, m, 1));
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  R(cudaCreateSurfaceObject(&s, &r));
  R(cudaDestroySurfaceObject(s));
  R(cudaFreeArray(a));
  R(cudaFreeMipmappedArray(m));
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 8, 0), 0));
  R(cudaMallocMipmappedArray(nullptr, &f, make_cudaExtent(16, 8, 0), 2));
  R(cudaMallocMipmappedArray(&m, nullptr, make_cudaExtent(16, 8, 0), 2));
  R(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(0, 8, 0), 2));
}

__global__ void ask(u32* out, cudaTextureObject_t t) {
  u32 w, h, d, l;
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
  asm volatile("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(t));
  asm volatile("txq.depth.b32 %0, [%1];" : "=r"(d) : "l"(t));
  asm volatile("txq.level.width.b32 %0, [%1], %2;" : "=r"(l) : "l"(t), "r"(1));
  out[0] = w, out[1] = h, out[2] = d, out[3] = l;
}
static void queries() {
  random_state = 66;
  struct {
    const char* format;
    int w, h, d;
    unsigned flags;
    int mode;
  } const kinds[] = {{"f32", 12, 0, 0, 0, 1},  {"u8x4", 5, 4, 0, 0, 0},  {"s16x2", 5, 4, 3, 0, 3},
                     {"f16", 5, 4, 3, cudaArrayLayered, 2}, {"f32x4", 4, 4, 6, cudaArrayCubemap, 1}};
  for (const auto& k : kinds) {
    cudaArray_t a = array_of(k.format, k.w, k.h, k.d, k.flags);
    const cudaTextureObject_t t =
        texture_of(a, sampling(k.mode == 0, k.mode != 3, static_cast<cudaTextureAddressMode>(k.mode), k.format[0] == 'u'));
    ask<<<1, 1>>>(device_out, t);
    const int launched = static_cast<int>(cudaGetLastError());
    const int code = launched != 0 ? launched : static_cast<int>(cudaDeviceSynchronize());
    cudaMemcpy(host_out, device_out, sizeof host_out, cudaMemcpyDeviceToHost);
    std::printf("query %s -> %d:", k.format, code);
    for (int i = 0; i < 4; ++i) std::printf(" %x", host_out[i]);
    std::printf("\n");
    cudaDestroyTextureObject(t);
    cudaFreeArray(a);
  }
}

int main() {
  cudaMalloc(&device_out, sizeof host_out);
  cudaMemset(device_out, 0xee, sizeof host_out);
  cudaMalloc(&device_points, kMany * sizeof(float4));
  cubes();
  gathers();
  volumes();
  one_level();
  mipmaps();
  queries();
  return 0;
}
