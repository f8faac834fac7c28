// Atomics on vectors (from compute capability 9.0 on): sums of f32, halves and bfloat16, with the values before and
// without. Sums of small whole numbers are exact in any order.
#include <cstdint>
#include <cstdio>

__global__ void sums(float* p, float4* found, std::uint32_t* halves) {
  const unsigned t = threadIdx.x;
  const auto x = static_cast<float>(t);
  found[t] = atomicAdd(reinterpret_cast<float4*>(p) + t % 4, make_float4(x, 1, -x, 2));
  atomicAdd(reinterpret_cast<float2*>(p + 16) + t % 2, make_float2(x, 3));
  const float2 before = atomicAdd(reinterpret_cast<float2*>(p + 32), make_float2(1, 0));
  atomicAdd(p + 40, before.x);
  // 1.0 and 2.0, four and eight halves.
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(halves), "r"(0x40003c00), "r"(0x3c004000));
  std::uint32_t a, b, c, d;
  asm volatile("atom.global.add.noftz.v4.bf16x2 {%0, %1, %2, %3}, [%4], {%5, %6, %5, %6};"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(halves + 4), "r"(0x40003f80), "r"(0x3f804000));
  atomicXor(halves + 8, a ^ c);
  atomicXor(halves + 9, b ^ d);
}

int main() {
  float *p, h[64];
  float4 *found, f[64];
  std::uint32_t *halves, x[16];
  cudaMalloc(&p, sizeof h), cudaMalloc(&found, sizeof f), cudaMalloc(&halves, sizeof x);
  cudaMemset(p, 0, sizeof h), cudaMemset(found, 0, sizeof f), cudaMemset(halves, 0, sizeof x);
  sums<<<1, 64>>>(p, found, halves);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy(f, found, sizeof f, cudaMemcpyDeviceToHost);
  cudaMemcpy(x, halves, sizeof x, cudaMemcpyDeviceToHost);
  std::printf("f32:");
  for (int i = 0; i < 20; ++i) std::printf(" %g", h[i]);
  std::printf(" %g %g\nfound:", h[32], h[40]);
  for (int slot = 0; slot < 4; ++slot) {
    float counts = 0;  // each of 16 threads finds how many came before it
    for (int t = slot; t < 64; t += 4) counts += f[t].y;
    std::printf(" %g", counts);
  }
  std::printf("\nhalves:");
  for (int i = 0; i < 10; ++i) std::printf(" %x", x[i]);
  std::printf("\n%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
