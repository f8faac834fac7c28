// What the CUDA runtime answers, call by call: one line "group | call -> error code [values]" each. Its output on an
// H200 is kept in tests/counters/runtime_api_h200.txt; the same program under muscope must print the same.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void nothing() {}
__global__ void touch(int* p, int value) { *p = value; }
__global__ void __launch_bounds__(128) bounded(int* p) {
  if (p) *p = static_cast<int>(threadIdx.x);
}
extern __shared__ int dynamic[];
__global__ void shares(int* p) {
  __shared__ int fixed[256];
  fixed[threadIdx.x & 255] = 1;
  dynamic[threadIdx.x] = 2;
  __syncthreads();
  if (p) *p = fixed[0] + dynamic[0];
}
__global__ void fails_assert() { asm volatile("trap;"); }
__global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
__device__ int variable[4] = {1, 2, 3, 4};
__constant__ float table[8];
__device__ int lonely;

static const char* group = "";
#define R(call)                                         \
  do {                                                  \
    const int code = static_cast<int>(call);            \
    std::printf("%s | %s -> %d\n", group, #call, code); \
    std::fflush(stdout);                                \
  } while (0)
// Also says what the call left as last error (and clears it).
#define L(call)                                                                         \
  do {                                                                                  \
    cudaGetLastError();                                                                 \
    const int code = static_cast<int>(call);                                            \
    const int peek = static_cast<int>(cudaPeekAtLastError());                           \
    const int last = static_cast<int>(cudaGetLastError());                              \
    const int then = static_cast<int>(cudaGetLastError());                              \
    std::printf("%s | %s -> %d last %d %d %d\n", group, #call, code, peek, last, then); \
    std::fflush(stdout);                                                                \
  } while (0)
#define V(format, ...) (std::printf("%s | " format "\n", group, __VA_ARGS__), std::fflush(stdout))
#define LAUNCH(...)                                                                            \
  do {                                                                                         \
    cudaGetLastError();                                                                        \
    __VA_ARGS__;                                                                               \
    const int launch = static_cast<int>(cudaGetLastError());                                   \
    const int sync = static_cast<int>(cudaDeviceSynchronize());                                \
    const int after = static_cast<int>(cudaGetLastError());                                    \
    std::printf("%s | %s -> %d sync %d after %d\n", group, #__VA_ARGS__, launch, sync, after); \
    std::fflush(stdout);                                                                       \
  } while (0)

template <typename F>
static void in_child(const char* name, F body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    group = name;
    body();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::printf("%s | child status %d\n", name, status);
}

static void after_fault() {
  int device = -1, count = -1, version = 0;
  cudaDeviceProp properties;
  void* p = nullptr;
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  cudaFuncAttributes attributes;
  R(cudaGetLastError());
  R(cudaDeviceSynchronize());
  R(cudaPeekAtLastError());
  R(cudaGetLastError());
  R(cudaGetLastError());
  R(cudaGetDevice(&device));
  R(cudaSetDevice(0));
  R(cudaGetDeviceCount(&count));
  R(cudaGetDeviceProperties(&properties, 0));
  R(cudaDeviceGetAttribute(&device, cudaDevAttrWarpSize, 0));
  R(cudaRuntimeGetVersion(&version));
  R(cudaMalloc(&p, 16));
  R(cudaFree(nullptr));
  R(cudaMallocHost(&p, 16));
  R(cudaEventCreate(&event));
  R(cudaStreamCreate(&stream));
  R(cudaStreamSynchronize(nullptr));
  R(cudaStreamQuery(nullptr));
  R(cudaFuncGetAttributes(&attributes, nothing));
  R(cudaMemcpyToSymbol(table, &version, 4));
  R(cudaGetLastError());
  nothing<<<1, 1>>>();
  R(cudaGetLastError());
  R(cudaDeviceReset());
  R(cudaMalloc(&p, 16));
  R(cudaGetLastError());
  R(cudaDeviceSynchronize());
}

static void launches() {
  int* p = nullptr;
  R(cudaMalloc(&p, 4096));
  LAUNCH(nothing<<<1, 1>>>());
  LAUNCH(nothing<<<1, 1024>>>());
  LAUNCH(nothing<<<1, 1025>>>());
  LAUNCH(nothing<<<1, dim3(1024, 2)>>>());
  LAUNCH(nothing<<<1, dim3(1, 1, 64)>>>());
  LAUNCH(nothing<<<1, dim3(1, 1, 65)>>>());
  LAUNCH(nothing<<<0, 1>>>());
  LAUNCH(nothing<<<1, 0>>>());
  LAUNCH(nothing<<<dim3(1, 65535), 1>>>());
  LAUNCH(nothing<<<dim3(1, 65536), 1>>>());
  LAUNCH(nothing<<<dim3(1, 1, 65536), 1>>>());
  LAUNCH(nothing<<<0x80000000u, 1>>>());
  LAUNCH(bounded<<<1, 128>>>(p));
  LAUNCH(bounded<<<1, 129>>>(p));
  LAUNCH(shares<<<1, 32, 48 * 1024 - 1024>>>(p));
  LAUNCH(shares<<<1, 32, 48 * 1024 - 1024 + 1>>>(p));
  LAUNCH(shares<<<1, 32, 48 * 1024>>>(p));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  LAUNCH(shares<<<1, 32, 100 * 1024>>>(p));
  LAUNCH(shares<<<1, 32, 100 * 1024 + 1>>>(p));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 226 * 1024));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 226 * 1024 + 1));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  R(cudaFuncSetAttribute(shares, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  R(cudaFuncSetAttribute(shares, static_cast<cudaFuncAttribute>(77), 1));
  LAUNCH(shares<<<1, 32, 226 * 1024>>>(p));
  void* arguments[] = {&p};
  LAUNCH(cudaLaunchKernel(reinterpret_cast<const void*>(&shares), dim3(1), dim3(32), arguments, 128, nullptr));
  R(cudaLaunchKernel(reinterpret_cast<const void*>(&after_fault), dim3(1), dim3(32), arguments, 0, nullptr));
  R(cudaLaunchKernel(static_cast<const void*>(nullptr), dim3(1), dim3(32), arguments, 0, nullptr));
  R(cudaLaunchKernel(reinterpret_cast<const void*>(&nothing), dim3(0), dim3(32), arguments, 0, nullptr));
  R(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&nothing), dim3(1), dim3(32), arguments, 0, nullptr));
  R(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&nothing), dim3(100000), dim3(1024), arguments, 0,
                                nullptr));
  L(cudaDeviceSynchronize());
  cudaFuncAttributes a;
  R(cudaFuncGetAttributes(&a, shares));
  V("shares: shared %zu const %zu local %zu max threads %d max dynamic %d carveout %d cache %d", a.sharedSizeBytes,
    a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout,
    a.cacheModeCA);
  R(cudaFuncGetAttributes(&a, bounded));
  V("bounded: shared %zu const %zu local %zu max threads %d max dynamic %d carveout %d", a.sharedSizeBytes,
    a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout);
  R(cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(&after_fault)));
  R(cudaFuncGetAttributes(&a, static_cast<const void*>(nullptr)));
  R(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferL1));
  R(cudaFuncSetCacheConfig(nothing, static_cast<cudaFuncCache>(9)));
  int blocks = 0;
  for (int threads : {0, 1, 32, 128, 256, 1024, 1025}) {
    const int code = static_cast<int>(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, threads, 0));
    V("occupancy nothing %d -> %d %d", threads, code, blocks);
  }
  for (size_t bytes : {0ul, 1000ul, 10000ul, 48000ul, 100000ul, 227000ul, 300000ul}) {
    const int code = static_cast<int>(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shares, 256, bytes));
    V("occupancy shares 256 %zu -> %d %d", bytes, code, blocks);
  }
  size_t available = 0;
  for (int want : {1, 2, 4, 8}) {
    const int code = static_cast<int>(cudaOccupancyAvailableDynamicSMemPerBlock(&available, shares, want, 256));
    V("available dynamic %d blocks -> %d %zu", want, code, available);
  }
  int grid = 0, block = 0;
  R(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing));
  V("potential %d x %d", grid, block);
}

