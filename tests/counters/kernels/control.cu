// Control flow: switches, indirect and virtual calls, recursion, nested loops that lanes leave at different times.
#include "check.h"

__global__ void big_switch(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  switch (v % 12) {
    case 0: v = v * 3 + 1; break;
    case 1: v = v ^ 0x55; break;
    case 2: v = v / 7; break;
    case 3: v = __popc(v); break;
    case 4: v = v * v; break;
    case 5: v = v % 13; break;
    case 6: v = __clz(v); break;
    case 7: v = v << 3; break;
    case 8: v = v - 1000; break;
    case 9: v = __brev(v); break;
    case 10: v = v & 0xff0; break;
    default: v = -v; break;
  }
  out[i] = v;
}

typedef int (*Step)(int, int);
__device__ __noinline__ int add_step(int a, int b) { return a + b; }
__device__ __noinline__ int mix_step(int a, int b) { return a * 31 ^ b; }
__device__ __noinline__ int long_step(int a, int b) {
  for (int i = 0; i < (b & 7); ++i) a = a * 5 + i;
  return a;
}
__device__ Step steps[3] = {add_step, mix_step, long_step};

__global__ void by_pointer(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  for (int k = 0; k < 4; ++k) v = steps[(v >> 3 & 0x7fff) % 3](v, k + i);
  out[i] = v;
}

struct Shape {
  __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
  __device__ float area(float x) const override { return x * x; }
};
struct Circle : Shape {
  __device__ float area(float x) const override { return 3.0f * x * x + 1; }
};

__global__ void by_virtual(int n, const int* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Square s;
  Circle c;
  const Shape* shape = in[i] & 1 ? static_cast<const Shape*>(&s) : &c;
  out[i] = shape->area(float(in[i] % 10));
}

__device__ __noinline__ int ackermann_like(int depth, int v) {
  if (depth == 0) return v + 1;
  return v % 2 ? ackermann_like(depth - 1, v / 2) + 3 : ackermann_like(depth - 1, v + 5) ^ depth;
}

__global__ void recursive(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ackermann_like(in[i] % 9, in[i] & 0xffff);
}

__global__ void collatz(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = static_cast<unsigned>(in[i] % 5000 + 1);
  int steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  out[i] = steps;
}

__global__ void nested(int n, const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int a = 0; a < in[i % n] % 6; ++a) {
    for (int b = a; b < 10; ++b) {
      if ((b ^ i) % 5 == 0) continue;
      if (sum > 400) break;
      if ((a + b + i) % 17 == 0) {
        if (i < n) out[i] = sum;
        return;
      }
      sum += in[(i + a * b) % n] % 32;
    }
    if (sum > 300 && (i & 1)) break;
  }
  if (i < n) out[i] = sum;
}

__global__ void barriers_in_loop(int n, int* data) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = data[blockIdx.x * 128 + t];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const int v = s[(t + k) % 128];
    __syncthreads();
    if (v % 3 == k % 3) s[t] += v;
  }
  __syncthreads();
  data[blockIdx.x * 128 + t] = s[t];
}

static int host_step(int which, int a, int b) {
  if (which == 0) return a + b;
  if (which == 1) return int(unsigned(a) * 31u) ^ b;
  for (int i = 0; i < (b & 7); ++i) a = int(unsigned(a) * 5u + unsigned(i));
  return a;
}
static int host_ackermann(int depth, int v) {
  if (depth == 0) return v + 1;
  return v % 2 ? host_ackermann(depth - 1, v / 2) + 3 : host_ackermann(depth - 1, v + 5) ^ depth;
}

int main() {
  const int n = 5000;
  std::uint32_t state = 9;
  Buffer<int> in(n), out(n);
  Buffer<float> areas(n);
  for (int& v : in.host) v = static_cast<int>(next_number(state) % 100000);
  in.up();
  big_switch<<<(n + 127) / 128, 128>>>(n, in.device, out.device);
  by_pointer<<<(n + 127) / 128, 128>>>(n, in.device, out.device);
  check("by_pointer", out, [&](std::size_t i) {
    int v = in.host[i];
    for (int k = 0; k < 4; ++k) v = host_step((v >> 3 & 0x7fff) % 3, v, k + int(i));
    return v;
  });
  by_virtual<<<(n + 127) / 128, 128>>>(n, in.device, areas.device);
  check("by_virtual", areas, [&](std::size_t i) {
    const int x = in.host[i] % 10;
    return in.host[i] & 1 ? x * x : 3 * x * x + 1;
  });
  recursive<<<(n + 127) / 128, 128>>>(n, in.device, out.device);
  check("recursive", out, [&](std::size_t i) { return host_ackermann(in.host[i] % 9, in.host[i] & 0xffff); });
  collatz<<<(n + 255) / 256, 256>>>(n, in.device, out.device);
  check("collatz", out, [&](std::size_t i) {
    unsigned v = unsigned(in.host[i] % 5000 + 1);
    int steps = 0;
    for (; v != 1; ++steps) v = v & 1 ? 3 * v + 1 : v / 2;
    return steps;
  });
  nested<<<(n + 127) / 128, 128>>>(n, in.device, out.device);
  check("nested", out, [&](std::size_t at) {
    const int i = int(at);
    int sum = 0;
    for (int a = 0; a < in.host[i % n] % 6; ++a) {
      for (int b = a; b < 10; ++b) {
        if ((b ^ i) % 5 == 0) continue;
        if (sum > 400) break;
        if ((a + b + i) % 17 == 0) return sum;
        sum += in.host[(i + a * b) % n] % 32;
      }
      if (sum > 300 && (i & 1)) break;
    }
    return sum;
  });
  Buffer<int> data(128 * 8);
  for (std::size_t i = 0; i < data.host.size(); ++i) data.host[i] = int(i % 11);
  data.up();
  barriers_in_loop<<<8, 128>>>(20, data.device);
  return finish();
}
