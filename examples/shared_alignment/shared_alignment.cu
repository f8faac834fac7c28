// Several arrays in one piece of dynamic shared memory: each must begin at a multiple of its alignment.
//
// `extern __shared__` gives one block of bytes, and the kernel divides it up itself. Here flags of one byte come first
// and structures with a float4 behind them. If the structures begin right where the flags end, their address is no
// multiple of 16, and the GPU stops the kernel: error 716, cudaErrorMisalignedAddress. There is no slow path as on a
// CPU.
//
// Such an error is sticky: every later call of this process fails with it. That is why the wrong kernel comes last, and
// why nothing is freed after it.
#include "../example.h"

struct Particle {
  float4 position;
  float mass;
};

// Where an array of T may begin at or after `offset`.
template <typename T>
__host__ __device__ int aligned(int offset) {
  const int alignment = alignof(T);
  return (offset + alignment - 1) / alignment * alignment;
}

// `particles_at`: the offset of the structures in shared memory, decided by the caller.
__global__ void moveParticles(const Particle* in, Particle* out, int count, int particles_at) {
  extern __shared__ __align__(16) unsigned char bytes[];
  unsigned char* moved = bytes;
  Particle* particles = reinterpret_cast<Particle*>(bytes + particles_at);
  const int i = threadIdx.x;
  if (i < count) {
    particles[i] = in[i];
    moved[i] = i % 3 == 0;
  }
  __syncthreads();
  // Each thread looks at its neighbour's particle, so that shared memory is needed at all.
  if (i < count) {
    const int neighbour = (i + 1) % count;
    Particle p = particles[neighbour];
    if (moved[neighbour]) p.position.x += p.mass;
    out[i] = p;
  }
}

int main() {
  constexpr int kCount = 100;  // 100 flags: 100 is no multiple of 16
  std::vector<Particle> host(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = {make_float4(i, 2 * i, 3 * i, 1), 0.5f};
  Particle* in = to_device(host);
  Particle* out = device_array<Particle>(kCount);
  const int right = aligned<Particle>(kCount);
  const int wrong = kCount;
  const size_t bytes = right + kCount * sizeof(Particle);
  Verdict verdict;
  verdict.expect(right == 112 && sizeof(Particle) == 32, "the layout is what it is thought to be");

  moveParticles<<<1, 128, bytes>>>(in, out, kCount, right);
  CHECK_LAUNCH();
  const std::vector<Particle> got = to_host(out, kCount);
  bool ok = true;
  for (int i = 0; i < kCount; ++i) {
    const int neighbour = (i + 1) % kCount;
    const float x = static_cast<float>(neighbour) + (neighbour % 3 == 0 ? 0.5f : 0.0f);
    ok = ok && got[i].position.x == x && got[i].position.z == 3.0f * neighbour && got[i].mass == 0.5f;
  }
  verdict.expect(ok, "aligned structures");

  moveParticles<<<1, 128, bytes>>>(in, out, kCount, wrong);
  verdict.expect(cudaGetLastError() == cudaSuccess, "the launch itself is fine");
  verdict.expect(cudaDeviceSynchronize() == cudaErrorMisalignedAddress, "the kernel is stopped: misaligned address");
  verdict.expect(cudaFree(out) == cudaErrorMisalignedAddress, "the error stays");
  return verdict.finish();
}
