// Transposes of matrices in global memory: any size, any pitch, elements of 1, 2, 4, 8 or 16 bytes.
//
//   transpose(out, out_pitch, in, in_pitch, rows, cols, stream)
//
// Every thread loads four pieces of 16 bytes of four neighbouring rows, transposes the block of elements that it holds
// in registers, and stores columns to shared memory as wide as they come. 16-byte units of shared memory are swizzled
// (unit ^ column group), so that both sides are free of bank conflicts with 16-byte access and without padding. Global
// memory sees whole sectors on both sides, 16 bytes per lane.
//
// Where rows of the output begin inside a sector (odd sizes), each output row begins its tile at the last sector
// boundary before it: tiles overlap by one sector's worth of input rows, and no sector is written twice.
#pragma once

#include "common.cuh"
#include "layout.cuh"

namespace muscope::kernels {

namespace detail {

struct TransposeArgs {
  char* out;
  const char* in;
  long long out_pitch;  // bytes
  long long in_pitch;   // bytes
  long long rows;
  long long cols;
  unsigned tile_rows;
  unsigned tile_cols;
  unsigned band;  // tiles side by side that are done before the next row of tiles
};

/// The part of a tile's work that a block does: its tile's place. Bands keep reads and writes in few DRAM pages.
__device__ inline void tile_of_block(const TransposeArgs& a, unsigned* row, unsigned* col) {
  const unsigned per_band = a.band * a.tile_rows;
  const unsigned band = blockIdx.x / per_band;
  const unsigned inside = blockIdx.x - band * per_band;
  const unsigned first = band * a.band;
  const unsigned width = a.tile_cols - first < a.band ? a.tile_cols - first : a.band;
  *row = inside / width;
  *col = first + inside % width;
}

/// Stores the columns of a 4 x (16 / kBytes) block, whose rows are v, as units of shared memory.
/// `column` points to the first column, `units` apart; `unit` is the place of the block's rows in a column, swizzled.
template <int kBytes, int kUnits>
__device__ inline void store_columns(uint4* column, unsigned group, unsigned swizzle, const uint4 (&v)[4]) {
  if constexpr (kBytes == 16) {
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) column[(group * 4 + j) ^ swizzle] = v[j];
  } else if constexpr (kBytes == 8) {
    column[(group * 2) ^ swizzle] = make_uint4(v[0].x, v[0].y, v[1].x, v[1].y);
    column[(group * 2 + 1) ^ swizzle] = make_uint4(v[2].x, v[2].y, v[3].x, v[3].y);
    column[kUnits + ((group * 2) ^ swizzle)] = make_uint4(v[0].z, v[0].w, v[1].z, v[1].w);
    column[kUnits + ((group * 2 + 1) ^ swizzle)] = make_uint4(v[2].z, v[2].w, v[3].z, v[3].w);
  } else if constexpr (kBytes == 4) {
    column[group ^ swizzle] = make_uint4(v[0].x, v[1].x, v[2].x, v[3].x);
    column[kUnits + (group ^ swizzle)] = make_uint4(v[0].y, v[1].y, v[2].y, v[3].y);
    column[2 * kUnits + (group ^ swizzle)] = make_uint4(v[0].z, v[1].z, v[2].z, v[3].z);
    column[3 * kUnits + (group ^ swizzle)] = make_uint4(v[0].w, v[1].w, v[2].w, v[3].w);
  } else {
    const unsigned w[4][4] = {{v[0].x, v[0].y, v[0].z, v[0].w},
                              {v[1].x, v[1].y, v[1].z, v[1].w},
                              {v[2].x, v[2].y, v[2].z, v[2].w},
                              {v[3].x, v[3].y, v[3].z, v[3].w}};
    if constexpr (kBytes == 2) {
      uint2* place = reinterpret_cast<uint2*>(column + ((group / 2) ^ swizzle)) + group % 2;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const unsigned select = i % 2 ? 0x7632 : 0x5410;
        place[i * kUnits * 2] =
            make_uint2(__byte_perm(w[0][i / 2], w[1][i / 2], select), __byte_perm(w[2][i / 2], w[3][i / 2], select));
      }
    } else {
      unsigned* place = reinterpret_cast<unsigned*>(column + ((group / 4) ^ swizzle)) + group % 4;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const unsigned select = static_cast<unsigned>(i % 4) | static_cast<unsigned>(i % 4 + 4) << 4;
        const unsigned low = __byte_perm(w[0][i / 4], w[1][i / 4], select);
        const unsigned high = __byte_perm(w[2][i / 4], w[3][i / 4], select);
        place[i * kUnits * 4] = __byte_perm(low, high, 0x5410);
      }
    }
  }
}

