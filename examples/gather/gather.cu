// Gathering through an index array: the same kernel, and it is the indices that decide what moves.
//
//   in order              lane l reads element l of its warp's 32: 4 sectors
//   shuffled in the warp  the same 32 elements in any order: still 4 sectors, order within a warp does not matter
//   random                anywhere: up to 32 sectors per request, and no help from the caches
//   sorted                random, but ascending: lanes of a warp come close to each other again
#include <algorithm>

#include "../example.h"

__global__ void gather(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 18, 256, 1 << 22);
  const std::vector<float> host = random_floats(n);
  std::vector<int> in_order(n);
  for (int i = 0; i < n; ++i) in_order[i] = i;

  Random random;
  std::vector<int> within_warp = in_order;
  for (int warp = 0; warp < n; warp += 32) {
    for (int lane = 31; lane > 0; --lane) {
      std::swap(within_warp[warp + lane], within_warp[warp + random.below(lane + 1)]);
    }
  }
  std::vector<int> scattered(n);
  for (int& index : scattered) index = random.below(n);
  std::vector<int> sorted = scattered;
  std::sort(sorted.begin(), sorted.end());

  const float* in = to_device(host);
  float* out = device_array<float>(n);
  Verdict verdict;
  for (const std::vector<int>* indices : {&in_order, &within_warp, &scattered, &sorted}) {
    const int* index = to_device(*indices);
    gather<<<n / 256, 256>>>(in, index, out, n);
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(out, n);
    bool ok = true;
    for (int i = 0; i < n; ++i) ok = ok && got[i] == host[(*indices)[i]];
    verdict.expect(ok, "gather");
    CHECK(cudaFree(const_cast<int*>(index)));
  }
  CHECK(cudaFree(const_cast<float*>(in)));
  CHECK(cudaFree(out));
  return verdict.finish();
}
