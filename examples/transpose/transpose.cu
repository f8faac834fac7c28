// Eight ways to transpose a matrix in global memory alone, and what each costs.
//
// A transpose must cross rows and columns somewhere: if reads follow the rows, writes follow the columns, or the other
// way round. With 32 lanes of a warp side by side in x, an access along a row needs 4 sectors of 32 bytes, an access
// along a column one sector per row that it touches. A 16x16 block has 16 lanes per row, so a warp covers two rows.
//
//   copyRow, copyCol         the bounds: no transpose at all, both sides along rows or both along columns
//   naiveRow, naiveCol       read rows and write columns, or read columns and write rows
//   unroll4Row, unroll4Col   four elements per thread: more requests in flight, the same sectors
//   diagonalRow, diagonalCol blocks taken along diagonals, which spreads them over memory partitions (it helped GPUs
//                            before cc 2.0, and since then makes little difference)
//
// Try: muscope run transpose.cu        the sectors per request of each kernel, line by line
//      transpose_shared.cu             how shared memory makes both sides follow the rows
#include "../example.h"

__global__ void copyRow(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[iy * nx + ix];
}

__global__ void copyCol(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[ix * ny + iy];
}

__global__ void naiveRow(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[iy * nx + ix];
}

// Reading the columns costs less than writing them: the caches keep what a read brought in for the next warps.
__global__ void naiveCol(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[ix * ny + iy];
}

// One thread handles four elements that are one block width apart.
__global__ void unroll4Row(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  const int step = blockDim.x;
  const int row = iy * nx + ix;  // access along rows
  const int col = ix * ny + iy;  // access along columns
  if (ix + 3 * step < nx && iy < ny) {
    out[col] = in[row];
    out[col + ny * step] = in[row + step];
    out[col + ny * 2 * step] = in[row + 2 * step];
    out[col + ny * 3 * step] = in[row + 3 * step];
  }
}

__global__ void unroll4Col(float* out, const float* in, int nx, int ny) {
  const int ix = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  const int iy = blockIdx.y * blockDim.y + threadIdx.y;
  const int step = blockDim.x;
  const int row = iy * nx + ix;
  const int col = ix * ny + iy;
  if (ix + 3 * step < nx && iy < ny) {
    out[row] = in[col];
    out[row + step] = in[col + ny * step];
    out[row + 2 * step] = in[col + ny * 2 * step];
    out[row + 3 * step] = in[col + ny * 3 * step];
  }
}

// Block (x, y) of the grid works on the block of the matrix in row x of diagonal y. Needs a square grid.
__global__ void diagonalRow(float* out, const float* in, int nx, int ny) {
  const int block_y = blockIdx.x;
  const int block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  const int ix = block_x * blockDim.x + threadIdx.x;
  const int iy = block_y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[ix * ny + iy] = in[iy * nx + ix];
}

__global__ void diagonalCol(float* out, const float* in, int nx, int ny) {
  const int block_y = blockIdx.x;
  const int block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  const int ix = block_x * blockDim.x + threadIdx.x;
  const int iy = block_y * blockDim.y + threadIdx.y;
  if (ix < nx && iy < ny) out[iy * nx + ix] = in[ix * ny + iy];
}

using Kernel = void (*)(float*, const float*, int, int);

struct Way {
  const char* name;
  Kernel kernel;
  int elements;     // per thread, along x
  bool transposes;  // else it copies
};

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1024, 64, 4096);
  const size_t count = static_cast<size_t>(n) * n;
  const std::vector<float> host = random_floats(count);
  std::vector<float> transposed(count);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) transposed[static_cast<size_t>(x) * n + y] = host[static_cast<size_t>(y) * n + x];
  }
  float* in = to_device(host);
  float* out = device_array<float>(count);

  const Way ways[] = {
      {"copyRow", copyRow, 1, false},        {"copyCol", copyCol, 1, false},        {"naiveRow", naiveRow, 1, true},
      {"naiveCol", naiveCol, 1, true},       {"unroll4Row", unroll4Row, 4, true},   {"unroll4Col", unroll4Col, 4, true},
      {"diagonalRow", diagonalRow, 1, true}, {"diagonalCol", diagonalCol, 1, true},
  };
  const dim3 block(16, 16);
  Verdict verdict;
  for (const Way& way : ways) {
    CHECK(cudaMemset(out, 0, count * sizeof(float)));
    const dim3 grid(n / block.x / way.elements, n / block.y);
    way.kernel<<<grid, block>>>(out, in, n, n);
    CHECK_LAUNCH();
    verdict.expect(to_host(out, count) == (way.transposes ? transposed : host), way.name);
  }

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
