// Cache policies that kernels compute: their bits.
#include <cstdint>
#include <cstdio>

__global__ void policies(std::uint64_t* out, std::uint64_t address, std::uint32_t primary, std::uint32_t total) {
  std::uint64_t p[5];
  const std::uint64_t mine = address + 1000003ull * threadIdx.x;
  asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %0, [%1], %2, %3;"
               : "=l"(p[0])
               : "l"(mine), "r"(primary), "r"(total));
  asm volatile("createpolicy.range.global.L2::evict_normal.L2::evict_first.b64 %0, [%1 + 64], %2, %3;"
               : "=l"(p[1])
               : "l"(mine), "r"(primary), "r"(total));
  asm volatile("createpolicy.range.global.L2::evict_first.b64 %0, [%1], 4096, 1048576;" : "=l"(p[2]) : "l"(mine));
  asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(p[3]) : "l"(mine));
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.25;" : "=l"(p[4]));
  for (int i = 0; i < 5; ++i) out[5 * threadIdx.x + i] = p[i];
}

int main() {
  std::uint64_t *device, host[5 * 32];
  cudaMalloc(&device, sizeof host);
  const std::uint32_t sizes[][2] = {{0, 0},
                                    {1, 1},
                                    {4096, 4097},
                                    {65536, 1 << 20},
                                    {100000, 524288},
                                    {1 << 20, 524289},
                                    {0x7fffffff, 0xfffffff0},
                                    {1 << 24, (1 << 24) + 1}};
  for (const auto& [primary, total] : sizes) {
    policies<<<1, 32>>>(device, 0x7f12'3456'7890ull, primary, total);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    std::uint64_t mix = 0;
    for (const std::uint64_t p : host) mix = (mix ^ p) * 0x9e3779b97f4a7c15ull + (mix >> 29);
    std::printf("%u of %u: %016llx %016llx %016llx, %016llx\n", primary, total,
                static_cast<unsigned long long>(host[0]), static_cast<unsigned long long>(host[1]),
                static_cast<unsigned long long>(host[2]), static_cast<unsigned long long>(mix));
  }
}
