// Kernels that launch themselves: a quicksort whose parts are grids of their own, with a tail that checks it; launches
// by cudaLaunchDevice(), through pointers to kernels, to every named stream. The same output on every GPU.
#include <cstdio>

struct Part {
  int* data;
  short left, right;
  char depth;
};

__device__ int grids[8];
__device__ int events[16];
__device__ int next_event;

__global__ void sort_few(Part p) {
  atomicAdd(&grids[1], 1);
  for (int i = p.left + 1; i <= p.right; ++i)
    for (int j = i; j > p.left && p.data[j - 1] > p.data[j]; --j) {
      const int kept = p.data[j];
      p.data[j] = p.data[j - 1];
      p.data[j - 1] = kept;
    }
}

__global__ void sort_part(Part p) {
  atomicAdd(&grids[0], 1);
  if (p.right - p.left < 8 || p.depth > 16) {
    sort_few<<<1, 1, 0, cudaStreamFireAndForget>>>(p);
    return;
  }
  const int pivot = p.data[(p.left + p.right) / 2];
  int i = p.left, j = p.right;
  while (i <= j) {
    while (p.data[i] < pivot) ++i;
    while (p.data[j] > pivot) --j;
    if (i > j) break;
    const int kept = p.data[i];
    p.data[i++] = p.data[j];
    p.data[j--] = kept;
  }
  Part lower = p, upper = p;
  lower.right = static_cast<short>(j), upper.left = static_cast<short>(i);
  lower.depth = upper.depth = static_cast<char>(p.depth + 1);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (p.left < j) sort_part<<<1, 1, 0, stream>>>(lower);
  cudaStreamDestroy(stream);
  if (i < p.right) sort_part<<<1, 1, 0, cudaStreamPerThread>>>(upper);
}

__global__ void is_sorted(const int* data, int n, int* wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n && data[i] > data[i + 1]) atomicAdd(wrong, 1);
}

/// The tail sees what everything that came out of this grid has done.
__global__ void sort(int* data, int n, int* wrong) {
  const dim3 blocks(static_cast<unsigned>(n + 31) / 32), threads(32);
  is_sorted<<<blocks, threads, 0, cudaStreamTailLaunch>>>(data, n, wrong);
  sort_part<<<1, 1>>>({data, 0, static_cast<short>(n - 1), 0});
}

__global__ void event(int number) { events[next_event++] = number; }

/// Wide parameters at odd places, and a kernel by pointer.
struct Mixed {
  char c;
  double d;
  short s[3];
};
__global__ void sum(char a, Mixed m, unsigned long long b, float* out) {
  out[threadIdx.x + blockDim.x * blockIdx.x] =
      static_cast<float>(a + m.c + m.d + m.s[0] + m.s[2]) + static_cast<float>(b);
}
__device__ void (*const kNumbered[])(int) = {event};

__global__ void launches(float* out) {
  kNumbered[0]<<<1, 1, 0, cudaStreamTailLaunch>>>(9);
  for (int n = 0; n < 3; ++n) kNumbered[n / 3]<<<1, 1>>>(n);
  event<<<1, 1, 0, cudaStreamTailLaunch>>>(10);
  sum<<<2, 4>>>(1, {2, 0.5, {3, 4, 5}}, 1000, out);
  void* const buffer = cudaGetParameterBuffer(8, 4);
  *static_cast<int*>(buffer) = 3;
  out[8] = static_cast<float>(cudaLaunchDevice(reinterpret_cast<void*>(event), buffer, dim3(1), dim3(1), 0, 0));
}

int main() {
  constexpr int kNumbers = 700;
  static int h[kNumbers], counts[8], order[16];
  unsigned state = 7;
  for (int& x : h) x = static_cast<int>((state = state * 1664525u + 1013904223u) >> 20);
  int *data, *wrong, result = -1;
  float *out, sums[9];
  cudaMalloc(&data, sizeof h);
  cudaMalloc(&wrong, 4);
  cudaMalloc(&out, sizeof sums);
  cudaMemset(wrong, 0, 4);
  cudaMemcpy(data, h, sizeof h, cudaMemcpyHostToDevice);
  sort<<<1, 1>>>(data, kNumbers, wrong);
  cudaMemcpy(&result, wrong, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(h, data, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(counts, grids, sizeof counts);
  long long mix = 0;
  for (int i = 0; i < kNumbers; ++i) mix = mix * 31 % 1000003 + h[i];
  std::printf("sort: %s, %d wrong, %lld, grids %d %d\n", cudaGetErrorString(cudaDeviceSynchronize()), result, mix,
              counts[0], counts[1]);
  launches<<<1, 1>>>(out);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(order, events, sizeof order);
  std::printf("launches: %s, %g %g, %g:", cudaGetErrorString(cudaDeviceSynchronize()), sums[0], sums[7], sums[8]);
  for (int i = 0; i < 7; ++i) std::printf(" %d", order[i]);
  std::printf("\n");
}
