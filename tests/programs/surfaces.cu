// Surface objects, call by call and form by form: what each returns, reads and leaves behind, as bits. The same lines on
// an H200 are kept in tests/counters/surfaces_h200.txt. Without arguments: every group, each in a process of its own
// (a fault ends a context).
#include "surfaces.h"

// --- 1D: every width of element on every width of texel, inside and outside ---

template <class T, cudaSurfaceBoundaryMode kMode>
__global__ void read_1d(u32* out, cudaSurfaceObject_t s, int first, int step, int count) {
  int at = 0;
  for (int i = 0; i < count; ++i) put(out, at, surf1Dread<T>(s, first + i * step, kMode));
}
template <class T, cudaSurfaceBoundaryMode kMode>
__global__ void write_1d(cudaSurfaceObject_t s, int x) {
  T value;
  u8 bytes[sizeof(T)];
  for (unsigned i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<u8>(0xc0 + i);
  memcpy(&value, bytes, sizeof(T));
  surf1Dwrite(value, s, x, kMode);
}

template <class T>
static void reads_1d(const char* name, const char* format) {
  Surface s(format, 12, 0, 0, 0);
  const int size = static_cast<int>(sizeof(T));
  const int words = (size + 3) / 4, count = 12 * s.texel / size + 6;
  char text[64];
  read_1d<T, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, -3 * size, size, count);
  std::snprintf(text, sizeof text, "%s of %s, zero", name, format);
  show(text, words * count);
  read_1d<T, cudaBoundaryModeClamp><<<1, 1>>>(device_out, s.object, -3 * size, size, count);
  std::snprintf(text, sizeof text, "%s of %s, clamp", name, format);
  show(text, words * count);
  for (int x : {-size, 0, 12 * s.texel - size, 12 * s.texel, 12 * s.texel + size}) {
    write_1d<T, cudaBoundaryModeZero><<<1, 1>>>(s.object, x);
    std::snprintf(text, sizeof text, "write %s of %s at %d, zero", name, format, x);
    s.changes(text);
    write_1d<T, cudaBoundaryModeClamp><<<1, 1>>>(s.object, x);
    std::snprintf(text, sizeof text, "write %s of %s at %d, clamp", name, format, x);
    s.changes(text);
  }
}

static void one_dimension() {
  reads_1d<unsigned char>("char", "u8");
  reads_1d<uchar2>("char2", "u8x2");
  reads_1d<uchar4>("char4", "u8x4");
  reads_1d<unsigned short>("short", "s16");
  reads_1d<short2>("short2", "s16x2");
  reads_1d<ushort4>("short4", "f16x4");
  reads_1d<unsigned>("int", "u32");
  reads_1d<float2>("float2", "f32x2");
  reads_1d<float4>("float4", "f32x4");
  reads_1d<unsigned long long>("long", "u32x2");
  reads_1d<ulonglong2>("long2", "u32x4");
}

// Elements of another size than the texel.
static void other_sizes(int which) {
  if (which == 0) reads_1d<unsigned char>("char", "u32");
  if (which == 1) reads_1d<unsigned short>("short", "u8x4");
  if (which == 2) reads_1d<unsigned>("int", "u32x4");
  if (which == 3) reads_1d<unsigned>("int", "u8");
  if (which == 4) reads_1d<float4>("float4", "u16x2");
  if (which == 5) reads_1d<float2>("float2", "f32");
  if (which == 6) reads_1d<unsigned char>("char", "u16x4");
}
// Bytes that no element begins at.
static void unaligned(int which) {
  Surface s("u32", 12, 0, 0, 0);
  if (which == 0) read_1d<unsigned, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, -5, 1, 60), show("zero", 60);
  if (which == 1) read_1d<unsigned, cudaBoundaryModeClamp><<<1, 1>>>(device_out, s.object, -5, 1, 60), show("clamp", 60);
  if (which == 2) {
    Surface wide("f32x4", 3, 0, 0, 0);
    read_1d<float4, cudaBoundaryModeZero><<<1, 1>>>(device_out, wide.object, -20, 4, 20);
    show("float4", 80);
  }
  if (which == 3) {
    for (int x = 0; x < 8; ++x) write_1d<unsigned, cudaBoundaryModeZero><<<1, 1>>>(s.object, x), s.changes("write");
  }
  if (which == 4) {
    Surface narrow("u16", 12, 0, 0, 0);
    read_1d<unsigned short, cudaBoundaryModeClamp><<<1, 1>>>(device_out, narrow.object, -3, 1, 30);
    show("short", 30);
  }
  if (which == 5) {
    Surface wide("u32x2", 6, 0, 0, 0);
    read_1d<uint2, cudaBoundaryModeClamp><<<1, 1>>>(device_out, wide.object, -12, 1, 64);
    show("int2", 128);
  }
}

