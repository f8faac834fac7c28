// reduce(), reduce_segments() and reduce_ragged() against loops on the CPU: types, operators, sizes, alignment.
#include "../reduce.cuh"
#include "../segmented_reduce.cuh"

#include <cmath>

#include "check.h"

namespace mk = muscope::kernels;

/// Exclusive or: an operator of one's own.
struct Xor {
  template <typename T>
  __host__ __device__ static constexpr T identity() {
    return 0;
  }
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a ^ b;
  }
};

/// Small whole numbers, whose sums are exact in every type.
template <typename T>
std::vector<T> numbers(std::size_t n) {
  Random random(static_cast<std::uint32_t>(n) + 7);
  std::vector<T> values(n);
  for (T& value : values) value = static_cast<T>(static_cast<float>(random.below(8)));
  return values;
}

template <typename A, typename T>
A as(T value) {
  return static_cast<A>(static_cast<float>(value));
}

template <typename T, typename Op>
void whole(Verdict& verdict, const char* name, void* workspace, std::size_t bytes) {
  using A = mk::accumulator_t<T>;
  for (const std::size_t n : {0u, 1u, 31u, 33u, 1023u, 8191u, 8193u, 70001u}) {
    for (const std::size_t offset : {0u, 1u, 3u}) {
      const auto values = numbers<T>(n);
      A want = Op::template identity<A>();
      for (const T value : values) want = Op{}(want, as<A>(value));
      const Device<T> in(values, offset);
      const Device<A> out(1);
      for (int repeat = 0; repeat < 2; ++repeat) {
        CHECK(mk::reduce(workspace, bytes, out.get(), in.get(), n, Op{}));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(out.host()[0] == want, "%s of %zu elements of %zu bytes, offset %zu", name, n, sizeof(T),
                       offset);
      }
    }
  }
}

template <typename T, typename Op>
void segments(Verdict& verdict, const char* name) {
  using A = mk::accumulator_t<T>;
  for (const std::size_t length :
       {0u, 1u, 2u, 3u, 5u, 8u, 17u, 32u, 33u, 64u, 100u, 255u, 511u, 513u, 1025u, 4096u, 20000u}) {
    for (const std::size_t count : {1u, 7u, 300u}) {
      if (length * count > 200000) continue;
      for (const std::size_t offset : {0u, 1u}) {
        const auto values = numbers<T>(length * count);
        std::vector<A> want(count, Op::template identity<A>());
        for (std::size_t i = 0; i < values.size(); ++i) want[i / length] = Op{}(want[i / length], as<A>(values[i]));
        const Device<T> in(values, offset);
        const Device<A> out(count, 5);
        CHECK(mk::reduce_segments(out.get(), in.get(), count, length, Op{}));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(out.host(), want) && out.guard_holds(),
                       "%s of %zu segments of %zu elements of %zu bytes, offset %zu", name, count, length, sizeof(T),
                       offset);
      }
    }
  }
}

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

template <typename T, typename Op, typename Offset>
void ragged(Verdict& verdict, const char* name) {
  std::size_t bytes = 0;
  CHECK(mk::reduce_ragged(nullptr, bytes, static_cast<T*>(nullptr), static_cast<const T*>(nullptr), 0,
                          static_cast<const Offset*>(nullptr), Op{}));
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, bytes));
  CHECK(mk::prepare_workspace(workspace, bytes));
  // Longest segment, segments, elements before the first one, elements by which the array is misaligned.
  const std::size_t cases[][4] = {{1, 1, 0, 0},     {0, 5, 0, 0},     {0, 700, 3, 1},
                                  {1, 9000, 0, 0},  {3, 20000, 5, 1}, {40, 3000, 0, 3},
                                  {900, 100, 7, 0}, {70000, 9, 1, 1}, {300000, 2, 0, 2}};
  for (const auto& c : cases) {
    Random random(static_cast<std::uint32_t>(c[0] + c[1]));
    std::vector<Offset> offsets(c[1] + 1);
    offsets[0] = static_cast<Offset>(c[2]);
    for (std::size_t s = 0; s < c[1]; ++s) {
      const auto length = random.below(4) == 0 ? 0 : random.below(static_cast<std::uint32_t>(c[0]) + 1);
      offsets[s + 1] = offsets[s] + static_cast<Offset>(length);
    }
    std::vector<T> values(static_cast<std::size_t>(offsets.back()));
    for (T& value : values) value = T(random.below(8));
    std::vector<T> want(c[1], Op::template identity<T>());
    for (std::size_t s = 0; s < c[1]; ++s) {
      for (auto i = offsets[s]; i < offsets[s + 1]; ++i) want[s] = Op{}(want[s], values[static_cast<std::size_t>(i)]);
    }
    if (values.empty()) values.resize(1);
    const Device<T> in(values, c[3]), out(c[1], 1);
    const Device<Offset> device_offsets(offsets);
    for (int repeat = 0; repeat < 2; ++repeat) {
      CHECK(mk::reduce_ragged(workspace, bytes, out.get(), in.get(), c[1], device_offsets.get(), Op{}));
      CHECK(cudaDeviceSynchronize());
      verdict.expect(same_bytes(out.host(), want) && out.guard_holds(), "%s of %zu ragged segments of up to %zu", name,
                     c[1], c[0]);
    }
  }
  CHECK(cudaFree(workspace));
}

int main() {
  Verdict verdict;
  ragged<float, mk::Sum, int>(verdict, "sum of float");
  ragged<double, mk::Max, long long>(verdict, "max of double");
  ragged<int, Xor, unsigned>(verdict, "xor of int");
  ragged<Line, Compose, int>(verdict, "composition");
  std::size_t bytes = 0;
  float* const no_float = nullptr;
  CHECK(mk::reduce<double>(nullptr, bytes, static_cast<double*>(nullptr), nullptr, 0));
  void* workspace = nullptr;
  CHECK(cudaMalloc(&workspace, bytes));
  CHECK(mk::prepare_workspace(workspace, bytes));
  whole<float, mk::Sum>(verdict, "sum", workspace, bytes);
  whole<float, mk::Min>(verdict, "min", workspace, bytes);
  whole<float, mk::Max>(verdict, "max", workspace, bytes);
  whole<double, mk::Sum>(verdict, "sum", workspace, bytes);
  whole<int, mk::Sum>(verdict, "sum", workspace, bytes);
  whole<int, mk::Max>(verdict, "max", workspace, bytes);
  whole<int, Xor>(verdict, "xor", workspace, bytes);
  whole<__half, mk::Sum>(verdict, "sum", workspace, bytes);
  whole<__half, mk::Min>(verdict, "min", workspace, bytes);
  std::size_t little = 8;
  verdict.expect(mk::reduce(workspace, little, no_float, no_float, 0) == cudaErrorInvalidValue, "too little workspace");
  segments<float, mk::Sum>(verdict, "sum");
  segments<float, mk::Max>(verdict, "max");
  segments<double, mk::Sum>(verdict, "sum");
  segments<int, Xor>(verdict, "xor");
  segments<__half, mk::Sum>(verdict, "sum");
  CHECK(cudaFree(workspace));
  return verdict.finish();
}
