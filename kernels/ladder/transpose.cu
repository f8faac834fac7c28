// A transpose of floats, rung by rung.
#include "../transpose.cuh"

#include "ladder.cuh"

namespace {

__global__ void naive(float* out, const float* in, unsigned n) {
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}
__global__ void naive_reads(float* out, const float* in, unsigned n) {
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * n + x] = in[x * n + y];
}

template <unsigned kPitch>
__global__ void tile(float* out, const float* in, unsigned n) {
  __shared__ float shared[32][kPitch];
  const unsigned x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (unsigned k = threadIdx.y; k < 32; k += 8) shared[k][threadIdx.x] = in[(y + k) * n + x + threadIdx.x];
  __syncthreads();
  for (unsigned k = threadIdx.y; k < 32; k += 8) out[(x + k) * n + y + threadIdx.x] = shared[threadIdx.x][k];
}

/// Word (row, column) lies at column ^ row of its row: both ways meet all banks, with no padding.
__global__ void swizzle(float* out, const float* in, unsigned n) {
  __shared__ float shared[32][32];
  const unsigned x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (unsigned k = threadIdx.y; k < 32; k += 8) shared[k][threadIdx.x ^ k] = in[(y + k) * n + x + threadIdx.x];
  __syncthreads();
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    out[(x + k) * n + y + threadIdx.x] = shared[threadIdx.x][k ^ threadIdx.x];
}

/// Tiles of 64 x 64: 16 loads per thread before the barrier.
__global__ void __launch_bounds__(256) in_flight(float* out, const float* in, unsigned n) {
  __shared__ float shared[64][65];
  const unsigned x = blockIdx.x * 64, y = blockIdx.y * 64;
  float v[16];
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) v[k] = in[(y + k / 2 * 8 + threadIdx.y) * n + x + k % 2 * 32 + threadIdx.x];
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) shared[k / 2 * 8 + threadIdx.y][k % 2 * 32 + threadIdx.x] = v[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) {
    const unsigned column = k / 2 * 8 + threadIdx.y;
    out[(x + column) * n + y + k % 2 * 32 + threadIdx.x] = shared[k % 2 * 32 + threadIdx.x][column];
  }
}

struct Right {
  const float* out;
  unsigned n;
  __device__ bool operator()(std::size_t i) const {
    return __float_as_uint(out[i % n * n + i / n]) == lab::mixed(static_cast<std::uint32_t>(i));
  }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-transpose");
  if (!lab.wanted("ladder-transpose")) return lab.finish();
  const unsigned n = static_cast<unsigned>(lab.pick(16384, 4096, 256));
  const std::size_t words = std::size_t{n} * n;
  float* const in = lab.memory<float>(4 * words);
  float* const out = lab.memory<float>(4 * words, 9);
  lab.run("ceilings", ceilings::rows(lab, reinterpret_cast<char*>(out), reinterpret_cast<char*>(in),
                                     reinterpret_cast<char*>(in), 4 * words, lab::Flush::kClean));
  ladder::Ladder ladder(lab, "ladder-transpose");
  ladder.begin(std::to_string(n) + " x " + std::to_string(n), 8.0 * static_cast<double>(words), "copy");
  const auto add = [&](const char* name, const char* why, std::function<void(cudaStream_t)> call) {
    ladder.rung(name, why, 1, std::move(call), ladder::poisoned(out, 4 * words),
                [=, &lab] { return lab.check(words, Right{out, n}); });
  };
  const dim3 block(32, 8), rows(n / 32, n / 8), tiles(n / 32, n / 32), large(n / 64, n / 64);
  add("naive, writes scattered", "along rows and down columns: 32 sectors for a store of 32 lanes",
      [=](cudaStream_t s) { naive<<<rows, block, 0, s>>>(out, in, n); });
  add("naive, reads scattered", "32 sectors for a load of 32 lanes; the L1 keeps them for the neighbours",
      [=](cudaStream_t s) { naive_reads<<<rows, block, 0, s>>>(out, in, n); });
  add("shared tile", "rows on both sides; but a column of the tile lies in one bank: 32 passes",
      [=](cudaStream_t s) { tile<32><<<tiles, block, 0, s>>>(out, in, n); });
  add("padding", "one word per row of the tile: no bank conflicts; still 4 bytes per lane",
      [=](cudaStream_t s) { tile<33><<<tiles, block, 0, s>>>(out, in, n); });
  add("swizzle", "no bank conflicts without the padding",
      [=](cudaStream_t s) { swizzle<<<tiles, block, 0, s>>>(out, in, n); });
  add("16 loads in flight", "tiles of 64 x 64: all loads of a thread before the first is used",
      [=](cudaStream_t s) { in_flight<<<large, block, 0, s>>>(out, in, n); });
  add("transpose()", "16 bytes per lane on both sides, blocks of 4 x 4 in registers, bands of tiles",
      [=](cudaStream_t s) { muscope::kernels::transpose(out, n, in, n, n, n, s); });
  ladder.run();
  return lab.finish();
}