// --- more dimensions ---

enum Geometry { k2d, k3d, k1dLayered, k2dLayered, kCube, kCubeLayered };
template <Geometry kGeometry, cudaSurfaceBoundaryMode kMode>
__global__ void read_at(u32* out, cudaSurfaceObject_t s, const int4* where, int count) {
  int at = 0;
  for (int i = 0; i < count; ++i) {
    const int4 c = where[i];
    unsigned v = 0;
    if (kGeometry == k2d) v = surf2Dread<unsigned>(s, c.x * 4, c.y, kMode);
    if (kGeometry == k3d) v = surf3Dread<unsigned>(s, c.x * 4, c.y, c.z, kMode);
    if (kGeometry == k1dLayered) v = surf1DLayeredread<unsigned>(s, c.x * 4, c.z, kMode);
    if (kGeometry == k2dLayered) v = surf2DLayeredread<unsigned>(s, c.x * 4, c.y, c.z, kMode);
    if (kGeometry == kCube) v = surfCubemapread<unsigned>(s, c.x * 4, c.y, c.z, kMode);
    if (kGeometry == kCubeLayered) v = surfCubemapLayeredread<unsigned>(s, c.x * 4, c.y, c.z, kMode);
    put(out, at, v);
  }
}
template <Geometry kGeometry, cudaSurfaceBoundaryMode kMode>
__global__ void write_at(cudaSurfaceObject_t s, const int4* where, int i) {
  const int4 c = where[i];
  const unsigned v = 0xabcd0000u + static_cast<unsigned>(i);
  if (kGeometry == k2d) surf2Dwrite(v, s, c.x * 4, c.y, kMode);
  if (kGeometry == k3d) surf3Dwrite(v, s, c.x * 4, c.y, c.z, kMode);
  if (kGeometry == k1dLayered) surf1DLayeredwrite(v, s, c.x * 4, c.z, kMode);
  if (kGeometry == k2dLayered) surf2DLayeredwrite(v, s, c.x * 4, c.y, c.z, kMode);
  if (kGeometry == kCube) surfCubemapwrite(v, s, c.x * 4, c.y, c.z, kMode);
  if (kGeometry == kCubeLayered) surfCubemapLayeredwrite(v, s, c.x * 4, c.y, c.z, kMode);
}
static const int4 kWhere[] = {{0, 0, 0, 0},  {1, 0, 0, 0},   {0, 1, 0, 0},     {0, 0, 1, 0},  {2, 2, 2, 0},
                              {-1, 0, 0, 0}, {0, -1, 0, 0},  {0, 0, -1, 0},    {5, 1, 1, 0},  {4, 1, 1, 0},
                              {1, 4, 1, 0},  {1, 3, 1, 0},   {1, 1, 3, 0},     {1, 1, 4, 0},  {1, 1, 5, 0},
                              {1, 1, 6, 0},  {1, 1, 11, 0},  {1, 1, 12, 0},    {9, 9, 9, 0},  {-3, -3, -3, 0},
                              {1, 1, 65536, 0}, {1, 65537, 1, 0}, {1, 1, 0x7fffffff, 0}, {3, 0x7fffffff, 0, 0}};
constexpr int kPlaces = static_cast<int>(sizeof kWhere / sizeof *kWhere);
static int4* device_where;

