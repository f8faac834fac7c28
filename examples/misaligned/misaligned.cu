// A misaligned base: cudaMalloc aligns to 256 bytes, but the data may begin somewhere inside.
//
// Typical causes: a header before the payload, rows of a length that is no multiple of 8 floats, a packed file image. A
// base that is off by 4 bytes costs every warp a fifth sector (see offset). Pitched allocations avoid it for matrices:
// cudaMallocPitch makes every row begin at an aligned address.
#include "../example.h"

constexpr int kRowLength = 1001;  // an odd row length: every row but the first begins misaligned
constexpr int kRows = 200;

__global__ void addOne(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1.0f;
}

// One block per row. `pitch` is in bytes.
__global__ void scaleRows(const char* in, char* out, size_t pitch, int length) {
  const float* row = reinterpret_cast<const float*>(in + blockIdx.x * pitch);
  float* result = reinterpret_cast<float*>(out + blockIdx.x * pitch);
  for (int i = threadIdx.x; i < length; i += blockDim.x) result[i] = row[i] * 2.0f;
}

int main() {
  constexpr int kCount = 1 << 16;
  Verdict verdict;

  // The same kernel on the same number of elements; only where they begin differs.
  const std::vector<float> host = random_floats(kCount + 32);
  const float* in = to_device(host);
  float* out = device_array<float>(kCount);
  for (const int shift : {0, 1, 4, 8}) {
    addOne<<<kCount / 256, 256>>>(in + shift, out, kCount);
    CHECK_LAUNCH();
    const std::vector<float> got = to_host(out, kCount);
    bool ok = true;
    for (int i = 0; i < kCount; ++i) ok = ok && got[i] == host[i + shift] + 1.0f;
    verdict.expect(ok, "addOne");
  }
  CHECK(cudaFree(const_cast<float*>(in)));
  CHECK(cudaFree(out));

  // Rows behind each other, and rows at a pitch.
  const std::vector<float> matrix = random_floats(kRowLength * kRows, 7);
  const size_t row_bytes = kRowLength * sizeof(float);
  for (const bool pitched : {false, true}) {
    char* from = nullptr;
    char* to = nullptr;
    size_t pitch = row_bytes;
    size_t pitch_of_result = row_bytes;
    if (pitched) {
      CHECK(cudaMallocPitch(reinterpret_cast<void**>(&from), &pitch, row_bytes, kRows));
      CHECK(cudaMallocPitch(reinterpret_cast<void**>(&to), &pitch_of_result, row_bytes, kRows));
    } else {
      CHECK(cudaMalloc(&from, row_bytes * kRows));
      CHECK(cudaMalloc(&to, row_bytes * kRows));
    }
    verdict.expect(pitch == pitch_of_result, "both matrices have the same pitch");
    verdict.expect(!pitched || pitch % 32 == 0, "pitched rows begin at a sector");
    CHECK(cudaMemcpy2D(from, pitch, matrix.data(), row_bytes, row_bytes, kRows, cudaMemcpyHostToDevice));
    scaleRows<<<kRows, 256>>>(from, to, pitch, kRowLength);
    CHECK_LAUNCH();
    std::vector<float> got(matrix.size());
    CHECK(cudaMemcpy2D(got.data(), row_bytes, to, pitch, row_bytes, kRows, cudaMemcpyDeviceToHost));
    bool ok = true;
    for (size_t i = 0; i < matrix.size(); ++i) ok = ok && got[i] == matrix[i] * 2.0f;
    verdict.expect(ok, pitched ? "scaleRows, pitched" : "scaleRows, packed");
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
  }
  return verdict.finish();
}
