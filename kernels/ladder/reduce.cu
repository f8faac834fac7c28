// A sum of ints, rung by rung.
#include "../reduce.cuh"

#include "ladder.cuh"

namespace {

namespace mk = muscope::kernels;

__global__ void atomics(int* out, const int* in) { atomicAdd(out, in[blockIdx.x * 256 + threadIdx.x]); }

__global__ void shared(int* out, const int* in) {
  __shared__ int tree[256];
  tree[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(out, tree[0]);
}

__global__ void shuffles(int* out, const int* in) {
  __shared__ int warps[8];
  const int sum = mk::detail::reduce_block<256>(in[blockIdx.x * 256 + threadIdx.x], mk::Sum{}, warps);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

template <int kFlight>
__global__ void vectors(int* out, const int4* in) {
  __shared__ int warps[8];
  int4 v[kFlight];
#pragma unroll
  for (int k = 0; k < kFlight; ++k) v[k] = __ldcs(in + blockIdx.x * (256 * kFlight) + k * 256 + threadIdx.x);
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kFlight; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  sum = mk::detail::reduce_block<256>(sum, mk::Sum{}, warps);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

/// As many blocks as fit at once; each goes through the data in steps.
__global__ void __launch_bounds__(512) steps(int* out, const int4* in, unsigned count) {
  __shared__ int warps[16];
  int sum = 0;
  for (unsigned i = blockIdx.x * 2048 + threadIdx.x; i < count; i += gridDim.x * 2048) {
    int4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = i + k * 512 < count ? __ldcs(in + i + k * 512) : make_int4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  sum = mk::detail::reduce_block<512>(sum, mk::Sum{}, warps);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-reduce");
  if (!lab.wanted("ladder-reduce")) return lab.finish();
  const unsigned n = static_cast<unsigned>(lab.pick(1 << 28, 1 << 24, 1 << 16));
  int* const in = lab.memory<int>(4ull * n);
  lab.fill(in, 4ull * n, ladder::Small{});
  int* const out = lab.memory<int>(64);
  char* const spare = lab.memory(4ull * n);
  lab.run("ceilings", ceilings::rows(lab, spare, reinterpret_cast<char*>(in), reinterpret_cast<char*>(in), 4ull * n,
                                     lab::Flush::kClean));
  int want = 0;
  for (unsigned i = 0; i < n; ++i) want += ladder::small(i);
  std::size_t bytes = 0;
  LAB_CHECK(mk::reduce(nullptr, bytes, out, in, n));
  void* const workspace = ladder::workspace(bytes);
  ladder::Ladder ladder(lab, "ladder-reduce");
  ladder.begin(lab::size_text(4ull * n), 4.0 * n, "read");
  const auto verified = [=] {
    int got = 0;
    LAB_CHECK(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
    return got == want;
  };
  const auto vector = reinterpret_cast<const int4*>(in);
  const auto add = [&](const char* name, const char* why, auto kernel) {
    ladder.rung(
        name, why, 1, [=](cudaStream_t s) { cudaMemsetAsync(out, 0, 4, s), kernel(s); }, ladder::poisoned(out, 4),
        verified);
  };
  add("atomics", "all on one address; the compiler adds up each warp first, and warps wait for each other in the L2",
      [=](cudaStream_t s) { atomics<<<n / 256, 256, 0, s>>>(out, in); });
  add("shared", "a tree in shared memory, one atomic per block; a barrier per step",
      [=](cudaStream_t s) { shared<<<n / 256, 256, 0, s>>>(out, in); });
  add("shuffles", "the tree in registers of a warp; a fifth of the passes, but still 4 bytes per lane in flight",
      [=](cudaStream_t s) { shuffles<<<n / 256, 256, 0, s>>>(out, in); });
  add("16 bytes per lane", "a quarter of the requests for the same sectors, four times the bytes in flight",
      [=](cudaStream_t s) { vectors<1><<<n / 1024, 256, 0, s>>>(out, vector); });
  add("four loads in flight", "64 bytes per lane are asked for before the first is used",
      [=](cudaStream_t s) { vectors<4><<<n / 4096, 256, 0, s>>>(out, vector); });
  add("one wave of blocks", "the tree and the atomic once per resident block, not once per 16 KiB",
      [=, &lab](cudaStream_t s) {
        steps<<<std::min(n / 8192 + 1, 4u * static_cast<unsigned>(lab.multiprocessors())), 512, 0, s>>>(out, vector,
                                                                                                        n / 4);
      });
  ladder.rung(
      "reduce()",
      "no atomic on the result and no memset: partial results that carry the number of the call; deterministic", 1,
      [=](cudaStream_t s) {
        std::size_t size = bytes;
        mk::reduce(workspace, size, out, in, n, mk::Sum{}, 0, s);
      },
      ladder::poisoned(out, 4), verified);
  ladder.run();
  return lab.finish();
}
