// Parts of claims.cu: checked calls, timing, the output line, copies between host and device.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    const cudaError_t error_ = (call);                                                                \
    if (error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

constexpr int kRuns = 15;

/// Median time of one call of `launch`, in microseconds, by events around it.
template <typename Launch>
double time_of(Launch launch) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < kRuns + 3; ++i) {
    CHECK(cudaEventRecord(start));
    launch();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaGetLastError());
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 3) times.push_back(ms * 1000);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

inline void line(const std::string& group, const std::string& what, double value, const char* unit = "us") {
  std::printf("%s\t%s\t%.1f\t%s\n", group.c_str(), what.c_str(), value, unit);
  std::fflush(stdout);
}

inline cudaTextureObject_t linear_texture(float* data, size_t count) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = count * sizeof(float);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}

__global__ void sumHost(const float* in, float* out, int n, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int p = 0; p < passes; ++p) sum += in[(i + p * 64) % n];
  if (i < n) out[i] = sum;
}

__global__ void chaseCold(const unsigned* next, int steps, long long* cycles, unsigned* end) {
  unsigned at = 0;
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) at = next[at];
  *cycles = clock64() - start;
  *end = at;
}

/// Copies from pageable and pinned memory, and kernels that read host memory in place.
inline void host_memory(float* device, int n) {
  const size_t bytes = n * sizeof(float);
  std::vector<float> pageable(n, 1.0f);
  float *pinned = nullptr, *mapped = nullptr, *source = nullptr;
  CHECK(cudaMallocHost(&pinned, bytes));
  CHECK(cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped));
  CHECK(cudaMalloc(&source, bytes));
  std::fill(pinned, pinned + n, 1.0f);
  std::fill(mapped, mapped + n, 1.0f);
  const std::string size = std::to_string(bytes >> 20) + " MiB, ";
  line("host", size + "to device, pageable",
       time_of([&] { cudaMemcpy(device, pageable.data(), bytes, cudaMemcpyHostToDevice); }));
  line("host", size + "to device, pinned", time_of([&] { cudaMemcpy(device, pinned, bytes, cudaMemcpyHostToDevice); }));
  line("host", size + "to host, pageable",
       time_of([&] { cudaMemcpy(pageable.data(), device, bytes, cudaMemcpyDeviceToHost); }));
  line("host", size + "to host, pinned", time_of([&] { cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost); }));
  for (const int passes : {1, 4}) {
    const std::string name = size + "read " + (passes == 1 ? "once, " : "4 times, ");
    line("host", name + "zero-copy", time_of([&] { sumHost<<<n / 256, 256>>>(mapped, device, n, passes); }));
    line("host", name + "copied first", time_of([&] {
           cudaMemcpyAsync(source, pinned, bytes, cudaMemcpyHostToDevice);
           sumHost<<<n / 256, 256>>>(source, device, n, passes);
         }));
  }
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaFree(source));
}
