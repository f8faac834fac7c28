// Summing an array: three ways to bring 256 partial sums of a block together.
// clang-format off
//   interleaved   thread t adds element 2*d*t + d to 2*d*t: the active threads stay together, but their addresses lie
//                 2*d apart, so that they meet in few shared-memory banks (2-way conflicts, then 4-way, 8-way, ...)
//   sequential    thread t adds element t + d to t: neighbouring lanes, neighbouring banks, no conflicts
//   shuffle       four elements per thread are added in registers,
//                 then lanes exchange registers: shared memory holds one value per warp,
//                 and one barrier is enough
// clang-format on
// Floating-point addition is not associative: each order gives a sum of its own. The check allows for that.
#include "../example.h"

constexpr int kBlock = 256;

__global__ void reduceInterleaved(const float* in, float* sums, int n) {
  __shared__ float partial[kBlock];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kBlock + t;
  partial[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int distance = 1; distance < kBlock; distance *= 2) {
    const int k = 2 * distance * t;
    if (k < kBlock) partial[k] += partial[k + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

__global__ void reduceSequential(const float* in, float* sums, int n) {
  __shared__ float partial[kBlock];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kBlock + t;
  partial[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int distance = kBlock / 2; distance > 0; distance /= 2) {
    if (t < distance) partial[t] += partial[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

__device__ float sumOfWarp(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffff, value, distance);
  return value;  // whole in lane 0
}

// A block of 256 threads sums 1,024 elements: four per thread, one block width apart, so that every read is coalesced.
__global__ void reduceShuffle(const float* in, float* sums, int n) {
  __shared__ float of_warp[kBlock / 32];
  const int t = threadIdx.x;
  float value = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const int i = (blockIdx.x * 4 + k) * kBlock + t;
    if (i < n) value += in[i];
  }
  value = sumOfWarp(value);
  if (t % 32 == 0) of_warp[t / 32] = value;
  __syncthreads();
  if (t < 32) {
    value = sumOfWarp(t < kBlock / 32 ? of_warp[t] : 0.0f);
    if (t == 0) sums[blockIdx.x] = value;
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 18, 1024, 1 << 22);
  const std::vector<float> host = random_floats(n);
  double exact = 0;
  for (const float value : host) exact += value;
  float* in = to_device(host);
  float* sums = device_array<float>(n / kBlock);
  Verdict verdict;
  const auto check = [&](const char* name, int blocks) {
    CHECK_LAUNCH();
    double sum = 0;
    for (const float value : to_host(sums, blocks)) sum += value;
    verdict.expect(std::fabs(sum - exact) < 1e-5 * exact, name);
    CHECK(cudaMemset(sums, 0xa5, n / kBlock * sizeof(float)));
  };
  reduceInterleaved<<<n / kBlock, kBlock>>>(in, sums, n);
  check("reduceInterleaved", n / kBlock);
  reduceSequential<<<n / kBlock, kBlock>>>(in, sums, n);
  check("reduceSequential", n / kBlock);
  reduceShuffle<<<n / 1024, kBlock>>>(in, sums, n);
  check("reduceShuffle", n / 1024);

  // 1,024 floats by one block of 256 threads, four each.
  reduceShuffle<<<1, kBlock>>>(in, sums, 1024);
  CHECK_LAUNCH();
  double first = 0;
  for (int i = 0; i < 1024; ++i) first += host[i];
  verdict.expect(std::fabs(to_host(sums, 1)[0] - first) < 1e-5 * first, "1,024 floats by 256 threads");

  CHECK(cudaFree(in));
  CHECK(cudaFree(sums));
  return verdict.finish();
}
