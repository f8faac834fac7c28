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

/// The ways of large arrays, on small ones: `blocks` that read, with more of them than a warp waits for, or without any
/// data; spread vectors or a block's in one piece.
template <bool kOnce, int kVectors, int kPerSm, typename T>
void ways(Verdict& verdict, void* workspace) {
  using A = mk::accumulator_t<T>;
  for (const std::size_t n : {5u, 4096u, 30001u}) {
    for (const std::size_t offset : {0u, 1u}) {
      const auto values = numbers<T>(n);
      A want{};
      for (const T value : values) want += as<A>(value);
      const Device<T> in(values, offset);
      const Device<A> out(1);
      const auto split = mk::detail::split_of(in.get(), n);
      constexpr std::size_t kStep = mk::detail::kReduceThreads * kVectors;
      for (const std::size_t blocks : {1u, 2u, 20u, 128u, 129u, 600u}) {
        if (kOnce && blocks * kStep < split.vectors) continue;
        for (const bool spread : {false, true}) {
          CHECK((mk::detail::launch_reduce<kOnce, kVectors, kPerSm, T, A>(workspace, out.get(), in.get(), split,
                                                                          mk::Sum{}, A{}, blocks, spread, nullptr)));
          CHECK(cudaDeviceSynchronize());
          verdict.expect(out.host()[0] == want, "%zu blocks, %zu elements of %zu bytes, offset %zu, spread %d", blocks,
                         n, sizeof(T), offset, spread);
        }
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

/// Offsets of `segments` segments of up to `longest` elements, a quarter of them empty, from `begin` on.
template <typename Offset>
std::vector<Offset> mixed_offsets(std::size_t longest, std::size_t segments, std::size_t begin) {
  Random random(static_cast<std::uint32_t>(longest + segments));
  std::vector<Offset> offsets(1, static_cast<Offset>(begin));
  for (std::size_t s = 0; s < segments; ++s) {
    const auto length = random.below(4) == 0 ? 0 : random.below(static_cast<std::uint32_t>(longest) + 1);
    offsets.push_back(offsets.back() + static_cast<Offset>(length));
  }
  return offsets;
}

/// What is hard to divide: long runs of empty segments before, between and behind huge ones, and many of one element.
template <typename Offset>
std::vector<Offset> uneven_offsets() {
  std::vector<Offset> offsets(3001, Offset{9});
  const auto append = [&](std::size_t segments, int length) {
    for (std::size_t s = 0; s < segments; ++s) offsets.push_back(offsets.back() + static_cast<Offset>(length));
  };
  append(1, 40001);
  append(5000, 0);
  append(3000, 1);
  append(1, 20000);
  append(1000, 2);
  append(1, 3);
  append(4000, 0);
  return offsets;
}

/// Whatever the number of blocks (0: as many as the call takes): with few, each warp has many tiles. Offsets count from
/// `far` elements before the array.
template <typename T, typename Op, typename Offset>
void ragged(Verdict& verdict, const char* name, const std::vector<Offset>& offsets, std::size_t misaligned,
            std::size_t far = 0) {
  std::size_t bytes = 0;
  CHECK(mk::reduce_ragged(nullptr, bytes, static_cast<T*>(nullptr), static_cast<const T*>(nullptr), 0,
                          static_cast<const Offset*>(nullptr), Op{}));
  const Device<char> workspace(bytes);
  CHECK(mk::prepare_workspace(workspace.get(), bytes));
  const std::size_t segments = offsets.size() - 1;
  Random random(static_cast<std::uint32_t>(segments));
  std::vector<T> values(static_cast<std::size_t>(offsets.back()));
  for (T& value : values) value = T(random.below(8));
  std::vector<T> want(segments, Op::template identity<T>());
  for (std::size_t s = 0; s < segments; ++s) {
    for (auto i = offsets[s]; i < offsets[s + 1]; ++i) want[s] = Op{}(want[s], values[static_cast<std::size_t>(i)]);
  }
  if (values.empty()) values.resize(1);
  const Device<T> in(values, misaligned);
  std::vector<Offset> shifted(offsets);
  for (Offset& offset : shifted) offset = static_cast<Offset>(offset + static_cast<Offset>(far));
  const Device<Offset> device_offsets(shifted);
  const auto* const origin = reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(in.get()) - far * sizeof(T));
  for (const unsigned blocks : {0u, 0u, 1u, 3u}) {
    const Device<T> out(segments, 1);
    if (blocks == 0) {
      CHECK(mk::reduce_ragged(workspace.get(), bytes, out.get(), origin, segments, device_offsets.get(), Op{}));
    } else {
      CHECK(mk::detail::launch_ragged(workspace.get(), out.get(), origin, segments, device_offsets.get(), Op{}, blocks,
                                      nullptr));
    }
    CHECK(cudaDeviceSynchronize());
    verdict.expect(same_bytes(out.host(), want) && out.guard_holds(),
                   "%s of %zu ragged segments, %zu elements, %u blocks", name, segments, values.size(), blocks);
  }
}

template <typename T, typename Op, typename Offset>
void all_ragged(Verdict& verdict, const char* name) {
  // Longest segment, segments, elements before the first one, elements by which the array is misaligned.
  const std::size_t cases[][4] = {{1, 1, 0, 0},     {0, 5, 0, 0},     {0, 700, 3, 1},   {1, 9000, 0, 0},
                                  {3, 20000, 5, 1}, {12, 9000, 2, 1}, {40, 3000, 0, 3}, {130, 700, 1, 2},
                                  {900, 100, 7, 0}, {70000, 9, 1, 1}, {300000, 2, 0, 2}};
  for (const auto& c : cases) ragged<T, Op>(verdict, name, mixed_offsets<Offset>(c[0], c[1], c[2]), c[3]);
  for (std::size_t misaligned = 0; misaligned < 4; misaligned += 3) {
    ragged<T, Op>(verdict, name, uneven_offsets<Offset>(), misaligned);
  }
}

int main() {
  Verdict verdict;
  all_ragged<float, mk::Sum, int>(verdict, "sum of float");
  all_ragged<double, mk::Max, long long>(verdict, "max of double");
  all_ragged<int, Xor, unsigned>(verdict, "xor of int");
  all_ragged<Line, Compose, int>(verdict, "composition");
  // Offsets around 2^32, and up to the highest that there are.
  ragged<float, mk::Sum>(verdict, "sum of float", uneven_offsets<long long>(), 1, (std::size_t{1} << 32) - 30000);
  const auto high = uneven_offsets<unsigned>();
  ragged<Line, Compose>(verdict, "composition", high, 1, 0xffffffffu - high.back());
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
  whole<unsigned char, mk::Sum>(verdict, "sum", workspace, bytes);
  whole<signed char, mk::Min>(verdict, "min", workspace, bytes);
  whole<short, mk::Max>(verdict, "max", workspace, bytes);
  // What elements are combined as does not depend on how the first value is written.
  const Device<float> halves(std::vector<float>(20000, 0.5f)), sum(1);
  CHECK(mk::reduce(workspace, bytes, sum.get(), halves.get(), 20000, mk::Sum{}, 0));
  CHECK(cudaDeviceSynchronize());
  verdict.expect(sum.host()[0] == 10000.0f, "floats that begin with a whole number");
  ways<false, 4, 2, float>(verdict, workspace);
  ways<true, 4, 4, double>(verdict, workspace);
  std::size_t little = 8;
  verdict.expect(mk::reduce(workspace, little, no_float, no_float, 0) == cudaErrorInvalidValue, "too little workspace");
  segments<float, mk::Sum>(verdict, "sum");
  segments<float, mk::Max>(verdict, "max");
  segments<double, mk::Sum>(verdict, "sum");
  segments<int, Xor>(verdict, "xor");
  segments<__half, mk::Sum>(verdict, "sum");
  segments<unsigned char, mk::Sum>(verdict, "sum");
  segments<short, mk::Min>(verdict, "min");
  CHECK(cudaFree(workspace));
  return verdict.finish();
}
