// One call of each kernel on 64 MiB or so, for a profiler's counters and for muscope's: counters.py runs it both ways.
// Prints a line per case: its name, bytes that must be read and bytes that must be written. A launch of case_ends
// stands behind the launches of each case.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../convolution.cuh"
#include "../copy.cuh"
#include "../histogram.cuh"
#include "../layout.cuh"
#include "../nbody.cuh"
#include "../reduce.cuh"
#include "../scan.cuh"
#include "../segmented_reduce.cuh"
#include "../transpose.cuh"

namespace mk = muscope::kernels;

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__global__ void case_ends() {}

void counted(const char* name, std::size_t read, std::size_t written, const std::function<cudaError_t()>& call) {
  check(call(), name);
  case_ends<<<1, 1>>>();
  check(cudaDeviceSynchronize(), name);
  std::printf("%s,%zu,%zu\n", name, read, written);
}

constexpr std::size_t kElements = std::size_t{1} << 24;  // of 4 bytes

/// Segments of 0 to 2 * mean elements that fill the array.
std::vector<int> ragged_offsets(std::size_t mean) {
  std::mt19937 random(5);
  std::vector<int> offsets{0};
  while (offsets.size() <= kElements / mean) {
    const std::size_t next = offsets.back() + random() % (2 * mean + 1);
    offsets.push_back(static_cast<int>(next < kElements ? next : kElements));
  }
  return offsets;
}

void reductions(char* in, char* out, void* workspace, std::size_t bytes) {
  auto* const values = reinterpret_cast<float*>(in);
  auto* const results = reinterpret_cast<float*>(out);
  const std::size_t whole = 4 * kElements;
  counted("reduce", whole, 4, [&] { return mk::reduce(workspace, bytes, results, values, kElements); });
  counted("reduce of 2^20", 4 << 20, 4, [&] { return mk::reduce(workspace, bytes, results, values, 1 << 20); });
  counted("segments of 32", whole, whole / 32,
          [&] { return mk::reduce_segments(results, values, kElements / 32, 32); });
  counted("segments of 1024", whole, whole / 1024,
          [&] { return mk::reduce_segments(results, values, kElements / 1024, 1024); });
  for (const std::size_t mean : {2, 32, 1024}) {
    const std::vector<int> offsets = ragged_offsets(mean);
    const std::size_t segments = offsets.size() - 1;
    int* on_device = nullptr;
    check(cudaMalloc(&on_device, offsets.size() * sizeof(int)), "offsets");
    check(cudaMemcpy(on_device, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice), "offsets");
    const std::string name = "ragged segments of " + std::to_string(mean) + " at the mean";
    counted(name.c_str(), 4 * offsets.back() + 4 * offsets.size(), 4 * segments,
            [&] { return mk::reduce_ragged(workspace, bytes, results, values, segments, on_device); });
    check(cudaFree(on_device), "offsets");
  }
  counted("scan", whole, whole, [&] { return mk::exclusive_scan(workspace, bytes, results, values, kElements); });
  counted("scan of 2^20", 4 << 20, 4 << 20,
          [&] { return mk::exclusive_scan(workspace, bytes, results, values, 1 << 20); });
  auto* const counts = reinterpret_cast<unsigned*>(out);
  counted("histogram of bytes", whole, 1024,
          [&] { return mk::histogram_bytes(counts, reinterpret_cast<const unsigned char*>(in), whole); });
  counted("histogram of floats, 256 bins", whole, 1024,
          [&] { return mk::histogram_range(counts, 256u, values, kElements, 0.0f, 1.0f); });
}

