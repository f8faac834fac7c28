// Widths and types: bytes to 16 bytes, double, half, conversions, division, special functions, local arrays, spills.
#include <cuda_fp16.h>

#include "check.h"

template <typename T>
__global__ void shift_copy(int n, const T* in, T* out, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + by < n) out[i] = in[i + by];
}

template <typename T>
__global__ void shared_reverse(T* data) {
  __shared__ T s[256];
  s[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}

__global__ void divide(int n, const float* a, const float* b, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / b[i] + sqrtf(fabsf(a[i])) + 1.0f / b[i];
}

__global__ void divide_double(int n, const double* a, const double* b, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / b[i] + sqrt(fabs(a[i])) + 1.0 / b[i];
}

__global__ void divide_integers(int n, const long long* a, const int* b, long long* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] / b[i] + a[i] % (b[i] + 3) + static_cast<int>(a[i]) / (b[i] | 1) + a[i] / 10;
}

__global__ void special(int n, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sinf(in[i]) + expf(in[i] * 0.1f) + logf(fabsf(in[i]) + 1) + powf(fabsf(in[i]), 0.3f) + tanhf(in[i]);
}

__global__ void local_array(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int counts[16] = {};
  for (int k = 0; k < 24; ++k) ++counts[in[(i * 7 + k * 13) % n] & 15];
  int best = 0;
  for (int k = 1; k < 16; ++k)
    if (counts[k] > counts[best]) best = k;
  if (i < n) out[i] = best * 100 + counts[best];
}

__global__ void local_bytes(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned char stack[64];
  double wide[8];
  int top = 0;
  for (int k = 0; k < 8; ++k) wide[k] = k;
  for (int k = 0; k < 40; ++k) {
    const int v = in[(i + k) % n];
    if (v & 1 && top > 0)
      --top;
    else
      stack[top++ & 63] = static_cast<unsigned char>(v);
    wide[v & 7] += v;
  }
  int sum = static_cast<int>(wide[in[i % n] >> 3 & 7]);
  while (top > 0) sum += stack[--top & 63];
  if (i < n) out[i] = sum;
}

__global__ void __launch_bounds__(1024, 2) spills(int n, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[40];
#pragma unroll
  for (int k = 0; k < 40; ++k) v[k] = in[(i + k * 37) % n];
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int k = 0; k < 40; ++k) v[k] = v[k] * v[(k * 7 + 3) % 40] + v[(k + 11) % 40];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 40; ++k) sum += v[k] * float(k + 1);
  if (i < n) out[i] = sum;
}

template <int kUnroll>
__global__ void unrolled(int n, const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll kUnroll
  for (int k = i; k < n; k += step) sum += in[k];
  out[i] = sum;
}

__global__ void halves(int n, const __half* in, __half* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  const __half2 v = __halves2half2(in[i], in[i + 1]);
  const __half2 w = __hmul2(__hadd2(v, v), __float2half2_rn(0.25f));
  out[i] = __hgt(__low2half(w), __high2half(w)) ? __low2half(w) : hsqrt(__habs(__high2half(w)));
}

template <typename T>
void copies(const char* name) {
  const int n = 4096;
  Buffer<T> in(n), out(n);
  auto* bytes = reinterpret_cast<unsigned char*>(in.host.data());
  for (std::size_t i = 0; i < n * sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + i / 256);
  in.up();
  shift_copy<<<n / 256, 256>>>(n, in.device, out.device, 3);
  shared_reverse<<<n / 256, 256>>>(in.device);
  out.down();
  for (int i = 0; i + 3 < n; ++i)
    for (std::size_t b = 0; b < sizeof(T); ++b)
      if (reinterpret_cast<unsigned char*>(&out.host[i])[b] != bytes[(i + 3) * sizeof(T) + b]) {
        std::printf("%s: wrong at %d\n", name, i);
        ++failures;
        return;
      }
}

int main() {
  copies<unsigned char>("char");
  copies<short>("short");
  copies<float>("float");
  copies<double>("double");
  copies<char4>("char4");
  copies<float4>("float4");
  copies<longlong2>("longlong2");
  const int n = 4096;
  std::uint32_t state = 21;
  Buffer<float> a(n), b(n), f(n);
  Buffer<double> da(n), db(n), d(n);
  Buffer<long long> la(n), l(n);
  Buffer<int> ia(n), i(n);
  for (int k = 0; k < n; ++k) {
    a.host[k] = float(int(next_number(state) % 20001) - 10000) / 64, b.host[k] = float(next_number(state) % 1000 + 1) / 8;
    if (k % 97 == 0) a.host[k] *= 1e36f, b.host[k] *= 1e-36f;
    da.host[k] = a.host[k] / 3.0, db.host[k] = b.host[k] / 7.0;
    la.host[k] = (static_cast<long long>(next_number(state)) << 24) - (1ll << 46), ia.host[k] = int(next_number(state) % 50000) + 1;
  }
  a.up(), b.up(), da.up(), db.up(), la.up(), ia.up();
  divide<<<n / 128, 128>>>(n, a.device, b.device, f.device);
  check("divide", f, [&](std::size_t k) {
    const float q = a.host[k] / b.host[k], s = std::sqrt(std::fabs(a.host[k])), r = 1.0f / b.host[k];
    return std::isinf(q + s + r) ? f.host[k] : (q + s) + r;
  }, 1e-6);
  divide_double<<<n / 128, 128>>>(n, da.device, db.device, d.device);
  check("divide_double", d, [&](std::size_t k) {
    return da.host[k] / db.host[k] + std::sqrt(std::fabs(da.host[k])) + 1.0 / db.host[k];
  }, 1e-15);
  divide_integers<<<n / 128, 128>>>(n, la.device, ia.device, l.device);
  l.down();
  for (int k = 0; k < n; ++k) {
    const long long want = la.host[k] / ia.host[k] + la.host[k] % (ia.host[k] + 3) +
                           static_cast<int>(la.host[k]) / (ia.host[k] | 1) + la.host[k] / 10;
    if (l.host[k] != want) std::printf("divide_integers: wrong at %d\n", k), ++failures, k = n;
  }
  special<<<n / 128, 128>>>(n, b.device, f.device);
  check("special", f, [&](std::size_t k) {
    const double x = b.host[k];
    return x > 1000 ? double(f.host[k])
                    : std::sin(x) + std::exp(x * 0.1f) + std::log(std::fabs(x) + 1) + std::pow(std::fabs(x), 0.3) + std::tanh(x);
  }, 1e-4);
  local_array<<<n / 128, 128>>>(n, ia.device, i.device);
  local_bytes<<<n / 128, 128>>>(n, ia.device, i.device);
  spills<<<n / 1024, 1024>>>(n, b.device, f.device);
  unrolled<1><<<3, 96>>>(n, b.device, f.device);
  unrolled<4><<<3, 96>>>(n, b.device, f.device);
  unrolled<8><<<3, 96>>>(n, b.device, f.device);
  __half *hin, *hout;
  cudaMalloc(&hin, n * 2), cudaMalloc(&hout, n * 2);
  std::vector<__half> h(n);
  for (int k = 0; k < n; ++k) h[k] = __float2half(b.host[k] < 1000 ? b.host[k] : 1.0f);
  cudaMemcpy(hin, h.data(), n * 2, cudaMemcpyHostToDevice);
  halves<<<n / 128, 128>>>(n, hin, hout);
  return finish();
}
