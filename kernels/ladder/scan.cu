// An exclusive scan of ints, rung by rung.
#include "../scan.cuh"

#include "ladder.cuh"

namespace {

namespace mk = muscope::kernels;

constexpr unsigned kBlock = 1024;

/// The sum of all lanes' values before this one in the block; *total: of all.
__device__ int block_exclusive(int value, int* total) {
  __shared__ int warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int upto = value;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, upto, d);
    if (lane >= static_cast<unsigned>(d)) upto += below;
  }
  __syncthreads();  // an earlier call's words were read
  if (lane == 31) warps[warp] = upto;
  __syncthreads();
  int sums = warps[lane];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, sums, d);
    if (lane >= static_cast<unsigned>(d)) sums += below;
  }
  *total = __shfl_sync(0xffffffffu, sums, 31);
  const int before = __shfl_sync(0xffffffffu, sums, warp == 0 ? 0 : static_cast<int>(warp) - 1);
  return upto - value + (warp == 0 ? 0 : before);
}

/// In shared memory, doubling the distance: ten steps, two barriers each. Leaves the block's total in sums.
__global__ void __launch_bounds__(kBlock) shared_steps(int* out, const int* in, int* sums) {
  __shared__ int data[kBlock];
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  const int mine = in[i];
  data[threadIdx.x] = mine;
  for (unsigned d = 1; d < kBlock; d *= 2) {
    __syncthreads();
    const int below = threadIdx.x >= d ? data[threadIdx.x - d] : 0;
    __syncthreads();
    data[threadIdx.x] += below;
  }
  out[i] = data[threadIdx.x] - mine;
  if (threadIdx.x == kBlock - 1) sums[blockIdx.x] = data[threadIdx.x];
}
__global__ void __launch_bounds__(kBlock) shuffle_steps(int* out, const int* in, int* sums) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  int total;
  out[i] = block_exclusive(in[i], &total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
/// One block scans the sums of all.
__global__ void __launch_bounds__(kBlock) scan_sums(int* sums, unsigned count) {
  int carry = 0;
  for (unsigned base = 0; base < count; base += kBlock) {
    const unsigned i = base + threadIdx.x;
    int total;
    const int before = block_exclusive(i < count ? sums[i] : 0, &total);
    if (i < count) sums[i] = carry + before;
    carry += total;
  }
}
__global__ void __launch_bounds__(kBlock) add_sums(int* out, const int* sums) {
  out[blockIdx.x * kBlock + threadIdx.x] += sums[blockIdx.x];
}

/// Sums of tiles of 4096, so that the scan itself can begin with what stands before it.
__global__ void __launch_bounds__(kBlock) only_sums(const int4* in, int* sums) {
  const int4 v = in[blockIdx.x * kBlock + threadIdx.x];
  int total;
  block_exclusive(v.x + v.y + v.z + v.w, &total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
__global__ void __launch_bounds__(kBlock) vectors_from_sums(int4* out, const int4* in, const int* sums) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  const int4 v = in[i];
  int total;
  int before = sums[blockIdx.x] + block_exclusive(v.x + v.y + v.z + v.w, &total);
  int4 result;
  result.x = before, before += v.x;
  result.y = before, before += v.y;
  result.z = before, before += v.z;
  result.w = before;
  out[i] = result;
}
__global__ void __launch_bounds__(kBlock) words_from_sums(int* out, const int* in, const int* sums) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  int total;
  out[i] = sums[blockIdx.x] + block_exclusive(in[i], &total);
}
__global__ void __launch_bounds__(kBlock) only_sums_of_words(const int* in, int* sums) {
  int total;
  block_exclusive(in[blockIdx.x * kBlock + threadIdx.x], &total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

struct Right {  // differences give the input back, and the first one is zero
  const int *out, *in;
  __device__ bool operator()(std::size_t i) const { return i == 0 ? out[0] == 0 : out[i] - out[i - 1] == in[i - 1]; }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-scan");
  if (!lab.wanted("ladder-scan")) return lab.finish();
  const unsigned n = static_cast<unsigned>(lab.pick(1 << 26, 1 << 24, 1 << 16)), blocks = n / kBlock;
  int* const in = lab.memory<int>(4ull * n);
  lab.fill(in, 4ull * n, ladder::Small{});
  int* const out = lab.memory<int>(4ull * n);
  int* const sums = lab.memory<int>(4ull * blocks);
  lab.run("ceilings", ceilings::rows(lab, reinterpret_cast<char*>(out), reinterpret_cast<char*>(in),
                                     reinterpret_cast<char*>(in), 4ull * n, lab::Flush::kClean));
  std::size_t bytes = 0;
  LAB_CHECK(mk::exclusive_scan(nullptr, bytes, out, in, n));
  void* const workspace = ladder::workspace(bytes);
  ladder::Ladder ladder(lab, "ladder-scan");
  ladder.begin(lab::size_text(4ull * n), 8.0 * n, "copy");
  const auto add = [&](const char* name, const char* why, int kernels, std::function<void(cudaStream_t)> call) {
    ladder.rung(name, why, kernels, std::move(call), ladder::poisoned(out, 4ull * n),
                [=, &lab] { return lab.check(n, Right{out, in}); });
  };
  auto* const vout = reinterpret_cast<int4*>(out);
  const auto* const vin = reinterpret_cast<const int4*>(in);
  add("steps in shared memory",
      "ten steps with two barriers each; then the sums; then everything is read and written again", 3,
      [=](cudaStream_t s) {
        shared_steps<<<blocks, kBlock, 0, s>>>(out, in, sums), scan_sums<<<1, kBlock, 0, s>>>(sums, blocks),
            add_sums<<<blocks, kBlock, 0, s>>>(out, sums);
      });
  add("shuffles", "five steps in registers, twice; two barriers in all; traffic as before: 4 n words", 3,
      [=](cudaStream_t s) {
        shuffle_steps<<<blocks, kBlock, 0, s>>>(out, in, sums), scan_sums<<<1, kBlock, 0, s>>>(sums, blocks),
            add_sums<<<blocks, kBlock, 0, s>>>(out, sums);
      });
  add("sums first", "the first pass writes nothing but sums: 3 n words; but still 4 bytes per lane in flight", 3,
      [=](cudaStream_t s) {
        only_sums_of_words<<<blocks, kBlock, 0, s>>>(in, sums), scan_sums<<<1, kBlock, 0, s>>>(sums, blocks),
            words_from_sums<<<blocks, kBlock, 0, s>>>(out, in, sums);
      });
  add("16 bytes per lane", "a quarter of the requests, tiles and sums", 3, [=](cudaStream_t s) {
    only_sums<<<blocks / 4, kBlock, 0, s>>>(vin, sums), scan_sums<<<1, kBlock, 0, s>>>(sums, blocks / 4),
        vectors_from_sums<<<blocks / 4, kBlock, 0, s>>>(vout, vin, sums);
  });
  add("exclusive_scan()",
      "one pass: blocks look back at the sums of those before them; 2 n words, 160 bytes per lane in flight", 1,
      [=](cudaStream_t s) {
        std::size_t size = bytes;
        mk::exclusive_scan(workspace, size, out, in, n, mk::Sum{}, 0, s);
      });
  ladder.run();
  return lab.finish();
}
