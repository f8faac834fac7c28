// What the programs of this folder share: buffers, a fixed sequence of numbers, comparison with the host's result.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline int failures = 0;

inline std::uint32_t next_number(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

template <typename T>
struct Buffer {
  T* device = nullptr;
  std::vector<T> host;
  explicit Buffer(std::size_t count) : host(count) {
    cudaMalloc(&device, count * sizeof(T));
    cudaMemset(device, 0, count * sizeof(T));
  }
  ~Buffer() { cudaFree(device); }
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  void down() { cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost); }
  void clear() { cudaMemset(device, 0, host.size() * sizeof(T)); }
};

template <typename T, typename F>
void check(const char* name, Buffer<T>& got, F expected, double tolerance = 0) {
  got.down();
  for (std::size_t i = 0; i < got.host.size(); ++i) {
    const double want = static_cast<double>(expected(i)), have = static_cast<double>(got.host[i]);
    if (want != have && !(std::fabs(want - have) <= tolerance * (std::fabs(want) + 1))) {
      std::printf("%s: wrong at %zu: %g instead of %g\n", name, i, have, want);
      ++failures;
      return;
    }
  }
}

inline int finish() {
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    ++failures;
  }
  std::printf(failures ? "FAILED\n" : "ok\n");
  return failures != 0;
}
