// Arrays of structures and structures of arrays of elements of 1 and 2 bytes.
//
// Shared memory sees nothing narrower than a word. A lane takes as many structures as a word has elements (4 bytes or 2
// halves) of as many fields, one word per structure, and turns the block in registers with __byte_perm into one word
// per field, or back. On the side of the structures, words lie in shared memory as they do in global memory; on the
// other one there is a row of words per field, unless arrays are aligned and a lane can store what it turned at once.
// Global memory sees vectors of 16 bytes on both sides. Where a row or a structure begins inside a word, two words are
// read and shifted.
//
// Blocks are kept small and few: shared memory is taken from the L1 cache, which loads in flight need too.
#pragma once

#include "layout_runs.cuh"

namespace muscope::kernels::detail {

inline constexpr int kNarrowThreads = kLayoutThreads;
inline constexpr int kNarrowBlocks = 5;  // resident; six would cost registers and were slower
/// Words of the structures, padded as padded() says.
inline constexpr unsigned kNarrowWords = padded(kLayoutTile / 4 + 8) + 1;
/// Vectors of the rows, with two in front and behind that are read for what is then not stored.
inline constexpr unsigned kNarrowVectors = kLayoutTile / 16 + 4;

/// Element e of word j goes to element j of word e.
__device__ inline void transpose_words(unsigned (&w)[2]) {
  const unsigned low = __byte_perm(w[0], w[1], 0x5410);
  w[1] = __byte_perm(w[0], w[1], 0x7632);
  w[0] = low;
}
__device__ inline void transpose_words(unsigned (&w)[4]) {
  const unsigned a = __byte_perm(w[0], w[1], 0x5140), b = __byte_perm(w[2], w[3], 0x5140);
  const unsigned c = __byte_perm(w[0], w[1], 0x7362), d = __byte_perm(w[2], w[3], 0x7362);
  w[0] = __byte_perm(a, b, 0x5410);
  w[1] = __byte_perm(a, b, 0x7632);
  w[2] = __byte_perm(c, d, 0x5410);
  w[3] = __byte_perm(c, d, 0x7632);
}

/// Bytes of up to four words in one: byte b is byte `from(b) % 4` of word `from(b) / 4`.
template <typename From, int kWords>
__device__ inline unsigned gathered(const unsigned (&w)[kWords], From from) {
  const unsigned a = from(0), b = from(1), c = from(2), d = from(3);
  const unsigned low = __byte_perm(w[a / 4], w[b / 4], a % 4 | (b % 4 + 4) << 4);
  const unsigned high = __byte_perm(w[c / 4], w[d / 4], c % 4 | (d % 4 + 4) << 4);
  return __byte_perm(low, high, 0x5410);
}

/// Structures of kFields elements that follow each other, as many as a word has elements, to a word per field.
template <int kBytes, int kFields>
__device__ inline void take_apart(unsigned (&w)[kFields]) {
  unsigned apart[kFields];
#pragma unroll
  for (unsigned f = 0; f < kFields; ++f) {
    apart[f] = gathered(w, [&](unsigned b) { return (b / kBytes * kFields + f) * kBytes + b % kBytes; });
  }
#pragma unroll
  for (unsigned f = 0; f < kFields; ++f) w[f] = apart[f];
}

/// And back.
template <int kBytes, int kFields>
__device__ inline void put_together(unsigned (&w)[kFields]) {
  unsigned together[kFields];
#pragma unroll
  for (unsigned k = 0; k < kFields; ++k) {
    together[k] = gathered(w, [&](unsigned b) {
      const unsigned element = (k * 4 + b) / kBytes;
      return element % kFields * 4 + element / kFields * kBytes + b % kBytes;
    });
  }
#pragma unroll
  for (unsigned k = 0; k < kFields; ++k) w[k] = together[k];
}

/// Arrays begin anywhere. kFew: the number of fields, if they are few; 0 for any number. kShifted: structures begin
/// inside words.
template <int kBytes, int kFew, bool kShifted>
__global__ void __launch_bounds__(kNarrowThreads, kNarrowBlocks) narrow_to_soa(LayoutArgs a) {
  constexpr unsigned kPer = 4 / kBytes;
  constexpr unsigned kWords = kFew != 0 ? kFew : kPer;
  __shared__ unsigned structs[kNarrowWords];
  __shared__ uint4 vectors[kNarrowVectors];
  unsigned* const rows = reinterpret_cast<unsigned*>(vectors + 2);
  const Window window = window_of_block(a);
  const unsigned size = a.fields * kBytes;
  const char* const begin = a.in + (window.first - window.before) * size;
  run_to_shared<kBytes, kNarrowThreads>(structs, {const_cast<char*>(begin), window.count * size},
                                        {const_cast<char*>(a.in), const_cast<char*>(a.in) + a.structs * size});
  __syncthreads();
  const unsigned row = a.per_group.by;
  {
    // Where the words of a lane's structures begin, from the first structure's one.
    unsigned word[kWords], bits[kWords];
#pragma unroll
    for (unsigned j = 0; j < kWords; ++j) {
      const unsigned byte = misalignment(begin, 16) + j * (kFew != 0 ? 4 : size);
      word[j] = byte / 4;
      bits[j] = byte % 4 * 8;
    }
    const unsigned groups = kFew != 0 ? 1 : (a.fields + kPer - 1) / kPer;
#pragma unroll 2
    for (unsigned i = threadIdx.x; i < groups * row; i += kNarrowThreads) {
      const unsigned g = kFew != 0 ? 0 : a.per_group.quotient(i), q = i - g * row;
      const unsigned at = q * a.fields + g;
      unsigned w[kWords];
#pragma unroll
      for (unsigned j = 0; j < kWords; ++j) {
        w[j] = structs[padded(at + word[j])];
        if constexpr (kShifted) w[j] = __funnelshift_r(w[j], structs[padded(at + word[j] + 1)], bits[j]);
      }
      if constexpr (kFew != 0) {
        take_apart<kBytes>(w);
      } else {
        transpose_words(w);
      }
#pragma unroll
      for (unsigned e = 0; e < kWords; ++e) {
        if (kFew != 0 || !kShifted || g * kPer + e < a.fields) rows[(g * kPer + e) * row + q] = w[e];
      }
    }
  }
  __syncthreads();
  const unsigned pieces = a.fields * a.per_field.by;
  const bool inside = window.count == a.overlap + a.tile;
#pragma unroll kLayoutVectors
  for (unsigned i = threadIdx.x; i < pieces; i += kNarrowThreads) {
    const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
    char* const array = a.out + field * a.pitch;
    char* p = array + window.first * kBytes + k * 16;
    const unsigned behind = misalignment(p, 32) ^ (k % 2 * 16);
    p -= behind;
    const unsigned byte = 32 + field * row * 4 + window.before * kBytes + k * 16 - behind;
    const uint4 value = shifted<kBytes>(vectors[byte / 16], vectors[byte / 16 + 1], byte % 16);
    if (inside) {
      store_whole(reinterpret_cast<uint4*>(p), value);
    } else {
      store_aligned<kBytes>(p, value, {array, array + a.structs * kBytes});
    }
  }
}

/// As narrow_to_soa where arrays and their parts of a tile begin at sectors: a lane takes 16 bytes of every field of a
/// group, from four times as many structures, and stores them at once.
template <int kBytes, int kFew, bool kShifted>
__global__ void __launch_bounds__(kNarrowThreads, kNarrowBlocks) narrow_to_even_soa(LayoutArgs a) {
  constexpr unsigned kPer = 4 / kBytes;
  constexpr unsigned kWords = kFew != 0 ? kFew : kPer;
  __shared__ unsigned structs[kNarrowWords];
  const long long first = static_cast<long long>(blockIdx.x) * a.tile;
  const unsigned count = static_cast<unsigned>(a.structs - first < a.tile ? a.structs - first : a.tile);
  const unsigned size = a.fields * kBytes;
  const char* const begin = a.in + first * size;
  run_to_shared<kBytes, kNarrowThreads>(structs, {const_cast<char*>(begin), count * size},
                                        {const_cast<char*>(a.in), const_cast<char*>(a.in) + a.structs * size});
  __syncthreads();
  // Where the words of a lane's structures begin, from the first structure's one.
  unsigned word[kWords], bits[kWords];
#pragma unroll
  for (unsigned j = 0; j < kWords; ++j) {
    const unsigned byte = misalignment(begin, 16) + j * (kFew != 0 ? 4 : size);
    word[j] = byte / 4;
    bits[j] = byte % 4 * 8;
  }
  const unsigned vectors = a.per_field.by;
  const unsigned groups = kFew != 0 ? 1 : (a.fields + kPer - 1) / kPer;
  char* const out = a.out + first * kBytes;
  for (unsigned i = threadIdx.x; i < groups * vectors; i += kNarrowThreads) {
    const unsigned g = kFew != 0 ? 0 : a.per_field.quotient(i), k = i - g * vectors;
    unsigned w[4][kWords];
#pragma unroll
    for (unsigned m = 0; m < 4; ++m) {
      const unsigned at = (k * 4 + m) * a.fields + g;
#pragma unroll
      for (unsigned j = 0; j < kWords; ++j) {
        w[m][j] = structs[padded(at + word[j])];
        if constexpr (kShifted) w[m][j] = __funnelshift_r(w[m][j], structs[padded(at + word[j] + 1)], bits[j]);
      }
      if constexpr (kFew != 0) {
        take_apart<kBytes>(w[m]);
      } else {
        transpose_words(w[m]);
      }
    }
    char* array = out + g * kPer * a.pitch;
#pragma unroll
    for (unsigned e = 0; e < kWords; ++e) {
      if (kFew != 0 || !kShifted || g * kPer + e < a.fields) {
        const uint4 value = make_uint4(w[0][e], w[1][e], w[2][e], w[3][e]);
        if (count == a.tile) {
          store_whole(reinterpret_cast<uint4*>(array) + k, value);
        } else {
          store_aligned<kBytes>(array + k * 16, value, {array, array + count * kBytes});
        }
      }
      array += a.pitch;
    }
  }
}

/// Rows of words in shared memory that begin where their arrays do behind a multiple of 16.
template <bool kEven>
struct Rows {
  const unsigned* words;
  unsigned row;    // words from one to the next
  unsigned place;  // misalignment of the first
  unsigned pitch;  // of the arrays
  __device__ unsigned behind(unsigned field) const { return (place + field * pitch) & 15; }
  /// Word q of a field's part.
  __device__ unsigned word(unsigned field, unsigned q) const {
    const unsigned* const w = words + field * row + q;
    if constexpr (kEven) return *w;
    const unsigned byte = behind(field);
    return __funnelshift_r(w[byte / 4], w[byte / 4 + 1], byte % 4 * 8);
  }
};

/// The words of group g of the fields in the structures 4 / kBytes * q and following, `structs` being their place.
template <int kBytes, bool kShifted, typename Rows>
__device__ inline void group_to_structs(unsigned* structs, unsigned at, const Rows& rows, unsigned fields, unsigned g,
                                        unsigned q) {
  constexpr unsigned kPer = 4 / kBytes;
  unsigned w[kPer];
#pragma unroll
  for (unsigned e = 0; e < kPer; ++e) {
    w[e] = rows.word(!kShifted || g * kPer + e < fields ? g * kPer + e : fields - 1, q);
  }
  transpose_words(w);
  if constexpr (!kShifted) {
#pragma unroll
    for (unsigned j = 0; j < kPer; ++j) structs[padded(at + j * (fields / kPer))] = w[j];
  } else {
    // Structures begin inside words: a word takes its first elements from the fields before, at the begin of a
    // structure from the last fields of the structure before.
    unsigned left[kPer];
#pragma unroll
    for (unsigned e = 0; e < kPer; ++e) left[e] = rows.word((g == 0 ? fields : g * kPer) - kPer + e, q);
    transpose_words(left);
    const unsigned rest = fields % kPer;
#pragma unroll
    for (unsigned j = 0; j < kPer; ++j) {
      const unsigned inside = j * fields % kPer;
      const unsigned low = g == 0 ? left[j == 0 ? 0 : j - 1] : left[j];
      const unsigned word = inside == 0 ? w[j] : __funnelshift_r(low, w[j], 32 - inside * kBytes * 8);
      if (g < fields / kPer || inside + rest >= kPer) structs[padded(at + j * fields / kPer)] = word;
    }
  }
}

/// kShifted: the number of fields is no multiple of the elements of a word. kEven: arrays begin at multiples of 16.
template <int kBytes, int kFew, bool kShifted, bool kEven>
__global__ void __launch_bounds__(kNarrowThreads, kNarrowBlocks) narrow_to_aos(LayoutArgs a) {
  __shared__ unsigned structs[kNarrowWords];
  __shared__ uint4 vectors[kNarrowVectors];
  const long long first = static_cast<long long>(blockIdx.x) * a.tile;
  const unsigned count = static_cast<unsigned>(a.structs - first < a.tile ? a.structs - first : a.tile);
  const unsigned size = a.fields * kBytes;
  const unsigned pieces = a.fields * a.per_field.by;
  const char* const arrays = a.in + first * kBytes;
  const Rows<kEven> rows = {reinterpret_cast<const unsigned*>(vectors), a.per_field.by * 4, misalignment(arrays, 16),
                            static_cast<unsigned>(a.pitch)};
  {
    const Bytes whole = {const_cast<char*>(a.in),
                         const_cast<char*>(a.in) + (a.fields - 1) * a.pitch + a.structs * kBytes};
    const bool inside = (kEven || first * kBytes >= 16) && (first + a.tile) * kBytes + 16 <= a.structs * kBytes;
    uint4 v[kLayoutVectors];
    // The same for the whole block. Inside, every load is issued before the first is needed.
    if (inside) {
#pragma unroll
      for (int n = 0; n < kLayoutVectors; ++n) {
        const unsigned i = threadIdx.x + n * kNarrowThreads;
        const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
        const char* const p = arrays + field * a.pitch - (kEven ? 0 : rows.behind(field));
        if (i < pieces) v[n] = load_whole(reinterpret_cast<const uint4*>(p) + k);
      }
    } else {
#pragma unroll
      for (int n = 0; n < kLayoutVectors; ++n) {
        const unsigned i = threadIdx.x + n * kNarrowThreads;
        const unsigned field = a.per_field.quotient(i), k = i - field * a.per_field.by;
        const unsigned behind = kEven ? 0 : rows.behind(field);
        if (i >= pieces || k * 16 >= behind + count * kBytes) continue;
        v[n] = load_aligned<kBytes>(arrays + field * a.pitch - behind + k * 16, whole);
      }
    }
#pragma unroll
    for (int n = 0; n < kLayoutVectors; ++n) {
      const unsigned i = threadIdx.x + n * kNarrowThreads;
      if (i < pieces) vectors[i] = v[n];
    }
  }
  __syncthreads();
  const Run run = {a.out + first * size, count * size};
  // Words of the structures arrive whole: the run begins up to 3 bytes behind its place in memory.
  const unsigned shift = misalignment(run.begin, 16);
  {
    constexpr unsigned kPer = 4 / kBytes;
    constexpr int kRounds = kBytes == 1 ? 1 : 2;
    const unsigned lead = (shift + 3) / 4;
    const unsigned quads = a.per_group.by;
    const unsigned groups = kFew != 0 ? 1 : (a.fields + kPer - 1) / kPer;
#pragma unroll kRounds
    for (unsigned i = threadIdx.x; i < groups * quads; i += kNarrowThreads) {
      const unsigned g = kFew != 0 ? 0 : a.per_group.quotient(i), q = i - g * quads;
      const unsigned at = lead + q * a.fields + g;
      if constexpr (kFew != 0) {
        unsigned w[kFew];
#pragma unroll
        for (unsigned k = 0; k < kFew; ++k) w[k] = rows.word(k, q);
        put_together<kBytes>(w);
#pragma unroll
        for (unsigned k = 0; k < kFew; ++k) structs[padded(at + k)] = w[k];
      } else {
        group_to_structs<kBytes, kShifted>(structs, at, rows, a.fields, g, q);
      }
    }
  }
  __syncthreads();
  if (shift % 4 == 0) {
    run_from_shared<kBytes, kNarrowThreads>(structs, run);
    return;
  }
#pragma unroll
  for (int n = 0; n < kLayoutVectors; ++n) {
    const unsigned i = threadIdx.x + n * kNarrowThreads;
    if (i * 16 >= shift + run.length) continue;
    const unsigned* const w = structs + padded(i * 4);
    const unsigned bits = (-shift & 3) * 8;
    const uint4 value =
        make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                   __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], structs[padded(i * 4 + 4)], bits));
    store_aligned<kBytes>(run.begin - shift + i * 16, value, {run.begin, run.begin + run.length});
  }
}

