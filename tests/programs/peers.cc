// What the runtime and the driver API answer where there are two devices: selection, streams, events, copies and peer
// access. Lines as those of device_memory.cc; groups in processes of their own. On a machine with two GPUs that reach
// each other:
//   g++ -std=c++17 -I /usr/local/cuda/include tests/programs/peers.cc -o peers -lcuda -lcudart
// Under muscope, with --devices 2, it must print tests/programs/peers.txt.
#include <cuda_runtime_api.h>

#include "device_memory.h"

namespace {

constexpr size_t kBytes = 4096;

void* on_device(int device) {
  void* pointer = nullptr;
  R(cudaSetDevice(device));
  R(cudaMalloc(&pointer, kBytes));
  return pointer;
}

/// The module of device `device` becomes the one of launch().
void use(const char* name, int device) {
  start(name, device);
  R(cudaSetDevice(device));
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

int word(const void* pointer) {
  int value = -1;
  R(cudaMemcpy(&value, pointer, sizeof value, cudaMemcpyDefault));
  return value;
}

void selection() {
  group = "selection";
  int number = 0;
  R(cudaGetDeviceCount(&number));
  V(number);
  R(cudaGetDevice(&number));
  V(number);
  R(cudaSetDevice(2));
  R(cudaSetDevice(-1));
  R(cudaGetDevice(&number));
  V(number);
  R(cudaSetDevice(1));
  R(cudaGetDevice(&number));
  V(number);
  void* pointer = nullptr;
  R(cudaMalloc(&pointer, 16));
  cudaPointerAttributes attributes = {};
  R(cudaPointerGetAttributes(&attributes, pointer));
  V(attributes.device);
  V(attributes.type);
  CUdevice device = 9;
  R(cuCtxGetDevice(&device));
  V(device);
  R(cudaSetDevice(0));
  R(cuCtxGetDevice(&device));
  V(device);
  R(cudaFree(pointer));
  R(cudaPointerGetAttributes(&attributes, pointer));
  V(attributes.type);
}

void reach() {
  group = "reach";
  int number = 9;
  R(cudaDeviceCanAccessPeer(&number, 0, 1));
  V(number);
  R(cudaDeviceCanAccessPeer(&number, 0, 0));
  V(number);
  R(cudaDeviceCanAccessPeer(&number, 0, 2));
  R(cudaDeviceCanAccessPeer(&number, -1, 0));
  R(cudaDeviceCanAccessPeer(nullptr, 0, 1));
  R(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrPerformanceRank, 0, 1));
  V(number);
  R(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrAccessSupported, 0, 1));
  V(number);
  R(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrNativeAtomicSupported, 0, 1));
  V(number);
  R(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrCudaArrayAccessSupported, 0, 1));
  V(number);
  R(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrAccessSupported, 0, 0));
  R(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrAccessSupported, 0, 2));
  R(cudaDeviceGetP2PAttribute(&number, static_cast<cudaDeviceP2PAttr>(99), 0, 1));
  R(cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrAccessSupported, 0, 1));
  R(cuDeviceGetP2PAttribute(&number, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 0));
  V(number);
  R(cuDeviceGetP2PAttribute(&number, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1));
  R(cuDeviceCanAccessPeer(&number, 1, 0));
  V(number);
}

void enabling() {
  group = "enabling";
  R(cudaSetDevice(0));
  R(cudaDeviceEnablePeerAccess(0, 0));
  R(cudaDeviceEnablePeerAccess(2, 0));
  R(cudaDeviceEnablePeerAccess(-1, 0));
  R(cudaDeviceEnablePeerAccess(1, 1));
  R(cudaDeviceDisablePeerAccess(1));
  R(cudaDeviceEnablePeerAccess(1, 0));
  R(cudaDeviceEnablePeerAccess(1, 0));
  R(cudaGetLastError());
  R(cudaDeviceDisablePeerAccess(0));
  R(cudaDeviceDisablePeerAccess(2));
  R(cudaDeviceDisablePeerAccess(1));
  R(cudaDeviceDisablePeerAccess(1));
  CUcontext own = nullptr, other = nullptr;
  R(cuDevicePrimaryCtxRetain(&own, 0));
  R(cuDevicePrimaryCtxRetain(&other, 1));
  R(cuCtxEnablePeerAccess(nullptr, 0));
  R(cuCtxEnablePeerAccess(own, 0));
  R(cuCtxEnablePeerAccess(other, 1));
  R(cuCtxEnablePeerAccess(other, 0));
  R(cuCtxEnablePeerAccess(other, 0));
  R(cudaDeviceEnablePeerAccess(1, 0));
  R(cuCtxDisablePeerAccess(own));
  R(cuCtxDisablePeerAccess(other));
  R(cuCtxDisablePeerAccess(other));
}

