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

#include "common.cuh"

namespace muscope::kernels {

namespace detail {

inline constexpr int kLayoutThreads = 256;
inline constexpr int kLayoutVectors = 4;  // per thread
inline constexpr int kLayoutTile = kLayoutThreads * kLayoutVectors * 16;
inline constexpr int kLayoutWords = kLayoutTile / 4 + kLayoutTile / 128;

__device__ inline unsigned padded(unsigned word) { return word + word / 32; }

/// A contiguous run of bytes of global memory as a block sees it: it begins `shift` bytes behind a multiple of 16.
struct Run {
  char* begin;
  unsigned length;
};

/// Global memory to shared memory; kOnce as load_once(). Byte i of the run arrives at padded byte `misalignment(begin,
/// 16) + i`.
template <int kBytes, int kThreads = kLayoutThreads, bool kOnce = false>
__device__ inline void run_to_shared(unsigned* words, Run run, Bytes whole) {
  constexpr int kVectors = kLayoutTile / 16 / kThreads;
  const unsigned shift = misalignment(run.begin, 16);
  const char* const p = run.begin - shift;
  const unsigned count = (shift + run.length + 15) / 16;
  uint4 v[kVectors];
  // The same for the whole block. Inside, every load is issued before the first is needed.
  if (p >= whole.begin && p + count * 16 <= whole.end) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const unsigned i = threadIdx.x + k * kThreads;
      const uint4* const q = reinterpret_cast<const uint4*>(p) + i;
      if (i < count) v[k] = kOnce ? load_once(q) : load_whole(q);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const unsigned i = threadIdx.x + k * kThreads;
      if (i < count) v[k] = load_aligned<kBytes>(p + i * 16, whole);
    }
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const unsigned i = threadIdx.x + k * kThreads;
    if (i < count) {
      unsigned* w = words + padded(i * 4);
      w[0] = v[k].x;
      w[1] = v[k].y;
      w[2] = v[k].z;
      w[3] = v[k].w;
    }
  }
}

/// The way back.
template <int kBytes, int kThreads = kLayoutThreads>
__device__ inline void run_from_shared(const unsigned* words, Run run) {
  constexpr int kVectors = kLayoutTile / 16 / kThreads;
  const unsigned shift = misalignment(run.begin, 16);
  char* const p = run.begin - shift;
  const unsigned count = (shift + run.length + 15) / 16;
  const Bytes range = {run.begin, run.begin + run.length};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const unsigned i = threadIdx.x + k * kThreads;
    if (i < count) {
      const unsigned* w = words + padded(i * 4);
      store_aligned<kBytes>(p + i * 16, make_uint4(w[0], w[1], w[2], w[3]), range);
    }
  }
}

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

struct LayoutArgs {
  char* out;
  const char* in;
  long long pitch;  // of a field's array, in bytes
  long long structs;
  unsigned fields;
  unsigned tile;      // structures of a block
  Divider per_field;  // pieces of a field in a tile
};

/// Where piece `index` of the tile lies: its field and its first byte within the field's part of the tile.
__device__ inline void piece_place(const LayoutArgs& a, unsigned index, unsigned bytes, unsigned* field,
                                   unsigned* byte) {
  *field = a.per_field.quotient(index);
  *byte = (index - *field * a.per_field.by) * bytes;
}

/// The place in the run of structures of byte `byte` of a field's part; an element has kBytes, a unit kUnit of them.
template <int kBytes>
__device__ inline unsigned struct_byte(const LayoutArgs& a, unsigned field, unsigned byte) {
  return (byte / kBytes * a.fields + field) * kBytes + byte % kBytes;
}

/// Threads of a block: more where each moves little at once.
template <int kPiece>
__host__ __device__ constexpr int layout_threads() {
  return kPiece >= 16 ? 256 : 512;
}

