// Telling the compiler that nothing is written through another pointer: const __restrict__ and __ldg.
//
// If `out` might point into `in`, each store could change what later loads return, and loads have to stay where they
// are. With __restrict__ the programmer promises that they do not overlap. The compiler may then load once what is used
// twice, move loads up, and read through the read-only path (ld.global.nc in PTX, LDG.CONSTANT in machine code). __ldg
// asks for that path for one load.
//
// The three kernels compute the same. Look at the number of load requests: the first loads in[i] twice.
#include "../example.h"

// The store to out[i] might have changed in[i], so it is loaded again.
__global__ void mayOverlap(const float* in, float* out, float* twice, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] + 1.0f;
  twice[i] = in[i] * 2.0f;
}

__global__ void mayNotOverlap(const float* __restrict__ in, float* __restrict__ out, float* __restrict__ twice, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] + 1.0f;
  twice[i] = in[i] * 2.0f;
}

__global__ void throughLdg(const float* in, float* out, float* twice, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = __ldg(&in[i]);
  out[i] = value + 1.0f;
  twice[i] = value * 2.0f;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 18, 256, 1 << 22);
  const std::vector<float> host = random_floats(n);
  float* in = to_device(host);
  float* out = device_array<float>(n);
  float* twice = device_array<float>(n);
  Verdict verdict;
  const auto check = [&](const char* name) {
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(out, n);
    const std::vector<float> got_twice = to_host(twice, n);
    bool ok = true;
    for (int i = 0; i < n; ++i) ok = ok && got[i] == host[i] + 1.0f && got_twice[i] == host[i] * 2.0f;
    verdict.expect(ok, name);
    CHECK(cudaMemset(out, 0, n * sizeof(float)));
    CHECK(cudaMemset(twice, 0, n * sizeof(float)));
  };
  mayOverlap<<<n / 256, 256>>>(in, out, twice, n);
  check("mayOverlap");
  mayNotOverlap<<<n / 256, 256>>>(in, out, twice, n);
  check("mayNotOverlap");
  throughLdg<<<n / 256, 256>>>(in, out, twice, n);
  check("throughLdg");

  // The first kernel keeps its meaning when the arrays do overlap: the second statement sees the first one's result.
  mayOverlap<<<n / 256, 256>>>(in, in, twice, n);
  CHECK_LAUNCH();
  const std::vector<float> got = to_host(twice, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) ok = ok && got[i] == (host[i] + 1.0f) * 2.0f;
  verdict.expect(ok, "mayOverlap with in == out");

  for (float* p : {in, out, twice}) CHECK(cudaFree(p));
  return verdict.finish();
}
