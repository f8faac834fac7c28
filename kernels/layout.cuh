// Arrays of structures and structures of arrays, and matrices by the batch: transposes with one short side.
//
//   aos_to_soa(out, out_pitch, in, structs, fields, stream)     out[f * out_pitch + s] = in[s * fields + f]
//   soa_to_aos(out, in, in_pitch, structs, fields, stream)      out[s * fields + f] = in[f * in_pitch + s]
//   transpose_batch(out, in, batch, rows, cols, stream)         out[b][c][r] = in[b][r][c]
//
// A block owns a run of structures (or of small matrices) that is contiguous in memory: it moves that side in lines of
// 16 bytes per lane, and permutes through shared memory, where one word of padding behind every 32 words keeps lanes
// that are any number of words apart in different banks.
#pragma once

#include "copy.cuh"
#include "layout_narrow.cuh"
#include "layout_runs.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kLayoutWords = static_cast<int>(layout_words(kLayoutTile));

/// An element of kBytes (1, 2 or 4) at a byte of padded shared memory.
template <int kBytes>
__device__ inline typename Unsigned<kBytes>::type& at_byte(unsigned* words, unsigned byte) {
  using Element = typename Unsigned<kBytes>::type;
  if constexpr (kBytes == 4) {
    return words[padded(byte / 4)];
  } else {
    return reinterpret_cast<Element*>(words)[(padded(byte / 4) * 4 + byte % 4) / kBytes];
  }
}

/// The place among the words of the structures of word `word` (of 4 bytes) of a field's part.
template <int kBytes>
__device__ inline unsigned struct_word(unsigned fields, unsigned field, unsigned word) {
  constexpr unsigned kWords = kBytes / 4;
  return (word / kWords * fields + field) * kWords + word % kWords;
}

/// Elements of 4 bytes and more whose arrays begin at multiples of 16: a lane moves vectors on both sides.
template <int kBytes, bool kToSoa>
__global__ void __launch_bounds__(kLayoutThreads, 6) layout_kernel(LayoutArgs a) {
  __shared__ unsigned words[kLayoutWords];
  const long long first = static_cast<long long>(blockIdx.x) * a.tile;
  const unsigned count = static_cast<unsigned>(a.structs - first < a.tile ? a.structs - first : a.tile);
  const unsigned size = a.fields * kBytes;
  const unsigned pieces = a.fields * a.per_field.by;
  const Run run = {(kToSoa ? const_cast<char*>(a.in) : a.out) + first * size, count * size};
  const unsigned shift = misalignment(run.begin, 16) / 4;
  char* const arrays = (kToSoa ? a.out : const_cast<char*>(a.in)) + first * kBytes;
  if constexpr (kToSoa) {
    run_to_shared<kBytes>(
        words, run, {const_cast<char*>(a.in), const_cast<char*>(a.in) + a.structs * static_cast<long long>(size)});
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < pieces; i += kLayoutThreads) {
      const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
      if (k * 16 >= count * kBytes) continue;
      unsigned w[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) w[u] = words[padded(shift + struct_word<kBytes>(a.fields, field, k * 4 + u))];
      char* const array = arrays + field * a.pitch;
      store_aligned<kBytes>(array + k * 16, make_uint4(w[0], w[1], w[2], w[3]), {array, array + count * kBytes});
    }
  } else {
    uint4 v[kLayoutVectors];
#pragma unroll
    for (int n = 0; n < kLayoutVectors; ++n) {
      const unsigned i = threadIdx.x + n * kLayoutThreads;
      const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
      if (i >= pieces || k * 16 >= count * kBytes) continue;
      const char* const array = arrays + field * a.pitch;
      v[n] =
          load_aligned<kBytes>(array + k * 16, {const_cast<char*>(array), const_cast<char*>(array) + count * kBytes});
    }
#pragma unroll
    for (int n = 0; n < kLayoutVectors; ++n) {
      const unsigned i = threadIdx.x + n * kLayoutThreads;
      const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
      if (i >= pieces) continue;
      const unsigned w[4] = {v[n].x, v[n].y, v[n].z, v[n].w};
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (k * 4 + u < count * (kBytes / 4)) {
          words[padded(shift + struct_word<kBytes>(a.fields, field, k * 4 + u))] = w[u];
        }
      }
    }
    __syncthreads();
    run_from_shared<kBytes>(words, run);
  }
}

inline constexpr int kUnevenThreads = 512;  // so that what tiles have in common is little