/// kPiece: bytes that a lane moves at once on the side of the arrays; a multiple of the element or, for elements of
/// more than 4 bytes, a part of it.
template <int kBytes, int kPiece, bool kToSoa>
__global__ void __launch_bounds__(layout_threads<kPiece>(), kPiece >= 16 ? 6 : 3) layout_kernel(LayoutArgs a) {
  constexpr int kThreads = layout_threads<kPiece>();
  constexpr int kUnit = kBytes < 4 ? kBytes : 4;  // what moves as one through shared memory
  constexpr int kUnits = kPiece / kUnit;
  constexpr int kPieces = kLayoutTile / kPiece / kThreads;
  __shared__ unsigned words[kLayoutWords];
  const long long first = static_cast<long long>(blockIdx.x) * a.tile;
  const unsigned count = static_cast<unsigned>(a.structs - first < a.tile ? a.structs - first : a.tile);
  const unsigned size = a.fields * kBytes;
  const unsigned field_bytes = count * kBytes;
  const unsigned pieces = a.fields * a.per_field.by;
  const Run run = {(kToSoa ? const_cast<char*>(a.in) : a.out) + first * size, count * size};
  const unsigned shift = misalignment(run.begin, 16);
  char* const arrays = (kToSoa ? a.out : const_cast<char*>(a.in)) + first * kBytes;
  using Word = typename Unsigned<kPiece>::type;
  union Piece {
    Word word;
    typename Unsigned<kUnit>::type units[kUnits];
  };
  if constexpr (kToSoa) {
    run_to_shared<kBytes, kThreads>(
        words, run, {const_cast<char*>(a.in), const_cast<char*>(a.in) + a.structs * static_cast<long long>(size)});
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < pieces; i += kThreads) {
      unsigned field, byte;
      piece_place(a, i, kPiece, &field, &byte);
      if (byte >= field_bytes) continue;
      Piece piece;
#pragma unroll
      for (int k = 0; k < kUnits; ++k) {
        const unsigned at = byte + k * kUnit;
        if (at < field_bytes) piece.units[k] = at_byte<kUnit>(words, shift + struct_byte<kBytes>(a, field, at));
      }
      char* const p = arrays + field * a.pitch + byte;
      if (byte + kPiece <= field_bytes) {
        store_whole(reinterpret_cast<Word*>(p), piece.word);
      } else {
        for (int k = 0; k < kUnits; ++k) {
          if (byte + k * kUnit < field_bytes) reinterpret_cast<typename Unsigned<kUnit>::type*>(p)[k] = piece.units[k];
        }
      }
    }
  } else {
    Piece piece[kPieces];
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const unsigned i = threadIdx.x + n * kThreads;
      unsigned field, byte;
      piece_place(a, i, kPiece, &field, &byte);
      if (i >= pieces || byte >= field_bytes) continue;
      const char* const p = arrays + field * a.pitch + byte;
      if (byte + kPiece <= field_bytes) {
        const auto* const q = reinterpret_cast<const Word*>(p);
        piece[n].word = kPiece < 16 ? load_once(q) : load_whole(q);  // measured: small pieces are faster so
      } else {
        for (int k = 0; k < kUnits; ++k) {
          if (byte + k * kUnit < field_bytes) {
            piece[n].units[k] = reinterpret_cast<const typename Unsigned<kUnit>::type*>(p)[k];
          }
        }
      }
    }
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const unsigned i = threadIdx.x + n * kThreads;
      unsigned field, byte;
      piece_place(a, i, kPiece, &field, &byte);
      if (i >= pieces) continue;
#pragma unroll
      for (int k = 0; k < kUnits; ++k) {
        const unsigned at = byte + k * kUnit;
        if (at < field_bytes) at_byte<kUnit>(words, shift + struct_byte<kBytes>(a, field, at)) = piece[n].units[k];
      }
    }
    __syncthreads();
    run_from_shared<kBytes, kThreads>(words, run);
  }
}

template <int kBytes, int kPiece, bool kToSoa>
inline cudaError_t launch_layout(LayoutArgs a, cudaStream_t stream) {
  a.per_field = Divider(a.tile * kBytes / kPiece);
  const long long blocks = parts(a.structs, static_cast<long long>(a.tile));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  layout_kernel<kBytes, kPiece, kToSoa><<<static_cast<unsigned>(blocks), layout_threads<kPiece>(), 0, stream>>>(a);
  return cudaGetLastError();
}

/// Structures per block: whole 128-byte lines of every field's array where they fit, and the run's misalignment too.
template <int kBytes>
inline unsigned layout_tile(unsigned fields, bool aligned) {
  const unsigned room = aligned ? kLayoutTile : kLayoutTile - 16;
  unsigned tile = room / (fields * kBytes);
  constexpr unsigned kLine = 128 / kBytes, kVector = 16 / kBytes;
  if (tile >= kLine) return tile / kLine * kLine;
  return tile >= kVector ? tile / kVector * kVector : tile;
}

template <int kBytes, bool kToSoa>
inline cudaError_t layout(char* out, const char* in, long long pitch, long long structs, int fields,
                          cudaStream_t stream) {
  const char* const runs = kToSoa ? in : out;
  const char* const arrays = kToSoa ? out : in;
  LayoutArgs a{};
  a.out = out;
  a.in = in;
  a.pitch = pitch;
  a.structs = structs;
  a.fields = static_cast<unsigned>(fields);
  a.tile = layout_tile<kBytes>(a.fields, reinterpret_cast<std::uintptr_t>(runs) % 16 == 0);
  const auto place = reinterpret_cast<std::uintptr_t>(arrays) | static_cast<std::uintptr_t>(pitch);
  if (place % 16 == 0 && a.tile * kBytes % 16 == 0) return launch_layout<kBytes, 16, kToSoa>(a, stream);
  if constexpr (kBytes < 4) {
    if (place % 4 != 0 || a.tile * kBytes % 4 != 0) return launch_layout<kBytes, kBytes, kToSoa>(a, stream);
  }
  return launch_layout<kBytes, 4, kToSoa>(a, stream);
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
  detail::batch_kernel<kBytes><<<static_cast<unsigned>(blocks), detail::kLayoutThreads, 0, stream>>>(a);
  return cudaGetLastError();
}

}  // namespace muscope::kernels