template <typename Element>
union Vector4 {
  uint4 whole;
  Element elements[16 / sizeof(Element)];
  __device__ Vector4() {}
};

/// Writes a tile to rows that begin anywhere: single elements, neighbouring lanes on neighbours, a row's first one at
/// the begin of a sector. Columns of the tile are swizzled by their number.
template <int kBytes, int kThreads, int kCols, int kUnits>
__device__ inline void store_singles(const TransposeArgs& a, const uint4* tile, long long first_out, long long col0) {
  using Element = typename Unsigned<kBytes>::type;
  constexpr int kPerUnit = 16 / kBytes;
  constexpr unsigned kOverlap = 32 / kBytes;
  constexpr unsigned kOut = kUnits * kPerUnit - kOverlap;
  constexpr unsigned kWarps = kThreads / kLanes;
  const unsigned lane = threadIdx.x % kLanes;
#pragma unroll 4
  for (unsigned c = threadIdx.x / kLanes; c < kCols; c += kWarps) {
    const long long col = col0 + c;
    if (col >= a.cols) break;
    Element* const out_row = reinterpret_cast<Element*>(a.out + col * a.out_pitch);
    const unsigned behind = misalignment(out_row + first_out, 32) / kBytes;
    const long long row0 = first_out - behind;
    const Element* const column = reinterpret_cast<const Element*>(tile + c * kUnits);
    const bool whole = row0 >= 0 && row0 + kOut <= a.rows;
#pragma unroll
    for (unsigned i = 0; i < (kOut + kLanes - 1) / kLanes; ++i) {
      const unsigned r = lane + i * kLanes, from = r + kOverlap - behind;
      const Element value = column[((from / kPerUnit) ^ (c & 7)) * kPerUnit + from % kPerUnit];
      if (r < kOut && (whole || (row0 + r >= 0 && row0 + r < a.rows))) *(out_row + row0 + r) = value;
    }
  }
}

