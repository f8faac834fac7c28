// Which of L1's four tag sets does each bit of an address choose? One warp loads a word from each of two lines: in one
// wavefront of the tag stage when they are of different sets, in two when they are of one. Line X of a block of memory is
// compared, for each address bit from 7 up, with line X + 2^bit, whose set is then that of X changed by what the bit does;
// and with the line that lies a known distance further, for each of the four changes of set. X is chosen so that the
// addition has no carry. Pairs go to the file named on the command line, counters come from ncu
// (../kernels/capture.sh); one row a launch, in order. Of a bit's four launches one takes two wavefronts (of
// bits 7 and 8 none: there the fourth would load one line twice, and is left out).
#include <cstdint>
#include <cstdio>

__global__ void load_two(const unsigned char* first, const unsigned char* second, unsigned* sum) {
  if (threadIdx.x < 2) {
    const unsigned* const from = reinterpret_cast<const unsigned*>(threadIdx.x == 0 ? first : second);
    if (__ldcv(from) == 12345) *sum = 1;
  }
}

/// Change of set between a line and the line with the bits of `lines` turned, as src/model/t_stage.h has it: only bits
/// 0 to 6, which are certain.
static unsigned change_of(unsigned lines) {
  return (__builtin_popcount(lines & 0x6f) & 1) | (__builtin_popcount(lines & 0x5a) & 1) << 1;
}

int main(int argc, char** argv) {
  FILE* manifest = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  unsigned char* memory = nullptr;
  unsigned* sum;
  std::uint64_t size = std::uint64_t{1} << 36;
  while (size >= (1u << 22) && cudaMalloc(&memory, size) != cudaSuccess) size >>= 1;  // 64 GiB, or what there is
  cudaGetLastError();
  if (manifest == nullptr || memory == nullptr || cudaMalloc(&sum, 4) != cudaSuccess) return 1;
  const auto base = reinterpret_cast<std::uint64_t>(memory);
  // The lowest line distance for each change of set.
  unsigned distance[4] = {};
  for (unsigned lines = 1; lines < 128; ++lines)
    if (distance[change_of(lines)] == 0) distance[change_of(lines)] = lines;
  distance[0] = 0;
  for (unsigned bit = 7; bit < 36 && (std::uint64_t{4} << bit) <= size; ++bit) {
    const std::uint64_t step = std::uint64_t{1} << bit;
    const std::uint64_t x = (base & step) == 0 ? base : base + step;  // the bit is 0 in x, and x + step is inside
    for (unsigned change = 0; change < 4; ++change) {
      // Turning bits of the first line: the base is a multiple of 2 MiB.
      const std::uint64_t first = x ^ std::uint64_t{distance[change]} * 128, second = x + step;
      if (first == second) {
        std::fprintf(manifest, "%u\t%u\tsame line\n", bit, change);
        continue;
      }
      load_two<<<1, 32>>>(reinterpret_cast<unsigned char*>(first), reinterpret_cast<unsigned char*>(second), sum);
      std::fprintf(manifest, "%u\t%u\t%llx\n", bit, change, static_cast<unsigned long long>(base));
    }
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(stderr, "%llu bytes: %s\n", static_cast<unsigned long long>(size), cudaGetErrorString(error));
  return error != cudaSuccess;
}
