// Copies in device memory whose sides begin anywhere.
//
//   copy_bytes(out, in, bytes, stream)
//   copy_rows(out, out_pitch, in, in_pitch, width, height, stream)     pitches and width in bytes
//   copy_strided(out, in, in_stride, n, stream)                        out[i] = in[i * in_stride]
//
// Stores are 16 bytes at multiples of 16. Where the input is misaligned against the output, a thread reads the two
// vectors that its 16 bytes lie in (the second one comes from the L1 cache) and shifts.
#pragma once

#include "common.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kCopyThreads = 256;
inline constexpr int kCopyVectors = 4;  // per thread; one is enough where nothing is shifted

/// kUnit: how far both sides are from multiples of 16 against each other is a multiple of it; 16: equally far.
template <int kUnit, int kVectors>
__device__ inline void copy_vectors(char* out, const char* in, const std::size_t (&index)[kVectors],
                                    std::size_t vectors) {
  uint4 v[kVectors];
  if constexpr (kUnit == 16) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      if (index[k] < vectors) v[k] = load_whole(reinterpret_cast<const uint4*>(in) + index[k]);
    }
  } else {
    const unsigned shift = misalignment(in, 16);
    const uint4* const p = reinterpret_cast<const uint4*>(in - shift);
    uint4 high[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      if (index[k] < vectors) {
        v[k] = load_whole(p + index[k]);
        high[k] = load_whole(p + index[k] + 1);
      }
    }
#pragma unroll
    for (int k = 0; k < kVectors; ++k) v[k] = shifted<kUnit>(v[k], high[k], shift);
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (index[k] < vectors) store_whole(reinterpret_cast<uint4*>(out) + index[k], v[k]);
  }
}

/// `head` bytes before the first vector of the output. The last vector is left to single bytes where its input could
/// not be read in whole vectors.
template <int kUnit>
__global__ void __launch_bounds__(kCopyThreads)
    copy_kernel(char* out, const char* in, std::size_t head, std::size_t vectors, std::size_t bytes) {
  constexpr int kVectors = kUnit == 16 ? 1 : kCopyVectors;
  std::size_t index[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    index[k] = (blockIdx.x * std::size_t{kVectors} + k) * kCopyThreads + threadIdx.x;
  }
  copy_vectors<kUnit>(out + head, in + head, index, vectors);
  if (blockIdx.x == 0) {
    for (std::size_t i = threadIdx.x; i < head; i += kCopyThreads) out[i] = in[i];
    for (std::size_t i = head + vectors * 16 + threadIdx.x; i < bytes; i += kCopyThreads) out[i] = in[i];
  }
}

struct RowsArgs {
  char* out;
  const char* in;
  long long out_pitch, in_pitch;
  unsigned width, per_row;  // bytes; vectors that a row may touch
  long long height;
  bool divide_small;  // rows so short that `by_row` is exact for all vectors of a block
  Divider by_row;
};

/// Vectors of the output; those at the ends of rows go element by element. kUnit: how far rows of both sides are from
/// multiples of 16 against each other is a multiple of it.
template <int kUnit>
__global__ void __launch_bounds__(kCopyThreads) rows_kernel(RowsArgs a) {
  constexpr int kBytes = kUnit == 16 ? 4 : kUnit;
  const unsigned long long base = blockIdx.x * static_cast<unsigned long long>(kCopyThreads * kCopyVectors);
  // The same for the whole block: its first row, and how far behind that row's begin it starts.
  const long long first_row = static_cast<long long>(base / a.per_row);
  const unsigned first_vector = static_cast<unsigned>(base - static_cast<unsigned long long>(first_row) * a.per_row);
  const long long last_row = first_row + (first_vector + kCopyThreads * kCopyVectors) / a.per_row;
  // Reading a little before or behind a row is harmless between the first and the last one.
  const bool inside = first_row > 0 && last_row < a.height - 1;
  const Bytes all = {const_cast<char*>(a.in), const_cast<char*>(a.in) + (a.height - 1) * a.in_pitch + a.width};
  uint4 low[kCopyVectors], high[kCopyVectors];
  unsigned shift[kCopyVectors];
  char* row_of[kCopyVectors];
  int at[kCopyVectors];
#pragma unroll
  for (int k = 0; k < kCopyVectors; ++k) {
    const unsigned i = first_vector + threadIdx.x + k * kCopyThreads;
    const unsigned down = a.divide_small ? a.by_row.quotient(i) : i / a.per_row;
    const long long row = first_row + down;
    char* const out = a.out + row * a.out_pitch;
    at[k] = static_cast<int>(i - down * a.per_row) * 16 - static_cast<int>(misalignment(out, 16));
    row_of[k] = row < a.height && at[k] < static_cast<int>(a.width) ? out : nullptr;
    const char* const p = a.in + row * a.in_pitch + at[k];
    shift[k] = misalignment(p, 16);
    if (row_of[k] == nullptr) continue;
    if (inside) {
      low[k] = load_whole(reinterpret_cast<const uint4*>(p - shift[k]));
      if constexpr (kUnit != 16) high[k] = load_whole(reinterpret_cast<const uint4*>(p + (-shift[k] & 15)));
    } else {
      low[k] = load_any<kBytes>(p, all);
      shift[k] = 0;
    }
  }
#pragma unroll
  for (int k = 0; k < kCopyVectors; ++k) {
    if (row_of[k] == nullptr) continue;
    if constexpr (kUnit != 16) low[k] = shifted<kBytes>(low[k], high[k], shift[k]);
    store_aligned<kBytes>(row_of[k] + at[k], low[k], {row_of[k], row_of[k] + a.width});
  }
}