/// Structures per block of so many threads: whole sectors of every field's part, 128-byte lines if rows are aligned to
/// them. `margin`: bytes of a field that are moved beside those of its part.
template <int kBytes>
inline unsigned narrow_tile(unsigned room, unsigned fields, unsigned margin, bool lines) {
  const unsigned bytes = room / fields - margin;
  const unsigned unit = lines && bytes >= 128 ? 128 : 32;
  return bytes / unit * unit / kBytes;
}

template <int kBytes, int kFew, bool kToSoa, bool kShifted, bool kEven>
inline cudaError_t launch_narrow(LayoutArgs a, unsigned room, cudaStream_t stream) {
  const unsigned extra = kEven ? 0 : kToSoa ? 32 : 16;  // bytes of a field beside those of its part
  a.overlap = kToSoa ? extra / kBytes : 0;
  a.tile = narrow_tile<kBytes>(room, a.fields, extra, kEven);
  a.per_field = Divider((a.tile * kBytes + (kToSoa ? 0 : extra)) / 16);
  a.per_group = Divider((a.tile + a.overlap) * kBytes / 4);
  const long long blocks = parts(a.structs + (a.overlap == 0 ? 0 : a.overlap - 1), static_cast<long long>(a.tile));
  if (blocks > 0x7fffffff) return cudaErrorInvalidValue;
  const unsigned grid = static_cast<unsigned>(blocks);
  if constexpr (!kToSoa) {
    return launch(narrow_to_aos<kBytes, kFew, kShifted, kEven>, grid, kNarrowThreads, 0, stream, a);
  } else if constexpr (kEven) {
    return launch(narrow_to_even_soa<kBytes, kFew, kShifted>, grid, kNarrowThreads, 0, stream, a);
  } else {
    return launch(narrow_to_soa<kBytes, kFew, kShifted>, grid, kNarrowThreads, 0, stream, a);
  }
}

