// Texture fetches and accesses of surfaces: one such instruction per launch, in many geometries, widths and patterns of
// lanes. The program compares what it read with the host's; the counters are in textures_h200.csv.
#include <cuda_runtime.h>

#include <cstring>

#include "check.h"

constexpr int kSide = 64;  // texels of a plane
constexpr int kThreads = 64;

struct Lane {
  int x, y, z, on;
};

enum Geometry { k1d, k2d, k3d, k1dLayered, k2dLayered };

template <class T, Geometry kGeometry>
__global__ void surface_read(cudaSurfaceObject_t s, const Lane* lanes, T* out) {
  const Lane c = lanes[threadIdx.x];
  const int x = c.x * static_cast<int>(sizeof(T));
  if (!c.on) return;
  T v;
  if (kGeometry == k1d) v = surf1Dread<T>(s, x);
  if (kGeometry == k2d) v = surf2Dread<T>(s, x, c.y);
  if (kGeometry == k3d) v = surf3Dread<T>(s, x, c.y, c.z);
  if (kGeometry == k1dLayered) v = surf1DLayeredread<T>(s, x, c.z);
  if (kGeometry == k2dLayered) v = surf2DLayeredread<T>(s, x, c.y, c.z);
  out[threadIdx.x] = v;
}
template <class T, Geometry kGeometry>
__global__ void surface_write(cudaSurfaceObject_t s, const Lane* lanes, const T* in) {
  const Lane c = lanes[threadIdx.x];
  const int x = c.x * static_cast<int>(sizeof(T));
  if (!c.on) return;
  const T v = in[threadIdx.x];
  if (kGeometry == k1d) surf1Dwrite(v, s, x);
  if (kGeometry == k2d) surf2Dwrite(v, s, x, c.y);
  if (kGeometry == k3d) surf3Dwrite(v, s, x, c.y, c.z);
  if (kGeometry == k1dLayered) surf1DLayeredwrite(v, s, x, c.z);
  if (kGeometry == k2dLayered) surf2DLayeredwrite(v, s, x, c.y, c.z);
}
__global__ void surface_add(cudaSurfaceObject_t s, const Lane* lanes, const unsigned* in) {
  const Lane c = lanes[threadIdx.x];
  if (!c.on) return;
  const unsigned v = in[threadIdx.x];
  asm volatile("sured.b.2d.add.u32.zero [%0, {%1, %2}], %3;" ::"l"(s), "r"(c.x * 4), "r"(c.y), "r"(v) : "memory");
}

enum Fetch { kLinearMemory, kFetch1d, kFetch2d, kFetch3d, kFetchLayered, kFetchCube, kFetchGather, kFetchGrad, kFetchLod };
template <Fetch kFetch, class T>
__global__ void texture_read(cudaTextureObject_t t, const Lane* lanes, T* out, float level) {
  const Lane c = lanes[threadIdx.x];
  if (!c.on) return;
  const float x = static_cast<float>(c.x) + 0.5f, y = static_cast<float>(c.y) + 0.5f, z = static_cast<float>(c.z) + 0.5f;
  T v;
  if (kFetch == kLinearMemory) v = tex1Dfetch<T>(t, c.x);
  if (kFetch == kFetch1d) v = tex1D<T>(t, x);
  if (kFetch == kFetch2d) v = tex2D<T>(t, x, y);
  if (kFetch == kFetch3d) v = tex3D<T>(t, x, y, z);
  if (kFetch == kFetchLayered) v = tex2DLayered<T>(t, x, y, c.z);
  if (kFetch == kFetchCube) v = texCubemap<T>(t, x - 8, y - 8, 3);
  if (kFetch == kFetchGather) v = tex2Dgather<T>(t, x, y, 0);
  if (kFetch == kFetchGrad) v = tex2DGrad<T>(t, x / kSide, y / kSide, make_float2(level, 0), make_float2(0, level));
  if (kFetch == kFetchLod) v = tex2DLod<T>(t, x / kSide, y / kSide, level);
  out[threadIdx.x] = v;
}

static Lane lanes[kThreads];
static Lane* device_lanes;
static void* device_data;