/// Single elements: rows of few bytes, strided elements.
template <typename Element>
__global__ void __launch_bounds__(kCopyThreads) elements_kernel(char* out, const char* in, long long out_pitch,
                                                                long long in_pitch, unsigned per_row, long long count) {
  constexpr int kEach = 8;
  const long long base = blockIdx.x * static_cast<long long>(kCopyThreads * kEach) + threadIdx.x;
  Element v[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const long long i = base + k * kCopyThreads;
    if (i < count) {
      const long long row = per_row == 1 ? i : i / per_row;
      v[k] = reinterpret_cast<const Element*>(in + row * in_pitch)[i - row * per_row];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const long long i = base + k * kCopyThreads;
    if (i < count) {
      const long long row = per_row == 1 ? i : i / per_row;
      reinterpret_cast<Element*>(out + row * out_pitch)[i - row * per_row] = v[k];
    }
  }
}

template <typename Element>
inline cudaError_t launch_elements(char* out, const char* in, long long out_pitch, long long in_pitch, unsigned per_row,
                                   long long rows, cudaStream_t stream) {
  const long long blocks = parts(rows * per_row, static_cast<long long>(kCopyThreads * 8));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  return launch(elements_kernel<Element>, static_cast<unsigned>(blocks), kCopyThreads, 0, stream, out, in, out_pitch,
                in_pitch, per_row, rows * per_row);
}

}  // namespace detail

/// Copies bytes of device memory from anywhere to anywhere; the two must not overlap.
/// Errors: cudaErrorInvalidValue for null with a size; what the launch returns. Asynchronous in `stream`.
inline cudaError_t copy_bytes(void* out, const void* in, std::size_t bytes, cudaStream_t stream = nullptr) {
  if (bytes == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr) return cudaErrorInvalidValue;
  const std::size_t to = reinterpret_cast<std::uintptr_t>(out), from = reinterpret_cast<std::uintptr_t>(in);
  std::size_t head = (128 - to % 128) % 128;  // stores begin with a line
  const std::size_t apart = (from - to) % 16;
  // A vector that begins `apart` behind an aligned one needs the 16 bytes before or after it to exist: the first and
  // the last are left to single bytes.
  if (apart != 0 && head < 16) head += 128;
  if (head > bytes) head = bytes;
  std::size_t vectors = (bytes - head) / 16;
  if (apart != 0 && vectors != 0) --vectors;
  const std::size_t each = apart == 0 ? 1 : detail::kCopyVectors;
  const std::size_t blocks = parts<std::size_t>(vectors, detail::kCopyThreads * each);
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  const unsigned grid = blocks == 0 ? 1 : static_cast<unsigned>(blocks);
  auto* const o = static_cast<char*>(out);
  auto* const i = static_cast<const char*>(in);
  if (apart == 0) {
    return launch(detail::copy_kernel<16>, grid, detail::kCopyThreads, 0, stream, o, i, head, vectors, bytes);
  } else if (apart % 4 == 0) {
    return launch(detail::copy_kernel<4>, grid, detail::kCopyThreads, 0, stream, o, i, head, vectors, bytes);
  } else {
    return launch(detail::copy_kernel<1>, grid, detail::kCopyThreads, 0, stream, o, i, head, vectors, bytes);
  }
}

