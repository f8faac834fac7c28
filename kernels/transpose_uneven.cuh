// Tiles of transposes whose rows begin anywhere, for transpose.cuh.
//
// On the side of the output, each row begins its tile at the last sector boundary before it: tiles overlap by one
// sector's worth of input rows, and no sector is written twice. Rows that a thread takes one after the other are so
// many that there are multiples of 32 bytes between them: what is misaligned is the same for all of them.
#pragma once

#include "layout_narrow.cuh"

namespace muscope::kernels::detail {

struct TransposeArgs {
  char* out;
  const char* in;
  long long out_pitch;  // bytes
  long long in_pitch;   // bytes
  long long rows;
  long long cols;
};

/// Where a block's tile is: tiles below each other follow each other, so that few rows of the output are written at a
/// time, and those entirely.
__device__ inline long long tile_row_of_block() { return blockIdx.x; }
__device__ inline long long tile_col_of_block() { return blockIdx.y + blockIdx.z * static_cast<long long>(gridDim.y); }

/// The grid for tiles of so many rows and columns of the input, of which `overlap` rows are those of another one too.
/// Columns of tiles may be more than there are.
inline cudaError_t grid_of_tiles(const TransposeArgs& a, unsigned rows, unsigned cols, unsigned overlap, dim3* grid) {
  const long long tile_rows = parts(a.rows + (overlap == 0 ? 0 : overlap - 1), static_cast<long long>(rows - overlap));
  const long long tile_cols = parts(a.cols, static_cast<long long>(cols));
  constexpr long long kMost = 65535;
  const long long layers = parts(tile_cols, kMost);
  if (tile_rows > 0x7fffffff || layers > kMost) return cudaErrorInvalidValue;
  *grid = dim3(static_cast<unsigned>(tile_rows), static_cast<unsigned>(parts(tile_cols, layers)),
               static_cast<unsigned>(layers));
  return cudaSuccess;
}

template <typename Element>
union Vector4 {
  uint4 whole;
  Element elements[16 / sizeof(Element)];
  __device__ Vector4() {}
};

/// Elements of 4 and 8 bytes, one by one on both sides: of neighbouring columns or rows in neighbouring lanes, nothing
/// is shifted. A thread takes kSets times four rows of 16 / kBytes columns; tiles are kWide * 16 bytes wide.
template <int kBytes, int kWide, int kGroups, int kSets>
struct SinglesTile {
  static constexpr int kThreads = kWide * kGroups;
  static constexpr int kWarps = kThreads / kLanes;
  static constexpr unsigned kElements = 16 / kBytes;
  static constexpr unsigned kRows = kGroups * 4 * kSets;
  static constexpr unsigned kCols = kWide * kElements;
  static constexpr unsigned kUnits = kRows / kElements;  // of a column in shared memory, 16 bytes each
  static constexpr unsigned kOverlap = 32 / kBytes;
  static constexpr unsigned kOut = kRows - kOverlap;  // rows that a block writes
  static constexpr unsigned kShared = kCols * kUnits * 16;
  static_assert(kWarps % 8 == 0 && kWide % 8 == 0 && kUnits % 8 == 0, "swizzles are those of a column's number");
};

/// Four rows of a thread's columns to shared memory, 16 bytes at once. Units of columns are swizzled by the column.
template <typename Tile, typename Element>
__device__ inline void singles_to_columns(uint4* shared, unsigned u, unsigned group, int wide,
                                          const Element (&rows)[4][Tile::kElements]) {
#pragma unroll
  for (unsigned e = 0; e < Tile::kElements; ++e) {
    uint4* const column = shared + (u + e * wide) * Tile::kUnits;
#pragma unroll
    for (unsigned j = 0; j < 4; j += Tile::kElements) {
      Vector4<Element> unit;
#pragma unroll
      for (unsigned i = 0; i < Tile::kElements; ++i) unit.elements[i] = rows[j + i][e];
      column[(group * 4 / Tile::kElements + j / Tile::kElements) ^ (u & 7)] = unit.whole;
    }
  }
}

template <int kBytes, int kWide, int kGroups, int kSets, int kBlocks>
__global__ void __launch_bounds__(kWide* kGroups, kBlocks) transpose_singles(TransposeArgs a) {
  using Tile = SinglesTile<kBytes, kWide, kGroups, kSets>;
  using Element = typename Unsigned<kBytes>::type;
  extern __shared__ uint4 shared[];
  const long long first_out = tile_row_of_block() * Tile::kOut, first = first_out - Tile::kOverlap;
  const long long col0 = tile_col_of_block() * Tile::kCols;
  if (col0 >= a.cols) return;
  const bool cols_inside = col0 + Tile::kCols <= a.cols;
  {
    const unsigned u = threadIdx.x % kWide, g = threadIdx.x / kWide;
    const char* const p = a.in + (first + g * 4) * a.in_pitch + (col0 + u) * kBytes;
    Element v[kSets][4][Tile::kElements];
    // The same for the whole block. Inside, every load is issued before the first is needed.
    if (first >= 0 && first + Tile::kRows <= a.rows && cols_inside) {
#pragma unroll
      for (unsigned s = 0; s < kSets; ++s) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          const auto* const row = reinterpret_cast<const Element*>(p + (s * kGroups * 4 + j) * a.in_pitch);
#pragma unroll
          for (unsigned e = 0; e < Tile::kElements; ++e) v[s][j][e] = row[e * kWide];
        }
      }
    } else {
#pragma unroll
      for (unsigned s = 0; s < kSets; ++s) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          const auto* const row = reinterpret_cast<const Element*>(p + (s * kGroups * 4 + j) * a.in_pitch);
          const long long r = first + (s * kGroups + g) * 4 + j;
#pragma unroll
          for (unsigned e = 0; e < Tile::kElements; ++e) {
            v[s][j][e] = r >= 0 && r < a.rows && col0 + u + e * kWide < a.cols ? row[e * kWide] : Element{};
          }
        }
      }
    }
