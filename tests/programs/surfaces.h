// What the groups of surfaces.cu share: calls that are printed, a surface whose changes are found.
#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

typedef unsigned u32;
typedef unsigned char u8;

static const char* group = "";
#define R(call)                                         \
  do {                                                  \
    const int code = static_cast<int>(call);            \
    std::printf("%s | %s -> %d\n", group, #call, code); \
    cudaGetLastError();                                 \
  } while (0)

constexpr int kOut = 512;
static u32* device_out;

static int ended() {
  const int launched = static_cast<int>(cudaGetLastError()), code = static_cast<int>(cudaDeviceSynchronize());
  return launched != 0 ? launched : code;
}
static void show(const char* what, int count) {
  const int code = ended();
  static u32 host[kOut];
  if (code != 0) {
    std::printf("%s | %s -> %d\n", group, what, code);
    return;
  }
  cudaMemcpy(host, device_out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%s | %s:", group, what);
  for (int i = 0; i < count; ++i) std::printf(" %x", host[i]);
  std::printf("\n");
  cudaMemset(device_out, 0xee, sizeof host);
}

static cudaChannelFormatDesc format_of(const char* name) {
  const char kind = name[0];
  const int bits = std::atoi(name + 1), channels = std::strchr(name, 'x') ? std::atoi(std::strchr(name, 'x') + 1) : 1;
  return cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                               kind == 'u'   ? cudaChannelFormatKindUnsigned
                               : kind == 's' ? cudaChannelFormatKindSigned
                                             : cudaChannelFormatKindFloat);
}
static int bytes_of(const cudaChannelFormatDesc& f) { return (f.x + f.y + f.z + f.w) / 8; }

struct Surface {
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t object = 0;
  cudaExtent extent{};
  int texel = 0, width = 0, rows = 1, slices = 1;

  Surface(const char* format, int w, int h, int d, unsigned flags) {
    const cudaChannelFormatDesc f = format_of(format);
    texel = bytes_of(f);
    width = w, rows = h ? h : 1, slices = d ? d : 1;
    extent = make_cudaExtent(w, h, d);
    if (cudaMalloc3DArray(&array, &f, extent, flags | cudaArraySurfaceLoadStore) != cudaSuccess)
      std::printf("no array\n");
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    if (cudaCreateSurfaceObject(&object, &r) != cudaSuccess) std::printf("no surface\n");
    fill(0);
  }
  ~Surface() {
    cudaDestroySurfaceObject(object);
    cudaFreeArray(array);
  }
  int bytes() const { return texel * width * rows * slices; }
  void copy(u8* host, cudaMemcpyKind kind) {
    cudaMemcpy3DParms p{};
    p.extent = make_cudaExtent(width, rows, slices);
    p.kind = kind;
    const cudaPitchedPtr memory = make_cudaPitchedPtr(host, width * texel, width, rows);
    if (kind == cudaMemcpyHostToDevice)
      p.srcPtr = memory, p.dstArray = array;
    else
      p.dstPtr = memory, p.srcArray = array;
    if (cudaMemcpy3D(&p) != cudaSuccess) std::printf("no copy\n");
  }
  void fill(int seed) {
    static u8 host[65536];
    for (int i = 0; i < bytes(); ++i) host[i] = static_cast<u8>(i * 7 + 11 * (i >> 8) + 1 + seed);
    copy(host, cudaMemcpyHostToDevice);
  }
  /// What changed since the fill.
  void changes(const char* what) {
    const int code = ended();
    std::printf("%s | %s -> %d", group, what, code);
    static u8 host[65536];
    if (code == 0) {
      copy(host, cudaMemcpyDeviceToHost);
      for (int i = 0; i < bytes(); ++i)
        if (host[i] != static_cast<u8>(i * 7 + 11 * (i >> 8) + 1)) std::printf(" %d:%x", i, host[i]);
    }
    std::printf("\n");
    fill(0);
  }
};

template <class T>
__device__ void put(u32* out, int& at, T value) {
  u32 words[4] = {};
  memcpy(words, &value, sizeof(T));
  for (int i = 0; i < (static_cast<int>(sizeof(T)) + 3) / 4; ++i) out[at++] = words[i];
}