void layouts(char* in, char* out) {
  auto* const from = reinterpret_cast<float*>(in);
  auto* const to = reinterpret_cast<float*>(out);
  const std::size_t whole = 4 * kElements;
  counted("transpose 4096x4096", whole, whole, [&] { return mk::transpose(to, 4096, from, 4096, 4096, 4096); });
  counted("transpose 4095x4097", 4 * 4095 * 4097, 4 * 4095 * 4097,
          [&] { return mk::transpose(to, 4095, from, 4097, 4095, 4097); });
  counted("AoS to SoA, 4 floats", whole, whole,
          [&] { return mk::aos_to_soa(to, kElements / 4, from, kElements / 4, 4); });
  counted("SoA to AoS, 8 floats", whole, whole,
          [&] { return mk::soa_to_aos(to, from, kElements / 8, kElements / 8, 8); });
  const std::size_t odd = kElements / 33 - 1 + (kElements / 33) % 2;
  counted("AoS to SoA, odd number of 33 floats", 4 * 33 * odd, 4 * 33 * odd,
          [&] { return mk::aos_to_soa(to, odd, from, odd, 33); });
  counted("SoA to AoS, odd number of 33 floats", 4 * 33 * odd, 4 * 33 * odd,
          [&] { return mk::soa_to_aos(to, from, odd, odd, 33); });
  counted("AoS to SoA, 4 bytes", whole, whole, [&] { return mk::aos_to_soa(out, kElements, in, kElements, 4); });
  counted("SoA to AoS, 3 bytes", 3 * kElements, 3 * kElements,
          [&] { return mk::soa_to_aos(out, in, kElements, kElements, 3); });
  counted("batched transpose 8x8", whole, whole, [&] { return mk::transpose_batch(to, from, kElements / 64, 8, 8); });
  counted("copy", whole, whole, [&] { return mk::copy_bytes(out, in, whole); });
  counted("copy, begin +3 to +6", whole - 16, whole - 16, [&] { return mk::copy_bytes(out + 6, in + 3, whole - 16); });
}

void images(char* in, char* out) {
  auto* const from = reinterpret_cast<float*>(in);
  auto* const to = reinterpret_cast<float*>(out);
  const float weights[25] = {1, 2, 3, 2, 1, 2, 3, 4, 3, 2, 3, 4, 5, 4, 3, 2, 3, 4, 3, 2, 1, 2, 3, 2, 1};
  mk::ImageShape shape;
  shape.width = shape.height = 4096;
  const std::size_t whole = 4 * kElements;
  counted("convolution 3x3", whole, whole,
          [&] { return mk::convolve<3>(to, from, shape, weights, mk::Border::kZero); });
  counted("convolution 5x5", whole, whole,
          [&] { return mk::convolve<5>(to, from, shape, weights, mk::Border::kZero); });
  counted("convolution 3x3, wrapped", whole, whole,
          [&] { return mk::convolve<3>(to, from, shape, weights, mk::Border::kWrap); });
  shape.width = 4095;
  counted("convolution 3x3, 4095 columns", 4 * 4095 * 4096, 4 * 4095 * 4096,
          [&] { return mk::convolve<3>(to, from, shape, weights, mk::Border::kZero); });
}

}  // namespace

int main() {
  char *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, 4 * kElements + 64), "input");
  check(cudaMalloc(&out, 4 * kElements + 64), "output");
  std::mt19937 random(3);
  std::vector<float> values(kElements);
  for (float& value : values) value = static_cast<float>(random() >> 8) * 5.9604644775390625e-8f;
  check(cudaMemcpy(in, values.data(), 4 * kElements, cudaMemcpyHostToDevice), "input");
  void* workspace = nullptr;
  const std::size_t bytes = std::size_t{16} << 20;
  check(cudaMalloc(&workspace, bytes), "workspace");
  check(mk::prepare_workspace(workspace, bytes), "workspace");
  reductions(in, out, workspace, bytes);
  layouts(in, out);
  images(in, out);
  const std::size_t bodies = 8192;
  counted("n-body of 8192", 16 * bodies, 16 * bodies, [&] {
    return mk::accelerations(reinterpret_cast<float4*>(out), reinterpret_cast<const float4*>(in), bodies, 0.01f);
  });
  return 0;
}
