// An array inside a kernel: registers if the compiler knows every index, local memory if not.
//
// Registers have no addresses. An array whose elements are chosen at run time has to be in memory, and "local" memory
// is ordinary device memory, private to each thread and cached. It is laid out so that element k of all lanes lies
// together: if the lanes use the same k, a request is 4 sectors; if each uses its own, up to 32.
#include "../example.h"

constexpr int kElements = 32;

// The loop has a constant length and is unrolled: all indices are known, nothing is in memory.
__global__ void inRegisters(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int values[kElements];
#pragma unroll
  for (int k = 0; k < kElements; ++k) values[k] = in[(i + k) % n];
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kElements; ++k) sum += values[k] * (k + 1);
  out[i] = sum;
}

// The same data, but which element is needed is only known at run time.
__global__ void chosenAtRunTime(const int* in, const int* choice, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int values[kElements];
  for (int k = 0; k < kElements; ++k) values[k] = in[(i + k) % n];
  const int c = choice[i];
  out[i] = values[c % kElements] + values[(c * 7) % kElements];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 15, 256, 1 << 20);
  Random random;
  std::vector<int> host(n), same(n), own(n);
  for (int i = 0; i < n; ++i) {
    host[i] = static_cast<int>(random.below(1000));
    same[i] = i / 32;                                  // one element per warp
    own[i] = static_cast<int>(random.below(1 << 20));  // one per lane
  }
  int* in = to_device(host);
  int* out = device_array<int>(n);
  Verdict verdict;

  inRegisters<<<n / 256, 256>>>(in, out, n);
  CHECK_LAUNCH();
  std::vector<int> got = to_host(out, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int k = 0; k < kElements; ++k) sum += host[(i + k) % n] * (k + 1);
    ok = ok && got[i] == sum;
  }
  verdict.expect(ok, "inRegisters");

  for (const std::vector<int>* choices : {&same, &own}) {
    int* choice = to_device(*choices);
    chosenAtRunTime<<<n / 256, 256>>>(in, choice, out, n);
    CHECK_LAUNCH();
    got = to_host(out, n);
    ok = true;
    for (int i = 0; i < n; ++i) {
      const int c = (*choices)[i];
      ok = ok && got[i] == host[(i + c % kElements) % n] + host[(i + c * 7 % kElements) % n];
    }
    verdict.expect(ok, "chosenAtRunTime");
    CHECK(cudaFree(choice));
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
