// Counting bytes into 256 bins: where the counters are decides how often threads get into each other's way.
//
//   global     every byte is an atomic add in global memory: bins that many threads hit at once are done one by one
//   shared     one histogram per block in shared memory, added to the global one at the end: 256 global atomics per
//   block per warp   one histogram per warp: threads of different warps never meet, for eight times the shared memory
//
// The data is skewed on purpose: small bins are hit often, as in pictures and texts.
#include "../example.h"

constexpr int kBins = 256;
constexpr int kBlock = 256;
constexpr int kWarps = kBlock / 32;

__global__ void histogramGlobal(const uint8_t* data, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 1u);
}

__global__ void histogramShared(const uint8_t* data, unsigned* bins, int n) {
  __shared__ unsigned local[kBins];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void histogramPerWarp(const uint8_t* data, unsigned* bins, int n) {
  __shared__ unsigned local[kWarps][kBins];
  const int warp = threadIdx.x / 32;
  for (int bin = threadIdx.x % 32; bin < kBins; bin += 32) local[warp][bin] = 0;
  __syncwarp();  // the warp's own histogram concerns no other warp
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[warp][data[i]], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += local[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 18, 256, 1 << 24);
  Random random;
  std::vector<uint8_t> host(n);
  std::vector<unsigned> counted(kBins, 0);
  for (uint8_t& value : host) {
    value = static_cast<uint8_t>(random.bits() & random.bits() & 0xff);
    ++counted[value];
  }
  const uint8_t* data = to_device(host);
  unsigned* bins = device_array<unsigned>(kBins);
  constexpr int kBlocks = 32;
  Verdict verdict;
  const auto check = [&](const char* name) {
    CHECK_LAUNCH();
    verdict.expect(to_host(bins, kBins) == counted, name);
    CHECK(cudaMemset(bins, 0, kBins * sizeof(unsigned)));
  };
  CHECK(cudaMemset(bins, 0, kBins * sizeof(unsigned)));
  histogramGlobal<<<kBlocks, kBlock>>>(data, bins, n);
  check("histogramGlobal");
  histogramShared<<<kBlocks, kBlock>>>(data, bins, n);
  check("histogramShared");
  histogramPerWarp<<<kBlocks, kBlock>>>(data, bins, n);
  check("histogramPerWarp");
  CHECK(cudaFree(const_cast<uint8_t*>(data)));
  CHECK(cudaFree(bins));
  return verdict.finish();
}
