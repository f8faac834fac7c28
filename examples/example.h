// What every example needs and none is about: checked calls, data to work on, copies to and from the GPU, a verdict.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

// Every runtime call returns an error code. Ignoring one means to search for its consequence somewhere else later.
#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error_ = (call);                                                            \
    if (error_ != cudaSuccess) {                                                                  \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

// A launch returns nothing. A bad configuration is reported by cudaGetLastError at once, a fault inside the kernel by
// the next call that waits for it.
#define CHECK_LAUNCH()              \
  do {                              \
    CHECK(cudaGetLastError());      \
    CHECK(cudaDeviceSynchronize()); \
  } while (0)

// The same numbers on every machine: a linear congruential generator (Numerical Recipes' constants).
class Random {
 public:
  explicit Random(uint32_t seed = 12345) : state_(seed) {}
  uint32_t bits() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;  // the low bits of such a generator are poor
  }
  uint32_t below(uint32_t bound) { return bits() % bound; }
  float unit() { return static_cast<float>(bits() & 0xffff) / 65536.0f; }

 private:
  uint32_t state_;
};

inline std::vector<float> random_floats(size_t count, uint32_t seed = 12345) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = random.unit();
  return values;
}

// Device memory that holds a copy of the values. Freed with cudaFree.
template <typename T>
T* to_device(const std::vector<T>& values) {
  T* device = nullptr;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

// Device memory for `count` elements, filled with a pattern, so that what a kernel leaves out is noticed.
template <typename T>
T* device_array(size_t count) {
  T* device = nullptr;
  CHECK(cudaMalloc(&device, count * sizeof(T)));
  CHECK(cudaMemset(device, 0xa5, count * sizeof(T)));
  return device;
}

template <typename T>
std::vector<T> to_host(const T* device, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// Collects what was found out; finish() prints PASS or FAIL and gives the exit code.
class Verdict {
 public:
  void expect(bool ok, const char* what) {
    if (ok) return;
    std::printf("FAIL %s\n", what);
    ++failures_;
  }
  int finish() const {
    if (failures_ == 0) std::printf("PASS\n");
    return failures_ == 0 ? 0 : 1;
  }

 private:
  int failures_ = 0;
};

// The first argument as a size, or the default. It must be a multiple of `step` between step and limit.
inline int size_argument(int argc, char** argv, int otherwise, int step, int limit) {
  if (argc < 2) return otherwise;
  const long size = std::strtol(argv[1], nullptr, 10);
  if (size < step || size > limit || size % step != 0) {
    std::printf("usage: %s [size]   a multiple of %d, at most %d (default %d)\n", argv[0], step, limit, otherwise);
    std::exit(2);
  }
  return static_cast<int>(size);
}