static void copies() {
  char* a = nullptr;
  char* b = nullptr;
  char* c = nullptr;
  R(cudaMalloc(&a, 100));
  R(cudaMalloc(&b, 100));
  R(cudaMalloc(&c, 3 << 20));
  static char host[8 << 20];
  char* const stack = host + 1000;
  R(cudaMemcpy(a, stack, 100, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, stack, 101, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, stack, 512, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, stack, 513, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, stack, 1024, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a + 50, stack, 51, cudaMemcpyHostToDevice));
  L(cudaMemcpy(stack, a, 101, cudaMemcpyDeviceToHost));
  L(cudaMemcpy(stack, a, 4096, cudaMemcpyDeviceToHost));
  L(cudaMemcpy(c, host, (3 << 20) + 1, cudaMemcpyHostToDevice));
  L(cudaMemcpy(c, host, 4 << 20, cudaMemcpyHostToDevice));
  L(cudaMemcpy(c, host, (4 << 20) + 1, cudaMemcpyHostToDevice));
  L(cudaMemcpy(c, host, 8 << 20, cudaMemcpyHostToDevice));
  L(cudaMemcpy(c, a, 101, cudaMemcpyDeviceToDevice));
  L(cudaMemcpy(nullptr, stack, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, nullptr, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, stack, 0, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, stack, 4, static_cast<cudaMemcpyKind>(7)));
  L(cudaMemcpy(a, stack, 4, cudaMemcpyDefault));
  L(cudaMemcpy(stack, a, 4, cudaMemcpyDefault));
  L(cudaMemcpy(b, a, 4, cudaMemcpyDefault));
  L(cudaMemcpy(stack, stack + 100, 4, cudaMemcpyDefault));
  L(cudaMemcpy(a, stack, 4, cudaMemcpyDeviceToHost));
  L(cudaMemcpy(a, stack, 4, cudaMemcpyDeviceToDevice));
  L(cudaMemcpy(a, stack, 4, cudaMemcpyHostToHost));
  L(cudaMemcpy(stack, a, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy(stack, a, 4, cudaMemcpyDeviceToDevice));
  L(cudaMemcpy(stack, a, 4, cudaMemcpyHostToHost));
  L(cudaMemcpy(a, b, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy(a, b, 4, cudaMemcpyDeviceToHost));
  L(cudaMemcpy(a, b, 4, cudaMemcpyHostToHost));
  L(cudaMemcpy(stack, stack + 100, 4, cudaMemcpyHostToHost));
  L(cudaMemcpy(stack, stack + 100, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy(stack, stack + 100, 4, cudaMemcpyDeviceToDevice));
  L(cudaMemcpyAsync(a, stack, 4, cudaMemcpyHostToDevice, nullptr));
  L(cudaMemcpyAsync(a, stack, 4096, cudaMemcpyHostToDevice, nullptr));
  L(cudaMemset(a, 0, 100));
  L(cudaMemset(a, 0, 101));
  L(cudaMemset(a, 0, 513));
  L(cudaMemset(c, 0, 4 << 20));
  L(cudaMemset(c, 0, (4 << 20) + 1));
  L(cudaMemset(stack, 0, 4));
  L(cudaMemset(nullptr, 0, 4));
  L(cudaMemset(nullptr, 0, 0));
  L(cudaMemcpy2D(c, 64, stack, 64, 64, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy2D(c, 32, stack, 64, 64, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy2D(c, 64, stack, 32, 64, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy2D(c, 64, stack, 64, 0, 4, cudaMemcpyHostToDevice));
  L(cudaMemcpy2D(a, 64, stack, 64, 64, 40, cudaMemcpyHostToDevice));
  L(cudaMemset2D(c, 64, 0, 65, 4));
  L(cudaMemset2D(a, 64, 0, 64, 40));
  L(cudaMemcpyPeer(b, 0, a, 0, 100));
  L(cudaMemcpyPeer(b, 1, a, 0, 100));
  L(cudaFree(a + 4));
  L(cudaFree(stack));
  L(cudaFree(reinterpret_cast<void*>(16)));
  L(cudaFree(b));
  L(cudaFree(b));
  L(cudaMemcpy(stack, b, 4, cudaMemcpyDeviceToHost));
  L(cudaFree(c));
  L(cudaMemcpy(stack, c, 4, cudaMemcpyDeviceToHost));
  L(cudaMemcpy(c, stack, 4, cudaMemcpyHostToDevice));
  L(cudaMemset(c, 0, 4));
  L(cudaFree(nullptr));
  L(cudaFreeHost(nullptr));
  L(cudaFreeHost(stack));
  L(cudaFreeHost(a));
  L(cudaFreeArray(nullptr));
  void* p = reinterpret_cast<void*>(0x77);
  L(cudaMalloc(&p, 0));
  V("malloc(0) gives %p", p);
  L(cudaMalloc(&p, size_t{1} << 50));
  V("after failure %d", p == nullptr);
  L(cudaMalloc(static_cast<void**>(nullptr), 16));
  L(cudaMallocManaged(&p, 16, 0));
  L(cudaMallocManaged(&p, 0));
  L(cudaMallocHost(&p, 0));
  L(cudaHostAlloc(&p, 16, 0x100));
  size_t pitch = 0;
  L(cudaMallocPitch(&p, &pitch, 0, 4));
  L(cudaMallocPitch(&p, &pitch, 100, 0));
  L(cudaMemcpyToSymbol(variable, host, 16));
  L(cudaMemcpyToSymbol(variable, host, 17));
  L(cudaMemcpyToSymbol(variable, host, 8, 12));
  L(cudaMemcpyToSymbol(table, host, 32, 0, cudaMemcpyDeviceToHost));
  L(cudaMemcpyToSymbol(table, host, 32, 0, cudaMemcpyDeviceToDevice));
  L(cudaMemcpyFromSymbol(host, variable, 16));
  L(cudaMemcpyFromSymbol(host, variable, 16, 0, cudaMemcpyHostToDevice));
  L(cudaMemcpyToSymbol(static_cast<const void*>(&group), host, 4));
  L(cudaMemcpyToSymbol(static_cast<const void*>(nullptr), host, 4));
  size_t size = 0;
  L(cudaGetSymbolAddress(&p, variable));
  L(cudaGetSymbolSize(&size, variable));
  V("size of variable %zu", size);
  L(cudaGetSymbolAddress(&p, static_cast<const void*>(&group)));
  L(cudaGetSymbolSize(&size, static_cast<const void*>(&group)));
}

static void describe(const char* name, const void* pointer) {
  cudaPointerAttributes a;
  std::memset(&a, 0x5a, sizeof a);
  const int code = static_cast<int>(cudaPointerGetAttributes(&a, pointer));
  auto where = [&](const void* p) { return p == nullptr ? "null" : p == pointer ? "same" : "other"; };
  V("attributes of %s -> %d type %d device %d device pointer %s host pointer %s", name, code, static_cast<int>(a.type),
    a.device, where(a.devicePointer), where(a.hostPointer));
}

static void pointers() {
  char* device = nullptr;
  char* managed = nullptr;
  char* pinned = nullptr;
  char* mapped = nullptr;
  alignas(4096) static char plain[16384];
  cudaMalloc(&device, 1000);
  cudaMallocManaged(&managed, 1000);
  cudaMallocHost(&pinned, 1000);
  cudaHostAlloc(&mapped, 1000, cudaHostAllocMapped | cudaHostAllocPortable);
  describe("null", nullptr);
  describe("plain host", plain);
  describe("device", device);
  describe("device + 10", device + 10);
  describe("device + 999", device + 999);
  describe("device + 1000", device + 1000);
  describe("managed", managed);
  describe("managed + 1", managed + 1);
  describe("pinned", pinned);
  describe("pinned + 1", pinned + 1);
  describe("mapped", mapped);
  L(cudaHostRegister(plain, 8192, cudaHostRegisterDefault));
  describe("registered", plain);
  describe("registered + 5", plain + 5);
  describe("beyond registered", plain + 8192);
  L(cudaHostRegister(plain, 8192, cudaHostRegisterDefault));
  L(cudaHostRegister(plain + 4096, 8192, cudaHostRegisterDefault));
  L(cudaHostRegister(plain + 8192, 100, cudaHostRegisterMapped));
  L(cudaHostRegister(plain + 12288, 100, 0x100));
  L(cudaHostRegister(nullptr, 100, 0));
  L(cudaHostRegister(plain + 12288, 0, 0));
  unsigned flags = 99;
  L(cudaHostGetFlags(&flags, plain));
  V("flags %u", flags);
  L(cudaHostGetFlags(&flags, pinned));
  V("flags %u", flags);
  L(cudaHostGetFlags(&flags, mapped));
  V("flags %u", flags);
  L(cudaHostGetFlags(&flags, device));
  L(cudaHostGetFlags(&flags, &flags));
  void* p = nullptr;
  L(cudaHostGetDevicePointer(&p, plain, 0));
  V("same %d", p == plain);
  L(cudaHostGetDevicePointer(&p, plain + 5, 0));
  V("same %d", p == plain + 5);
  L(cudaHostGetDevicePointer(&p, pinned, 0));
  L(cudaHostGetDevicePointer(&p, pinned, 1));
  L(cudaHostGetDevicePointer(&p, &p, 0));
  L(cudaHostGetDevicePointer(&p, device, 0));
  L(cudaHostUnregister(plain + 1));
  L(cudaHostUnregister(plain));
  L(cudaHostUnregister(plain));
  L(cudaHostUnregister(pinned));
  L(cudaFree(pinned));
  L(cudaFreeHost(pinned + 1));
  L(cudaFreeHost(managed));
  L(cudaFreeHost(mapped));
  L(cudaFree(managed + 1));
  L(cudaFree(managed));
  describe("freed managed", managed);
  cudaFree(device);
  describe("freed device", device);
}

static void streams_and_events() {
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  unsigned flags = 99;
  int priority = 99, least = 99, greatest = 99;
  float milliseconds = -1;
  R(cudaStreamCreate(&stream));
  R(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  R(cudaStreamCreateWithFlags(&other, 8));
  R(cudaStreamCreate(nullptr));
  R(cudaStreamGetFlags(other, &flags));
  V("flags %u", flags);
  R(cudaStreamGetFlags(nullptr, &flags));
  V("flags %u", flags);
  R(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  V("priorities %d %d", least, greatest);
  R(cudaStreamCreateWithPriority(&other, 0, -100));
  R(cudaStreamGetPriority(other, &priority));
  V("priority %d", priority);
  R(cudaStreamGetPriority(nullptr, &priority));
  V("priority %d", priority);
  R(cudaStreamQuery(stream));
  R(cudaStreamQuery(nullptr));
  R(cudaStreamSynchronize(cudaStreamLegacy));
  R(cudaStreamSynchronize(cudaStreamPerThread));
  R(cudaEventCreate(&start));
  R(cudaEventCreate(&stop));
  R(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  R(cudaEventCreateWithFlags(&untimed, 0x80));
  R(cudaEventCreate(nullptr));
  L(cudaEventQuery(start));
  L(cudaEventSynchronize(start));
  L(cudaEventElapsedTime(&milliseconds, start, stop));
  R(cudaEventRecord(start, stream));
  L(cudaEventElapsedTime(&milliseconds, start, stop));
  R(cudaEventRecord(stop));
  R(cudaEventSynchronize(stop));
  R(cudaEventElapsedTime(&milliseconds, start, stop));
  V("elapsed plausible %d", milliseconds >= 0 && milliseconds < 1000);
  R(cudaEventElapsedTime(&milliseconds, stop, start));
  V("reversed not positive %d", milliseconds <= 0);
  R(cudaEventRecord(untimed, stream));
  R(cudaStreamSynchronize(stream));
  L(cudaEventElapsedTime(&milliseconds, start, untimed));
  L(cudaEventRecord(nullptr, stream));
  L(cudaEventQuery(nullptr));
  L(cudaEventSynchronize(nullptr));
  L(cudaEventDestroy(nullptr));
  R(cudaStreamWaitEvent(stream, stop, 0));
  L(cudaStreamWaitEvent(stream, stop, 5));
  L(cudaStreamWaitEvent(stream, nullptr, 0));
  // clang-format off: the macro prints the call as it is written
  L(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t status, void* data) { *static_cast<int*>(data) = 100 + status; }, &priority, 0));
  // clang-format on
  R(cudaStreamSynchronize(stream));
  V("callback %d", priority);
  L(cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  L(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
  L(cudaLaunchHostFunc(stream, [](void* data) { *static_cast<int*>(data) = 7; }, &priority));
  R(cudaStreamSynchronize(stream));
  V("host function %d", priority);
  L(cudaLaunchHostFunc(stream, nullptr, nullptr));
  L(cudaStreamDestroy(nullptr));
  R(cudaEventDestroy(start));
  R(cudaStreamDestroy(stream));
}

#include "runtime_api_objects.h"

int main() {
  in_child("fault", [] {
    touch<<<1, 1>>>(reinterpret_cast<int*>(16), 1);
    usleep(300000);
    after_fault();
  });
  in_child("trap", [] {
    fails_assert<<<1, 1>>>();
    usleep(300000);
    after_fault();
  });
  in_child("misaligned", [] {
    char* p = nullptr;
    cudaMalloc(&p, 64);
    misaligned<<<1, 1>>>(p);
    R(cudaDeviceSynchronize());
    R(cudaFree(p));
  });
  in_child("fork", [] {
    void* p = nullptr;
    R(cudaMalloc(&p, 16));
    in_child("fork child", [] {
      int value = 0;
      void* q = nullptr;
      R(cudaGetDeviceCount(&value));
      R(cudaGetDevice(&value));
      R(cudaSetDevice(0));
      R(cudaMalloc(&q, 16));
      R(cudaGetLastError());
      R(cudaDeviceSynchronize());
      R(cudaRuntimeGetVersion(&value));
      nothing<<<1, 1>>>();
      R(cudaGetLastError());
    });
  });
  in_child("launch", launches);
  in_child("copy", copies);
  in_child("pointer", pointers);
  in_child("stream", streams_and_events);
  in_child("devices", devices);
  in_child("texture", textures);
  in_child("pool", pools);
  return 0;
}
