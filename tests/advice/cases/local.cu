// Local memory, parameters, managed memory: the cases P-L1 to P-L3, P-C2, P-M1.
#include "case.h"

// 132 bytes per thread, indexed at run time.
__global__ void l1_indexed(const int* in, float* out, int n) {
  volatile float a[33];
#pragma unroll 1
  for (int i = 0; i < 33; ++i) a[i] = static_cast<float>(i);  //! P-L1 local store sectors=4 requests=33 advice=A303 not=A304
  out[threadIdx.x] = a[in[threadIdx.x] % n];  //! P-L1 local load sectors=4
}

__device__ __noinline__ void fill(volatile int* values, int n) {
  for (int i = 0; i < n; ++i) values[i] = i;
}
// 64 bytes whose address is passed on: a frame without spills.
__global__ void l2_frame(int* out, int n) {
  volatile int values[16];
  fill(values, n);
  out[threadIdx.x] = values[n - 1];  //! P-L2 local load sectors=4 advice=A303 not=A304
}

// Four records of 32 bytes, one of which is chosen at run time: by all lanes alike, and by each lane for itself.
struct Record { volatile int word[8]; };
__device__ __forceinline__ int choose(const Record* records, int which) {
  return records[which].word[3];
}
__global__ void l3_chosen(const int* which, int* out) {
  Record records[4];
#pragma unroll 1
  for (int i = 0; i < 32; ++i) records[i / 8].word[i % 8] = i;
  const int same = choose(records, which[0]);  //! P-L3 local load sectors=4 callers
  const int own = choose(records, threadIdx.x % 4);  //! P-L3 local load sectors=16 callers
  out[threadIdx.x] = same + own;
}

struct Parameters { int values[256]; };
// The structure is copied to the thread's stack before an element is chosen.
__global__ void c2_copied(const Parameters p, int* out, int n) {
  volatile int copy[256];
#pragma unroll 1
  for (int i = 0; i < 256; ++i) copy[i] = p.values[i];  //! P-C2 local store requests=256 bytes_per_thread=1024 advice=A303 says="__grid_constant__"
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += copy[(i + threadIdx.x) % 256];
  out[threadIdx.x] = sum;
}

// Managed memory that the host wrote: the kernel is the first to touch 256 pages of 4 KiB.
__global__ void m1_managed(const float* in, float* out, int n) {  // 1 MiB: 256 pages  //! P-M1 launch kernel=m1_managed managed_pages=256 advice=A603 says="cudaMemPrefetchAsync"
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(out + i % 1024, load(in + i));
}

int main() {
  int* in = device_array<int>(1 << 16);
  int* out = device_array<int>(1 << 16);
  l1_indexed<<<1, 32>>>(in, reinterpret_cast<float*>(out), 33);
  l2_frame<<<1, 32>>>(out, 16);
  l3_chosen<<<1, 32>>>(in, out);
  c2_copied<<<1, 32>>>(Parameters{}, out, 3);
  float* managed = nullptr;
  if (cudaMallocManaged(&managed, 1 << 20) != cudaSuccess) return 1;
  for (int i = 0; i < 1 << 18; ++i) managed[i] = 1;
  m1_managed<<<1 << 10, 256>>>(managed, reinterpret_cast<float*>(out), 1 << 18);
  finish();
}
