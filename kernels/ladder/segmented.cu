// Sums of many short segments of equal length, rung by rung: eight ints each.
#include "../segmented_reduce.cuh"

#include "ladder.cuh"

namespace {

namespace mk = muscope::kernels;
constexpr int kLength = 8;

__global__ void __launch_bounds__(256) block_per_segment(int* out, const int* in) {
  __shared__ int warps[8];
  const int sum = mk::detail::reduce_block<256>(
      threadIdx.x < kLength ? in[blockIdx.x * std::size_t{kLength} + threadIdx.x] : 0, mk::Sum{}, warps);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(256) warp_per_segment(int* out, const int* in) {
  const std::size_t segment = (blockIdx.x * std::size_t{256} + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  int sum = lane < kLength ? in[segment * kLength + lane] : 0;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) out[segment] = sum;
}
__global__ void __launch_bounds__(256) thread_per_segment(int* out, const int* in) {
  const std::size_t segment = blockIdx.x * std::size_t{256} + threadIdx.x;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kLength; ++k) sum += in[segment * kLength + k];
  out[segment] = sum;
}
__global__ void __launch_bounds__(256) lanes_per_segment(int* out, const int4* in) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  const int4 v = in[i];
  int sum = v.x + v.y + v.z + v.w;
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  if (i % 2 == 0) out[i / 2] = sum;
}

struct Right {
  const int *out, *in;
  __device__ bool operator()(std::size_t i) const {
    int sum = 0;
    for (int k = 0; k < kLength; ++k) sum += in[i * kLength + k];
    return out[i] == sum;
  }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-segmented");
  if (!lab.wanted("ladder-segmented")) return lab.finish();
  const std::size_t segments = lab.pick(std::size_t{8} << 20, std::size_t{2} << 20, 1 << 13), n = segments * kLength;
  int* const in = lab.memory<int>(4 * n);
  lab.fill(in, 4 * n, ladder::Small{});
  int* const out = lab.memory<int>(4 * n);
  lab.run("ceilings", ceilings::rows(lab, reinterpret_cast<char*>(out), reinterpret_cast<char*>(in),
                                     reinterpret_cast<char*>(in), 4 * n, lab::Flush::kClean));
  ladder::Ladder ladder(lab, "ladder-segmented");
  ladder.begin(std::to_string(segments) + " segments of 8", 4.0 * static_cast<double>(n + segments), "read");
  const auto add = [&](const char* name, const char* why, std::function<void(cudaStream_t)> call) {
    ladder.rung(name, why, 1, std::move(call), ladder::poisoned(out, 4 * segments),
                [=, &lab] { return lab.check(segments, Right{out, in}); });
  };
  add("a block per segment", "248 of 256 threads have nothing to do; a barrier for each sum",
      [=](cudaStream_t s) { block_per_segment<<<static_cast<unsigned>(segments), 256, 0, s>>>(out, in); });
  add("a warp per segment", "24 of 32 lanes have nothing to do; one sector per request",
      [=](cudaStream_t s) { warp_per_segment<<<static_cast<unsigned>(segments / 8), 256, 0, s>>>(out, in); });
  add("a thread per segment", "all lanes work; each load of a warp touches 32 sectors, the L1 keeps what is left over",
      [=](cudaStream_t s) { thread_per_segment<<<static_cast<unsigned>(segments / 256), 256, 0, s>>>(out, in); });
  add("two lanes per segment", "16 bytes per lane in order, one shuffle", [=](cudaStream_t s) {
    lanes_per_segment<<<static_cast<unsigned>(segments / 128), 256, 0, s>>>(out, reinterpret_cast<const int4*>(in));
  });
  add("reduce_segments()", "by way of shared memory: any length, any alignment, several loads in flight",
      [=](cudaStream_t s) { mk::reduce_segments(out, in, segments, kLength, mk::Sum{}, s); });
  ladder.run();
  return lab.finish();
}