void copies() {
  group = "copies";
  char* const a = static_cast<char*>(on_device(0));
  char* const b = static_cast<char*>(on_device(1));
  R(cudaMemset(b, 1, kBytes));
  R(cudaMemset(a, 2, kBytes));
  R(cudaMemcpyPeer(b, 1, a, 0, 4));
  V(word(b));
  V(word(b + 4));
  R(cudaMemcpyPeer(b, 1, a, 2, 4));
  R(cudaMemcpyPeer(b, -1, a, 0, 4));
  R(cudaMemcpyPeer(nullptr, 1, a, 0, 4));
  R(cudaMemcpyPeer(b, 1, a, 0, 0));
  R(cudaMemcpyPeer(b, 1, a, 0, 2 * kBytes));
  R(cudaMemcpyPeer(b, 0, a, 1, 4));
  R(cudaMemcpyPeerAsync(b + 8, 1, a + 8, 0, 4, nullptr));
  R(cudaDeviceSynchronize());
  V(word(b + 8));
  R(cudaMemcpyPeerAsync(b, 1, a, 2, 4, nullptr));
  R(cudaMemcpy(b + 16, a + 16, 4, cudaMemcpyDeviceToDevice));
  R(cudaMemcpy(b + 20, a + 16, 4, cudaMemcpyDefault));
  V(word(b + 16));
  V(word(b + 20));
  R(cudaMemcpyAsync(b + 24, a + 16, 4, cudaMemcpyDefault, nullptr));
  V(word(b + 24));
  R(cudaMemset2D(a, 64, 3, 8, 2));
  V(word(a));
  char host[4] = {9, 0, 0, 0};
  R(cudaMemcpyPeer(b, 1, host, 0, 4));
  V(word(b));
  CUcontext first = nullptr, second = nullptr;
  R(cuDevicePrimaryCtxRetain(&first, 0));
  R(cuDevicePrimaryCtxRetain(&second, 1));
  R(cuMemcpyPeer(address(b), second, address(a + 32), first, 4));
  V(word(b));
  R(cuMemcpyPeer(address(b), nullptr, address(a), first, 4));
  R(cuMemcpyPeerAsync(address(b + 40), second, address(a + 32), first, 4, nullptr));
  V(word(b + 40));
  R(cudaFree(a));
  R(cudaFree(b));
}

void streams() {
  use("streams", 0);
  cudaStream_t zero = nullptr, one = nullptr;
  cudaEvent_t early = nullptr, late = nullptr, other = nullptr;
  void* const a = on_device(0);
  R(cudaStreamCreate(&zero));
  R(cudaEventCreate(&early));
  R(cudaEventCreate(&late));
  R(cudaSetDevice(1));
  R(cudaStreamCreate(&one));
  R(cudaEventCreate(&other));
  int number = 9;
  R(cudaStreamGetDevice(zero, &number));
  V(number);
  R(cudaStreamGetDevice(one, &number));
  V(number);
  R(cudaStreamGetDevice(nullptr, &number));
  V(number);
  // Device 1 is current.
  R(cudaEventRecord(early, one));
  R(cudaEventRecord(early, zero));
  R(cudaEventRecord(early, nullptr));
  R(cudaEventRecord(other, one));
  R(cudaStreamWaitEvent(zero, other, 0));
  R(cudaStreamWaitEvent(one, early, 0));
  R(cudaEventSynchronize(early));
  R(cudaEventQuery(early));
  R(cudaStreamQuery(zero));
  R(cudaStreamSynchronize(zero));
  float elapsed = 0;
  R(cudaEventRecord(late, zero));
  R(cudaEventSynchronize(late));
  R(cudaEventElapsedTime(&elapsed, early, late));
  R(cudaEventSynchronize(other));
  R(cudaEventElapsedTime(&elapsed, early, other));
  R(cudaMemcpyAsync(a, &number, 4, cudaMemcpyHostToDevice, zero));
  R(cudaMemsetAsync(a, 0, 4, zero));
  R(cudaMemsetAsync(a, 0, 4, one));
  R(cudaStreamSynchronize(one));
  // A function of device 0's context.
  CUdeviceptr pointer = address(a);
  unsigned value = 5;
  void* arguments[] = {&pointer, &value};
  R(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, one, arguments, nullptr));
  R(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, zero, arguments, nullptr));
  R(cudaSetDevice(0));
  R(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, one, arguments, nullptr));
  R(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, zero, arguments, nullptr));
  R(cudaStreamSynchronize(zero));
  V(word(a));
  R(cudaStreamDestroy(one));
  R(cudaEventDestroy(other));
  R(cudaDeviceReset());
  R(cudaGetLastError());
}

