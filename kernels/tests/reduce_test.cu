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

int main() {
  Verdict verdict;
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
