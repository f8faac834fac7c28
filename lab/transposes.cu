// The eight kernels of the classic article on transposes (two copies, six transposes), with blocks of 32 x 8 threads on
// tiles of 32 x 32, written anew. What each adds is its "why".
#include "ceilings.cuh"

namespace {

using lab::Row;
constexpr unsigned kTile = 32, kRows = 8;

__global__ void copy(float* out, const float* in, unsigned width, unsigned) {
  const unsigned x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (unsigned r = 0; r < kTile; r += kRows) out[(y + r) * width + x] = in[(y + r) * width + x];
}

__global__ void copy_by_tile(float* out, const float* in, unsigned width, unsigned) {
  __shared__ float tile[kTile][kTile];
  const unsigned x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (unsigned r = 0; r < kTile; r += kRows) tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * width + x];
  __syncthreads();
  for (unsigned r = 0; r < kTile; r += kRows) out[(y + r) * width + x] = tile[threadIdx.y + r][threadIdx.x];
}

__global__ void naive(float* out, const float* in, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (unsigned r = 0; r < kTile; r += kRows) out[x * height + y + r] = in[(y + r) * width + x];
}

/// kPitch 32: a column of the tile lies in one bank; 33: in all of them.
template <unsigned kPitch>
__global__ void by_tile(float* out, const float* in, unsigned width, unsigned height) {
  __shared__ float tile[kTile][kPitch];
  const unsigned x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) tile[r][threadIdx.x] = in[(y + r) * width + x + threadIdx.x];
  __syncthreads();
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) out[(x + r) * height + y + threadIdx.x] = tile[threadIdx.x][r];
}

/// Tiles are transposed inside, and stay where they are: half of the work, to see what it costs.
__global__ void fine_grained(float* out, const float* in, unsigned width, unsigned) {
  __shared__ float tile[kTile][kTile + 1];
  const unsigned x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile;
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) tile[r][threadIdx.x] = in[(y + r) * width + x];
  __syncthreads();
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) out[(y + r) * width + x] = tile[threadIdx.x][r];
}
/// Tiles go to their places, untransposed: the other half.
__global__ void coarse_grained(float* out, const float* in, unsigned width, unsigned height) {
  __shared__ float tile[kTile][kTile + 1];
  const unsigned x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) tile[r][threadIdx.x] = in[(y + r) * width + x + threadIdx.x];
  __syncthreads();
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) out[(x + r) * height + y + threadIdx.x] = tile[r][threadIdx.x];
}

/// Blocks in diagonal order: those that run together write different columns of tiles.
__global__ void diagonal(float* out, const float* in, unsigned width, unsigned height) {
  __shared__ float tile[kTile][kTile + 1];
  unsigned bx = 0, by = 0;
  if (width == height) {
    by = blockIdx.x;
    bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    by = block % gridDim.y;
    bx = (block / gridDim.y + by) % gridDim.x;
  }
  const unsigned x = bx * kTile, y = by * kTile;
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) tile[r][threadIdx.x] = in[(y + r) * width + x + threadIdx.x];
  __syncthreads();
  for (unsigned r = threadIdx.y; r < kTile; r += kRows) out[(x + r) * height + y + threadIdx.x] = tile[threadIdx.x][r];
}

enum class Result { kCopy, kTransposed, kTilesTransposed, kTilesMoved };
struct Right {
  const float* out;
  unsigned width, height;
  Result result;
  __device__ bool operator()(std::size_t i) const {
    const unsigned x = static_cast<unsigned>(i % width), y = static_cast<unsigned>(i / width);
    std::size_t at = i;
    if (result == Result::kTransposed) at = static_cast<std::size_t>(x) * height + y;
    if (result == Result::kTilesTransposed)
      at = static_cast<std::size_t>(y / kTile * kTile + x % kTile) * width + x / kTile * kTile + y % kTile;
    if (result == Result::kTilesMoved)
      at = static_cast<std::size_t>(x / kTile * kTile + y % kTile) * height + y / kTile * kTile + x % kTile;
    return __float_as_uint(out[at]) == lab::mixed(static_cast<std::uint32_t>(i));
  }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "transposes");
  if (!lab.wanted("transposes")) return lab.finish();
  const std::size_t most = lab.pick(16384, 4096, 128), bytes = most * most * 4;
  char* const in = lab.memory(bytes);
  char* const out = lab.memory(bytes, 3);
  for (const unsigned side : {1024u, 2048u, 4096u, 8192u, 16384u, 0u}) {
    const unsigned n = lab.counting() ? 128 : side;
    if (n == 0 || n > most || (lab.counting() && side != 1024)) continue;
    lab.run("ceilings", ceilings::rows(lab, out, in, in + bytes / 2, std::size_t{n} * n * 4 / (n == most ? 2 : 1),
                                       lab::Flush::kClean));
    std::vector<Row> rows;
    float* const to = reinterpret_cast<float*>(out);
    const float* const from = reinterpret_cast<const float*>(in);
    const auto add = [&](const char* name, const char* why, Result result, auto kernel) {
      Row row;
      row.name = std::string(name) + ", " + std::to_string(n) + " x " + std::to_string(n);
      row.x = n;
      row.x_unit = "rows";
      row.bytes = 8.0 * n * n;
      row.mix = "copy";
      row.why = why;
      row.call = [=](cudaStream_t s) {
        kernel<<<dim3(n / kTile, n / kTile), dim3(kTile, kRows), 0, s>>>(to, from, n, n);
      };
      row.poison = [=] { LAB_CHECK(cudaMemset(to, 0xff, std::size_t{n} * n * 4)); };
      row.verified = [=, &lab] { return lab.check(std::size_t{n} * n, Right{to, n, n, result}); };
      rows.push_back(row);
    };
    add("copy", "rows to rows", Result::kCopy, copy);
    add("copy by shared memory", "the tile and its barrier, nothing else", Result::kCopy, copy_by_tile);
    add("naive transpose", "each store of a warp touches 32 sectors", Result::kTransposed, naive);
    add("by a tile of 32 x 32", "rows on both sides; reading a column of the tile takes 32 passes over one bank",
        Result::kTransposed, by_tile<32>);
    add("by a tile of 32 x 33", "one word of padding per row: a column lies in 32 banks", Result::kTransposed,
        by_tile<33>);
    add("coarse-grained", "tiles move, words inside do not: no transposed access to shared memory", Result::kTilesMoved,
        coarse_grained);
    add("fine-grained", "words move inside tiles that stay: global memory as for a copy", Result::kTilesTransposed,
        fine_grained);
    add("diagonal order of blocks", "blocks that run together write different columns of tiles (partition camping)",
        Result::kTransposed, diagonal);
    lab.run("transposes", rows);
  }
  return lab.finish();
}