void resets() {
  group = "reset of one device";
  void* const a = on_device(0);
  void* const b = on_device(1);
  R(cudaMemset(a, 1, 4));
  R(cudaSetDevice(0));
  R(cudaDeviceEnablePeerAccess(1, 0));
  R(cudaSetDevice(1));
  R(cudaDeviceReset());
  R(cudaFree(b));
  V(word(a));
  size_t free_bytes = 0, total = 0;
  R(cudaMemGetInfo(&free_bytes, &total));
}

void allowed() {
  group = "peer access";
  void* const b = on_device(1);
  use("peer access", 0);
  R(cudaDeviceEnablePeerAccess(1, 0));
  R(launch(store, address(b), 42));
  V(word(b));
  void* const later = on_device(1);
  R(cudaSetDevice(0));
  R(launch(store, address(later), 43));
  V(word(later));
  void* managed = nullptr;
  R(cudaMallocManaged(&managed, 4, cudaMemAttachGlobal));
  R(launch(store, address(managed), 44));
  V(word(managed));
  R(cudaDeviceDisablePeerAccess(1));
  R(launch(store, address(b), 45));
}

void one_way() {
  group = "one way";
  void* const a = on_device(0);
  R(cudaDeviceEnablePeerAccess(1, 0));
  use("one way", 1);
  R(launch(load, address(a), 0));
  R(cudaGetLastError());
  R(cudaMalloc(const_cast<void**>(&a), 4));
  R(cudaSetDevice(0));
  void* mine = nullptr;
  R(cudaMalloc(&mine, 4));
  V(word(mine));
}

void denied() {
  group = "no peer access";
  void* const b = on_device(1);
  use("no peer access", 0);
  R(launch(load, address(b), 0));
}

void pools(bool granted, const char* name) {
  group = name;
  void* b = nullptr;
  R(cudaSetDevice(1));
  R(cudaMallocAsync(&b, kBytes, nullptr));
  R(cudaDeviceSynchronize());
  cudaMemPool_t pool = nullptr;
  R(cudaDeviceGetDefaultMemPool(&pool, 1));
  cudaMemAccessDesc desc = {};
  desc.location.type = cudaMemLocationTypeDevice;
  desc.flags = cudaMemAccessFlagsProtReadWrite;
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtRead;
  R(cudaMemPoolGetAccess(&flags, pool, &desc.location));
  V(flags);
  if (granted) {
    R(cudaMemPoolSetAccess(pool, &desc, 1));
    R(cudaMemPoolGetAccess(&flags, pool, &desc.location));
    V(flags);
  }
  use(name, 0);
  if (!granted) R(cudaDeviceEnablePeerAccess(1, 0));
  R(launch(store, address(b), 6));
  if (granted) V(word(b));
}

void pool_granted() { pools(true, "pool with access"); }
void pool_denied() { pools(false, "pool with peer access only"); }

}  // namespace

int main(int argc, char** argv) {
  const Group groups[] = {{selection}, {reach},   {enabling}, {copies},       {streams},    {resets},
                          {allowed},   {one_way}, {denied},   {pool_granted}, {pool_denied}};
  return run_groups(argc, argv, groups, sizeof groups / sizeof *groups);
}
