// A managed variable is visible on both sides; its host shadow stands in a section of its own (see README.md).
// PTX: .global .align 4 .u32 total
__managed__ int total = 3;
__device__ __managed__ float samples[4];

__global__ void add(int n) {
  total += n;
  samples[threadIdx.x] = n;
}

int main() {
  total = 1;
  add<<<1, 4>>>(2);
  cudaDeviceSynchronize();
  return total + int(samples[1]);
}
