// Atomics find their address space; scopes and 16-bit exchange exist.
// PTX: atom.shared.add.u32
// PTX: atom.global.add.f32
// PTX: atom.global.add.f64
// PTX: atom.global.max.s64
// PTX: atom.cta
// PTX: .cas.b16
// PTX: atom.global.add.u64
// NO PTX: fence.sc
__global__ void atomics(int* i, unsigned* u, float* f, double* d, long long* l, unsigned long long* q,
                        unsigned short* h) {
  __shared__ int bins[32];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[i[threadIdx.x] & 31], 1);
  i[0] = atomicAdd(i, 1) + atomicSub(i, 2) + atomicExch(i, 3) + atomicMin(i, 4) + atomicMax(i, 5) + atomicAnd(i, 6) +
         atomicOr(i, 7) + atomicXor(i, 8) + atomicCAS(i, 9, 10);
  u[0] = atomicAdd(u, 1u) + atomicSub(u, 2u) + atomicExch(u, 3u) + atomicMin(u, 4u) + atomicMax(u, 5u) +
         atomicInc(u, 6) + atomicDec(u, 7) + atomicCAS(u, 8u, 9u);
  q[0] = atomicAdd(q, 1ull) + atomicExch(q, 2ull) + atomicMin(q, 3ull) + atomicMax(q, 4ull) + atomicAnd(q, 5ull) +
         atomicOr(q, 6ull) + atomicXor(q, 7ull) + atomicCAS(q, 8ull, 9ull);
  l[0] = atomicMin(l, 1ll) + atomicMax(l, 2ll);
  f[0] = atomicAdd(f, 1.f) + atomicExch(f, 2.f);
  d[0] = atomicAdd(d, 1.0);
  h[0] = atomicCAS(h, (unsigned short)1, (unsigned short)2);
  i[1] = atomicAdd_block(i, 1) + atomicAdd_system(i, 2) + atomicCAS_block(i, 1, 2) + atomicMax_system(i, 3);
  __nv_atomic_fetch_add(i, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
}