/// Patterns of lanes: where they go in a plane, and which are on.
constexpr int kPatterns = 16;
static void set_lanes(int pattern) {
  std::uint32_t random = 5;
  for (int i = 0; i < kThreads; ++i) {
    const int l = i % 32, w = i / 32;
    Lane c{l, w, 0, 1};
    switch (pattern) {
      case 1: c.x = 2 * l; break;
      case 2: c.x = l * 8 % kSide, c.y = l / 8; break;
      case 3: c.x = 5; break;
      case 4: c.x = w, c.y = l; break;
      case 5: c.x = l % 8, c.y = l / 8; break;
      case 6: c.x = l % 4, c.y = l / 4; break;
      case 7: c.x = next_number(random) % kSide, c.y = next_number(random) % kSide; break;
      case 8: c.on = i == 37; break;
      case 9: c.on = i < 5; break;
      case 10: c.on = l % 4 == 0; break;
      case 11: c.on = l % 2; break;
      case 12: c.x = 31 - l; break;
      case 13: c.x = l % 16, c.y = l / 16; break;
      case 14: c.x = l % 2, c.y = l / 2; break;
      case 15: c.on = 0; break;
      default: break;
    }
    c.z = w;
    lanes[i] = c;
  }
  cudaMemcpy(device_lanes, lanes, sizeof lanes, cudaMemcpyHostToDevice);
}

template <class T>
static cudaArray_t make_array(int w, int h, int d, unsigned flags) {
  cudaArray_t a = nullptr;
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<T>();
  if (cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags) != cudaSuccess) std::printf("no array\n"), ++failures;
  std::vector<unsigned char> host(sizeof(T) * w * (h ? h : 1) * (d ? d : 1));
  std::uint32_t random = 77;
  for (auto& b : host) b = static_cast<unsigned char>(next_number(random) & 0x3f);
  cudaMemcpy3DParms p{};
  p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  p.srcPtr = make_cudaPitchedPtr(host.data(), w * sizeof(T), w, h ? h : 1);
  p.dstArray = a;
  p.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&p);
  return a;
}
static cudaResourceDesc resource_of(cudaArray_t a) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

template <class T, Geometry kGeometry>
static void surfaces(int w, int h, int d, unsigned flags, int first, int last) {
  cudaArray_t a = make_array<T>(w, h, d, flags | cudaArraySurfaceLoadStore);
  const cudaResourceDesc r = resource_of(a);
  cudaSurfaceObject_t s = 0;
  cudaCreateSurfaceObject(&s, &r);
  static T before[kThreads], got[kThreads];
  for (int pattern = first; pattern <= last; ++pattern) {
    set_lanes(pattern);
    cudaMemset(device_data, 0, sizeof got);
    surface_read<T, kGeometry><<<1, kThreads>>>(s, device_lanes, static_cast<T*>(device_data));
    cudaMemcpy(before, device_data, sizeof before, cudaMemcpyDeviceToHost);
    surface_write<T, kGeometry><<<1, kThreads>>>(s, device_lanes, static_cast<const T*>(device_data));
    if (pattern != 0) continue;
    cudaMemset(device_data, 0, sizeof got);
    surface_read<T, kGeometry><<<1, kThreads>>>(s, device_lanes, static_cast<T*>(device_data));
    cudaMemcpy(got, device_data, sizeof got, cudaMemcpyDeviceToHost);
    if (std::memcmp(before, got, sizeof got) != 0) std::printf("pattern %d: not what was written\n", pattern), ++failures;
  }
  cudaDestroySurfaceObject(s);
  cudaFreeArray(a);
}