#pragma unroll
    for (unsigned s = 0; s < kSets; ++s) singles_to_columns<Tile>(shared, u, s * kGroups + g, kWide, v[s]);
  }
  __syncthreads();
  // A warp writes columns that are kWarps apart.
  const unsigned lane = threadIdx.x % kLanes, c = threadIdx.x / kLanes;
  char* const row = a.out + (col0 + c) * a.out_pitch;
  const unsigned behind = misalignment(row + first_out * kBytes, 32) / kBytes;
  const long long row0 = first_out - behind + lane;
  char* q = row + row0 * kBytes;
  constexpr unsigned kSteps = (Tile::kOut + kLanes - 1) / kLanes;
  const Element* column[kSteps];
#pragma unroll
  for (unsigned i = 0; i < kSteps; ++i) {
    const unsigned from = lane + i * kLanes + Tile::kOverlap - behind;
    column[i] = reinterpret_cast<const Element*>(shared + c * Tile::kUnits) +
                ((from / Tile::kElements) ^ (c & 7)) * Tile::kElements + from % Tile::kElements;
  }
  const bool whole = first >= 0 && first_out + Tile::kOut <= a.rows && cols_inside;
#pragma unroll
  for (unsigned n = 0; n < Tile::kCols / Tile::kWarps; ++n) {
    if (!whole && col0 + c + n * Tile::kWarps >= a.cols) break;
#pragma unroll
    for (unsigned i = 0; i < kSteps; ++i) {
      if (lane + i * kLanes >= Tile::kOut) continue;
      if (!whole && (row0 + i * kLanes < 0 || row0 + i * kLanes >= a.rows)) continue;
      reinterpret_cast<Element*>(q)[i * kLanes] = column[i][n * Tile::kWarps * Tile::kUnits * Tile::kElements];
    }
    q += Tile::kWarps * a.out_pitch;
  }
}

template <int kBytes, int kWide, int kGroups, int kSets, int kBlocks>
inline cudaError_t launch_singles(const TransposeArgs& a, cudaStream_t stream) {
  using Tile = SinglesTile<kBytes, kWide, kGroups, kSets>;
  const auto kernel = transpose_singles<kBytes, kWide, kGroups, kSets, kBlocks>;
  dim3 grid;
  cudaError_t error = grid_of_tiles(a, Tile::kRows, Tile::kCols, Tile::kOverlap, &grid);
  if (error != cudaSuccess) return error;
  if constexpr (Tile::kShared > 48 * 1024) {  // more than any GPU gives unasked
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(Tile::kShared));
    if (error != cudaSuccess) return error;
  }
  return launch(kernel, grid, Tile::kThreads, Tile::kShared, stream, a);
}

/// Wide tiles, narrower ones where a block cannot have as much shared memory.
template <int kBytes>
inline cudaError_t launch_uneven_singles(const TransposeArgs& a, cudaStream_t stream) {
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  if (static_cast<unsigned>(most) < SinglesTile<kBytes, 32, 16, 2>::kShared)
    return launch_singles<kBytes, 16, 32, 1, 3>(a, stream);
  return launch_singles<kBytes, 32, 16, 2, 3>(a, stream);
}

