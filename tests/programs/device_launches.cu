// Kernels that launch kernels: to named streams and none, from several blocks, several generations deep, after memset
// and copies made on the device. The same output on every GPU.
#include <cstdio>

__global__ void child(int* p, int depth);

__global__ void parent(int* p, int depth) {
  atomicAdd(p + threadIdx.x, depth);
  if (threadIdx.x != 0 || depth >= 3) return;
  child<<<2, 32>>>(p, depth + 1);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  child<<<1, 32, 16, stream>>>(p, depth + 10);
  cudaStreamDestroy(stream);
  child<<<1, 32, 0, cudaStreamTailLaunch>>>(p, 20);
}

__global__ void child(int* p, int depth) {
  atomicAdd(p + 32 + threadIdx.x, depth);
  if (depth < 3 && threadIdx.x == 0 && blockIdx.x == 0) parent<<<1, 32>>>(p, depth + 1);
}

__global__ void last(int* p, int* seen) { seen[0] = p[0]; }
__global__ void add(int* p, int n) { p[0] = p[0] * 2 + n; }

/// Launches to one stream run in order; the tail comes after them.
__global__ void ordered(int* p) {
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(p, p + 1);
  for (int n = 1; n < 8; ++n) add<<<1, 1>>>(p, n);
}

__global__ void wrong(int* p) {
  add<<<1, 2000>>>(p, 1);
  p[2] = static_cast<int>(cudaGetLastError());
  p[3] = static_cast<int>(cudaGetLastError());
  add<<<1, 1, 100000>>>(p, 1);
  p[7] = static_cast<int>(cudaGetLastError());
  add<<<dim3(1, 70000), 1>>>(p, 1);
  p[8] = static_cast<int>(cudaGetLastError());
  add<<<1, dim3(1, 1, 65)>>>(p, 1);
  p[23] = static_cast<int>(cudaGetLastError());
  add<<<0, 1>>>(p, 1);
  p[24] = static_cast<int>(cudaGetLastError());
  add<<<1, 1, 0, reinterpret_cast<cudaStream_t>(0x12340)>>>(p, 1);
  p[31] = static_cast<int>(cudaGetLastError());
}

__global__ void set(int* p) {
  cudaMemsetAsync(p + 8, 1, 64, 0);
  cudaMemcpyAsync(p + 40, p + 100, 40, cudaMemcpyDeviceToDevice, 0);
}

int main() {
  int* p;
  int h[128] = {};
  if (cudaMalloc(&p, sizeof h) != cudaSuccess) return 1;
  const auto begin = [&] {
    for (int i = 0; i < 128; ++i) h[i] = i >= 100 ? i : 0;
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
  };
  const auto end = [&](const char* what) {
    const cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    std::printf("%s: %s", what, cudaGetErrorString(error));
    for (int i : {0, 1, 2, 3, 7, 8, 23, 24, 31, 32, 40, 49, 50, 63}) std::printf(" %d", h[i]);
    std::printf("\n");
  };
  begin(), parent<<<1, 32>>>(p, 1), end("nested");
  begin(), parent<<<3, 32>>>(p, 2), end("several");
  begin(), ordered<<<1, 1>>>(p), end("ordered");
  begin(), wrong<<<1, 1>>>(p), end("wrong");
  begin(), set<<<1, 1>>>(p), end("set");
}
