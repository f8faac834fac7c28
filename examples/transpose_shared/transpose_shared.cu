// Transposing through shared memory: both sides of global memory follow the rows, the crossing happens on the chip.
//
// A block loads a 32x32 tile along the rows, waits, and writes it along the rows of the result. The crossing is in how
// the tile is read: tile[threadIdx.x][threadIdx.y]. Shared memory has 32 banks of 4 bytes, and the 32 lanes of that
// read are one tile row apart. With rows of 32 floats all lanes fall into one bank: 32 passes (wavefronts) instead of
// one. With one float of padding per row the column spreads over all banks.
//
// Rungs of the ladder:
//   transposeTile<0>     no padding: global traffic is ideal, every tile read takes 32 wavefronts
//   transposeTile<1>     one float of padding: one wavefront
//   transposeRectangle   the same for a matrix that is no multiple of the tile
//   transposeFast        four rows per thread and 16-byte accesses on both sides of global memory
//   crossedTwice         a mistake that looks like an optimised transpose and is none
#include "../example.h"

constexpr int kTile = 32;

template <int kPadding>
__global__ void transposeTile(float* out, const float* in, int n) {
  __shared__ float tile[kTile][kTile + kPadding];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  // Other threads read what this one wrote: without this barrier they might read too early.
  __syncthreads();
  // The block's own coordinates are exchanged, not the thread's: lanes still go along x.
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// `width` x `height` becomes `height` x `width`. Threads outside do not load or store, but all reach the barrier.
__global__ void transposeRectangle(float* out, const float* in, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

// 8x32 threads per tile. Each moves one float4 from the matrix into the tile and one float4 from the tile to the
// result: a quarter of the global requests, each with 16 sectors that are all used. The floats of a float4 are spread
// over the tile one by one, since padding takes the 16-byte alignment away from its rows.
__global__ void transposeFast(float* out, const float* in, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int column = threadIdx.x * 4;
  const int row = threadIdx.y;
  const float4 loaded =
      *reinterpret_cast<const float4*>(in + (blockIdx.y * kTile + row) * n + blockIdx.x * kTile + column);
  tile[row][column] = loaded.x;
  tile[row][column + 1] = loaded.y;
  tile[row][column + 2] = loaded.z;
  tile[row][column + 3] = loaded.w;
  __syncthreads();
  float4 stored;
  stored.x = tile[column][row];
  stored.y = tile[column + 1][row];
  stored.z = tile[column + 2][row];
  stored.w = tile[column + 3][row];
  *reinterpret_cast<float4*>(out + (blockIdx.x * kTile + row) * n + blockIdx.y * kTile + column) = stored;
}

// This form goes round as an optimised transpose: it has the tile, the padding and the barrier. But the crossed tile
// read is paired with a crossed address, so the two cancel out: inside each tile nothing is transposed, and
// neighbouring lanes store a whole row apart, 32 sectors per request. Only the tiles themselves change places.
__global__ void crossedTwice(float* out, const float* in, int n) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[x * n + y] = tile[threadIdx.x][threadIdx.y];
}

std::vector<float> transposed(const std::vector<float>& matrix, int width, int height) {
  std::vector<float> result(matrix.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x)
      result[static_cast<size_t>(x) * height + y] = matrix[static_cast<size_t>(y) * width + x];
  }
  return result;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1024, kTile, 4096);
  const size_t count = static_cast<size_t>(n) * n;
  const std::vector<float> host = random_floats(count);
  const std::vector<float> wanted = transposed(host, n, n);
  float* in = to_device(host);
  float* out = device_array<float>(count);
  const dim3 grid(n / kTile, n / kTile);
  const dim3 square(kTile, kTile);
  Verdict verdict;

  transposeTile<0><<<grid, square>>>(out, in, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, count) == wanted, "transposeTile<0>");

  CHECK(cudaMemset(out, 0, count * sizeof(float)));
  transposeTile<1><<<grid, square>>>(out, in, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, count) == wanted, "transposeTile<1>");

  CHECK(cudaMemset(out, 0, count * sizeof(float)));
  transposeFast<<<grid, dim3(kTile / 4, kTile)>>>(out, in, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, count) == wanted, "transposeFast");

  // Neither side a multiple of the tile: the grid covers the rest with blocks that are partly outside.
  const int width = n - 24;
  const int height = n - 30;
  if (height > 0) {
    const std::vector<float> part(host.begin(), host.begin() + static_cast<size_t>(width) * height);
    const dim3 covering((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
    CHECK(cudaMemset(out, 0, count * sizeof(float)));
    transposeRectangle<<<covering, square>>>(out, in, width, height);
    CHECK_LAUNCH();
    verdict.expect(to_host(out, part.size()) == transposed(part, width, height), "transposeRectangle");
  }

  CHECK(cudaMemset(out, 0, count * sizeof(float)));
  crossedTwice<<<grid, square>>>(out, in, n);
  CHECK_LAUNCH();
  const std::vector<float> crossed = to_host(out, count);
  verdict.expect(crossed != wanted, "crossedTwice is expected not to transpose");
  bool tiles_only = true;  // what it does instead: tiles change places, their insides stay
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const int from_x = y / kTile * kTile + x % kTile;
      const int from_y = x / kTile * kTile + y % kTile;
      tiles_only =
          tiles_only && crossed[static_cast<size_t>(y) * n + x] == host[static_cast<size_t>(from_y) * n + from_x];
    }
  }
  verdict.expect(tiles_only, "crossedTwice moves whole tiles");

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