/// One tile: kWide 16-byte units of kGroups * 4 rows. kAligned: rows of both sides begin at multiples of 32 bytes
/// (output) and 16 bytes (input).
template <int kBytes, int kWide, int kGroups, bool kAligned>
__global__ void __launch_bounds__(kWide* kGroups) transpose_tile(TransposeArgs a) {
  constexpr int kElements = 16 / kBytes;
  constexpr int kRows = kGroups * 4;
  constexpr int kCols = kWide * kElements;
  constexpr int kUnits = kRows * kBytes / 16;               // of a column in shared memory
  constexpr int kOut = kAligned ? kUnits : kUnits - 2;      // of a column that this block writes
  constexpr int kOverlap = kAligned ? 0 : 32 / kBytes;      // rows
  constexpr unsigned kSpread = kWide >= 8 ? 1 : 8 / kWide;  // swizzles of neighbouring column groups differ by it
  constexpr bool kSingles = !kAligned && (kBytes == 4 || kBytes == 8);
  static_assert(kUnits >= 8 && (kUnits & (kUnits - 1)) == 0, "the swizzle needs whole banks");
  __shared__ uint4 tile[kCols * kUnits];

  unsigned tile_row, tile_col;
  tile_of_block(a, &tile_row, &tile_col);
  const long long first_out = static_cast<long long>(tile_row) * (kRows - kOverlap);
  const long long col0 = static_cast<long long>(tile_col) * kCols;
  {
    const unsigned u = threadIdx.x % kWide, g = threadIdx.x / kWide;
    const long long row = first_out - kOverlap + g * 4;
    const long long col = col0 + u * kElements;
    const Bytes range = {const_cast<char*>(a.in),
                         const_cast<char*>(a.in) + (a.rows - 1) * a.in_pitch + a.cols * kBytes};
    const char* p = a.in + row * a.in_pitch + col * kBytes;
    // The same for the whole block. Inside, every load is issued before the first is needed.
    const long long row_first = first_out - kOverlap, row_last = row_first + kRows - 1;
    const bool inside = row_first >= 0 && row_last < a.rows && col0 + kCols <= a.cols &&
                        (kAligned || (row_first * a.in_pitch + col0 * kBytes >= 16 &&
                                      a.in + row_last * a.in_pitch + (col0 + kCols) * kBytes + 16 <= range.end));
    uint4 v[4];
    if (inside) {
      if constexpr (kAligned || kBytes == 16) {
#pragma unroll
        for (int j = 0; j < 4; ++j) v[j] = load_whole(reinterpret_cast<const uint4*>(p + j * a.in_pitch));
      } else if constexpr (kSingles) {
        // Single elements, of neighbouring columns in neighbouring lanes: no shifting.
        using Element = typename Unsigned<kBytes>::type;
        const char* const q = a.in + row * a.in_pitch + (col0 + u) * kBytes;
        Vector4<Element> w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int e = 0; e < kElements; ++e) {
            w[j].elements[e] = reinterpret_cast<const Element*>(q + j * a.in_pitch)[e * kWide];
          }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) v[j] = w[j].whole;
      } else {
        uint4 high[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const char* const q = p + j * a.in_pitch;
          const unsigned shift = misalignment(q, 16);
          v[j] = load_whole(reinterpret_cast<const uint4*>(q - shift));
          high[j] = load_whole(reinterpret_cast<const uint4*>(q + (-shift & 15)));  // the same 16 bytes if aligned
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) v[j] = shifted<kBytes>(v[j], high[j], misalignment(p + j * a.in_pitch, 16));
      }
    } else if constexpr (kSingles) {
      using Element = typename Unsigned<kBytes>::type;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        Vector4<Element> w;
#pragma unroll
        for (int e = 0; e < kElements; ++e) {
          const long long c = col0 + u + e * kWide;
          const bool there = row + j >= 0 && row + j < a.rows && c < a.cols;
          w.elements[e] = there ? reinterpret_cast<const Element*>(a.in + (row + j) * a.in_pitch)[c] : Element{};
        }
        v[j] = w.whole;
      }
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        v[j] = make_uint4(0, 0, 0, 0);
        if (row + j >= 0 && row + j < a.rows && col < a.cols) v[j] = load_any<kBytes>(p + j * a.in_pitch, range);
      }
    }
    if constexpr (kSingles) {
      store_columns<kBytes, kUnits * kWide>(tile + u * kUnits, g, u & 7, v);
    } else {
      store_columns<kBytes, kUnits>(tile + u * kElements * kUnits, g, (u * kSpread) & 7, v);
    }
  }
  __syncthreads();
  if constexpr (kSingles) {
    store_singles<kBytes, kWide * kGroups, kCols, kUnits>(a, tile, first_out, col0);
  } else {
#pragma unroll
    for (unsigned k = threadIdx.x; k < kCols * kOut; k += kWide * kGroups) {
      const unsigned c = k / kOut, q = k % kOut;
      const long long col = col0 + c;
      if (col >= a.cols) break;
      const unsigned swizzle = (c / kElements * kSpread) & 7;
      const uint4* column = tile + c * kUnits;
      char* const out_row = a.out + col * a.out_pitch;
      const Bytes range = {out_row, out_row + a.rows * kBytes};
      char* p = out_row + first_out * kBytes;
      uint4 value;
      if constexpr (kAligned) {
        value = column[q ^ swizzle];
        p += q * 16;
      } else {
        const unsigned behind = misalignment(p, 32);  // bytes from the sector's begin to this tile's first row
        p += static_cast<int>(q * 16) - static_cast<int>(behind);
        const unsigned from = 32 - behind + q * 16;
        value = column[(from / 16) ^ swizzle];
        if constexpr (kBytes < 16) {
          if (from % 16) value = shifted<kBytes>(value, column[(from / 16 + 1) ^ swizzle], from % 16);
        }
      }
      store_aligned<kBytes>(p, value, range);
    }
  }
}

template <int kBytes, int kWide, int kGroups, bool kAligned>
inline cudaError_t launch_transpose(TransposeArgs a, unsigned band, cudaStream_t stream) {
  constexpr long long kOverlap = kAligned ? 0 : 32 / kBytes;
  constexpr long long kRowsOut = kGroups * 4 - kOverlap;
  constexpr long long kCols = kWide * (16 / kBytes);
  const long long tile_rows = parts(a.rows + (kAligned ? 0 : kOverlap - 1), kRowsOut);
  const long long tile_cols = parts(a.cols, kCols);
  if (tile_rows > 0x7fffffff / tile_cols) return cudaErrorInvalidValue;
  a.tile_rows = static_cast<unsigned>(tile_rows);
  a.tile_cols = static_cast<unsigned>(tile_cols);
  a.band = band < a.tile_cols ? band : a.tile_cols;
  while (static_cast<unsigned long long>(a.band) * a.tile_rows > 0xffffffffu) a.band /= 2;
  const unsigned blocks = static_cast<unsigned>(tile_rows * tile_cols);
  transpose_tile<kBytes, kWide, kGroups, kAligned><<<blocks, kWide * kGroups, 0, stream>>>(a);
  return cudaGetLastError();
}

