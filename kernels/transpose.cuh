// Transposes of matrices in global memory: any size, any pitch, elements of 1, 2, 4, 8 or 16 bytes.
//
//   transpose(out, out_pitch, in, in_pitch, rows, cols, stream)
//
// Every thread loads four pieces of 16 bytes of four neighbouring rows, transposes the block of elements that it holds
// in registers, and stores columns to shared memory as wide as they come. 16-byte units of shared memory are swizzled
// (unit ^ column group), so that both sides are free of bank conflicts with 16-byte access and without padding. Global
// memory sees whole sectors on both sides, 16 bytes per lane.
// Where rows begin anywhere (odd sizes), transpose_uneven.cuh says what is done instead.
#pragma once

#include "common.cuh"
#include "layout.cuh"
#include "transpose_uneven.cuh"

namespace muscope::kernels {

namespace detail {

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

/// One tile: kWide 16-byte units of kGroups * 4 rows. kAligned: rows of both sides begin at multiples of 32 bytes
/// (output) and 16 bytes (input); else elements are of 16 bytes. Registers are for 1536 resident threads.
template <int kBytes, int kWide, int kGroups, bool kAligned>
__global__ void __launch_bounds__(kWide* kGroups, 1536 / (kWide * kGroups)) transpose_tile(TransposeArgs a) {
  constexpr int kElements = 16 / kBytes;
  constexpr int kRows = kGroups * 4;
  constexpr int kCols = kWide * kElements;
  constexpr int kUnits = kRows * kBytes / 16;               // of a column in shared memory
  constexpr int kOut = kAligned ? kUnits : kUnits - 2;      // of a column that this block writes
  constexpr int kOverlap = kAligned ? 0 : 32 / kBytes;      // rows
  constexpr unsigned kSpread = kWide >= 8 ? 1 : 8 / kWide;  // swizzles of neighbouring column groups differ by it
  static_assert(kUnits >= 8 && (kUnits & (kUnits - 1)) == 0, "the swizzle needs whole banks");
  static_assert(kAligned || kBytes == 16, "others are shifted, in transpose_uneven.cuh");
  __shared__ uint4 tile[kCols * kUnits];

  const long long first_out = tile_row_of_block() * (kRows - kOverlap), first = first_out - kOverlap;
  const long long col0 = tile_col_of_block() * kCols;
  if (col0 >= a.cols) return;
  const bool cols_inside = col0 + kCols <= a.cols;
  {
    const unsigned u = threadIdx.x % kWide, g = threadIdx.x / kWide;
    const long long row = first + g * 4, col = col0 + u * kElements;
    const char* p = a.in + row * a.in_pitch + col * kBytes;
    uint4 v[4];
    // The same for the whole block. Inside, every load is issued before the first is needed.
    if (first >= 0 && first + kRows <= a.rows && cols_inside) {
#pragma unroll
      for (int j = 0; j < 4; ++j) v[j] = load_whole(reinterpret_cast<const uint4*>(p + j * a.in_pitch));
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        char* const q = const_cast<char*>(a.in) + (row + j) * a.in_pitch;
        const bool there = row + j >= 0 && row + j < a.rows && col < a.cols;
        v[j] = there ? load_aligned<kBytes>(p + j * a.in_pitch, {q, q + a.cols * kBytes}) : make_uint4(0, 0, 0, 0);
      }
    }
    store_columns<kBytes, kUnits>(tile + u * kElements * kUnits, g, (u * kSpread) & 7, v);
  }
  __syncthreads();
  const bool whole = first >= 0 && first_out + kRows - kOverlap <= a.rows && cols_inside;
  // A thread has one unit of columns that are kStep apart, which begin at the same place of a sector.
  constexpr unsigned kStep = kWide * kGroups / kUnits;
  static_assert(kStep * kBytes % 16 == 0 && kCols % kStep == 0, "columns of a step have the same swizzle but for it");
  const unsigned c = threadIdx.x / kUnits, q = threadIdx.x % kUnits;
  if (q >= kOut) return;
  char* row = a.out + (col0 + c) * a.out_pitch;
  const unsigned behind = kAligned ? 0 : misalignment(row + first_out * kBytes, 32);
  const unsigned from = kAligned ? q : q + 2 - behind / 16;
  const long long byte = first_out * kBytes + q * 16 - behind;
#pragma unroll
  for (unsigned n = 0; n < kCols / kStep; ++n) {
    const unsigned swizzle = ((c / kElements + n * (kStep / kElements)) * kSpread) & 7;
    const uint4 value = tile[(c + n * kStep) * kUnits + (from ^ swizzle)];
    if (whole) {
      store_whole(reinterpret_cast<uint4*>(row + byte), value);
    } else if (col0 + c + n * kStep < a.cols) {
      store_aligned<kBytes>(row + byte, value, {row, row + a.rows * kBytes});
    }
    row += kStep * a.out_pitch;
  }
}

template <int kBytes, int kWide, int kGroups, bool kAligned>
inline cudaError_t launch_transpose(const TransposeArgs& a, cudaStream_t stream) {
  dim3 grid;
  const cudaError_t error = grid_of_tiles(a, kGroups * 4, kWide * (16 / kBytes), kAligned ? 0 : 32 / kBytes, &grid);
  if (error != cudaSuccess) return error;
  return launch(transpose_tile<kBytes, kWide, kGroups, kAligned>, grid, kWide * kGroups, 0, stream, a);
}

/// The tiles that were fastest on an H200.
template <int kBytes>
inline cudaError_t transpose_tiles(const TransposeArgs& a, bool aligned, cudaStream_t stream) {
  if constexpr (kBytes == 1) {
    return aligned ? launch_transpose<1, 16, 32, true>(a, stream) : launch_narrow_transpose<1>(a, stream);
  } else if constexpr (kBytes == 2) {
    return aligned ? launch_transpose<2, 16, 32, true>(a, stream) : launch_narrow_transpose<2>(a, stream);
  } else if constexpr (kBytes == 4) {
    return aligned ? launch_transpose<4, 16, 16, true>(a, stream) : launch_uneven_singles<4>(a, stream);
  } else if constexpr (kBytes == 8) {
    return aligned ? launch_transpose<8, 16, 32, true>(a, stream) : launch_uneven_singles<8>(a, stream);
  } else {
    return aligned ? launch_transpose<16, 32, 16, true>(a, stream) : launch_transpose<16, 32, 16, false>(a, stream);
  }
}

}  // namespace detail

/// out[c][r] = in[r][c] for all r < rows, c < cols. Pitches are the distances of rows in elements: of `in` at least
/// cols, of `out` at least rows. T is trivially copyable of 1, 2, 4, 8 or 16 bytes; pointers are multiples of its size.
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
  if (!whole_elements(out, sizeof(T)) || !whole_elements(in, sizeof(T))) return cudaErrorInvalidValue;
  // Few columns or few rows are structures and arrays of their fields, unless there is a gap between them.
  if (cols <= 64 && in_pitch == cols && rows >= 4 * cols) {
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
  return detail::transpose_tiles<kBytes>(a, aligned, stream);
}

}  // namespace muscope::kernels