/// Elements of 1 and 2 bytes. Rows come to shared memory as the vectors that hold them. There, a lane takes a word of
/// each of 16 rows, shifted to where the tile begins in them, and turns the block in registers. The same memory then
/// holds columns.
template <int kBytes>
struct NarrowTranspose {
  static constexpr int kThreads = 512;
  static constexpr unsigned kRows = 256;
  static constexpr unsigned kWords = 32;  // of a row
  static constexpr unsigned kCols = kWords * 4 / kBytes;
  static constexpr unsigned kVectors = kWords / 4 + 1;     // that hold a row
  static constexpr unsigned kUnits = kRows * kBytes / 16;  // of a column, 16 bytes each
  static constexpr unsigned kOut = kUnits - 2;             // that a block writes
  static constexpr unsigned kOverlap = 32 / kBytes;        // rows
  static constexpr unsigned kRowStep = kThreads / (kVectors - 1);
  static constexpr unsigned kColStep = 32 / kBytes;
  static_assert(kRowStep % 16 == 0 && kColStep * kUnits == kThreads && kRows / 16 == kThreads / kLanes);
  /// Where a row begins.
  __host__ __device__ static constexpr unsigned place(unsigned row) { return row * kVectors; }
};

/// Rows of the input to shared memory. `first` is the tile's first row, maybe in front of the matrix.
template <int kBytes>
__device__ inline void rows_to_shared(uint4* shared, const TransposeArgs& a, long long first, const char* corner,
                                      bool inside) {
  using Tile = NarrowTranspose<kBytes>;
  constexpr unsigned kWhole = Tile::kVectors - 1, kSteps = Tile::kRows / Tile::kRowStep;
  const unsigned r = threadIdx.x / kWhole, k = threadIdx.x % kWhole;
  const char* p = corner + r * a.in_pitch;
  p += static_cast<int>(k * 16 - misalignment(p, 16));
  const char* last = corner + threadIdx.x * a.in_pitch;  // a thread per row for the vector behind the others
  last += kWhole * 16 - misalignment(last, 16);
  uint4* const to = shared + Tile::place(r) + k;
  // The same for the whole block. Inside, every load is issued before the first is needed.
  if (inside) {
    uint4 v[kSteps], behind;
#pragma unroll
    for (unsigned n = 0; n < kSteps; ++n) {
      v[n] = load_whole(reinterpret_cast<const uint4*>(p + n * Tile::kRowStep * a.in_pitch));
    }
    if (threadIdx.x < Tile::kRows) behind = load_whole(reinterpret_cast<const uint4*>(last));
#pragma unroll
    for (unsigned n = 0; n < kSteps; ++n) to[Tile::place(n * Tile::kRowStep)] = v[n];
    if (threadIdx.x < Tile::kRows) shared[Tile::place(threadIdx.x) + kWhole] = behind;
    return;
  }
  const Bytes range = {const_cast<char*>(a.in), const_cast<char*>(a.in) + (a.rows - 1) * a.in_pitch + a.cols * kBytes};
#pragma unroll 1
  for (unsigned n = 0; n <= kSteps; ++n) {
    const unsigned row = n == kSteps ? threadIdx.x : r + n * Tile::kRowStep;
    if (row >= Tile::kRows || first + row < 0 || first + row >= a.rows) continue;
    const char* const q = n == kSteps ? last : p + n * Tile::kRowStep * a.in_pitch;
    shared[Tile::place(row) + (n == kSteps ? kWhole : k)] = load_aligned<kBytes>(q, range);
  }
}

