// Vector addition with a self check: prints PASS or FAIL and exits 0 or 1.
#include <cstdio>

__global__ void vadd(const float* a, const float* b, float* c, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int kCount = 1000;
  static float a[kCount], b[kCount], c[kCount];
  for (int i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(2 * i);
  }
  float *da = nullptr, *db = nullptr, *dc = nullptr;
  bool ok = cudaMalloc(&da, sizeof a) == cudaSuccess && cudaMalloc(&db, sizeof b) == cudaSuccess &&
            cudaMalloc(&dc, sizeof c) == cudaSuccess;
  ok = ok && cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice) == cudaSuccess;
  ok = ok && cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice) == cudaSuccess;
  if (ok) vadd<<<(kCount + 127) / 128, 128>>>(da, db, dc, kCount);
  ok = ok && cudaDeviceSynchronize() == cudaSuccess;
  ok = ok && cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int i = 0; ok && i < kCount; ++i) ok = c[i] == static_cast<float>(3 * i);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  std::puts(ok ? "vadd PASS" : "vadd FAIL");
  return ok ? 0 : 1;
}
