// exclusive_scan() and inclusive_scan() against loops on the CPU: types, operators, sizes, alignment, in place.
#include "../scan.cuh"

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

/// The tiles of long scans, on short ones.
template <int kThreads, int kVectors, int kWindows, typename T, typename Op>
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
      const Device<T> in(values, offset), out(n, offset);
      for (int repeat = 0; repeat < 2; ++repeat) {
        CHECK((mk::detail::launch_scan<kThreads, kVectors, kWindows, true>(workspace, out.get(), in.get(), n, Op{},
                                                                           init, nullptr)));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(out.host(), want) && out.guard_holds(), "tiles of %d x %d vectors, n %zu, offset %zu",
                       kThreads, kVectors, n, offset);
      }
    }
  }
  CHECK(cudaFree(workspace));
}

int main() {
  Verdict verdict;
  tiles<128, 2, 4, Line, Compose>(verdict, Line(3, 4));
  tiles<512, 8, 4, Line, Compose>(verdict, Line(3, 4));
  tiles<512, 8, 1, int, mk::Sum>(verdict, 5);
  tiles<512, 10, 1, Line, Compose>(verdict, Line(3, 4));
  scans<int, mk::Sum>(verdict, "sum of int", 5);
  scans<float, mk::Sum>(verdict, "sum of float", 0.0f);
  scans<float, mk::Max>(verdict, "max of float", -1.0f);
  scans<double, mk::Sum>(verdict, "sum of double", 3.0);
  scans<long long, mk::Min>(verdict, "min of long long", 100);
  scans<Line, Compose>(verdict, "composition", Line(3, 4));
  std::size_t little = 8;
  float data = 0;
  verdict.expect(mk::exclusive_scan(&little, little, &data, &data, 1) == cudaErrorInvalidValue, "too little workspace");
  return verdict.finish();
}