/// Arrays that begin anywhere: each one's part of a tile begins at a sector, maybe a few structures before the tile.
template <int kBytes>
__global__ void __launch_bounds__(kUnevenThreads, 3) uneven_to_soa(LayoutArgs a) {
  __shared__ unsigned words[layout_words(layout_bytes(kUnevenThreads))];
  const Window window = window_of_block(a);
  const unsigned size = a.fields * kBytes;
  char* const begin = const_cast<char*>(a.in) + (window.first - window.before) * size;
  run_to_shared<kBytes, kUnevenThreads>(words, {begin, window.count * size},
                                        {const_cast<char*>(a.in), const_cast<char*>(a.in) + a.structs * size});
  __syncthreads();
  const unsigned shift = misalignment(begin, 16) / 4;
  const unsigned pieces = a.fields * a.per_field.by;
  const bool inside = window.count == a.overlap + a.tile;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < pieces; i += kUnevenThreads) {
    const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
    char* const array = a.out + field * a.pitch;
    char* const end = array + a.structs * kBytes;
    char* const p = array + window.first * kBytes;
    const unsigned behind = misalignment(p, 32);
    auto* const q = reinterpret_cast<unsigned*>(p - behind) + k * 4;
    // Below zero in front of the array only, where nothing is stored.
    const int word = static_cast<int>(window.before * kBytes + k * 16 - behind) / 4;
    const auto at = [&](int u) {
      return words[padded(shift + struct_word<kBytes>(a.fields, field, static_cast<unsigned>(word + u)))];
    };
    if (inside || (reinterpret_cast<char*>(q) >= array && reinterpret_cast<char*>(q) + 16 <= end)) {
      store_whole(reinterpret_cast<uint4*>(q), make_uint4(at(0), at(1), at(2), at(3)));
    } else {
      for (int u = 0; u < 4; ++u) {
        if (reinterpret_cast<char*>(q + u) >= array && reinterpret_cast<char*>(q + u) < end) q[u] = at(u);
      }
    }
  }
}

/// Vectors of every array that hold its part of the tile, whatever lies around it in them.
template <int kBytes>
__global__ void __launch_bounds__(kUnevenThreads, 3) uneven_to_aos(LayoutArgs a) {
  __shared__ unsigned words[layout_words(layout_bytes(kUnevenThreads))];
  const long long first = static_cast<long long>(blockIdx.x) * a.tile;
  const unsigned count = static_cast<unsigned>(a.structs - first < a.tile ? a.structs - first : a.tile);
  const unsigned size = a.fields * kBytes;
  const unsigned pieces = a.fields * a.per_field.by;
  const Run run = {a.out + first * size, count * size};
  const unsigned shift = misalignment(run.begin, 16) / 4;
  const char* const arrays = a.in + first * kBytes;
  const unsigned place = misalignment(arrays, 16), pitch = static_cast<unsigned>(a.pitch);
  const Bytes whole = {const_cast<char*>(a.in),
                       const_cast<char*>(a.in) + (a.fields - 1) * a.pitch + a.structs * kBytes};
  const bool inside = first * kBytes >= 16 && (first + a.tile) * kBytes + 16 <= a.structs * kBytes;
  uint4 v[kLayoutVectors];
  // The same for the whole block. Inside, every load is issued before the first is needed.
  if (inside) {
#pragma unroll
    for (int n = 0; n < kLayoutVectors; ++n) {
      const unsigned i = threadIdx.x + n * kUnevenThreads;
      const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
      const char* const p = arrays + field * a.pitch - ((place + field * pitch) & 15);
      if (i < pieces) v[n] = load_whole(reinterpret_cast<const uint4*>(p) + k);
    }
  } else {
#pragma unroll
    for (int n = 0; n < kLayoutVectors; ++n) {
      const unsigned i = threadIdx.x + n * kUnevenThreads;
      const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
      const unsigned behind = (place + field * pitch) & 15;
      if (i >= pieces || k * 16 >= behind + count * kBytes) continue;
      v[n] = load_aligned<kBytes>(arrays + field * a.pitch - behind + k * 16, whole);
    }
  }
#pragma unroll
  for (int n = 0; n < kLayoutVectors; ++n) {
    const unsigned i = threadIdx.x + n * kUnevenThreads;
    if (i >= pieces) continue;
    const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
    const unsigned behind = ((place + field * pitch) & 15) / 4;
    const unsigned w[4] = {v[n].x, v[n].y, v[n].z, v[n].w};
#pragma unroll
    for (unsigned u = 0; u < 4; ++u) {
      const unsigned word = k * 4 + u - behind;  // in front of the part it wraps around
      if (word < count * (kBytes / 4)) words[padded(shift + struct_word<kBytes>(a.fields, field, word))] = w[u];
    }
  }
  __syncthreads();
  run_from_shared<kBytes, kUnevenThreads>(words, run);
}

