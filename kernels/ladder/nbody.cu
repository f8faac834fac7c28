// The gravitation of n bodies on each other, rung by rung. Bound by instructions; 20 operations per interaction by
// custom.
#include "../nbody.cuh"

#include "ladder.cuh"

namespace {

constexpr float kSoftening = 0.25f, kSoftening2 = kSoftening * kSoftening;
constexpr unsigned kChunk = 4096;  // bodies that constant memory holds
__constant__ float4 chunk[kChunk];

__host__ __device__ inline float unit(std::uint32_t h) {
  return static_cast<float>(lab::mixed(h) >> 8) * 5.9604644775390625e-8f;
}
/// x, y, z, mass of body i: its four words.
struct Bodies {
  __device__ std::uint32_t operator()(std::size_t i) const {
    return __float_as_uint(unit(static_cast<std::uint32_t>(i)) + (i % 4 == 3 ? 0.1f : 0.0f));
  }
};

__device__ inline void attract_slowly(float3& sum, float4 target, float4 other) {
  const float dx = other.x - target.x, dy = other.y - target.y, dz = other.z - target.z;
  const float distance2 = dx * dx + dy * dy + dz * dz + kSoftening2;
  const float scale = other.w / (distance2 * sqrtf(distance2));
  sum.x += dx * scale, sum.y += dy * scale, sum.z += dz * scale;
}
__device__ inline void attract(float3& sum, float4 target, float4 other) {
  const float dx = other.x - target.x, dy = other.y - target.y, dz = other.z - target.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening2);
  const float scale = other.w * inverse * inverse * inverse;
  sum.x += dx * scale, sum.y += dy * scale, sum.z += dz * scale;
}

template <bool kSlow>
__global__ void __launch_bounds__(256) global_bodies(float4* out, const float4* bodies, unsigned n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  const float4 mine = bodies[i];
  float3 sum = make_float3(0, 0, 0);
  for (unsigned j = 0; j < n; ++j) {
    if (kSlow)
      attract_slowly(sum, mine, bodies[j]);
    else
      attract(sum, mine, bodies[j]);
  }
  out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
/// The others' masses in an array of their own, as words; `bodies` gives places.
__global__ void __launch_bounds__(256) constant_bodies(float4* out, const float4* bodies, bool first) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  const float4 mine = bodies[i];
  const float4 before = first ? make_float4(0, 0, 0, 0) : out[i];
  float3 sum = make_float3(before.x, before.y, before.z);
#pragma unroll 8
  for (unsigned j = 0; j < kChunk; ++j) attract(sum, mine, chunk[j]);
  out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}
__global__ void __launch_bounds__(256) shared_bodies(float4* out, const float4* bodies, unsigned n) {
  __shared__ float4 tile[256];
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  const float4 mine = bodies[i];
  float3 sum = make_float3(0, 0, 0);
  for (unsigned base = 0; base < n; base += 256) {
    __syncthreads();
    tile[threadIdx.x] = bodies[base + threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (unsigned j = 0; j < 256; ++j) attract(sum, mine, tile[j]);
  }
  out[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

/// Against sums in double of every 61st body.
struct Right {
  const float4 *out, *bodies;
  unsigned n;
  __device__ bool operator()(std::size_t k) const {
    const unsigned i = static_cast<unsigned>(k) * 61 % n;
    const float4 mine = bodies[i];
    double x = 0, y = 0, z = 0;
    for (unsigned j = 0; j < n; ++j) {
      const float4 other = bodies[j];
      const double dx = static_cast<double>(other.x) - mine.x, dy = static_cast<double>(other.y) - mine.y,
                   dz = static_cast<double>(other.z) - mine.z;
      const double d = dx * dx + dy * dy + dz * dz + static_cast<double>(kSoftening2);
      const double scale = other.w / (d * sqrt(d));
      x += dx * scale, y += dy * scale, z += dz * scale;
    }
    const double error = fabs(out[i].x - x) + fabs(out[i].y - y) + fabs(out[i].z - z);
    return error <= 2e-4 * (fabs(x) + fabs(y) + fabs(z)) + 1e-5 * n;
  }
};

}  // namespace

int main(int argc, char** argv) {
  lab::Lab lab(argc, argv, "ladder-nbody");
  if (!lab.wanted("ladder-nbody")) return lab.finish();
  const unsigned n = static_cast<unsigned>(lab.pick(132 * 1024, 65536, 4096));
  auto* const bodies = lab.memory<float4>(16ull * n);
  lab.fill(bodies, 16ull * n, Bodies{});
  auto* const out = lab.memory<float4>(16ull * n);
  ladder::Ladder ladder(lab, "ladder-nbody");
  ladder.begin(std::to_string(n) + " bodies", 20.0 * n * n, "", "op");
  const auto add = [&](const char* name, const char* why, int kernels, std::function<void(cudaStream_t)> call) {
    ladder.rung(name, why, kernels, std::move(call), ladder::poisoned(out, 16ull * n),
                [=, &lab] { return lab.check(n / 61, Right{out, bodies, n}); });
  };
  const unsigned blocks = n / 256;
  add("naive", "a division and a square root per interaction; bodies from global memory, one for all lanes", 1,
      [=](cudaStream_t s) { global_bodies<true><<<blocks, 256, 0, s>>>(out, bodies, n); });
  add("reciprocal square root", "one instruction of the special-function unit for both", 1,
      [=](cudaStream_t s) { global_bodies<false><<<blocks, 256, 0, s>>>(out, bodies, n); });
  add("bodies in constant memory",
      "no address and no load in the way, but pieces of 64 KiB: a copy and a launch for each",
      static_cast<int>(n / kChunk), [=](cudaStream_t s) {
        for (unsigned base = 0; base < n; base += kChunk) {
          cudaMemcpyToSymbolAsync(chunk, bodies + base, sizeof chunk, 0, cudaMemcpyDeviceToDevice, s);
          constant_bodies<<<blocks, 256, 0, s>>>(out, bodies, base == 0);
        }
      });
  add("shared tile",
      "each body loaded once per block; but a broadcast from shared memory is one more instruction than a constant", 1,
      [=](cudaStream_t s) { shared_bodies<<<blocks, 256, 0, s>>>(out, bodies, n); });
  add("accelerations()", "four targets per lane share a load; operands from both register banks; no guards", 1,
      [=](cudaStream_t s) { muscope::kernels::accelerations(out, bodies, n, kSoftening, s); });
  ladder.run();
  return lab.finish();
}
