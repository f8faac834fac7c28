// In which passes of the tag stage a global reduction's lanes are served, and so how many sectors it counts: one warp
// adds once at 32 given byte offsets. Offsets go to the file named on the command line, counters come from ncu
// (../kernels/capture.sh); one row a launch, in order.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

struct Offsets {
  unsigned at[32];
  unsigned mask;
};

__global__ void reduce_word(Offsets o, unsigned char* memory) {
  if ((o.mask >> threadIdx.x) & 1) atomicAdd(reinterpret_cast<unsigned*>(memory + o.at[threadIdx.x]), 1u + threadIdx.x);
}

/// Sets of the tag stage by line of 128 bytes, as src/model/t_stage.h has them.
static unsigned set_of(unsigned line) {
  return (__builtin_popcount(line & 0xf6f) & 1) | (__builtin_popcount(line & 0x15da) & 1) << 1;
}

int main(int argc, char** argv) {
  FILE* manifest = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  constexpr unsigned kLines = 4096;
  unsigned char* memory;
  if (cudaMalloc(&memory, kLines * 128) != cudaSuccess) return 1;
  cudaMemset(memory, 0, kLines * 128);
  std::mt19937 random(11);
  std::vector<Offsets> patterns;
  std::vector<const char*> kinds;
  const auto add = [&](const char* kind, auto f, unsigned mask = ~0u) {
    Offsets o;
    for (unsigned l = 0; l < 32; ++l) o.at[l] = f(l) & (kLines * 128 - 1) & ~3u;
    o.mask = mask;
    patterns.push_back(o);
    kinds.push_back(kind);
  };
  const auto word = [&](unsigned words) { return random() % words * 4; };
  // Random lines and words: few or many lines, few or many words in each.
  for (unsigned lines : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 20u, 24u, 32u, 64u})
    for (unsigned words : {1u, 2u, 4u, 8u, 32u})
      for (int turn = 0; turn < 10; ++turn)
        add("random", [&](unsigned) { return random() % lines * 128 + word(words); }, turn < 7 ? ~0u : random());
  // Two lanes of one sector with different words; the others alone in lines of one set, or of any.
  std::vector<unsigned> of_set[4];
  for (unsigned line = 1; line < kLines; ++line) of_set[set_of(line)].push_back(line);
  for (unsigned first : {0u, 1u, 7u, 15u})
    for (unsigned second : {8u, 16u, 17u, 23u, 31u})
      for (unsigned fillers : {2u, 4u, 8u, 12u, 14u, 16u, 20u, 30u})
        for (unsigned sets : {1u, 4u}) {
          unsigned used = 0, next[4] = {}, mask = 0, at[32] = {};
          for (unsigned l = 0; l < 32; ++l) {
            if (l == first || l == second) {
              at[l] = l == first ? 0 : 4;
            } else if (used < fillers) {
              const unsigned set = sets == 1 ? set_of(0) : used % 4;
              at[l] = of_set[set][next[set]++] * 128;
              ++used;
            } else {
              continue;
            }
            mask |= 1u << l;
          }
          add("pair", [&](unsigned l) { return at[l]; }, mask);
        }
  // Lanes that share their word with a neighbour at distance 1, 2, 4, 8 or 16, over few lines.
  for (unsigned apart : {1u, 2u, 4u, 8u, 16u})
    for (unsigned lines : {1u, 2u, 4u, 8u, 12u, 16u})
      for (int turn = 0; turn < 8; ++turn) {
        unsigned chosen[32];
        for (unsigned& c : chosen) c = random() % lines * 128 + word(32);
        add("shared", [&](unsigned l) { return chosen[l & ~apart]; });
      }
  // Histograms: 256 counters of 4 bytes.
  for (int turn = 0; turn < 120; ++turn) add("histogram", [&](unsigned) { return word(256); });
  for (int turn = 0; turn < 40; ++turn) add("histogram", [&](unsigned) { return word(64); });
  for (std::size_t n = 0; n < patterns.size(); ++n) {
    std::fprintf(manifest, "%s\t%08x\t", kinds[n], patterns[n].mask);
    for (unsigned l = 0; l < 32; ++l) std::fprintf(manifest, "%u%s", patterns[n].at[l], l < 31 ? "," : "\n");
    reduce_word<<<1, 32>>>(patterns[n], memory);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(stderr, "%zu launches: %s\n", patterns.size(), cudaGetErrorString(error));
  return error != cudaSuccess;
}