template <Fetch kFetch, class T, class Texel>
static void textures(int w, int h, int d, unsigned flags, bool linear, int first, int last, float level = 0) {
  cudaTextureDesc how{};
  cudaResourceDesc r{};
  cudaArray_t a = nullptr;
  cudaMipmappedArray_t m = nullptr;
  void* memory = nullptr;
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<Texel>();
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  how.mipmapFilterMode = how.filterMode;
  how.maxMipmapLevelClamp = 5;
  how.readMode = sizeof(f.x) == 4 && f.f != cudaChannelFormatKindFloat && f.x < 32 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  how.normalizedCoords = kFetch == kFetchGrad || kFetch == kFetchLod || kFetch == kFetchCube;
  if (kFetch == kLinearMemory) {
    cudaMalloc(&memory, w * sizeof(Texel));
    cudaMemset(memory, 1, w * sizeof(Texel));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = memory;
    r.res.linear.desc = f;
    r.res.linear.sizeInBytes = w * sizeof(Texel);
  } else if (kFetch == kFetchLod || kFetch == kFetchGrad) {
    cudaMallocMipmappedArray(&m, &f, make_cudaExtent(w, h, 0), 4);
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
  } else {
    a = make_array<Texel>(w, h, d, flags);
    r = resource_of(a);
  }
  cudaTextureObject_t t = 0;
  if (cudaCreateTextureObject(&t, &r, &how, nullptr) != cudaSuccess) std::printf("no texture\n"), ++failures;
  for (int pattern = first; pattern <= last; ++pattern) {
    set_lanes(pattern);
    texture_read<kFetch, T><<<1, kThreads>>>(t, device_lanes, static_cast<T*>(device_data), level);
  }
  cudaDestroyTextureObject(t);
  cudaFreeArray(a);
  if (m != nullptr) cudaFreeMipmappedArray(m);
  cudaFree(memory);
}

int main() {
  cudaMalloc(&device_lanes, sizeof lanes);
  cudaMalloc(&device_data, kThreads * 16);
  surfaces<unsigned, k2d>(kSide, kSide, 0, 0, 0, kPatterns - 1);
  surfaces<unsigned char, k2d>(kSide, kSide, 0, 0, 0, 10);
  surfaces<float4, k2d>(kSide, kSide, 0, 0, 0, 10);
  surfaces<ushort2, k2d>(kSide, kSide, 0, 0, 0, 0);
  surfaces<unsigned short, k2d>(kSide, kSide, 0, 0, 0, 4);
  surfaces<uint2, k2d>(kSide, kSide, 0, 0, 0, 4);
  surfaces<unsigned, k1d>(kSide, 0, 0, 0, 0, 3);
  surfaces<unsigned, k3d>(kSide, kSide, 2, 0, 3, 7);
  surfaces<unsigned, k1dLayered>(kSide, 0, 2, cudaArrayLayered, 0, 1);
  surfaces<unsigned, k2dLayered>(kSide, kSide, 2, cudaArrayLayered, 5, 9);
  {
    cudaArray_t a = make_array<unsigned>(kSide, kSide, 0, cudaArraySurfaceLoadStore);
    const cudaResourceDesc r = resource_of(a);
    cudaSurfaceObject_t s = 0;
    cudaCreateSurfaceObject(&s, &r);
    for (int pattern = 0; pattern < 12; ++pattern) {
      set_lanes(pattern);
      surface_add<<<1, kThreads>>>(s, device_lanes, static_cast<const unsigned*>(device_data));
    }
    cudaDestroySurfaceObject(s);
    cudaFreeArray(a);
  }
  textures<kFetch2d, float, float>(kSide, kSide, 0, 0, false, 0, kPatterns - 1);
  textures<kFetch2d, float, float>(kSide, kSide, 0, 0, true, 0, 9);
  textures<kFetch2d, float4, float4>(kSide, kSide, 0, 0, true, 0, 9);
  textures<kFetch2d, float4, uchar4>(kSide, kSide, 0, 0, true, 0, 9);
  textures<kLinearMemory, float, float>(4096, 0, 0, 0, false, 0, 9);
  textures<kLinearMemory, float4, float4>(4096, 0, 0, 0, false, 0, 3);
  textures<kFetch1d, float, float>(kSide, 0, 0, 0, false, 0, 3);
  textures<kFetch3d, float, float>(kSide, kSide, 2, 0, true, 3, 7);
  textures<kFetchLayered, float, float>(kSide, kSide, 2, cudaArrayLayered, false, 5, 9);
  textures<kFetchCube, float, float>(kSide, kSide, 6, cudaArrayCubemap, false, 0, 6);
  textures<kFetchGather, float4, float>(kSide, kSide, 0, cudaArrayTextureGather, false, 0, 6);
  textures<kFetchLod, float, float>(kSide, kSide, 0, 0, false, 0, 6, 0);
  textures<kFetchLod, float, float>(kSide, kSide, 0, 0, true, 0, 6, 1.5f);
  textures<kFetchGrad, float, float>(kSide, kSide, 0, 0, true, 0, 9, 0.05f);
  return finish();
}