template <Geometry kGeometry>
static void shape(const char* name, int w, int h, int d, unsigned flags) {
  Surface s("u32", w, h, d, flags);
  char text[64];
  read_at<kGeometry, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, device_where, kPlaces);
  std::snprintf(text, sizeof text, "%s, zero", name);
  show(text, kPlaces);
  read_at<kGeometry, cudaBoundaryModeClamp><<<1, 1>>>(device_out, s.object, device_where, kPlaces);
  std::snprintf(text, sizeof text, "%s, clamp", name);
  show(text, kPlaces);
  for (int i = 0; i < kPlaces; ++i) {
    std::snprintf(text, sizeof text, "%s, write %d, zero", name, i);
    write_at<kGeometry, cudaBoundaryModeZero><<<1, 1>>>(s.object, device_where, i);
    s.changes(text);
    std::snprintf(text, sizeof text, "%s, write %d, clamp", name, i);
    write_at<kGeometry, cudaBoundaryModeClamp><<<1, 1>>>(s.object, device_where, i);
    s.changes(text);
  }
}
static void shapes() {
  shape<k2d>("2d", 5, 4, 0, 0);
  shape<k3d>("3d", 5, 4, 3, 0);
  shape<k1dLayered>("1d layered", 5, 0, 3, cudaArrayLayered);
  shape<k2dLayered>("2d layered", 5, 4, 3, cudaArrayLayered);
  shape<kCube>("cube", 4, 4, 6, cudaArrayCubemap);
  shape<kCubeLayered>("cube layered", 4, 4, 12, cudaArrayCubemap | cudaArrayLayered);
}
// A geometry that is not the array's.
static void wrong_shapes(int which) {
  if (which == 0) {
    Surface s("u32", 5, 4, 0, 0);
    read_1d<unsigned, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, 0, 4, 6);
    show("2d read as 1d", 6);
  }
  if (which == 1) {
    Surface s("u32", 5, 4, 3, cudaArrayLayered);
    read_at<k2d, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, device_where, kPlaces);
    show("2d layered read as 2d", kPlaces);
  }
  if (which == 2) {
    Surface s("u32", 5, 4, 3, 0);
    read_at<k2dLayered, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, device_where, kPlaces);
    show("3d read as 2d layered", kPlaces);
  }
  if (which == 3) {
    Surface s("u32", 5, 0, 0, 0);
    read_at<k2d, cudaBoundaryModeZero><<<1, 1>>>(device_out, s.object, device_where, kPlaces);
    show("1d read as 2d", kPlaces);
  }
}

// --- faults ---

static void faults(int which) {
  Surface s("u32", 5, 4, 0, 0);
  Surface t("u32", 5, 4, 3, cudaArrayLayered);
  if (which == 0) read_1d<unsigned, cudaBoundaryModeTrap><<<1, 1>>>(device_out, s.object, -4, 4, 1);
  if (which == 1) read_1d<unsigned, cudaBoundaryModeTrap><<<1, 1>>>(device_out, s.object, 20, 4, 1);
  if (which == 2) write_at<k2d, cudaBoundaryModeTrap><<<1, 1>>>(s.object, device_where, 6);
  if (which == 3) write_at<k2d, cudaBoundaryModeTrap><<<1, 1>>>(s.object, device_where, 10);
  if (which == 4) read_at<k2dLayered, cudaBoundaryModeTrap><<<1, 1>>>(device_out, t.object, device_where + 13, 1);
  if (which == 5) write_at<k2dLayered, cudaBoundaryModeTrap><<<1, 1>>>(t.object, device_where, 13);
  if (which == 6) read_1d<unsigned, cudaBoundaryModeTrap><<<1, 1>>>(device_out, s.object, 2, 4, 1);
  if (which == 7) read_1d<unsigned, cudaBoundaryModeZero><<<1, 1>>>(device_out, 0, 0, 4, 1);
  if (which == 8) read_1d<unsigned, cudaBoundaryModeZero><<<1, 1>>>(device_out, 77, 0, 4, 1);
  if (which == 9) write_1d<unsigned, cudaBoundaryModeZero><<<1, 1>>>(77, 0);
  if (which == 10) write_1d<unsigned, cudaBoundaryModeTrap><<<1, 1>>>(s.object, 2);
  show("code", 1);
}

// --- PTX that CUDA C++ has no name for ---

