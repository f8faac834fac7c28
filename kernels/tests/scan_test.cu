// exclusive_scan() and inclusive_scan() against loops on the CPU: types, operators, sizes, alignment, in place.
#include "../scan.cuh"
#include "../segmented_reduce.cuh"

#include "check.h"

namespace mk = muscope::kernels;

/// Composition of x -> a * x + b modulo 2^32: associative and not commutative, so that order shows.
struct Line {
  unsigned a, b;
  Line() = default;
  __host__ __device__ Line(unsigned slope, unsigned offset) : a(slope), b(offset) {}
  explicit Line(unsigned bits) : a(bits * 2 + 1), b(bits ^ 77u) {}
};
struct Compose {
  template <typename T>
  __host__ __device__ static T identity() {
    return Line(1, 0);
  }
  __host__ __device__ Line operator()(Line f, Line g) const { return Line(g.a * f.a, g.a * f.b + g.b); }
};

template <typename T, typename Op>
void scans(Verdict& verdict, const char* name, T init) {
  std::size_t bytes = 0;
  CHECK(mk::exclusive_scan(nullptr, bytes, static_cast<T*>(nullptr), static_cast<const T*>(nullptr), 1 << 20, Op{},
                           init));
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, bytes));
  CHECK(mk::prepare_workspace(workspace, bytes));
  for (const std::size_t n : {0u, 1u, 2u, 127u, 1000u, 2048u, 4097u, 50001u, 300007u}) {
    for (const std::size_t offset : {0u, 1u, 3u}) {
      Random random(static_cast<std::uint32_t>(n));
      std::vector<T> values(n);
      for (T& value : values) value = T(random.below(4));
      const Device<T> in(values, offset);
      std::vector<T> want(n);
      T sum = init;
      for (std::size_t i = 0; i < n; ++i) want[i] = sum, sum = Op{}(sum, values[i]);
      for (const std::size_t out_offset : {offset, offset + 1}) {
        const Device<T> out(n, out_offset);
        CHECK(mk::exclusive_scan(workspace, bytes, out.get(), in.get(), n, Op{}, init));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(out.host(), want) && out.guard_holds(), "exclusive %s, n %zu, offsets %zu %zu", name,
                       n, offset, out_offset);
      }
      sum = Op::template identity<T>();
      for (std::size_t i = 0; i < n; ++i) sum = Op{}(sum, values[i]), want[i] = sum;
      CHECK(mk::inclusive_scan(workspace, bytes, in.get(), in.get(), n, Op{}));  // in place
      CHECK(cudaDeviceSynchronize());
      verdict.expect(same_bytes(in.host(), want) && in.guard_holds(), "inclusive %s, n %zu, offset %zu", name, n,
                     offset);
    }
  }
  CHECK(cudaFree(workspace));
}

/// Tiles of long scans, on short ones.
template <int kThreads, int kVectors, int kWindows>
struct Tiles {
  static constexpr int kRows = kVectors;
  template <bool kExclusive, typename T, typename Op>
  static cudaError_t launch(void* workspace, T* out, const T* in, std::size_t n, Op op, T init) {
    return mk::detail::launch_scan<kThreads, kVectors, kWindows, kExclusive>(workspace, out, in, n, op, init, nullptr);
  }
};
#ifdef MUSCOPE_KERNELS_ASYNC_COPIES
template <int kThreads, int kShared, int kRegisters, int kWindows>
struct LongTiles {
  static constexpr int kRows = kShared + kRegisters;
  template <bool kExclusive, typename T, typename Op>
  static cudaError_t launch(void* workspace, T* out, const T* in, std::size_t n, Op op, T init) {
    return mk::detail::launch_scan_long<kThreads, kShared, kRegisters, kWindows, kExclusive>(workspace, out, in, n, op,
                                                                                             init, nullptr);
  }
};
#endif
template <typename Way, typename T, typename Op>
void tiles(Verdict& verdict, T init) {
  std::size_t bytes = 0;
  CHECK(mk::exclusive_scan(nullptr, bytes, static_cast<T*>(nullptr), static_cast<const T*>(nullptr), 1 << 20, Op{},
                           init));
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, bytes));
  CHECK(mk::prepare_workspace(workspace, bytes));
  for (const std::size_t n : {1000u, 32768u, 70001u}) {
    for (const std::size_t offset : {0u, 1u}) {
      Random random(static_cast<std::uint32_t>(n));
      std::vector<T> values(n), want(n);
      for (T& value : values) value = T(random.below(4));
      T sum = init;
      for (std::size_t i = 0; i < n; ++i) want[i] = sum, sum = Op{}(sum, values[i]);
      const Device<T> in(values, offset);
      for (const std::size_t out_offset : {offset, offset + 1}) {
        const Device<T> out(n, out_offset);
        CHECK(Way::template launch<true>(workspace, out.get(), in.get(), n, Op{}, init));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(out.host(), want) && out.guard_holds(), "tiles of %d rows, n %zu, offsets %zu %zu",
                       Way::kRows, n, offset, out_offset);
      }
      sum = Op::template identity<T>();
      for (std::size_t i = 0; i < n; ++i) sum = Op{}(sum, values[i]), want[i] = sum;
      CHECK(Way::template launch<false>(workspace, in.get(), in.get(), n, Op{}, Op::template identity<T>()));
      CHECK(cudaDeviceSynchronize());
      verdict.expect(same_bytes(in.host(), want) && in.guard_holds(), "tiles of %d rows, n %zu, offset %zu, in place",
                     Way::kRows, n, offset);
    }
  }
  CHECK(cudaFree(workspace));
}

