// A variable in global memory that belongs to the program, not to an allocation.
//
// __device__ at file scope reserves global memory for as long as the program runs. The host cannot read or write it
// like a variable of its own: its name in host code stands for a handle, and cudaMemcpyToSymbol and
// cudaMemcpyFromSymbol copy through it. The address on the GPU comes from cudaGetSymbolAddress.
#include "../example.h"

__device__ float devData;    // one word: every thread below works on it alone
__device__ int counters[4];  // an array works the same way

__global__ void multiplyGlobal(float factor) {
  // One thread: several would race for the same word.
  devData *= factor;
}

__global__ void countByLane() {
  // Many threads may change one word if the change is atomic.
  atomicAdd(&counters[threadIdx.x % 4], 1);
}

int main() {
  Verdict verdict;

  float value = 3.14f;
  CHECK(cudaMemcpyToSymbol(devData, &value, sizeof value));
  multiplyGlobal<<<1, 1>>>(2.0f);
  CHECK_LAUNCH();
  CHECK(cudaMemcpyFromSymbol(&value, devData, sizeof value));
  verdict.expect(value == 6.28f, "devData is doubled");

  // The same memory through its address, as if cudaMalloc had given it.
  float* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), devData));
  CHECK(cudaGetSymbolSize(&bytes, devData));
  verdict.expect(bytes == sizeof(float), "the symbol is one float wide");
  value = 1.5f;
  CHECK(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
  multiplyGlobal<<<1, 1>>>(4.0f);
  CHECK_LAUNCH();
  CHECK(cudaMemcpyFromSymbol(&value, devData, sizeof value));
  verdict.expect(value == 6.0f, "address and symbol name the same word");

  // Global variables start as zero unless they are initialised.
  countByLane<<<8, 64>>>();
  CHECK_LAUNCH();
  int counted[4] = {};
  CHECK(cudaMemcpyFromSymbol(counted, counters, sizeof counted));
  for (const int count : counted) verdict.expect(count == 8 * 64 / 4, "every counter saw a quarter of the threads");

  // An offset in bytes reaches one element.
  CHECK(cudaMemcpyFromSymbol(&counted[0], counters, sizeof(int), 3 * sizeof(int)));
  verdict.expect(counted[0] == 128, "the fourth counter, read by offset");
  return verdict.finish();
}
