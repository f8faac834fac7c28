// One call of each kernel with aligned data, a few MiB at most. Prints the sectors of 32 bytes that the call must read
// and write at least; kernels_test compares them with what `muscope run` counts.
#include "../convolution.cuh"
#include "../copy.cuh"
#include "../histogram.cuh"
#include "../reduce.cuh"
#include "../scan.cuh"
#include "../segmented_reduce.cuh"
#include "../transpose.cuh"

#include "check.h"

namespace mk = muscope::kernels;

/// `slack`: percent by which more may be moved (words of blocks that wait for each other, results that begin inside a
/// sector); -1: what is read is not compared.
void must(const char* kernel, std::size_t read, std::size_t written, int slack) {
  std::printf("%s %zu %zu %d\n", kernel, read / 32, written / 32, slack);
}

int main() {
  const std::size_t n = 1 << 18;
  const Device<float> in(random_elements<float>(n)), out(n);
  std::size_t bytes = 0;
  CHECK(mk::exclusive_scan(nullptr, bytes, out.get(), in.get(), n));
  if (bytes < 65536) bytes = 65536;
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, bytes));
  CHECK(mk::prepare_workspace(workspace, bytes));

  CHECK(mk::transpose(out.get(), 512, in.get(), 512, 512, 512));
  must("transpose_tile", 4 * n, 4 * n, 0);
  CHECK(mk::aos_to_soa(out.get(), n / 4, in.get(), n / 4, 4));
  must("layout_kernel", 4 * n, 4 * n, 0);
  CHECK(mk::soa_to_aos(out.get(), in.get(), n / 8, n / 8, 8));
  must("layout_kernel", 4 * n, 4 * n, 0);
  // Arrays that begin anywhere are read or written by whole sectors, and a tile takes up to a sector of each twice.
  const std::size_t odd = n / 33;
  CHECK(mk::aos_to_soa(out.get(), odd, in.get(), odd, 33));
  must("uneven_to_soa", 4 * 33 * odd, 4 * 33 * odd, 5);
  CHECK(mk::soa_to_aos(out.get(), in.get(), odd, odd, 33));
  must("uneven_to_aos", 4 * 33 * odd, 4 * 33 * odd, 8);
  auto* const bytes_out = reinterpret_cast<unsigned char*>(out.get());
  const auto* const bytes_in = reinterpret_cast<const unsigned char*>(in.get());
  CHECK(mk::aos_to_soa(bytes_out, n / 4, bytes_in, n / 4, 16));
  must("narrow_to_even_soa", 4 * n, 4 * n, 0);
  CHECK(mk::soa_to_aos(bytes_out, bytes_in, n, n, 3));
  must("narrow_to_aos", 3 * n, 3 * n, 0);
  CHECK(mk::transpose_batch(out.get(), in.get(), n / 64, 8, 8));
  must("batch_kernel", 4 * n, 4 * n, 0);
  CHECK(mk::reduce(workspace, bytes, out.get(), in.get(), n));
  must("reduce_kernel", 4 * n, 4096, 30);
  CHECK(mk::reduce_segments(out.get(), in.get(), n / 32, 32));
  must("short_segments_kernel", 4 * n, n / 8, 30);
  CHECK(mk::reduce_segments(out.get(), in.get(), n / 1024, 1024));
  must("long_segments_kernel", 4 * n, n / 32, 0);
  CHECK(mk::exclusive_scan(workspace, bytes, out.get(), in.get(), n));
  must("scan_kernel", 4 * n, 4 * n, 4);
  auto* const counts = reinterpret_cast<unsigned*>(out.get());
  CHECK(mk::histogram_bytes(counts, reinterpret_cast<const unsigned char*>(in.get()), 4 * n));
  must("histogram_kernel", 4 * n, 0, 0);
  CHECK(mk::copy_bytes(out.get(), in.get(), 4 * n));
  must("copy_kernel", 4 * n, 4 * n, 0);
  mk::ImageShape shape;
  shape.width = shape.height = 512;
  const float weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  CHECK(mk::convolve<3>(out.get(), in.get(), shape, weights, mk::Border::kZero));
  must("convolution_kernel", 4 * n, 4 * n, -1);  // what is read again comes from the L1 cache
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(workspace));
  return 0;
}
