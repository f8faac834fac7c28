// The smallest program: no include, one kernel, a launch.
// PTX: .visible .entry _Z3addPKfS0_Pfi(
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  float *a, *b, *c;
  if (cudaMalloc(&a, 4000) != cudaSuccess || cudaMalloc(&b, 4000) != cudaSuccess) return 1;
  if (cudaMalloc((void**)&c, 4000) != cudaSuccess) return 1;
  add<<<4, 256>>>(a, b, c, 1000);
  return cudaDeviceSynchronize() != cudaSuccess;
}
