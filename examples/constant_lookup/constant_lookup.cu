// Looking up a table in constant memory: uniform and divergent.
//
// The constant cache hands one word per pass to all lanes that want it. If all lanes look up the same entry it is one
// pass; if they look up 32 different entries it is 32 passes, one after the other. A table that lanes index on their
// own belongs into global or shared memory: there 32 different entries are a few sectors or a few wavefronts.
#include "../example.h"

constexpr int kEntries = 1024;

__constant__ float table[kEntries];

__global__ void lookUpConstant(const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}

__global__ void lookUpGlobal(const int* index, const float* global_table, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = global_table[index[i]];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 17, 256, 1 << 22);
  std::vector<float> entries(kEntries);
  for (int i = 0; i < kEntries; ++i) entries[i] = static_cast<float>(i) * 0.25f;
  CHECK(cudaMemcpyToSymbol(table, entries.data(), kEntries * sizeof(float)));
  float* global_table = to_device(entries);
  float* out = device_array<float>(n);

  Random random;
  std::vector<int> uniform(n), neighbours(n), divergent(n);
  for (int i = 0; i < n; ++i) {
    uniform[i] = i / 32 % kEntries;  // one entry per warp
    neighbours[i] = i % kEntries;    // 32 neighbouring entries: as many passes as random ones
    divergent[i] = static_cast<int>(random.below(kEntries));
  }
  Verdict verdict;
  for (const std::vector<int>* indices : {&uniform, &neighbours, &divergent}) {
    int* index = to_device(*indices);
    for (const bool constant : {true, false}) {
      CHECK(cudaMemset(out, 0xa5, n * sizeof(float)));
      if (constant) {
        lookUpConstant<<<n / 256, 256>>>(index, out, n);
      } else {
        lookUpGlobal<<<n / 256, 256>>>(index, global_table, out, n);
      }
      CHECK_LAUNCH();
      const std::vector<float> got = to_host(out, n);
      bool ok = true;
      for (int i = 0; i < n; ++i) ok = ok && got[i] == entries[(*indices)[i]];
      verdict.expect(ok, constant ? "lookUpConstant" : "lookUpGlobal");
    }
    CHECK(cudaFree(index));
  }
  CHECK(cudaFree(global_table));
  CHECK(cudaFree(out));
  return verdict.finish();
}