/// Copies `height` rows of `width` bytes (below 2^31). What lies between the rows is not written. Otherwise as
/// copy_bytes().
inline cudaError_t copy_rows(void* out, std::size_t out_pitch, const void* in, std::size_t in_pitch, std::size_t width,
                             std::size_t height, cudaStream_t stream = nullptr) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr || out_pitch < width || in_pitch < width || width > 0x7fffffe0) {
    return cudaErrorInvalidValue;
  }
  if (out_pitch == width && in_pitch == width) return copy_bytes(out, in, width * height, stream);
  auto* const o = static_cast<char*>(out);
  auto* const i = static_cast<const char*>(in);
  const auto to_pitch = static_cast<long long>(out_pitch), from_pitch = static_cast<long long>(in_pitch);
  const auto rows = static_cast<long long>(height);
  const std::uintptr_t place =
      reinterpret_cast<std::uintptr_t>(out) | reinterpret_cast<std::uintptr_t>(in) | out_pitch | in_pitch | width;
  const auto w = static_cast<unsigned>(width);
  if (width <= 64) {  // rows of few bytes: neighbouring lanes on neighbouring elements
    if (place % 16 == 0) return detail::launch_elements<uint4>(o, i, to_pitch, from_pitch, w / 16, rows, stream);
    if (place % 8 == 0) return detail::launch_elements<uint2>(o, i, to_pitch, from_pitch, w / 8, rows, stream);
    if (place % 4 == 0) return detail::launch_elements<unsigned>(o, i, to_pitch, from_pitch, w / 4, rows, stream);
    if (place % 2 == 0) return detail::launch_elements<unsigned short>(o, i, to_pitch, from_pitch, w / 2, rows, stream);
    return detail::launch_elements<unsigned char>(o, i, to_pitch, from_pitch, w, rows, stream);
  }
  detail::RowsArgs a{};
  a.out = o;
  a.in = i;
  a.out_pitch = to_pitch;
  a.in_pitch = from_pitch;
  a.width = w;
  a.per_row = (w + 15) / 16 + ((reinterpret_cast<std::uintptr_t>(out) | out_pitch) % 16 == 0 ? 0 : 1);
  a.height = rows;
  a.divide_small = a.per_row < 32768;
  a.by_row = Divider(a.per_row);
  const long long blocks = parts(rows * a.per_row, static_cast<long long>(detail::kCopyThreads * detail::kCopyVectors));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  const auto grid = static_cast<unsigned>(blocks);
  // Equally far on both sides in every row?
  const std::size_t apart = reinterpret_cast<std::uintptr_t>(in) - reinterpret_cast<std::uintptr_t>(out);
  if (place % 4 == 0 && apart % 16 == 0 && (in_pitch - out_pitch) % 16 == 0) {
    return launch(detail::rows_kernel<16>, grid, detail::kCopyThreads, 0, stream, a);
  } else if (place % 4 == 0) {
    return launch(detail::rows_kernel<4>, grid, detail::kCopyThreads, 0, stream, a);
  } else {
    return launch(detail::rows_kernel<1>, grid, detail::kCopyThreads, 0, stream, a);
  }
}

/// out[i] = in[i * in_stride] for i < n. T of 1, 2, 4, 8 or 16 bytes, anywhere; fastest at
/// multiples of its size. Errors as copy_bytes().
template <typename T>
cudaError_t copy_strided(T* out, const T* in, std::size_t in_stride, std::size_t n, cudaStream_t stream = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
  if (n == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr) return cudaErrorInvalidValue;
  if (in_stride == 1) return copy_bytes(out, in, n * sizeof(T), stream);
  if (!whole_elements(out, sizeof(T)) || !whole_elements(in, sizeof(T)))
    return copy_rows(out, sizeof(T), in, in_stride * sizeof(T), sizeof(T), n, stream);
  using Element = std::conditional_t<sizeof(T) == 8, uint2, typename Unsigned<sizeof(T)>::type>;
  return detail::launch_elements<Element>(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in), sizeof(T),
                                          static_cast<long long>(in_stride * sizeof(T)), 1, static_cast<long long>(n),
                                          stream);
}

}  // namespace muscope::kernels
