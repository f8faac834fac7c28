// Vector accesses: 4, 8 or 16 bytes per lane.
//
// The bytes are the same and so are the sectors; the number of requests is what shrinks. A float4 request of a warp
// moves 512 bytes in 16 sectors, four times what a float request does, so a quarter of the load and store instructions
// suffice to keep as many bytes in flight. The address must be a multiple of 16: cudaMalloc's are, `base + 1` is not.
#include "../example.h"

template <typename T>
__global__ void copyAs(const T* in, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}

// Scalar code around vector accesses: the components are ordinary floats.
__global__ void scaleAndAdd(const float4* x, float4* y, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 a = x[i];
  float4 b = y[i];
  b.x += factor * a.x;
  b.y += factor * a.y;
  b.z += factor * a.z;
  b.w += factor * a.w;
  y[i] = b;
}

template <typename T>
bool copies(const float* in, float* out, const std::vector<float>& host) {
  const int floats = static_cast<int>(host.size());
  const int count = floats / (sizeof(T) / sizeof(float));
  CHECK(cudaMemset(out, 0, floats * sizeof(float)));
  copyAs<<<(count + 255) / 256, 256>>>(reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), count);
  CHECK_LAUNCH();
  return to_host(out, floats) == host;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 19, 1024, 1 << 22);
  const std::vector<float> host = random_floats(n, 1);
  const std::vector<float> host_y = random_floats(n, 2);
  float* in = to_device(host);
  float* out = device_array<float>(n);
  Verdict verdict;
  verdict.expect(copies<float>(in, out, host), "copy as float");
  verdict.expect(copies<float2>(in, out, host), "copy as float2");
  verdict.expect(copies<float4>(in, out, host), "copy as float4");

  float* y = to_device(host_y);
  scaleAndAdd<<<(n / 4 + 255) / 256, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(y), 0.5f, n / 4);
  CHECK_LAUNCH();
  const std::vector<float> got = to_host(y, n);
  bool ok = true;
  for (int i = 0; i < n; ++i) ok = ok && std::fabs(got[i] - (host_y[i] + 0.5 * host[i])) < 1e-6;
  verdict.expect(ok, "scaleAndAdd");

  for (float* p : {in, out, y}) CHECK(cudaFree(p));
  return verdict.finish();
}
