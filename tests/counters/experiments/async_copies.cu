// What asynchronous copies from global to shared memory (LDGSTS) cost: one warp copies 4, 8 or 16 bytes a lane, through L1
// (.ca) or past it (.cg), from 32 given offsets in global memory to 32 given offsets in shared memory. The patterns go to
// the file named on the command line, counters come from ncu (../kernels/capture.sh); one row a launch, in order.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

struct Pattern {
  unsigned from[32], to[32];
  unsigned mask;
};

template <int kBytes, bool kPast>
__global__ void copy(Pattern p, const unsigned char* memory) {
  extern __shared__ unsigned char shared[];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared)) + p.to[threadIdx.x];
  const unsigned char* const from = memory + p.from[threadIdx.x];
  if ((p.mask >> threadIdx.x) & 1) {
    if constexpr (kPast)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

int main(int argc, char** argv) {
  FILE* manifest = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  constexpr unsigned kMemory = 1 << 20, kShared = 32 << 10;
  unsigned char* memory;
  if (manifest == nullptr || cudaMalloc(&memory, kMemory) != cudaSuccess) return 1;
  cudaMemset(memory, 0, kMemory);
  std::mt19937 random(5);
  for (int kind = 0; kind < 4; ++kind) {
    const unsigned bytes = kind == 0 ? 4 : kind == 1 ? 8 : 16;
    const char* const name = kind == 0 ? "ca4" : kind == 1 ? "ca8" : kind == 2 ? "ca16" : "cg16";
    const auto launch = [&](const char* what, auto from, auto to, unsigned mask = ~0u) {
      Pattern p;
      for (unsigned l = 0; l < 32; ++l) {
        p.from[l] = from(l) * bytes & (kMemory - 1);
        p.to[l] = to(l) * bytes & (kShared - 1);
      }
      p.mask = mask;
      if (kind == 0) copy<4, false><<<1, 32, kShared>>>(p, memory);
      if (kind == 1) copy<8, false><<<1, 32, kShared>>>(p, memory);
      if (kind == 2) copy<16, false><<<1, 32, kShared>>>(p, memory);
      if (kind == 3) copy<16, true><<<1, 32, kShared>>>(p, memory);
      std::fprintf(manifest, "%s\t%s\t%08x\t", name, what, mask);
      for (unsigned l = 0; l < 32; ++l) std::fprintf(manifest, "%u%c", p.from[l], l < 31 ? ',' : '\t');
      for (unsigned l = 0; l < 32; ++l) std::fprintf(manifest, "%u%c", p.to[l], l < 31 ? ',' : '\n');
    };
    const auto linear = [](unsigned l) { return l; };
    for (unsigned mask : {~0u, 1u, 3u, 0xffu, 0xffffu, 0xffffffu, 0x55555555u, 0x11111111u, 0x0f0f0f0fu, 0x80000000u})
      launch("mask", linear, linear, mask);
    for (int turn = 0; turn < 8; ++turn) launch("mask", linear, linear, random() & (turn < 4 ? ~0u : random()));
    for (unsigned stride : {2u, 3u, 4u, 5u, 8u, 9u, 16u, 32u, 33u, 64u}) {
      launch("global stride", [&](unsigned l) { return l * stride; }, linear);
      launch("shared stride", linear, [&](unsigned l) { return l * stride; });
      launch("both strided", [&](unsigned l) { return l * stride; }, [&](unsigned l) { return l * stride; });
    }
    for (unsigned offset : {1u, 2u, 3u, 5u, 7u, 15u}) {
      launch("global offset", [&](unsigned l) { return l + offset; }, linear);
      launch("shared offset", linear, [&](unsigned l) { return l + offset; });
      launch("both offset", [&](unsigned l) { return l + offset; }, [&](unsigned l) { return l + offset; });
    }
    const unsigned line = 128 / bytes;
    unsigned drawn[2][32] = {};
    const auto draw = [&](unsigned* to, auto f) {
      for (unsigned l = 0; l < 32; ++l) to[l] = f(l);
    };
    const auto first = [&](unsigned l) { return drawn[0][l]; };
    const auto second = [&](unsigned l) { return drawn[1][l]; };
    for (int turn = 0; turn < 12; ++turn) {
      const unsigned group = 2u << turn % 5;  // lanes change places within groups of 2 to 32
      const auto permuted = [&](unsigned* to) {
        draw(to, linear);
        for (unsigned l = 0; l < 32; ++l) std::swap(to[l], to[(l & ~(group - 1)) + random() % group]);
      };
      permuted(drawn[0]), permuted(drawn[1]);
      launch("global permuted", first, linear);
      launch("shared permuted", linear, second);
      launch("both permuted", first, first);
      launch("each permuted", first, second);
      const unsigned lines = 1u << turn % 6;
      draw(drawn[0], [&](unsigned) { return random() % lines * line + random() % line; });
      draw(drawn[1], [&](unsigned) { return random() % (lines * line); });
      launch("global random", first, linear);
      launch("shared random", linear, second);
      launch("each random", first, second);
      launch("each random", first, second, random());
    }
    launch("one word", [](unsigned) { return 0u; }, linear);
    launch("one place", linear, [](unsigned) { return 0u; });
    launch("one word, one place", [](unsigned) { return 0u; }, [](unsigned) { return 0u; });
    launch("pairs", [](unsigned l) { return l / 2; }, linear);
    launch("halves", [](unsigned l) { return l % 16; }, linear);
  }
  const cudaError_t end = cudaDeviceSynchronize();
  std::fprintf(stderr, "%s\n", cudaGetErrorString(end));
  return end != cudaSuccess;
}
