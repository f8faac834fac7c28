// What PTX and machine code number or place in different ways: managed variables, function pointers in variables and as
// arguments, virtual calls. Prints the same whatever the kernels are made from.
#include <cstdio>

using Operation = int (*)(int);

__managed__ int total = 5;
__managed__ float data[64];
__constant__ int scale[3] = {2, 3, 5};

__device__ int twice(int x) { return 2 * x; }
__device__ int thrice(int x) { return 3 * x; }
__device__ Operation table[2] = {twice, thrice};
__device__ Operation chosen = thrice;

struct Shape {
  __device__ virtual int area(int side) const = 0;
};
struct Box : Shape {
  int height;
  __device__ explicit Box(int h) : height(h) {}
  __device__ int area(int side) const override { return height * side; }
};

__global__ void add(int n) {
  data[threadIdx.x] += static_cast<float>(threadIdx.x * scale[threadIdx.x % 3]);
  atomicAdd(&total, n);
}

__global__ void call(Operation given, int* out) { out[threadIdx.x] = given(threadIdx.x) + table[threadIdx.x & 1](100); }

__global__ void make(Shape** out) { *out = new Box(7); }
__global__ void measure(Shape** shape, int* out) { out[threadIdx.x] = (*shape)->area(threadIdx.x); }

int main() {
  for (float& x : data) x = 1;
  add<<<1, 64>>>(2);
  cudaDeviceSynchronize();
  std::printf("%d %g %g\n", total, data[62], data[63]);

  int* out = nullptr;
  cudaMallocManaged(&out, 32 * sizeof(int));
  Operation given = nullptr;
  cudaMemcpyFromSymbol(&given, chosen, sizeof given);
  call<<<1, 32>>>(given, out);
  cudaDeviceSynchronize();
  std::printf("%d %d\n", out[4], out[5]);

  Shape** shape = nullptr;
  cudaMalloc(&shape, sizeof(Shape*));
  make<<<1, 1>>>(shape);
  measure<<<1, 32>>>(shape, out);
  cudaDeviceSynchronize();
  std::printf("%d %s\n", out[5], cudaGetErrorString(cudaGetLastError()));
  return 0;
}