/// Structures of a block, as many as make whole sectors of every array's part, and room for what is beside it.
template <int kBytes, bool kToSoa>
inline cudaError_t launch_uneven(LayoutArgs a, bool aligned, cudaStream_t stream) {
  constexpr unsigned kBeside = kToSoa ? 32 : 16;  // bytes of a field
  const unsigned room = layout_bytes(kUnevenThreads) - (aligned ? 0 : 16);
  a.tile = (room / a.fields - kBeside) / 32 * 32 / kBytes;
  a.overlap = kToSoa ? kBeside / kBytes : 0;
  a.per_field = Divider(a.tile * kBytes / 16 + (kToSoa ? 0 : 1));
  const long long blocks = parts(a.structs + (kToSoa ? a.overlap - 1 : 0), static_cast<long long>(a.tile));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  if constexpr (kToSoa) {
    return launch(uneven_to_soa<kBytes>, static_cast<unsigned>(blocks), kUnevenThreads, 0, stream, a);
  } else {
    return launch(uneven_to_aos<kBytes>, static_cast<unsigned>(blocks), kUnevenThreads, 0, stream, a);
  }
}

/// Structures per block: whole 128-byte lines of every field's array where they fit, and the run's misalignment too.
template <int kBytes>
inline unsigned layout_tile(unsigned fields, bool aligned) {
  const unsigned room = aligned ? kLayoutTile : kLayoutTile - 16;
  const unsigned tile = room / (fields * kBytes);
  constexpr unsigned kLine = 128 / kBytes, kVector = 16 / kBytes;
  return tile >= kLine ? tile / kLine * kLine : tile / kVector * kVector;
}

template <int kBytes, bool kToSoa>
inline cudaError_t launch_layout(LayoutArgs a, bool aligned, cudaStream_t stream) {
  a.tile = layout_tile<kBytes>(a.fields, aligned);
  a.per_field = Divider(a.tile * kBytes / 16);
  const long long blocks = parts(a.structs, static_cast<long long>(a.tile));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  return launch(layout_kernel<kBytes, kToSoa>, static_cast<unsigned>(blocks), kLayoutThreads, 0, stream, a);
}

template <int kBytes, bool kToSoa>
inline cudaError_t layout(char* out, const char* in, long long pitch, long long structs, int fields,
                          cudaStream_t stream) {
  if (fields == 1) return copy_bytes(out, in, static_cast<std::size_t>(structs) * kBytes, stream);
  LayoutArgs a{};
  a.out = out;
  a.in = in;
  a.pitch = pitch;
  a.structs = structs;
  a.fields = static_cast<unsigned>(fields);
  if constexpr (kBytes < 4) {
    return narrow_layout<kBytes, kToSoa>(a, stream);
  } else {
    const std::uintptr_t runs = reinterpret_cast<std::uintptr_t>(kToSoa ? in : out);
    const std::uintptr_t arrays =
        reinterpret_cast<std::uintptr_t>(kToSoa ? out : in) | static_cast<std::uintptr_t>(pitch);
    if (arrays % (kToSoa ? 32 : 16) != 0) return launch_uneven<kBytes, kToSoa>(a, runs % 16 == 0, stream);
    return launch_layout<kBytes, kToSoa>(a, runs % 16 == 0, stream);
  }
}

struct BatchArgs {
  char* out;
  const char* in;
  long long batch;
  unsigned rows;
  unsigned cols;
  unsigned tile;  // matrices of a block
  Divider by_matrix;
  Divider by_rows;
};

