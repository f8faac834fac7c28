// A missing __syncthreads: right on one machine, wrong on the next.
//
// A block reverses 1,024 elements through shared memory. Thread t stores element t and reads element 1023 - t, which a
// thread of another warp stores. Warps run at their own pace: without the barrier a warp may read before the other has
// written. Whether it does depends on the GPU, the compiler and what else runs. A result that is right by luck proves
// nothing; a tool that watches the accesses finds the race whether it shows or not (on a GPU: compute-sanitizer --tool
// racecheck). The memory counts of both kernels are the same.
//
// This program therefore accepts both outcomes of the wrong kernel, as long as each value is either the right one or
// what stood in shared memory before - and insists on the right kernel.
#include "../example.h"

constexpr int kBlock = 1024;
constexpr int kBefore = -1;

template <bool kWithBarrier>
__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[kBlock];
  const int t = threadIdx.x;
  tile[t] = kBefore;
  __syncthreads();
  tile[t] = in[blockIdx.x * kBlock + t];
  if (kWithBarrier) __syncthreads();
  out[blockIdx.x * kBlock + t] = tile[kBlock - 1 - t];
}

int main() {
  constexpr int kBlocks = 64;
  constexpr int kCount = kBlocks * kBlock;
  std::vector<int> host(kCount), reversed(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = i;
  for (int i = 0; i < kCount; ++i) reversed[i] = host[i / kBlock * kBlock + kBlock - 1 - i % kBlock];
  int* in = to_device(host);
  int* out = device_array<int>(kCount);
  Verdict verdict;

  reverse<true><<<kBlocks, kBlock>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, kCount) == reversed, "with the barrier");

  CHECK(cudaMemset(out, 0xa5, kCount * sizeof(int)));
  reverse<false><<<kBlocks, kBlock>>>(in, out);
  CHECK_LAUNCH();
  const std::vector<int> got = to_host(out, kCount);
  int early = 0;
  bool possible = true;
  for (int i = 0; i < kCount; ++i) {
    if (got[i] == kBefore) {
      ++early;
    } else {
      possible = possible && got[i] == reversed[i];
    }
  }
  verdict.expect(possible, "without the barrier: each value is old or right");
  std::printf("without the barrier %d of %d values were read too early\n", early, kCount);

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
