// CUB's device algorithms on elements of one type, against the same done here on the host. Prints a line for each
// algorithm and size, and "PASS" or "FAIL" at the end. Built once per type: nvcc -DTYPE=0 (int), 1 (float), 2 (double),
// 3 (unsigned 64-bit), 4 (a structure). Argument: the largest size, 2^20 unless given.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#ifndef TYPE
#define TYPE 0
#endif
#ifndef PART
#define PART 7
#endif

/// A key and what goes along with it: sums add both, order is by key alone.
struct Item {
  int key;
  int load[2];
  __host__ __device__ friend Item operator+(const Item& a, const Item& b) {
    return {a.key + b.key, {a.load[0] + b.load[0], a.load[1] + b.load[1]}};
  }
  __host__ __device__ friend bool operator==(const Item& a, const Item& b) {
    return a.key == b.key && a.load[0] == b.load[0] && a.load[1] == b.load[1];
  }
};

#if TYPE == 0
using T = int;
#elif TYPE == 1
using T = float;
#elif TYPE == 2
using T = double;
#elif TYPE == 3
using T = unsigned long long;
#else
using T = Item;
#endif

namespace {

struct Less {
  __host__ __device__ bool operator()(const T& a, const T& b) const {
#if TYPE == 4
    return a.key < b.key;
#else
    return a < b;
#endif
  }
};

struct Plus {
  __host__ __device__ T operator()(const T& a, const T& b) const { return a + b; }
};

struct IsEven {
  __host__ __device__ bool operator()(const T& a) const {
#if TYPE == 4
    return a.key % 2 == 0;
#else
    return static_cast<long long>(a) % 2 == 0;
#endif
  }
};

[[maybe_unused]] bool all_right = true;

void need(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\nFAIL\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void report(const char* algorithm, size_t n, bool right) {
  all_right = all_right && right;
  std::printf("%s of %zu: %s\n", algorithm, n, right ? "right" : "WRONG");
}

template <typename E>
class Device {
 public:
  explicit Device(size_t n) : n_(n) { need(cudaMalloc(&pointer_, std::max<size_t>(n, 1) * sizeof(E)), "cudaMalloc"); }
  explicit Device(const std::vector<E>& from) : Device(from.size()) {
    need(cudaMemcpy(pointer_, from.data(), n_ * sizeof(E), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  Device(const Device&) = delete;
  ~Device() { cudaFree(pointer_); }
  E* get() const { return pointer_; }
  std::vector<E> values() const {
    std::vector<E> out(n_);
    need(cudaMemcpy(out.data(), pointer_, n_ * sizeof(E), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return out;
  }

 private:
  E* pointer_ = nullptr;
  size_t n_;
};

/// Both calls of an algorithm: how much memory it wants, and the work.
template <typename Call>
void run(const char* name, Call call) {
  size_t bytes = 0;
  need(call(nullptr, bytes), name);
  Device<char> memory(bytes);
  need(call(memory.get(), bytes), name);
  need(cudaDeviceSynchronize(), name);
}

/// Small whole numbers: sums are exact in every type, whatever their order.
[[maybe_unused]] std::vector<T> input(size_t n) {
  std::vector<T> all(n);
  unsigned state = 12345;
  for (size_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    const int small = static_cast<int>(state >> 20) % 16;
#if TYPE == 4
    all[i] = {small, {static_cast<int>(i % 7), 1}};
#else
    all[i] = static_cast<T>(small);
#endif
  }
  return all;
}

[[maybe_unused]] std::vector<T> mixed(size_t n) {
  std::vector<T> all(n);
  unsigned state = 777;
  for (size_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
#if TYPE == 4
    all[i] = {static_cast<int>(state) >> 4, {static_cast<int>(i), 0}};
#elif TYPE == 3
    all[i] = (static_cast<T>(state) << 31) ^ i;
#else
    all[i] = static_cast<T>(static_cast<int>(state)) / 7;
#endif
  }
  return all;
}

#if PART & 1
void sums(size_t n) {
  const std::vector<T> from = input(n);
  const Device<T> in(from), out(n), one(1);
  run("reduce",
      [&](void* m, size_t& b) { return cub::DeviceReduce::Reduce(m, b, in.get(), one.get(), n, Plus{}, T{}); });
  report("reduce", n, one.values()[0] == std::accumulate(from.begin(), from.end(), T{}, Plus{}));
  std::vector<T> sum(n);
  std::partial_sum(from.begin(), from.end(), sum.begin(), Plus{});
  run("scan", [&](void* m, size_t& b) { return cub::DeviceScan::InclusiveScan(m, b, in.get(), out.get(), Plus{}, n); });
  report("inclusive scan", n, out.values() == sum);
  run("scan",
      [&](void* m, size_t& b) { return cub::DeviceScan::ExclusiveScan(m, b, in.get(), out.get(), Plus{}, T{}, n); });
  std::vector<T> before(n);
  for (size_t i = 1; i < n; ++i) before[i] = sum[i - 1];
  report("exclusive scan", n, out.values() == before);
  // Segments of all lengths, empty ones too.
  std::vector<int> starts{0};
  for (int length = 0; starts.back() < static_cast<int>(n); length = (length * 5 + 3) % 1000)
    starts.push_back(std::min(starts.back() + length, static_cast<int>(n)));
  const size_t segments = starts.size() - 1;
  if (segments > 0) {
    const Device<int> begin(starts);
    const Device<T> each(segments);
    run("segmented reduce", [&](void* m, size_t& b) {
      return cub::DeviceSegmentedReduce::Reduce(m, b, in.get(), each.get(), static_cast<int>(segments), begin.get(),
                                                begin.get() + 1, Plus{}, T{});
    });
    std::vector<T> totals(segments);
    for (size_t s = 0; s < segments; ++s)
      totals[s] = std::accumulate(from.begin() + starts[s], from.begin() + starts[s + 1], T{}, Plus{});
    report("segmented reduce", n, each.values() == totals);
  }
}
#endif

#if PART & 2
void selections(size_t n) {
  const std::vector<T> from = input(n);
  const Device<T> in(from), out(n);
  const Device<int> count(1);
  run("select",
      [&](void* m, size_t& b) { return cub::DeviceSelect::If(m, b, in.get(), out.get(), count.get(), n, IsEven{}); });
  std::vector<T> kept;
  std::copy_if(from.begin(), from.end(), std::back_inserter(kept), IsEven{});
  std::vector<T> got = out.values();
  const int k = count.values()[0];
  report("select", n, k == static_cast<int>(kept.size()) && std::equal(kept.begin(), kept.end(), got.begin()));
}
#endif

#if PART & 4
void sorts(size_t n) {
  const std::vector<T> from = mixed(n);
  std::vector<T> sorted = from;
  std::stable_sort(sorted.begin(), sorted.end(), Less{});
  const Device<T> in(from), out(n);
  run("merge sort",
      [&](void* m, size_t& b) { return cub::DeviceMergeSort::StableSortKeys(m, b, in.get(), n, Less{}); });
  report("merge sort", n, in.values() == sorted);
#if TYPE != 4
  const Device<T> again(from);
  run("radix sort",
      [&](void* m, size_t& b) { return cub::DeviceRadixSort::SortKeys(m, b, again.get(), out.get(), n); });
  report("radix sort", n, out.values() == sorted);
#else
  // Pairs: items by an unsigned key.
  std::vector<unsigned> keys(n);
  for (size_t i = 0; i < n; ++i) keys[i] = static_cast<unsigned>(from[i].key) * 2654435761u;
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<T> expected(n);
  for (size_t i = 0; i < n; ++i) expected[i] = from[order[i]];
  const Device<unsigned> keys_in(keys), keys_out(n);
  const Device<T> again(from);
  run("radix sort", [&](void* m, size_t& b) {
    return cub::DeviceRadixSort::SortPairs(m, b, keys_in.get(), keys_out.get(), again.get(), out.get(), n);
  });
  report("radix sort of pairs", n, out.values() == expected);
#endif
}
#endif

#if TYPE != 4 && PART & 2
void histograms(size_t n) {
  constexpr int kBins = 16;
  const std::vector<T> from = input(n);
  std::vector<int> bins(kBins);
  for (const T& x : from) ++bins[static_cast<int>(x)];
  const Device<T> in(from);
  const Device<int> out(kBins);
  run("histogram", [&](void* m, size_t& b) {
    return cub::DeviceHistogram::HistogramEven(m, b, in.get(), out.get(), kBins + 1, T(0), T(kBins),
                                               static_cast<int>(n));
  });
  report("histogram", n, out.values() == bins);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : size_t{1} << 20;
  for (const size_t n : {size_t{0}, size_t{1}, size_t{1237}, most}) {
#if PART & 1
    sums(n);
#endif
#if PART & 2
    selections(n);
#if TYPE != 4
    histograms(n);
#endif
#endif
#if PART & 4
    sorts(n);
#endif
  }
  std::puts(all_right ? "PASS" : "FAIL");
  return all_right ? 0 : 1;
}