template <int kBytes>
__global__ void __launch_bounds__(kLayoutThreads) batch_kernel(BatchArgs a) {
  constexpr int kUnit = kBytes < 4 ? kBytes : 4;
  constexpr int kUnits = 16 / kUnit;
  __shared__ unsigned words[kLayoutWords];
  const long long first = static_cast<long long>(blockIdx.x) * a.tile;
  const unsigned count = static_cast<unsigned>(a.batch - first < a.tile ? a.batch - first : a.tile);
  const unsigned elements = a.rows * a.cols;
  const unsigned length = count * elements * kBytes;
  const long long size = static_cast<long long>(elements) * kBytes;
  const Run in = {const_cast<char*>(a.in) + first * size, length};
  run_to_shared<kBytes>(words, in, {const_cast<char*>(a.in), const_cast<char*>(a.in) + a.batch * size});
  __syncthreads();
  const unsigned shift = misalignment(in.begin, 16);
  char* const out = a.out + first * size;
  const unsigned behind = misalignment(out, 16);
  const unsigned vectors = (behind + length + 15) / 16;
  const Bytes range = {out, out + length};
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < vectors; i += kLayoutThreads) {
    union {
      uint4 vector;
      typename Unsigned<kUnit>::type units[kUnits];
    } piece;
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      const unsigned byte = i * 16 + k * kUnit - behind;
      if (byte >= length) continue;  // before the begin it wraps around
      const unsigned element = byte / kBytes;
      const unsigned matrix = a.by_matrix.quotient(element);
      const unsigned inside = element - matrix * elements;
      const unsigned c = a.by_rows.quotient(inside), r = inside - c * a.rows;
      piece.units[k] = at_byte<kUnit>(words, shift + (matrix * elements + r * a.cols + c) * kBytes + byte % kBytes);
    }
    store_aligned<kBytes>(out - behind + i * 16, piece.vector, range);
  }
}

}  // namespace detail

/// Takes structures of `fields` (1 to 64) elements apart: out[f * out_pitch + s] = in[s * fields + f].
/// out_pitch (elements) is at least `structs`. T, alignment, errors and overlap as for transpose().
template <typename T>
cudaError_t aos_to_soa(T* out, std::size_t out_pitch, const T* in, std::size_t structs, int fields,
                       cudaStream_t stream = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
  if (structs == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr || fields < 1 || fields > 64 || out_pitch < structs) return cudaErrorInvalidValue;
  if (!whole_elements(out, sizeof(T)) || !whole_elements(in, sizeof(T))) return cudaErrorInvalidValue;
  return detail::layout<sizeof(T), true>(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in),
                                         static_cast<long long>(out_pitch * sizeof(T)), static_cast<long long>(structs),
                                         fields, stream);
}

/// Puts structures together: out[s * fields + f] = in[f * in_pitch + s]. Otherwise as aos_to_soa().
template <typename T>
cudaError_t soa_to_aos(T* out, const T* in, std::size_t in_pitch, std::size_t structs, int fields,
                       cudaStream_t stream = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
  if (structs == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr || fields < 1 || fields > 64 || in_pitch < structs) return cudaErrorInvalidValue;
  if (!whole_elements(out, sizeof(T)) || !whole_elements(in, sizeof(T))) return cudaErrorInvalidValue;
  return detail::layout<sizeof(T), false>(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(in),
                                          static_cast<long long>(in_pitch * sizeof(T)), static_cast<long long>(structs),
                                          fields, stream);
}

/// Transposes `batch` matrices of rows x cols (at most 32 x 32) that follow each other without gaps.
/// T, alignment, errors and overlap as for transpose().
template <typename T>
cudaError_t transpose_batch(T* out, const T* in, std::size_t batch, int rows, int cols, cudaStream_t stream = nullptr) {
  constexpr int kBytes = sizeof(T);
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
  if (batch == 0 || rows == 0 || cols == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr || rows < 0 || cols < 0 || rows > 32 || cols > 32) return cudaErrorInvalidValue;
  if (!whole_elements(out, sizeof(T)) || !whole_elements(in, sizeof(T))) return cudaErrorInvalidValue;
  detail::BatchArgs a{};
  a.out = reinterpret_cast<char*>(out);
  a.in = reinterpret_cast<const char*>(in);
  a.batch = static_cast<long long>(batch);
  a.rows = static_cast<unsigned>(rows);
  a.cols = static_cast<unsigned>(cols);
  const unsigned elements = a.rows * a.cols;
  // A tile of whole 16-byte vectors; what is left of the room takes a misaligned begin. Matrices of 16 KiB have
  // elements of 16 bytes, which are always aligned.
  a.tile = (detail::kLayoutTile - (kBytes == 16 ? 0 : 16)) / (elements * kBytes);
  const unsigned step = elements * kBytes % 16 == 0  ? 1
                        : elements * kBytes % 8 == 0 ? 2
                        : elements * kBytes % 4 == 0 ? 4
                                                     : 16;
  if (a.tile > step) a.tile = a.tile / step * step;
  a.by_matrix = Divider(elements);
  a.by_rows = Divider(a.rows);
  const long long blocks = parts(a.batch, static_cast<long long>(a.tile));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  return launch(detail::batch_kernel<kBytes>, static_cast<unsigned>(blocks), detail::kLayoutThreads, 0, stream, a);
}

}  // namespace muscope::kernels
