// What every kernel of this folder needs: 16-byte vectors, streaming access, data of any alignment, launch sizes.
//
// Nothing here is about one primitive. Device code uses plain CUDA C++ (no inline assembly but for one instruction of
// CUDA's in nbody.cuh, which has its plain form beside it), so that porting to MUSA is a matter of names.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace muscope::kernels {

/// Lanes that the warp-level code of this library works with. On GPUs with wider warps it uses groups of 32.
inline constexpr int kLanes = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Multiprocessors of the current device.
inline cudaError_t multiprocessors(int* count) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  return cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
}

template <typename T>
struct SameType {
  using type = T;
};

/// Starts a kernel and returns what the launch itself returns: an earlier error of the caller, which cudaGetLastError()
/// would give and clear, is left alone.
template <typename... Params>
inline cudaError_t launch(void (*kernel)(Params...), dim3 grid, unsigned threads, std::size_t shared_bytes,
                          cudaStream_t stream, typename SameType<Params>::type... args) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&args))...};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(threads), pointers, shared_bytes, stream);
}

/// Elements are moved whole: pointers must be multiples of their size, also where their alignment is less.
inline bool whole_elements(const void* p, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0;
}

/// Rounds up to whole parts.
template <typename T>
__host__ __device__ constexpr T parts(T amount, T part) {
  return (amount + part - 1) / part;
}

/// Data read once, marked to leave the caches first. Good where nothing is written; where as much is written as read,
/// an H200 moves plain loads and stores 3 to 5 % faster (docs/kernels.md).
template <typename T>
__device__ inline T load_once(const T* p) {
  return __ldcs(p);
}
/// Data written once, likewise: good where the input is read again (halos) and should stay in the L2 cache.
template <typename T>
__device__ inline void store_once(T* p, T value) {
  __stcs(p, value);
}

/// A vector in one access. clang takes structures of four words apart into single words; for it the access is spelled
/// out.
template <typename T>
__device__ inline T load_whole(const T* p) {
#if defined(__clang__) && defined(__CUDA__)
  return __ldca(p);
#else
  return *p;
#endif
}
template <typename T>
__device__ inline void store_whole(T* p, T value) {
#if defined(__clang__) && defined(__CUDA__)
  __stwb(p, value);
#else
  *p = value;
#endif
}

/// Division of values below 2^16 by a number that the host knows: one multiplication.
struct Divider {
  std::uint64_t magic;
  unsigned by;
  Divider() = default;
  explicit Divider(unsigned divisor) : magic((0x100000000ull + divisor - 1) / divisor), by(divisor) {}
  __device__ unsigned quotient(unsigned value) const { return static_cast<unsigned>((value * magic) >> 32); }
};

/// The 16 bytes that begin `shift` bytes (0 to 15) after the begin of `low`, where `high` follows `low` in memory.
/// kUnit: `shift` is a multiple of it (1, 2, 4, 8).
template <int kUnit>
__device__ inline uint4 shifted(uint4 low, uint4 high, unsigned shift) {
  unsigned w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if (shift & 8) {
#pragma unroll
    for (int i = 0; i < 6; ++i) w[i] = w[i + 2];
  }
  if constexpr (kUnit <= 4) {
    if (shift & 4) {
#pragma unroll
      for (int i = 0; i < 5; ++i) w[i] = w[i + 1];
    }
  }
  if constexpr (kUnit < 4) {
    const unsigned bits = (shift & 3) * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], bits);
  }
  return make_uint4(w[0], w[1], w[2], w[3]);
}

/// A range of bytes of global memory. Vectors are read and written whole where they lie inside, else element by
/// element, so that nothing outside is ever touched.
struct Bytes {
  char* begin;
  char* end;
};

__host__ __device__ inline unsigned misalignment(const void* p, unsigned of) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p)) & (of - 1);
}

/// An integer of so many bytes.
template <int kBytes>
struct Unsigned;
template <>
struct Unsigned<1> {
  using type = unsigned char;
};
template <>
struct Unsigned<2> {
  using type = unsigned short;
};
template <>
struct Unsigned<4> {
  using type = unsigned;
};
template <>
struct Unsigned<8> {
  using type = unsigned long long;
};
template <>
struct Unsigned<16> {
  using type = uint4;
};

/// 16 bytes at an address that is a multiple of 16. Elements outside of the range read as zero.
template <int kBytes>
__device__ inline uint4 load_aligned(const char* p, Bytes range) {
  if (p >= range.begin && p + 16 <= range.end) return load_whole(reinterpret_cast<const uint4*>(p));
  uint4 value = make_uint4(0, 0, 0, 0);
  if (p + 16 <= range.begin || p >= range.end) return value;
  using Element = typename Unsigned<kBytes>::type;
  if constexpr (kBytes == 16) {
    return value;  // an aligned element is inside or outside
  } else {
    constexpr int kCount = 16 / kBytes;
    std::uint64_t words[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const char* q = p + i * kBytes;
      if (q >= range.begin && q < range.end) {
        const std::uint64_t element = *reinterpret_cast<const Element*>(q);
        words[i * kBytes / 8] |= element << (i * kBytes % 8 * 8);
      }
    }
    value = make_uint4(static_cast<unsigned>(words[0]), static_cast<unsigned>(words[0] >> 32),
                       static_cast<unsigned>(words[1]), static_cast<unsigned>(words[1] >> 32));
    return value;
  }
}

/// 16 bytes at any address that is a multiple of the element's size, by one or two aligned loads.
template <int kBytes>
__device__ inline uint4 load_any(const char* p, Bytes range) {
  const unsigned shift = misalignment(p, 16);
  const uint4 low = load_aligned<kBytes>(p - shift, range);
  if constexpr (kBytes == 16) {
    return low;
  } else {
    if (shift == 0) return low;
    return shifted<kBytes>(low, load_aligned<kBytes>(p - shift + 16, range), shift);
  }
}

/// Stores 16 bytes at an address that is a multiple of 16; elements outside of the range are left out.
template <int kBytes>
__device__ inline void store_aligned(char* p, uint4 value, Bytes range) {
  if (p >= range.begin && p + 16 <= range.end) {
    store_whole(reinterpret_cast<uint4*>(p), value);
    return;
  }
  if constexpr (kBytes < 16) {
    using Element = typename Unsigned<kBytes>::type;
    const std::uint64_t words[2] = {value.x | static_cast<std::uint64_t>(value.y) << 32,
                                    value.z | static_cast<std::uint64_t>(value.w) << 32};
#pragma unroll
    for (int i = 0; i < 16 / kBytes; ++i) {
      char* q = p + i * kBytes;
      if (q >= range.begin && q < range.end) {
        *reinterpret_cast<Element*>(q) = static_cast<Element>(words[i * kBytes / 8] >> (i * kBytes % 8 * 8));
      }
    }
  }
}

}  // namespace muscope::kernels
