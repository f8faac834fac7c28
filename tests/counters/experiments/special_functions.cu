// The bits of the GPU's approximate functions (MUFU: the special function unit) for every f32 argument.
//   special_functions digests        one line for each function and each 2^23 arguments of one sign and exponent: a hash
//   special_functions dump FUNCTION FIRST COUNT STEP   results as raw words: arguments are bit patterns FIRST, FIRST+STEP ...
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum Function { kRcp, kRsqrt, kSqrt, kEx2, kLg2, kSin, kCos, kTanh, kFunctions };
constexpr const char* kNames[] = {"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos", "tanh"};

template <int kFunction>
__device__ std::uint32_t value(std::uint32_t bits) {
  const float x = __uint_as_float(bits);
  float y;
  if constexpr (kFunction == kRcp) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kRsqrt) asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kSqrt) asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kEx2) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kLg2) asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kSin) asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kCos) asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (kFunction == kTanh) asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return __float_as_uint(y);
}

/// Order of the arguments does not matter to the sum, position does.
__host__ __device__ std::uint64_t mixed(std::uint32_t argument, std::uint32_t result) {
  std::uint64_t h = (std::uint64_t{argument} << 32 | result) * 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
  return h * 0xbf58476d1ce4e5b9ull;
}

template <int kFunction>
__global__ void digest(std::uint32_t block, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 23; i += gridDim.x * blockDim.x)
    mine += mixed(block << 23 | i, value<kFunction>(block << 23 | i));
  atomicAdd(sum, mine);
}

template <int kFunction>
__global__ void results(std::uint32_t first, std::uint32_t count, std::uint32_t step, std::uint32_t* out) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = value<kFunction>(first + i * step);
}

template <int kFunction>
void all_digests(unsigned long long* sums) {
  for (std::uint32_t block = 0; block < 512; ++block) digest<kFunction><<<256, 256>>>(block, sums + block);
  std::vector<unsigned long long> host(512);
  cudaMemcpy(host.data(), sums, 512 * 8, cudaMemcpyDeviceToHost);
  for (int block = 0; block < 512; ++block) std::printf("%s\t%d\t%016llx\n", kNames[kFunction], block, host[block]);
  cudaMemset(sums, 0, 512 * 8);
}

template <int kFunction = 0>
int dump(const char* name, std::uint32_t first, std::uint32_t count, std::uint32_t step) {
  if constexpr (kFunction < kFunctions) {
    if (std::strcmp(name, kNames[kFunction]) != 0) return dump<kFunction + 1>(name, first, count, step);
    std::uint32_t* out;
    if (cudaMalloc(&out, std::size_t{count} * 4) != cudaSuccess) return 1;
    results<kFunction><<<(count + 255) / 256, 256>>>(first, count, step, out);
    std::vector<std::uint32_t> host(count);
    if (cudaMemcpy(host.data(), out, std::size_t{count} * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    return std::fwrite(host.data(), 4, count, stdout) != count;
  }
  return 2;
}

int main(int argc, char** argv) {
  const auto number = [&](int n) { return static_cast<std::uint32_t>(std::strtoull(argv[n], nullptr, 0)); };
  if (argc == 6 && !std::strcmp(argv[1], "dump")) return dump(argv[2], number(3), number(4), number(5));
  unsigned long long* sums;
  if (cudaMalloc(&sums, 512 * 8) != cudaSuccess) return 1;
  cudaMemset(sums, 0, 512 * 8);
  all_digests<kRcp>(sums), all_digests<kRsqrt>(sums), all_digests<kSqrt>(sums), all_digests<kEx2>(sums);
  all_digests<kLg2>(sums), all_digests<kSin>(sums), all_digests<kCos>(sums), all_digests<kTanh>(sums);
}
