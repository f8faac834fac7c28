// 16-bit floating point on the device.
// PTX: add.f16
// PTX: fma.rn.f16x2
// PTX: cvt.rn.f16.f32
// PTX: cvt.rn.bf16.f32
// PTX: fma.rn.bf16
// PTX: atom.add.noftz.f16x2
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_precision(half* h, half2* p, __nv_bfloat16* b, __nv_bfloat162* q, float* f) {
  const unsigned t = threadIdx.x;
  h[t] = h[t] + h[t + 1] * __float2half(f[t]) / half(2);
  if (h[t] > h[t + 1] && __hlt(h[t], half(3.f))) h[t] = -h[t];
  p[t] = __hfma2(p[t], p[t + 1], __float2half2_rn(1.f)) + h2exp(p[t]);
  atomicAdd(p + 5, p[t]);
  h[t] = __shfl_xor_sync(~0u, h[t], 1);
  b[t] = b[t] * b[t + 1] + __float2bfloat16(f[t]);
  b[t] = __hfma(b[t], b[t], b[t]);
  q[t] = q[t] + q[t + 1];
  h[t] = static_cast<half>(b[t]);
  b[t] = static_cast<__nv_bfloat16>(h[t + 1]);
  f[t] = __half2float(h[t]) + __low2float(p[t]) + __bfloat162float(b[t]) + (float)hsqrt(h[t]) + __half2int_rn(h[t]);
}