/// 16 rows of the tile to units of columns, by way of registers: a lane takes a word of each row. Columns have kUnits;
/// they are swizzled by the word of the rows that they come from.
template <int kBytes>
__device__ inline void rows_to_columns(uint4* shared, const TransposeArgs& a, const char* corner) {
  using Tile = NarrowTranspose<kBytes>;
  const unsigned q = threadIdx.x % kLanes, g = threadIdx.x / kLanes;
  const unsigned* const from = reinterpret_cast<const unsigned*>(shared + Tile::place(g * 16)) + q;
  const unsigned pitch = static_cast<unsigned>(a.in_pitch);
  unsigned behind = misalignment(corner, 16) + g * 16 * pitch;
  unsigned w[16];
#pragma unroll
  for (unsigned j = 0; j < 16; ++j) {
    const unsigned* const word = from + Tile::place(j) * 4 + behind % 16 / 4;
    w[j] = __funnelshift_r(word[0], word[1], behind % 4 * 8);
    behind += pitch;
  }
  __syncthreads();
  uint4* const column = shared + q * (4 / kBytes) * Tile::kUnits;
  if constexpr (kBytes == 1) {
#pragma unroll
    for (unsigned n = 0; n < 4; ++n) transpose_words(*reinterpret_cast<unsigned(*)[4]>(w + n * 4));
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      column[e * Tile::kUnits + (g ^ (q % 8))] = make_uint4(w[e], w[4 + e], w[8 + e], w[12 + e]);
    }
  } else {
#pragma unroll
    for (unsigned n = 0; n < 8; ++n) transpose_words(*reinterpret_cast<unsigned(*)[2]>(w + n * 2));
#pragma unroll
    for (unsigned e = 0; e < 2; ++e) {
#pragma unroll
      for (unsigned u = 0; u < 2; ++u) {
        column[e * Tile::kUnits + ((g * 2 + u) ^ (q % 8))] =
            make_uint4(w[u * 8 + e], w[u * 8 + 2 + e], w[u * 8 + 4 + e], w[u * 8 + 6 + e]);
      }
    }
  }
}

template <int kBytes>
__global__ void __launch_bounds__(NarrowTranspose<kBytes>::kThreads, 3) transpose_narrow(TransposeArgs a) {
  using Tile = NarrowTranspose<kBytes>;
  __shared__ uint4 shared[Tile::place(Tile::kRows)];
  const long long first_out = tile_row_of_block() * (Tile::kRows - Tile::kOverlap), first = first_out - Tile::kOverlap;
  const long long col0 = tile_col_of_block() * Tile::kCols;
  if (col0 >= a.cols) return;
  const char* const corner = a.in + first * a.in_pitch + col0 * kBytes;
  const bool cols_inside = col0 + Tile::kCols <= a.cols;
  // Vectors reach into the rows before and behind, where there are some.
  rows_to_shared<kBytes>(shared, a, first, corner,
                         first > 0 && first + Tile::kRows < a.rows && cols_inside && a.in_pitch >= 16);
  __syncthreads();
  rows_to_columns<kBytes>(shared, a, corner);
  __syncthreads();
  // A thread has one unit of columns that are kColStep apart.
  const unsigned q = threadIdx.x % Tile::kUnits, c = threadIdx.x / Tile::kUnits;
  if (q >= Tile::kOut) return;
  char* const row = a.out + (col0 + c) * a.out_pitch;
  char* p = row + first_out * kBytes;
  const unsigned behind = misalignment(p, 32);  // bytes from the sector's begin to this tile's first row
  p += static_cast<int>(q * 16 - behind);
  const unsigned from = 32 - behind + q * 16, swizzle = c * kBytes / 4;
  // Without a shift the second vector is not needed, and the first one may be the column's last.
  const uint4* const low = shared + c * Tile::kUnits + ((from / 16) ^ swizzle);
  const uint4* const high = shared + c * Tile::kUnits + (((from + 15) / 16) ^ swizzle);
  const bool whole = first >= 0 && first_out + (Tile::kRows - Tile::kOverlap) <= a.rows && cols_inside;
#pragma unroll
  for (unsigned n = 0; n < Tile::kCols / Tile::kColStep; ++n) {
    constexpr unsigned kNext = Tile::kColStep * Tile::kUnits;
    const uint4 value = shifted<kBytes>(low[n * kNext], high[n * kNext], from % 16);
    const long long on = n * Tile::kColStep * a.out_pitch;
    if (whole) {
      store_whole(reinterpret_cast<uint4*>(p + on), value);
    } else if (col0 + c + n * Tile::kColStep < a.cols) {
      store_aligned<kBytes>(p + on, value, {row + on, row + on + a.rows * kBytes});
    }
  }
}

template <int kBytes>
inline cudaError_t launch_narrow_transpose(const TransposeArgs& a, cudaStream_t stream) {
  using Tile = NarrowTranspose<kBytes>;
  dim3 grid;
  const cudaError_t error = grid_of_tiles(a, Tile::kRows, Tile::kCols, Tile::kOverlap, &grid);
  if (error != cudaSuccess) return error;
  return launch(transpose_narrow<kBytes>, grid, Tile::kThreads, 0, stream, a);
}

}  // namespace muscope::kernels::detail