/// kFew: the number of fields where the turns of a structure's words are spelled out for it, else 0.
template <int kBytes, int kFew, bool kToSoa>
inline cudaError_t choose_narrow(const LayoutArgs& a, cudaStream_t stream) {
  const std::uintptr_t runs = reinterpret_cast<std::uintptr_t>(kToSoa ? a.in : a.out);
  const std::uintptr_t arrays =
      reinterpret_cast<std::uintptr_t>(kToSoa ? a.out : a.in) | static_cast<std::uintptr_t>(a.pitch);
  const unsigned room = kLayoutTile - (runs % 16 == 0 ? 0 : 16);
  const bool even = arrays % (kToSoa ? 32 : 16) == 0;
  // Few fields of structures that begin inside words are left to the general way.
  if ((kFew == 0 && a.fields * kBytes % 4 != 0) || (kToSoa && runs % 4 != 0)) {
    return even ? launch_narrow<kBytes, 0, kToSoa, true, true>(a, room, stream)
                : launch_narrow<kBytes, 0, kToSoa, true, false>(a, room, stream);
  }
  return even ? launch_narrow<kBytes, kFew, kToSoa, false, true>(a, room, stream)
              : launch_narrow<kBytes, kFew, kToSoa, false, false>(a, room, stream);
}

template <int kBytes, bool kToSoa>
inline cudaError_t narrow_layout(const LayoutArgs& a, cudaStream_t stream) {
  constexpr bool kByte = kBytes == 1;  // two and six halves are whole words
  switch (a.fields) {
    case 2:
      return choose_narrow<kBytes, (kByte ? 2 : 0), kToSoa>(a, stream);
    case 3:
      return choose_narrow<kBytes, 3, kToSoa>(a, stream);
    case 5:
      return choose_narrow<kBytes, 5, kToSoa>(a, stream);
    case 6:
      return choose_narrow<kBytes, (kByte ? 6 : 0), kToSoa>(a, stream);
    case 7:
      return choose_narrow<kBytes, 7, kToSoa>(a, stream);
    default:
      return choose_narrow<kBytes, 0, kToSoa>(a, stream);
  }
}

}  // namespace muscope::kernels::detail
