// Shared memory's 32 banks, seen with one warp that reads a column.
//
// Word w of shared memory lies in bank w % 32. A warp's access takes as many wavefronts as the fullest bank has
// different words. Column c of a 32x32 array with rows of 32 words: lane l reads word 32*l + c, all in bank c: 32
// wavefronts. With rows of 33 words lane l reads word 33*l + c, bank (l + c) % 32: one wavefront.
//
// Reading along a row, or one word by all lanes, is one wavefront for any pitch.
#include "../example.h"

template <int kPitch>
__global__ void sumColumns(const float* in, float* out) {
  __shared__ float tile[32 * kPitch];
  const int lane = threadIdx.x;
  for (int row = 0; row < 32; ++row) tile[row * kPitch + lane] = in[row * 32 + lane];
  __syncwarp();
  float sum = 0.0f;
  // Lane l walks along row l; together the lanes read one column at a time.
  for (int column = 0; column < 32; ++column) sum += tile[lane * kPitch + column];
  out[lane] = sum;
}

// The same sums, and no padding needed: each lane begins at a column of its own.
__global__ void sumColumnsRotated(const float* in, float* out) {
  __shared__ float tile[32 * 32];
  const int lane = threadIdx.x;
  for (int row = 0; row < 32; ++row) tile[row * 32 + lane] = in[row * 32 + lane];
  __syncwarp();
  float sum = 0.0f;
  for (int step = 0; step < 32; ++step) sum += tile[lane * 32 + (step + lane) % 32];
  out[lane] = sum;
}

int main() {
  std::vector<float> host(32 * 32);
  Random random;
  for (float& value : host) value = static_cast<float>(random.below(1000));  // whole numbers: any order sums exactly
  std::vector<float> sums(32, 0.0f);
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 32; ++column) sums[row] += host[row * 32 + column];
  }
  float* in = to_device(host);
  float* out = device_array<float>(32);
  Verdict verdict;
  sumColumns<32><<<1, 32>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, 32) == sums, "pitch 32");
  CHECK(cudaMemset(out, 0, 32 * sizeof(float)));
  sumColumns<33><<<1, 32>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, 32) == sums, "pitch 33");
  CHECK(cudaMemset(out, 0, 32 * sizeof(float)));
  sumColumnsRotated<<<1, 32>>>(in, out);
  CHECK_LAUNCH();
  verdict.expect(to_host(out, 32) == sums, "rotated");
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict.finish();
}
