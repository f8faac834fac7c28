// What the self-checking programs of this folder share: device memory at any alignment between guards, data, a verdict.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error_ = (call);                                                            \
    if (error_ != cudaSuccess) {                                                                  \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

/// The same numbers on every machine: a linear congruential generator (Numerical Recipes' constants).
class Random {
 public:
  explicit Random(std::uint32_t seed = 12345) : state_(seed) {}
  std::uint32_t bits() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  std::uint32_t below(std::uint32_t bound) { return bits() % bound; }

 private:
  std::uint32_t state_;
};

/// Bytes that differ from each other; elements of any type are made of them where values do not matter.
template <typename T>
std::vector<T> random_elements(std::size_t count, std::uint32_t seed = 12345) {
  Random random(seed);
  std::vector<T> values(count);
  auto* bytes = reinterpret_cast<unsigned char*>(values.data());
  for (std::size_t i = 0; i < count * sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(random.bits());
  return values;
}

/// Device memory for `count` elements that begins `offset` elements behind a multiple of 256 bytes, all of it 0xa5.
/// The allocation ends with the elements, so that an access behind them is one outside of it.
template <typename T>
class Device {
 public:
  explicit Device(std::size_t count, std::size_t offset = 0) : count_(count), offset_(offset) {
    if (count + offset == 0) return;
    CHECK(cudaMalloc(&base_, (count + offset) * sizeof(T)));
    CHECK(cudaMemset(base_, 0xa5, (count + offset) * sizeof(T)));
  }
  explicit Device(const std::vector<T>& values, std::size_t offset = 0) : Device(values.size(), offset) {
    if (count_ != 0) CHECK(cudaMemcpy(get(), values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { cudaFree(base_); }

  T* get() const { return base_ + offset_; }
  std::vector<T> host() const {
    std::vector<T> values(count_);
    if (count_ != 0) CHECK(cudaMemcpy(values.data(), get(), count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  /// True if what lies before the elements is as it was.
  bool guard_holds() const {
    unsigned char bytes[1024];
    const std::size_t size = offset_ * sizeof(T);
    if (size > sizeof bytes) return false;
    if (size != 0) CHECK(cudaMemcpy(bytes, base_, size, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < size; ++i) {
      if (bytes[i] != 0xa5) return false;
    }
    return true;
  }

 private:
  T* base_ = nullptr;
  std::size_t count_ = 0;
  std::size_t offset_ = 0;
};

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Collects what was found out; finish() prints PASS or FAIL and gives the exit code.
class Verdict {
 public:
  template <typename... Args>
  void expect(bool ok, const char* format, Args... args) {
    ++checks_;
    if (ok) return;
    if (++failures_ > 20) return;
    std::printf("FAIL ");
    std::printf(format, args...);
    std::printf("\n");
  }
  int finish() const {
    if (failures_ == 0) std::printf("PASS %d checks\n", checks_);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  int checks_ = 0;
  int failures_ = 0;
};
