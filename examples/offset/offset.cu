// Reads that begin at an offset: how alignment meets sectors, and what unrolling changes about it.
//
// A warp that reads 32 neighbouring floats from a multiple of 32 bytes touches 4 sectors. Shifted by an offset that is
// no multiple of 8 floats, the same 128 bytes straddle 5. (On GPUs whose cache lines of 128 bytes move as a whole,
// cc 2.x and 3.x, it is 2 lines instead of 1, which costs more.) The extra sector is one that the next warp needs
// anyway, so a cache hides most of it: requests touch more sectors, DRAM moves hardly more bytes.
//
// Unrolling does not change the alignment; it puts four independent reads into flight per thread.
#include "../example.h"

__global__ void readOffset(const float* a, const float* b, float* c, int n, int offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned k = i + offset;
  if (k < n) c[i] = a[k] + b[k];
}

__global__ void readOffsetUnroll4(const float* a, const float* b, float* c, int n, int offset) {
  const unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  const unsigned k = i + offset;
  const unsigned step = blockDim.x;
  if (k + 3 * step < n) {
    c[i] = a[k] + b[k];
    c[i + step] = a[k + step] + b[k + step];
    c[i + 2 * step] = a[k + 2 * step] + b[k + 2 * step];
    c[i + 3 * step] = a[k + 3 * step] + b[k + 3 * step];
  }
}

// Which element the unrolled kernel must have written: all four of its thread lie inside.
bool unrolled_writes(int i, int n, int offset, int block) {
  const int first = i / (4 * block) * (4 * block) + i % block;
  return first + offset + 3 * block < n;
}

int main(int argc, char** argv) {
  constexpr int kBlock = 256;
  const int n = size_argument(argc, argv, 1 << 19, 4 * kBlock, 1 << 24);
  const std::vector<float> host_a = random_floats(n, 1);
  const std::vector<float> host_b = random_floats(n, 2);
  const float* a = to_device(host_a);
  const float* b = to_device(host_b);
  float* c = device_array<float>(n);
  Verdict verdict;

  for (const int offset : {0, 1, 8, 11, 32, 128}) {
    CHECK(cudaMemset(c, 0, n * sizeof(float)));
    readOffset<<<n / kBlock, kBlock>>>(a, b, c, n, offset);
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(c, n);
    bool ok = true;
    for (int i = 0; i < n; ++i) {
      ok = ok && got[i] == (i + offset < n ? host_a[i + offset] + host_b[i + offset] : 0.0f);
    }
    verdict.expect(ok, "readOffset");
  }
  for (const int offset : {0, 11}) {
    CHECK(cudaMemset(c, 0, n * sizeof(float)));
    readOffsetUnroll4<<<n / (4 * kBlock), kBlock>>>(a, b, c, n, offset);
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(c, n);
    bool ok = true;
    for (int i = 0; i < n; ++i) {
      const bool written = unrolled_writes(i, n, offset, kBlock);
      ok = ok && got[i] == (written ? host_a[i + offset] + host_b[i + offset] : 0.0f);
    }
    verdict.expect(ok, "readOffsetUnroll4");
  }
  CHECK(cudaFree(const_cast<float*>(a)));
  CHECK(cudaFree(const_cast<float*>(b)));
  CHECK(cudaFree(c));
  return verdict.finish();
}
