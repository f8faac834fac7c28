// Registers: a promise about the block size can force values out into memory.
//
// An SM has 65,536 registers of 32 bits. __launch_bounds__(1024, 2) promises blocks of up to 1,024 threads and asks for
// two of them per SM: 2,048 threads, so at most 32 registers per thread. The kernel below keeps 48 values alive at
// once, and what does not fit is spilled: stored to local memory and loaded again. Without the promise it gets the
// registers it wants, and fewer threads fit on the SM.
//
// Both compute the same. Compare registers, spills (local loads and stores) and occupancy in the report.
#include "../example.h"

constexpr int kValues = 48;

__device__ unsigned mix(const unsigned* in, int i, int n) {
  unsigned values[kValues];
#pragma unroll
  for (int k = 0; k < kValues; ++k) values[k] = in[(i + k * 4099) % n];
  // Every value is needed again in every round, in another order: none can be given up early.
  for (int round = 0; round < 3; ++round) {
#pragma unroll
    for (int k = 0; k < kValues; ++k)
      values[k] = values[k] * values[(k * 5 + 1) % kValues] + values[(k * 11 + 3) % kValues];
  }
  unsigned sum = 0;
#pragma unroll
  for (int k = 0; k < kValues; ++k) sum ^= values[k];
  return sum;
}

__global__ void __launch_bounds__(1024, 2) manyThreads(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mix(in, i, n);
}

__global__ void __launch_bounds__(256, 1) manyRegisters(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mix(in, i, n);
}

unsigned mix_on_host(const std::vector<unsigned>& in, int i) {
  const int n = static_cast<int>(in.size());
  unsigned values[kValues];
  for (int k = 0; k < kValues; ++k) values[k] = in[(i + k * 4099) % n];
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < kValues; ++k)
      values[k] = values[k] * values[(k * 5 + 1) % kValues] + values[(k * 11 + 3) % kValues];
  }
  unsigned sum = 0;
  for (const unsigned value : values) sum ^= value;
  return sum;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 14, 1024, 1 << 20);
  Random random;
  std::vector<unsigned> host(n);
  for (unsigned& value : host) value = random.bits();
  std::vector<unsigned> wanted(n);
  for (int i = 0; i < n; ++i) wanted[i] = mix_on_host(host, i);
  unsigned* in = to_device(host);
  unsigned* out = device_array<unsigned>(n);
  Verdict verdict;

  manyThreads<<<n / 1024, 1024>>>(in, out, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, n) == wanted, "manyThreads");
  CHECK(cudaMemset(out, 0xa5, n * sizeof(unsigned)));
  manyRegisters<<<n / 256, 256>>>(in, out, n);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, n) == wanted, "manyRegisters");

  // What the compiler settled on can be asked for.
  cudaFuncAttributes many_threads = {};
  cudaFuncAttributes many_registers = {};
  CHECK(cudaFuncGetAttributes(&many_threads, manyThreads));
  CHECK(cudaFuncGetAttributes(&many_registers, manyRegisters));
  std::printf("manyThreads: %d registers, %zu bytes of local memory; manyRegisters: %d registers, %zu bytes\n",
              many_threads.numRegs, many_threads.localSizeBytes, many_registers.numRegs, many_registers.localSizeBytes);
  // The promise binds: a larger block than the bound is refused.
  manyRegisters<<<1, 512>>>(in, out, n);
  verdict.expect(cudaGetLastError() != cudaSuccess, "a block beyond the launch bounds is refused");

  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