/// All that use a workspace, one after the other, sizes that grow and shrink, and the number of calls beginning anew.
void one_workspace(Verdict& verdict) {
  const std::size_t n = std::size_t{1} << 20;
  const Device<int> in(std::vector<int>(n, 3)), out(n);
  const Device<double> doubles(std::vector<double>(n / 2, 0.25)), sum(1);
  const Device<int> offsets(std::vector<int>{0, 70000, 70000, static_cast<int>(n)});
  std::size_t bytes = 0, more = 0;
  CHECK(mk::exclusive_scan(nullptr, bytes, out.get(), in.get(), n));
  CHECK(mk::reduce(nullptr, more, sum.get(), doubles.get(), n / 2));
  if (more > bytes) bytes = more;
  CHECK(mk::reduce_ragged(nullptr, more, out.get(), in.get(), 3, offsets.get()));
  if (more > bytes) bytes = more;
  const Device<unsigned> workspace(bytes / 4 + 1);
  for (const unsigned calls : {0u, 0x7ffffffau}) {
    CHECK(mk::prepare_workspace(workspace.get(), bytes));
    CHECK(cudaMemcpy(workspace.get(), &calls, sizeof calls, cudaMemcpyHostToDevice));
    for (const std::size_t size : {n, std::size_t{20000}, n, n / 4, n}) {
      CHECK(mk::exclusive_scan(workspace.get(), bytes, out.get(), in.get(), size));
      CHECK(cudaDeviceSynchronize());
      verdict.expect(out.host()[size - 1] == 3 * static_cast<int>(size - 1), "scan of %zu", size);
      CHECK(mk::reduce(workspace.get(), bytes, out.get(), in.get(), size));
      CHECK(mk::reduce(workspace.get(), bytes, sum.get(), doubles.get(), size / 2));
      CHECK(mk::reduce(workspace.get(), bytes, out.get() + 1, in.get(), n));
      CHECK(mk::reduce_ragged(workspace.get(), bytes, out.get() + 2, in.get(), 3, offsets.get()));
      CHECK(cudaDeviceSynchronize());
      const auto results = out.host();
      verdict.expect(results[0] == 3 * static_cast<int>(size) && results[1] == 3 * static_cast<int>(n), "sums of %zu",
                     size);
      verdict.expect(sum.host()[0] == static_cast<double>(size / 2) / 4, "sum of %zu doubles", size / 2);
      verdict.expect(results[2] == 210000 && results[3] == 0 && results[4] == 3 * static_cast<int>(n) - 210000,
                     "segments behind a scan of %zu", size);
    }
  }
}

int main() {
  Verdict verdict;
  tiles<Tiles<128, 2, 4>, Line, Compose>(verdict, Line(3, 4));
  tiles<Tiles<512, 8, 4>, Line, Compose>(verdict, Line(3, 4));
  tiles<Tiles<512, 8, 1>, int, mk::Sum>(verdict, 5);
  tiles<Tiles<512, 10, 1>, Line, Compose>(verdict, Line(3, 4));
#ifdef MUSCOPE_KERNELS_ASYNC_COPIES
  tiles<LongTiles<128, 3, 2, 4>, Line, Compose>(verdict, Line(3, 4));
  tiles<LongTiles<256, 2, 3, 1>, float, mk::Sum>(verdict, 0.0f);
#endif
  scans<int, mk::Sum>(verdict, "sum of int", 5);
  scans<float, mk::Sum>(verdict, "sum of float", 0.0f);
  scans<float, mk::Max>(verdict, "max of float", -1.0f);
  scans<double, mk::Sum>(verdict, "sum of double", 3.0);
  scans<long long, mk::Min>(verdict, "min of long long", 100);
  scans<Line, Compose>(verdict, "composition", Line(3, 4));
  one_workspace(verdict);
  std::size_t little = 8;
  float data = 0;
  verdict.expect(mk::exclusive_scan(&little, little, &data, &data, 1) == cudaErrorInvalidValue, "too little workspace");
  return verdict.finish();
}
