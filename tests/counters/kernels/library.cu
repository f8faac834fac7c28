// Primitives of CUB, as programs use them: reduce, scan, sort, histogram, select.
#include <algorithm>

#include <cub/cub.cuh>

#include "check.h"

template <typename F>
void with_workspace(F call) {
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* workspace;
  cudaMalloc(&workspace, bytes);
  call(workspace, bytes);
  cudaFree(workspace);
}

int main() {
  const int n = 20000;
  std::uint32_t state = 33;
  Buffer<int> in(n), out(n), one(1), flags(n), bins(16);
  for (int i = 0; i < n; ++i) in.host[i] = static_cast<int>(next_number(state) % 4096), flags.host[i] = in.host[i] % 3 == 0;
  in.up(), flags.up();
  with_workspace([&](void* w, std::size_t& b) { cub::DeviceReduce::Sum(w, b, in.device, one.device, n); });
  check("reduce", one, [&](std::size_t) {
    int s = 0;
    for (int v : in.host) s += v;
    return s;
  });
  with_workspace([&](void* w, std::size_t& b) { cub::DeviceScan::ExclusiveSum(w, b, in.device, out.device, n); });
  std::vector<int> sums(n);
  for (int i = 1; i < n; ++i) sums[i] = sums[i - 1] + in.host[i - 1];
  check("scan", out, [&](std::size_t i) { return sums[i]; });
  with_workspace([&](void* w, std::size_t& b) { cub::DeviceRadixSort::SortKeys(w, b, in.device, out.device, n); });
  std::vector<int> sorted = in.host;
  std::sort(sorted.begin(), sorted.end());
  check("sort", out, [&](std::size_t i) { return sorted[i]; });
  with_workspace([&](void* w, std::size_t& b) {
    cub::DeviceHistogram::HistogramEven(w, b, in.device, bins.device, 17, 0, 4096, n);
  });
  check("histogram", bins, [&](std::size_t k) {
    int c = 0;
    for (int v : in.host) c += v / 256 == static_cast<int>(k);
    return c;
  });
  with_workspace([&](void* w, std::size_t& b) {
    cub::DeviceSelect::Flagged(w, b, in.device, flags.device, out.device, one.device, n);
  });
  check("select", one, [&](std::size_t) {
    int c = 0;
    for (int f : flags.host) c += f;
    return c;
  });
  return finish();
}
