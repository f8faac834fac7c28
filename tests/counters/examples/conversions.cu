// Prints what a GPU makes of conversions and minima that the PTX manual leaves open. One line each: name, result bits.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

struct Result { unsigned long long bits[64]; };

__global__ void probe(Result* r, float nan32, double nan64, float inf32, double inf64, float big32, float negative_zero, float zero) {
  int k = 0;
  auto put = [&](unsigned long long v) { r->bits[k++] = v; };
  unsigned u; unsigned long long q; float f; double d; unsigned short h;
  asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(u) : "f"(nan32)); put(u);
  asm volatile("cvt.rzi.u32.f32 %0, %1;" : "=r"(u) : "f"(nan32)); put(u);
  asm volatile("cvt.rzi.s64.f32 %0, %1;" : "=l"(q) : "f"(nan32)); put(q);
  asm volatile("cvt.rzi.u64.f32 %0, %1;" : "=l"(q) : "f"(nan32)); put(q);
  asm volatile("cvt.rzi.s32.f64 %0, %1;" : "=r"(u) : "d"(nan64)); put(u);
  asm volatile("cvt.rzi.u32.f64 %0, %1;" : "=r"(u) : "d"(nan64)); put(u);
  asm volatile("cvt.rzi.s64.f64 %0, %1;" : "=l"(q) : "d"(nan64)); put(q);
  asm volatile("cvt.rzi.u64.f64 %0, %1;" : "=l"(q) : "d"(nan64)); put(q);
  asm volatile("cvt.rzi.s16.f32 %0, %1;" : "=h"(h) : "f"(nan32)); put(h);
  asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(u) : "f"(-big32)); put(u);
  asm volatile("cvt.rzi.u32.f32 %0, %1;" : "=r"(u) : "f"(-big32)); put(u);
  asm volatile("cvt.rzi.s64.f64 %0, %1;" : "=l"(q) : "d"(-inf64)); put(q);
  asm volatile("cvt.rzi.u8.f32 %0, %1;" : "=r"(u) : "f"(big32)); put(u);
  asm volatile("cvt.rzi.s8.f32 %0, %1;" : "=r"(u) : "f"(-big32)); put(u);
  asm volatile("add.f32 %0, %1, %2;" : "=f"(f) : "f"(nan32), "f"(1.0f)); put(__float_as_uint(f));
  asm volatile("add.f32 %0, %1, %2;" : "=f"(f) : "f"(inf32), "f"(-inf32)); put(__float_as_uint(f));
  asm volatile("mul.f32 %0, %1, %2;" : "=f"(f) : "f"(inf32), "f"(zero)); put(__float_as_uint(f));
  asm volatile("add.f64 %0, %1, %2;" : "=d"(d) : "d"(nan64), "d"(1.0)); put(__double_as_longlong(d));
  asm volatile("add.f64 %0, %1, %2;" : "=d"(d) : "d"(inf64), "d"(-inf64)); put(__double_as_longlong(d));
  asm volatile("cvt.rn.f32.f64 %0, %1;" : "=f"(f) : "d"(nan64)); put(__float_as_uint(f));
  asm volatile("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(nan32)); put(__double_as_longlong(d));
  asm volatile("min.f32 %0, %1, %2;" : "=f"(f) : "f"(nan32), "f"(1.0f)); put(__float_as_uint(f));
  asm volatile("min.f32 %0, %1, %2;" : "=f"(f) : "f"(zero), "f"(negative_zero)); put(__float_as_uint(f));
  asm volatile("max.f32 %0, %1, %2;" : "=f"(f) : "f"(negative_zero), "f"(zero)); put(__float_as_uint(f));
  asm volatile("min.f32 %0, %1, %1;" : "=f"(f) : "f"(nan32)); put(__float_as_uint(f));
  asm volatile("neg.f32 %0, %1;" : "=f"(f) : "f"(nan32)); put(__float_as_uint(f));
  asm volatile("abs.f32 %0, %1;" : "=f"(f) : "f"(-nan32)); put(__float_as_uint(f));
  asm volatile("sqrt.rn.f32 %0, %1;" : "=f"(f) : "f"(-1.0f + zero)); put(__float_as_uint(f));
  asm volatile("sqrt.rn.f64 %0, %1;" : "=d"(d) : "d"(-1.0 + zero)); put(__double_as_longlong(d));
  asm volatile("div.rn.f64 %0, %1, %1;" : "=d"(d) : "d"((double)zero)); put(__double_as_longlong(d));
  asm volatile("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(nan32)); put(h);
  asm volatile("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(nan32)); put(h);
  asm volatile("cvt.sat.f32.f32 %0, %1;" : "=f"(f) : "f"(nan32)); put(__float_as_uint(f));
  asm volatile("fma.rn.f64 %0, %1, %2, %2;" : "=d"(d) : "d"(nan64), "d"(1.0)); put(__double_as_longlong(d));
  asm volatile("div.s32 %0, %1, %2;" : "=r"(u) : "r"(7), "r"((int)zero)); put(u);
  asm volatile("rem.s32 %0, %1, %2;" : "=r"(u) : "r"(7), "r"((int)zero)); put(u);
  asm volatile("div.u64 %0, %1, %2;" : "=l"(q) : "l"(7ull), "l"((unsigned long long)zero)); put(q);
  asm volatile("div.s32 %0, %1, %2;" : "=r"(u) : "r"((int)0x80000000 + (int)zero), "r"(-1 + (int)zero)); put(u);
  asm volatile("cvt.rn.f32.s64 %0, %1;" : "=f"(f) : "l"(0x7fffffbfffffffffll + (long long)zero)); put(__float_as_uint(f));
  asm volatile("bfe.s64 %0, %1, %2, %3;" : "=l"(q) : "l"(-2ll + (long long)zero), "r"(260), "r"(4)); put(q);
  asm volatile("cvt.rni.f32.f32 %0, %1;" : "=f"(f) : "f"(nan32)); put(__float_as_uint(f));
  asm volatile("{ .reg .pred p; setp.ne.f32 p, %1, %1; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "f"(zero)); put(u);
}

int main() {
  Result* d; Result h;
  cudaMalloc(&d, sizeof h); cudaMemset(d, 0, sizeof h);
  union { unsigned u; float f; } n32 = {0xffc12345u}, inf = {0x7f800000u};
  union { unsigned long long u; double f; } n64 = {0xfff8123456789abcull}, inf64 = {0x7ff0000000000000ull};
  probe<<<1, 1>>>(d, n32.f, n64.f, inf.f, inf64.f, 1e20f, -0.0f, 0.0f);
  if (cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int k = 0; k < 42; ++k) std::printf("%d %016llx\n", k, h.bits[k]);
}