__global__ void ask_surface(u32* out, cudaSurfaceObject_t s) {
  u32 w, h, d;
  asm volatile("suq.width.b32 %0, [%1];" : "=r"(w) : "l"(s));
  asm volatile("suq.height.b32 %0, [%1];" : "=r"(h) : "l"(s));
  asm volatile("suq.depth.b32 %0, [%1];" : "=r"(d) : "l"(s));
  out[0] = w, out[1] = h, out[2] = d;
}
__global__ void kind_of(u32* out, unsigned long long handle) {
  u32 t, u, v;
  asm volatile("{ .reg .pred p; istypep.texref p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(t) : "l"(handle));
  asm volatile("{ .reg .pred p; istypep.surfref p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "l"(handle));
  asm volatile("{ .reg .pred p; istypep.samplerref p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(v) : "l"(handle));
  out[0] = t, out[1] = u, out[2] = v;
}
static void queries(int which) {
  Surface one("u8", 12, 0, 0, 0), two("f32x4", 5, 4, 0, 0), three("s16x2", 5, 4, 3, 0),
      layers("f16", 5, 4, 3, cudaArrayLayered), cube("u32", 4, 4, 6, cudaArrayCubemap);
  Surface* const all[] = {&one, &two, &three, &layers, &cube};
  if (which == 0)
    for (Surface* s : all) ask_surface<<<1, 1>>>(device_out, s->object), show("size", 3);
  if (which == 1) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = two.array;
    cudaTextureDesc t{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &r, &t, nullptr);
    kind_of<<<1, 1>>>(device_out, texture), show("a texture", 3);
    kind_of<<<1, 1>>>(device_out, one.object), show("a surface", 3);
    kind_of<<<1, 1>>>(device_out, 5), show("a number", 3);
    std::printf("upper words: texture %x, surface %x\n", static_cast<u32>(texture >> 32),
                static_cast<u32>(one.object >> 32));
  }
}

template <int kChannels>
__global__ void write_p(cudaSurfaceObject_t s, int x, u32 a, u32 b, u32 c, u32 d) {
  if (kChannels == 1) asm volatile("sust.p.1d.b32.zero [%0, {%1}], {%2};" ::"l"(s), "r"(x), "r"(a));
  if (kChannels == 2) asm volatile("sust.p.1d.v2.b32.zero [%0, {%1}], {%2, %3};" ::"l"(s), "r"(x), "r"(a), "r"(b));
  if (kChannels == 4)
    asm volatile("sust.p.1d.v4.b32.zero [%0, {%1}], {%2, %3, %4, %5};" ::"l"(s), "r"(x), "r"(a), "r"(b), "r"(c),
                 "r"(d));
}
static void formatted() {
  for (const char* format : {"u8", "s8", "u8x2", "u8x4", "s8x4", "u16", "s16x2", "u16x4", "u32", "s32x2", "u32x4", "f16",
                             "f16x4", "f32", "f32x4"}) {
    Surface s(format, 12, 0, 0, 0);
    char text[64];
    for (u32 v : {0u, 1u, 200u, 300u, 70000u, 0xffffffffu, 0xffffff00u, 0x80000000u, 0x3f800000u, 0xbf123456u,
                  0x477fffffu, 0x7fc00001u, 0x33000001u}) {
      write_p<4><<<1, 1>>>(s.object, 1, v, v + 1, 3, v + 3);
      std::snprintf(text, sizeof text, "%s %x", format, v);
      s.changes(text);
    }
    write_p<1><<<1, 1>>>(s.object, 2, 5, 6, 7, 8), s.changes("one component");
    write_p<2><<<1, 1>>>(s.object, 2, 5, 6, 7, 8), s.changes("two components");
    write_p<4><<<1, 1>>>(s.object, 12, 5, 6, 7, 8), s.changes("outside");
    write_p<4><<<1, 1>>>(s.object, -1, 5, 6, 7, 8), s.changes("outside");
  }
}

template <int kForm>
__global__ void reduce(cudaSurfaceObject_t s, int x, u32 v, unsigned long long w) {
  if (kForm == 0) asm volatile("sured.b.1d.add.u32.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
  if (kForm == 1) asm volatile("sured.b.1d.min.s32.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
  if (kForm == 2) asm volatile("sured.b.1d.max.u32.clamp [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
  if (kForm == 3) asm volatile("sured.b.1d.and.b32.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
  if (kForm == 4) asm volatile("sured.b.1d.or.b32.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
  if (kForm == 5) asm volatile("sured.b.1d.add.u64.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "l"(w));
  if (kForm == 6) asm volatile("sured.p.1d.add.b32.zero [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v));
}
static void reductions(int which) {
  Surface s("u32", 12, 0, 0, 0);
  if (which == 0) {
    for (int x : {-4, 0, 4, 44, 48}) {
      reduce<0><<<1, 32>>>(s.object, x, 5, 0), s.changes("add");
      reduce<1><<<1, 32>>>(s.object, x, 0x80000001u, 0), s.changes("min");
      reduce<2><<<1, 32>>>(s.object, x, 0xf0000001u, 0), s.changes("max, clamp");
      reduce<3><<<1, 32>>>(s.object, x, 0x0f0f0f0fu, 0), s.changes("and");
      reduce<4><<<1, 32>>>(s.object, x, 0xf0f0f0f0u, 0), s.changes("or");
    }
  }
  if (which == 1) {
    Surface wide("u32x2", 6, 0, 0, 0);
    reduce<5><<<1, 32>>>(wide.object, 8, 0, 0x100000001ull), wide.changes("add 64");
  }
  if (which == 2) reduce<6><<<1, 32>>>(s.object, 3, 5, 0), s.changes("formatted add");
}

// --- the runtime's functions ---

static void arrays() {
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<unsigned>(), three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t a = nullptr;
  const auto make = [&](int w, int h, int d, unsigned flags) {
    a = nullptr;
    const int code = static_cast<int>(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags));
    cudaGetLastError();
    std::printf("%s | %d x %d x %d, flags %x -> %d", group, w, h, d, flags, code);
    if (code == 0) {
      cudaExtent e{};
      unsigned got = 0;
      cudaArrayGetInfo(nullptr, &e, &got, a);
      std::printf(" (%d %d %d, %x)", static_cast<int>(e.width), static_cast<int>(e.height), static_cast<int>(e.depth),
                  got);
      cudaFreeArray(a);
    }
    std::printf("\n");
  };
  make(8, 8, 6, cudaArrayCubemap);
  make(8, 8, 6, cudaArrayCubemap | cudaArraySurfaceLoadStore);
  make(8, 4, 6, cudaArrayCubemap);
  make(8, 8, 5, cudaArrayCubemap);
  make(8, 8, 7, cudaArrayCubemap);
  make(8, 8, 12, cudaArrayCubemap);
  make(8, 8, 0, cudaArrayCubemap);
  make(8, 0, 6, cudaArrayCubemap);
  make(8, 8, 12, cudaArrayCubemap | cudaArrayLayered);
  make(8, 8, 13, cudaArrayCubemap | cudaArrayLayered);
  make(8, 8, 2046, cudaArrayCubemap | cudaArrayLayered);
  make(8, 8, 2052, cudaArrayCubemap | cudaArrayLayered);
  make(40000, 40000, 6, cudaArrayCubemap);
  make(8, 8, 0, cudaArrayTextureGather);
  make(8, 0, 0, cudaArrayTextureGather);
  make(8, 8, 8, cudaArrayTextureGather);
  make(8, 8, 6, cudaArrayTextureGather | cudaArrayCubemap);
  make(8, 8, 6, cudaArrayTextureGather | cudaArrayLayered);
  make(8, 8, 0, cudaArrayTextureGather | cudaArraySurfaceLoadStore);
  make(32768, 8, 0, cudaArrayTextureGather);
  make(32769, 8, 0, cudaArrayTextureGather);
  make(8, 0, 3, cudaArrayLayered | cudaArraySurfaceLoadStore);
  make(32768, 0, 0, cudaArraySurfaceLoadStore);
  make(32769, 0, 0, cudaArraySurfaceLoadStore);
  make(8, 65536, 0, cudaArraySurfaceLoadStore);
  make(8, 8, 0, cudaArrayLayered | cudaArraySurfaceLoadStore);
  make(0, 8, 0, cudaArraySurfaceLoadStore);
  R(cudaMallocArray(&a, &three, 8, 8, cudaArraySurfaceLoadStore));
}
static void objects() {
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<unsigned>();
  cudaArray_t plain, with;
  cudaMallocArray(&plain, &f, 8, 8);
  cudaMallocArray(&with, &f, 8, 8, cudaArraySurfaceLoadStore);
  cudaResourceDesc r{}, got{};
  cudaSurfaceObject_t s = 0, t = 0;
  r.resType = cudaResourceTypeArray;
  r.res.array.array = plain;
  R(cudaCreateSurfaceObject(&s, &r));
  r.res.array.array = with;
  R(cudaCreateSurfaceObject(nullptr, &r));
  R(cudaCreateSurfaceObject(&s, nullptr));
  R(cudaCreateSurfaceObject(&s, &r));
  R(cudaCreateSurfaceObject(&t, &r));
  std::printf("%s | two differ %d\n", group, s != t);
  R(cudaGetSurfaceObjectResourceDesc(&got, s));
  std::printf("%s | described %d %d\n", group, static_cast<int>(got.resType), got.res.array.array == with);
  R(cudaGetSurfaceObjectResourceDesc(nullptr, s));
  R(cudaGetSurfaceObjectResourceDesc(&got, 0));
  R(cudaGetSurfaceObjectResourceDesc(&got, 12345));
  R(cudaDestroySurfaceObject(s));
  R(cudaDestroySurfaceObject(s));
  R(cudaDestroySurfaceObject(0));
  R(cudaDestroySurfaceObject(12345));
  R(cudaGetSurfaceObjectResourceDesc(&got, t));
  R(cudaDestroySurfaceObject(t));
  u32* memory = nullptr;
  cudaMalloc(&memory, 4096);
  r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = memory;
  r.res.linear.desc = f;
  r.res.linear.sizeInBytes = 4096;
  R(cudaCreateSurfaceObject(&s, &r));
  r.resType = cudaResourceTypePitch2D;
  R(cudaCreateSurfaceObject(&s, &r));
  r.resType = cudaResourceTypeArray;
  r.res.array.array = nullptr;
  R(cudaCreateSurfaceObject(&s, &r));
}

static void run(const std::string& name, int which) {
  static char text[64];
  std::snprintf(text, sizeof text, which < 0 ? "%s" : "%s %d", name.c_str(), which);
  group = text;
  cudaMalloc(&device_out, kOut * sizeof(u32));
  cudaMemset(device_out, 0xee, kOut * sizeof(u32));
  cudaMalloc(&device_where, sizeof kWhere);
  cudaMemcpy(device_where, kWhere, sizeof kWhere, cudaMemcpyHostToDevice);
  if (name == "1d") one_dimension();
  if (name == "size") other_sizes(which);
  if (name == "unaligned") unaligned(which);
  if (name == "shape") shapes();
  if (name == "wrong") wrong_shapes(which);
  if (name == "fault") faults(which);
  if (name == "query") queries(which);
  if (name == "formatted") formatted();
  if (name == "reduce") reductions(which);
  if (name == "arrays") arrays();
  if (name == "objects") objects();
}

int main(int argc, char** argv) {
  if (argc > 1) {
    run(argv[1], argc > 2 ? std::atoi(argv[2]) : -1);
    std::fflush(stdout);
    return 0;
  }
  const struct {
    const char* name;
    int parts;
  } groups[] = {{"objects", 0}, {"arrays", 0}, {"1d", 0},        {"size", 7},  {"unaligned", 6}, {"shape", 0},
                {"wrong", 4},   {"query", 2},  {"formatted", 0}, {"reduce", 3}, {"fault", 11}};
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  for (const auto& g : groups) {
    for (int part = 0; part < (g.parts == 0 ? 1 : g.parts); ++part) {
      std::string command = std::string(self) + " " + g.name;
      if (g.parts != 0) command += " " + std::to_string(part);
      if (std::system(command.c_str()) != 0) std::printf("%s %d ended badly\n", g.name, part), std::fflush(stdout);
    }
  }
  return 0;
}
