// Reads with a stride: of every 32-byte sector that moves, only a part is used.
//
//   stride (floats)     1   2   3   4   8  16  32
//   sectors per read    4   8  12  16  32  32  32      from 8 on every lane has a sector of its own
//   bytes used of 32   32  16 10.7  8   4   4   4
//
// All launches do the same work: the same number of threads, one float each.
#include "../example.h"

__global__ void strided(const float* in, float* out, int count, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i * stride];
}

int main(int argc, char** argv) {
  constexpr int kLargest = 32;
  const int count = size_argument(argc, argv, 1 << 16, 256, 1 << 22);
  const std::vector<float> host = random_floats(static_cast<size_t>(count) * kLargest);
  float* in = to_device(host);
  float* out = device_array<float>(count);
  Verdict verdict;
  for (const int stride : {1, 2, 3, 4, 8, 16, 32}) {
    strided<<<count / 256, 256>>>(in, out, count, stride);
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(out, count);
    bool ok = true;
    for (int i = 0; i < count; ++i) ok = ok && got[i] == host[static_cast<size_t>(i) * stride];
    verdict.expect(ok, "strided");
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
