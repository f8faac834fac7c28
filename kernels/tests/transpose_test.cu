// transpose(), aos_to_soa(), soa_to_aos() and transpose_batch() against a loop on the CPU: element sizes, odd sizes,
// pitches, misaligned pointers; what lies between the rows must stay as it was.
#include "../transpose.cuh"

#include "check.h"

namespace mk = muscope::kernels;

template <typename T>
void matrices(Verdict& verdict) {
  struct Shape {
    std::size_t rows, cols, in_gap, out_gap, in_offset, out_offset;
  };
  const Shape shapes[] = {{128, 128, 0, 0, 0, 0}, {64, 256, 0, 0, 0, 0},   {129, 127, 0, 0, 0, 0},
                          {257, 96, 0, 0, 1, 0},  {100, 300, 4, 28, 0, 0}, {1, 70, 3, 2, 0, 0},
                          {70, 1, 3, 2, 1, 3},    {65, 66, 1, 1, 3, 5},    {300, 131, 5, 9, 2, 7},
                          {128, 128, 0, 0, 1, 0}, {128, 128, 0, 0, 0, 1},  {33, 200, 32, 64, 0, 8},
                          {1, 1, 0, 0, 1, 1},     {513, 68, 0, 0, 11, 13}};
  for (const Shape& s : shapes) {
    const std::size_t in_pitch = s.cols + s.in_gap, out_pitch = s.rows + s.out_gap;
    const auto in = random_elements<T>(in_pitch * (s.rows - 1) + s.cols);
    const Device<T> device_in(in, s.in_offset);
    const Device<T> device_out(out_pitch * (s.cols - 1) + s.rows, s.out_offset);
    auto want = device_out.host();
    for (std::size_t r = 0; r < s.rows; ++r) {
      for (std::size_t c = 0; c < s.cols; ++c) want[c * out_pitch + r] = in[r * in_pitch + c];
    }
    CHECK(mk::transpose(device_out.get(), out_pitch, device_in.get(), in_pitch, s.rows, s.cols));
    CHECK(cudaDeviceSynchronize());
    verdict.expect(same_bytes(device_out.host(), want) && device_out.guard_holds(),
                   "transpose of %zu x %zu elements of %zu bytes, gaps %zu %zu, offsets %zu %zu", s.rows, s.cols,
                   sizeof(T), s.in_gap, s.out_gap, s.in_offset, s.out_offset);
  }
}

template <typename T>
void structures(Verdict& verdict) {
  for (const int fields : {1, 2, 3, 4, 7, 8, 16, 31, 33, 64}) {
    for (const std::size_t structs : {1u, 5u, 127u, 1500u}) {
      for (const std::size_t offset : {0u, 1u, 3u}) {
        const std::size_t pitch = structs + offset;  // also a gap, and misaligned arrays
        const auto f = static_cast<std::size_t>(fields);
        const auto aos = random_elements<T>(structs * f);
        const Device<T> device_aos(aos, offset);
        const Device<T> device_soa(pitch * (f - 1) + structs, offset);
        auto soa = device_soa.host();
        for (std::size_t s = 0; s < structs; ++s) {
          for (std::size_t i = 0; i < f; ++i) soa[i * pitch + s] = aos[s * f + i];
        }
        CHECK(mk::aos_to_soa(device_soa.get(), pitch, device_aos.get(), structs, fields));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(device_soa.host(), soa) && device_soa.guard_holds(),
                       "aos_to_soa of %zu structures of %d fields of %zu bytes, offset %zu", structs, fields, sizeof(T),
                       offset);
        const Device<T> back(structs * f, offset);
        CHECK(mk::soa_to_aos(back.get(), device_soa.get(), pitch, structs, fields));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(back.host(), aos) && back.guard_holds(),
                       "soa_to_aos of %zu structures of %d fields of %zu bytes, offset %zu", structs, fields, sizeof(T),
                       offset);
      }
    }
  }
}

template <typename T>
void batches(Verdict& verdict) {
  const int shapes[][2] = {{2, 2}, {3, 3}, {4, 4}, {1, 5}, {5, 1}, {7, 3}, {8, 8}, {16, 16}, {31, 17}, {32, 32}};
  for (const auto& shape : shapes) {
    for (const std::size_t batch : {1u, 3u, 50u}) {
      for (const std::size_t offset : {0u, 1u, 6u}) {
        const auto rows = static_cast<std::size_t>(shape[0]), cols = static_cast<std::size_t>(shape[1]);
        const auto in = random_elements<T>(batch * rows * cols);
        auto want = in;
        for (std::size_t b = 0; b < batch; ++b) {
          for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t c = 0; c < cols; ++c) {
              want[b * rows * cols + c * rows + r] = in[b * rows * cols + r * cols + c];
            }
          }
        }
        const Device<T> device_in(in, offset), device_out(in.size(), offset / 2);
        CHECK(mk::transpose_batch(device_out.get(), device_in.get(), batch, shape[0], shape[1]));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(device_out.host(), want) && device_out.guard_holds(),
                       "%zu matrices of %d x %d elements of %zu bytes, offset %zu", batch, shape[0], shape[1],
                       sizeof(T), offset);
      }
    }
  }
}

template <typename T>
void all(Verdict& verdict) {
  matrices<T>(verdict);
  structures<T>(verdict);
  batches<T>(verdict);
}

int main() {
  Verdict verdict;
  all<unsigned char>(verdict);
  all<unsigned short>(verdict);
  all<float>(verdict);
  all<double>(verdict);
  all<uint4>(verdict);
  float* const none = nullptr;
  verdict.expect(mk::transpose(none, 0, none, 0, 0, 0) == cudaSuccess, "an empty transpose is none");
  verdict.expect(mk::transpose(none, 4, none, 4, 4, 4) == cudaErrorInvalidValue, "null is refused");
  return verdict.finish();
}
