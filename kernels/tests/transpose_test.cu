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
                          {1, 1, 0, 0, 1, 1},     {513, 68, 0, 0, 11, 13}, {601, 259, 1, 2, 3, 1},
                          {520, 521, 0, 0, 5, 0}, {257, 385, 8, 0, 0, 9}};
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

/// Both ways, between structures and arrays that begin `aos` and `soa` elements behind a multiple of 256 bytes.
template <typename T>
void structures(Verdict& verdict, std::size_t structs, std::size_t fields, std::size_t pitch, std::size_t aos,
                std::size_t soa) {
  const auto together = random_elements<T>(structs * fields);
  const Device<T> device_aos(together, aos);
  const Device<T> device_soa(pitch * (fields - 1) + structs, soa);
  auto apart = device_soa.host();
  for (std::size_t s = 0; s < structs; ++s) {
    for (std::size_t f = 0; f < fields; ++f) apart[f * pitch + s] = together[s * fields + f];
  }
  const int count = static_cast<int>(fields);
  CHECK(mk::aos_to_soa(device_soa.get(), pitch, device_aos.get(), structs, count));
  CHECK(cudaDeviceSynchronize());
  verdict.expect(same_bytes(device_soa.host(), apart) && device_soa.guard_holds(),
                 "aos_to_soa of %zu structures of %zu fields of %zu bytes, pitch %zu, offsets %zu %zu", structs, fields,
                 sizeof(T), pitch, aos, soa);
  const Device<T> back(structs * fields, aos);
  CHECK(mk::soa_to_aos(back.get(), device_soa.get(), pitch, structs, count));
  CHECK(cudaDeviceSynchronize());
  verdict.expect(same_bytes(back.host(), together) && back.guard_holds(),
                 "soa_to_aos of %zu structures of %zu fields of %zu bytes, pitch %zu, offsets %zu %zu", structs, fields,
                 sizeof(T), pitch, aos, soa);
}

template <typename T>
void structures(Verdict& verdict) {
  for (const std::size_t fields : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 16u, 30u, 31u, 33u, 63u, 64u}) {
    const std::size_t blocks = 50000 / (fields * sizeof(T)) + 3;  // structures of three blocks or more
    for (const std::size_t structs : {std::size_t{1}, std::size_t{5}, std::size_t{127}, blocks}) {
      structures<T>(verdict, structs, fields, structs, 0, 0);
      structures<T>(verdict, structs, fields, structs + 1, 1, 3);
      structures<T>(verdict, structs, fields, structs + 3, 3, 1);
    }
    // Arrays that begin at sectors, or at vectors alone, in front of structures that begin there or do not.
    const std::size_t even = blocks / 32 * 32 + 32;
    structures<T>(verdict, blocks, fields, even, 0, 0);
    structures<T>(verdict, blocks, fields, even + 16 / sizeof(T), 0, 32);
    structures<T>(verdict, even, fields, even, 1, 0);
    structures<T>(verdict, even, fields, even, 6, 32);
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

/// Aligned less than it is large.
struct Pair {
  float x, y;
};

void contracts(Verdict& verdict) {
  float* const none = nullptr;
  verdict.expect(mk::transpose(none, 0, none, 0, 0, 0) == cudaSuccess, "an empty transpose is none");
  verdict.expect(mk::transpose(none, 4, none, 4, 4, 4) == cudaErrorInvalidValue, "null is refused");
  const std::size_t n = 33 * 70;
  const auto values = random_elements<unsigned>(2 * n + 2);
  const Device<unsigned> in(values), out(2 * n + 2);
  auto* const pairs = reinterpret_cast<Pair*>(in.get() + 1);
  auto* const results = reinterpret_cast<Pair*>(out.get() + 1);
  verdict.expect(mk::transpose(results, 33, pairs, 70, 33, 70) == cudaErrorInvalidValue &&
                     mk::aos_to_soa(results, n / 2, pairs, n / 2, 2) == cudaErrorInvalidValue &&
                     mk::soa_to_aos(results, pairs, n / 2, n / 2, 2) == cudaErrorInvalidValue &&
                     mk::transpose_batch(results, pairs, 4, 5, 6) == cudaErrorInvalidValue,
                 "elements that do not begin at a multiple of their size are refused");
  CHECK(mk::copy_strided(results, pairs, 3, n / 3));
  CHECK(cudaDeviceSynchronize());
  const auto copied = out.host();
  bool right = true;
  for (std::size_t i = 0; i < n / 3; ++i) {
    right = right && copied[1 + 2 * i] == values[1 + 6 * i] && copied[2 + 2 * i] == values[2 + 6 * i];
  }
  verdict.expect(right, "a strided copy takes them");
  // An error of the caller's is neither reported nor forgotten, and starts nothing twice.
  static_cast<void>(cudaSetDevice(-1));
  const cudaError_t pending = cudaPeekAtLastError();
  verdict.expect(pending != cudaSuccess, "there is an earlier error");
  verdict.expect(mk::transpose(out.get(), 33, in.get(), 71, 33, 71) == cudaSuccess, "an earlier error is not reported");
  verdict.expect(cudaGetLastError() == pending, "an earlier error stays");
  CHECK(cudaDeviceSynchronize());
}

int main() {
  Verdict verdict;
  contracts(verdict);
  all<unsigned char>(verdict);
  all<unsigned short>(verdict);
  all<float>(verdict);
  all<double>(verdict);
  all<uint4>(verdict);
  return verdict.finish();
}
