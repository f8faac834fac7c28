// How a shared atomic without an instruction of its own (float, double, packed half add) is served: one warp adds once
// at 32 given byte offsets. Rounds of the compare-and-swap loop and wavefronts come from ncu (capture.sh); which lanes
// win in a round is the question.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <cuda_fp16.h>

struct Offsets {
  unsigned at[32];
  unsigned mask;
};

__global__ void add_float(Offsets o, float* out) {
  __shared__ __align__(128) unsigned char memory[16384];
  for (unsigned i = threadIdx.x; i < 4096; i += 32) reinterpret_cast<unsigned*>(memory)[i] = 0;
  __syncwarp();
  if ((o.mask >> threadIdx.x) & 1) atomicAdd(reinterpret_cast<float*>(memory + o.at[threadIdx.x]), 1.0f);
  __syncwarp();
  out[threadIdx.x] = *reinterpret_cast<float*>(memory + o.at[threadIdx.x]);
}

__global__ void add_double(Offsets o, double* out) {
  __shared__ __align__(128) unsigned char memory[16384];
  for (unsigned i = threadIdx.x; i < 4096; i += 32) reinterpret_cast<unsigned*>(memory)[i] = 0;
  __syncwarp();
  if ((o.mask >> threadIdx.x) & 1) atomicAdd(reinterpret_cast<double*>(memory + o.at[threadIdx.x]), 1.0);
  __syncwarp();
  out[threadIdx.x] = *reinterpret_cast<double*>(memory + o.at[threadIdx.x]);
}

__global__ void add_half2(Offsets o, __half2* out) {
  __shared__ __align__(128) unsigned char memory[16384];
  for (unsigned i = threadIdx.x; i < 4096; i += 32) reinterpret_cast<unsigned*>(memory)[i] = 0;
  __syncwarp();
  if ((o.mask >> threadIdx.x) & 1)
    atomicAdd(reinterpret_cast<__half2*>(memory + o.at[threadIdx.x]), __floats2half2_rn(1.0f, 2.0f));
  __syncwarp();
  out[threadIdx.x] = *reinterpret_cast<__half2*>(memory + o.at[threadIdx.x]);
}

int main(int argc, char** argv) {
  FILE* manifest = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  double* out;
  cudaMalloc(&out, 256);
  std::mt19937 random(7);
  std::vector<Offsets> patterns;
  const auto add = [&](auto f, unsigned mask = ~0u) {
    Offsets o;
    for (unsigned l = 0; l < 32; ++l) o.at[l] = f(l) & 16383u & ~7u;
    o.mask = mask;
    patterns.push_back(o);
  };
  add([](unsigned) { return 0u; });
  for (unsigned stride : {8u, 16u, 32u, 64u, 128u, 256u, 136u, 264u}) add([=](unsigned l) { return l * stride; });
  for (unsigned share : {2u, 4u, 8u, 16u}) {
    add([=](unsigned l) { return l / share * 8; });
    add([=](unsigned l) { return l % share * 8; });
    add([=](unsigned l) { return l % share * 128; });
    add([=](unsigned l) { return l / share * 128; });
  }
  for (unsigned mask : {1u, 3u, 0xffffu, 0xffff0000u, 0x55555555u, 0x10001u}) {
    add([](unsigned) { return 0u; }, mask);
    add([](unsigned l) { return l * 128; }, mask);
    add([](unsigned l) { return l * 8; }, mask);
  }
  for (unsigned range : {64u, 128u, 256u, 512u, 1024u, 4096u, 16384u})
    for (int n = 0; n < 6; ++n) {
      Offsets o;
      for (unsigned l = 0; l < 32; ++l) o.at[l] = static_cast<unsigned>(random()) % range & ~7u;
      o.mask = n < 4 ? ~0u : static_cast<unsigned>(random());
      patterns.push_back(o);
    }
  // 4-byte steps, for the types of 4 bytes.
  const std::size_t eight = patterns.size();
  for (unsigned stride : {4u, 12u, 20u, 132u}) {
    Offsets o;
    for (unsigned l = 0; l < 32; ++l) o.at[l] = l * stride & 16383u;
    o.mask = ~0u;
    patterns.push_back(o);
  }
  for (unsigned range : {32u, 128u, 512u, 2048u, 16384u})
    for (int n = 0; n < 6; ++n) {
      Offsets o;
      for (unsigned l = 0; l < 32; ++l) o.at[l] = static_cast<unsigned>(random()) % range & ~3u;
      o.mask = n < 4 ? ~0u : static_cast<unsigned>(random());
      patterns.push_back(o);
    }
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const Offsets& o = patterns[p];
    const auto tell = [&](const char* type) {
      std::fprintf(manifest, "%s\t%08x\t", type, o.mask);
      for (unsigned l = 0; l < 32; ++l) std::fprintf(manifest, "%s%u", l ? "," : "", o.at[l]);
      std::fprintf(manifest, "\n");
    };
    add_float<<<1, 32>>>(o, reinterpret_cast<float*>(out));
    tell("f32");
    add_half2<<<1, 32>>>(o, reinterpret_cast<__half2*>(out));
    tell("f16x2");
    if (p < eight) {
      add_double<<<1, 32>>>(o, out);
      tell("f64");
    }
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(stderr, "%zu patterns: %s\n", patterns.size(), cudaGetErrorString(error));
  return error != cudaSuccess;
}