/// The tiles that were fastest on an H200.
template <int kBytes>
inline cudaError_t transpose_tiles(const TransposeArgs& a, bool aligned, unsigned band, cudaStream_t stream) {
  if constexpr (kBytes == 1) {
    return aligned ? launch_transpose<1, 8, 64, true>(a, band, stream)
                   : launch_transpose<1, 8, 64, false>(a, band, stream);
  } else if constexpr (kBytes == 2) {
    return aligned ? launch_transpose<2, 16, 32, true>(a, band, stream)
                   : launch_transpose<2, 8, 64, false>(a, band, stream);
  } else if constexpr (kBytes == 4) {
    return aligned ? launch_transpose<4, 16, 32, true>(a, band, stream)
                   : launch_transpose<4, 16, 32, false>(a, band, stream);
  } else if constexpr (kBytes == 8) {
    return aligned ? launch_transpose<8, 16, 32, true>(a, band, stream)
                   : launch_transpose<8, 16, 32, false>(a, band, stream);
  } else {
    return aligned ? launch_transpose<16, 32, 16, true>(a, band, stream)
                   : launch_transpose<16, 32, 16, false>(a, band, stream);
  }
}

/// Tiles side by side before the next row of tiles begins; measured, see docs/kernels.md.
inline constexpr unsigned kTransposeBand = 1;

}  // namespace detail

/// out[c][r] = in[r][c] for all r < rows, c < cols. Pitches are the distances of rows in elements: of `in` at least
/// cols, of `out` at least rows. T is trivially copyable of 1, 2, 4, 8 or 16 bytes; pointers are aligned to T, no more.
/// The two must not overlap. Nothing between the rows is read into the result or written. Sizes may be zero. Errors:
/// cudaErrorInvalidValue for a pitch that is too small, null with a size, or more than 2^31 tiles; what a launch
/// returns. Asynchronous in `stream`; allocates nothing.
template <typename T>
cudaError_t transpose(T* out, std::size_t out_pitch, const T* in, std::size_t in_pitch, std::size_t rows,
                      std::size_t cols, cudaStream_t stream = nullptr) {
  constexpr int kBytes = sizeof(T);
  static_assert(kBytes == 1 || kBytes == 2 || kBytes == 4 || kBytes == 8 || kBytes == 16, "element size");
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved as bytes");
  if (rows == 0 || cols == 0) return cudaSuccess;
  if (out == nullptr || in == nullptr || in_pitch < cols || out_pitch < rows) return cudaErrorInvalidValue;
  // Few columns or few rows are structures and arrays of their fields, unless there is a gap between them.
  // Many fields whose arrays begin anywhere are left to tiles, which write whole sectors there.
  const bool uneven = kBytes >= 4 && (reinterpret_cast<std::uintptr_t>(out) | out_pitch * kBytes) % 16 != 0;
  if (cols <= (uneven ? 32 : 64) && in_pitch == cols && rows >= 4 * cols) {
    return aos_to_soa(out, out_pitch, in, rows, static_cast<int>(cols), stream);
  }
  if (rows <= 64 && out_pitch == rows && cols >= 4 * rows) {
    return soa_to_aos(out, in, in_pitch, cols, static_cast<int>(rows), stream);
  }
  detail::TransposeArgs a{};
  a.out = reinterpret_cast<char*>(out);
  a.in = reinterpret_cast<const char*>(in);
  a.out_pitch = static_cast<long long>(out_pitch) * kBytes;
  a.in_pitch = static_cast<long long>(in_pitch) * kBytes;
  a.rows = static_cast<long long>(rows);
  a.cols = static_cast<long long>(cols);
  const bool aligned = (reinterpret_cast<std::uintptr_t>(in) | static_cast<std::uintptr_t>(a.in_pitch)) % 16 == 0 &&
                       (reinterpret_cast<std::uintptr_t>(out) | static_cast<std::uintptr_t>(a.out_pitch)) % 32 == 0;
  return detail::transpose_tiles<kBytes>(a, aligned, detail::kTransposeBand, stream);
}

}  // namespace muscope::kernels
