// A sum of ints, rung by rung. `muscope run kernels/ladder/reduce.cu` shows what each rung changes.
//
//   1 atomics      one atomic add per element on one address
//   2 shared       a tree in shared memory, one atomic per block
//   3 shuffles     the tree in registers of a warp; shared memory for one word per warp
//   4 vectors      16 bytes per lane and four loads in flight: a quarter of the requests for the same sectors
//   5 reduce()     no atomic and no memset: deterministic partial results that carry the number of the call
#include "../reduce.cuh"

#include "../tests/check.h"

namespace mk = muscope::kernels;

__global__ void atomics(int* out, const int* in) { atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); }

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

__global__ void vectors(int* out, const int4* in) {
  __shared__ int warps[8];
  int4 v[4];
  for (int k = 0; k < 4; ++k) v[k] = __ldcs(in + blockIdx.x * 1024 + k * 256 + threadIdx.x);
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  sum = mk::detail::reduce_block<256>(sum, mk::Sum{}, warps);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

int main() {
  const int n = 1 << 16;
  std::vector<int> in(n);
  Random random;
  int want = 0;
  for (int& value : in) value = static_cast<int>(random.below(100)), want += value;
  const Device<int> device_in(in);
  std::size_t bytes = 0;
  CHECK(mk::reduce(nullptr, bytes, device_in.get(), device_in.get(), n));
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, bytes));
  CHECK(mk::prepare_workspace(workspace, bytes));
  Verdict verdict;
  for (int rung = 1; rung <= 5; ++rung) {
    const Device<int> out(1);
    CHECK(cudaMemset(out.get(), 0, sizeof(int)));
    if (rung == 1) atomics<<<n / 256, 256>>>(out.get(), device_in.get());
    if (rung == 2) shared<<<n / 256, 256>>>(out.get(), device_in.get());
    if (rung == 3) shuffles<<<n / 256, 256>>>(out.get(), device_in.get());
    if (rung == 4) vectors<<<n / 4096, 256>>>(out.get(), reinterpret_cast<const int4*>(device_in.get()));
    if (rung == 5) CHECK(mk::reduce(workspace, bytes, out.get(), device_in.get(), n));
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    verdict.expect(out.host()[0] == want, "rung %d", rung);
  }
  CHECK(cudaFree(workspace));
  return verdict.finish();
}
