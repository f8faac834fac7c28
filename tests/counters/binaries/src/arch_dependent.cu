// A kernel that differs by __CUDA_ARCH__ in its shared memory, in a program with machine code made from one variant and
// PTX of another. What the runtime says of the kernel must be true of the code that runs.
#include <cstdio>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
constexpr int kWords = 4096;
#else
constexpr int kWords = 64;
#endif

__global__ void variant(int* out) {
#ifdef __CUDA_ARCH__
  __shared__ int words[kWords];
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 3 * i;
  __syncthreads();
  int sum = 0;
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) sum += words[kWords - 1 - i];
  atomicAdd(out + 2, sum);
  if (threadIdx.x == 0) out[0] = __CUDA_ARCH__, out[1] = sizeof words;
#endif
}

int main() {
  int* out = nullptr;
  int got[3] = {};
  cudaFuncAttributes told{};
  bool good = cudaMalloc(&out, sizeof got) == cudaSuccess && cudaMemset(out, 0, sizeof got) == cudaSuccess;
  good = good && cudaFuncGetAttributes(&told, variant) == cudaSuccess;
  variant<<<1, 64>>>(out);
  good = good && cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess;
  const long long words = got[1] / 4;
  good = good && got[0] == told.ptxVersion * 10 && got[1] == static_cast<int>(told.sharedSizeBytes);
  good = good && words > 0 && got[2] == 3 * (words * (words - 1) / 2);
  std::printf("variant %d\narch_dependent %s\n", got[0], good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
