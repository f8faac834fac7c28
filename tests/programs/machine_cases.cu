// What PTX and machine code number or place in different ways: managed variables, function pointers in variables and as
// arguments, virtual calls; groups of lanes that their masks alone tell apart. Prints the same whatever the kernels are made from.
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

// Every lane's largest value among those of its label, and what a neighbour of its half left: masks are no constants.
__global__ void labels(const unsigned* halves, int* out) {
  __shared__ int s[32];
  const int lane = threadIdx.x;
  const unsigned same = __match_any_sync(~0u, lane % 5);
  const int largest = __reduce_max_sync(same, lane * lane % 37);
  s[lane] = largest;
  for (int k = 0; k < 3; ++k) {
    __syncwarp(halves[lane / 16]);
    const int other = s[lane ^ 9];
    __syncwarp(halves[lane / 16]);
    s[lane] = other + (lane & 1);
  }
  out[lane] = largest * 1000 + s[lane];
}

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
  std::printf("%d\n", out[5]);

  unsigned* halves = nullptr;
  cudaMallocManaged(&halves, 2 * sizeof(unsigned));
  halves[0] = 0x0000ffff;
  halves[1] = 0xffff0000;
  labels<<<1, 32>>>(halves, out);
  cudaDeviceSynchronize();
  unsigned sum = 0;
  for (int lane = 0; lane < 32; ++lane) sum = sum * 31 + static_cast<unsigned>(out[lane]);
  std::printf("%d %d %u %s\n", out[3], out[30], sum, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
