// Qualifiers, memory spaces, templates, virtual functions, lambdas, recursion.
// PTX: .const .align 4 .b8 coefficients[64]
// PTX: .extern .shared
// PTX: .maxntid
// PTX: vprintf
// PTX: __assertfail
#include <cassert>
#include <cstdio>

__constant__ float coefficients[16];
__device__ int counter;
static __device__ float table[4] = {1, 2, 3, 4};
__device__ const int kSizes[3] = {1, 2, 3};

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.14f * radius * radius; }
};

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__host__ __device__ __forceinline__ int both(int x) { return x * 3; }

template <class T>
__global__ void reverse(T* data) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* tile = reinterpret_cast<T*>(raw);
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

template <class F>
__global__ void apply(F f, int* data) {
  data[threadIdx.x] = f(data[threadIdx.x]);
}

__global__ void __launch_bounds__(256, 2) everything(float* __restrict__ out, const float* __restrict__ in, int n) {
  __shared__ float tile[32][33];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.x] + coefficients[n & 15] + table[n & 3] + kSizes[n % 3];
  __syncthreads();
  Shape* shape = n > 3 ? static_cast<Shape*>(new Square(2)) : static_cast<Shape*>(new Circle(1));
  out[0] = shape->area() + tile[threadIdx.x][threadIdx.y];
  delete shape;
  int scratch[16];
  for (int i = 0; i < 16; ++i) scratch[i] = n * i;
  out[1] = scratch[n & 15] + factorial(n) + both(n);
  atomicAdd(&counter, 1);
  const dim3 block = blockIdx;
  const uint3 thread = threadIdx;
  printf("%d %f %s\n", n, out[0], "text");
  assert(n > 0);
  out[2] = block.x + thread.y + gridDim.x + warpSize;
}

int main() {
  int* data = nullptr;
  const int k = 3;
  apply<<<1, 32>>>([=] __device__(int x) { return x * k; }, data);
  apply<<<1, 32>>>([=] __host__ __device__(int x) { return x + k; }, data);
  reverse<<<1, 32, 128>>>(data);
  reverse<<<1, 32, 256, cudaStream_t(0)>>>(reinterpret_cast<double*>(data));
  everything<<<dim3(2, 2), dim3(16, 16)>>>(nullptr, nullptr, both(1));
  float host[16] = {};
  cudaMemcpyToSymbol(coefficients, host, sizeof host);
  cudaMemcpyFromSymbol(host, table, sizeof(float), 4, cudaMemcpyDeviceToHost);
  int value = 0;
  cudaMemcpyFromSymbol(&value, counter, sizeof value);
  void* address = nullptr;
  cudaGetSymbolAddress(&address, counter);
  size_t size = 0;
  cudaGetSymbolSize(&size, coefficients);
}
