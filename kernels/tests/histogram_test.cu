// histogram_bytes() and histogram_range() against loops on the CPU: distributions, sizes, alignment, values outside.
#include "../histogram.cuh"

#include <cmath>
#include <limits>

#include "check.h"

namespace mk = muscope::kernels;

template <typename Count>
void bytes(Verdict& verdict) {
  for (const std::size_t n : {0u, 1u, 15u, 17u, 4099u, 100003u}) {
    for (const std::size_t offset : {0u, 1u, 7u}) {
      for (const int kind : {0, 1, 2}) {
        auto values = random_elements<unsigned char>(n, static_cast<std::uint32_t>(n));
        for (std::size_t i = 0; i < n; ++i) {
          if (kind == 1) values[i] = 63;
          if (kind == 2 && i % 2 == 0) values[i] = 200;
        }
        std::vector<Count> want(256);
        for (const unsigned char value : values) ++want[value];
        const Device<unsigned char> in(values, offset);
        const Device<Count> counts(256, 3);
        CHECK(mk::histogram_bytes(counts.get(), in.get(), n));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(counts.host(), want) && counts.guard_holds(),
                       "bytes: n %zu, offset %zu, distribution %d", n, offset, kind);
      }
    }
  }
}

void ranges(Verdict& verdict) {
  for (const unsigned bins : {1u, 7u, 100u, 256u, 1000u, 8192u, 10000u}) {
    for (const std::size_t n : {0u, 3u, 20001u}) {
      for (const std::size_t offset : {0u, 1u}) {
        Random random(bins);
        std::vector<float> floats(n);
        std::vector<int> ints(n);
        for (std::size_t i = 0; i < n; ++i) {
          floats[i] = static_cast<float>(random.below(4096)) / 2048.0f - 0.5f;  // in [-0.5, 1.5)
          ints[i] = static_cast<int>(random.below(3000)) - 1500;
        }
        if (n > 3) floats[2] = std::numeric_limits<float>::quiet_NaN(), floats[1] = -INFINITY, floats[0] = 3e38f;
        std::vector<unsigned> want_floats(bins), want_ints(bins);
        const float scale = static_cast<float>(bins) / 1.0f;
        for (const float x : floats) {
          if (!(x >= 0.0f && x < 1.0f)) continue;
          const unsigned b = static_cast<unsigned>(x * scale);
          ++want_floats[b < bins ? b : bins - 1];
        }
        const int lower = -1000, upper = 1003;
        for (const int x : ints) {
          if (x >= lower && x < upper)
            ++want_ints[static_cast<std::size_t>(static_cast<long long>(x - lower) * bins / (upper - lower))];
        }
        const Device<float> device_floats(floats, offset);
        const Device<int> device_ints(ints, offset);
        const Device<unsigned> counts(bins, 1);
        CHECK(mk::histogram_range(counts.get(), bins, device_floats.get(), n, 0.0f, 1.0f));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(counts.host(), want_floats) && counts.guard_holds(),
                       "floats: %u bins, n %zu, offset %zu", bins, n, offset);
        CHECK(mk::histogram_range(counts.get(), bins, device_ints.get(), n, lower, upper));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(counts.host(), want_ints) && counts.guard_holds(), "ints: %u bins, n %zu, offset %zu",
                       bins, n, offset);
      }
    }
  }
}

int main() {
  Verdict verdict;
  bytes<unsigned>(verdict);
  bytes<unsigned long long>(verdict);
  ranges(verdict);
  // The whole range of int, and a range of which bins are no divisor.
  const Device<int> all(std::vector<int>{INT_MIN, -1, 0, INT_MAX - 1, INT_MAX});
  const Device<unsigned> counts(2);
  CHECK(mk::histogram_range(counts.get(), 2, all.get(), 5, INT_MIN, INT_MAX));
  CHECK(cudaDeviceSynchronize());
  // floor((x - INT_MIN) * 2 / (2^32 - 1)): -1 is below the middle, 0 above; INT_MAX is outside.
  verdict.expect(counts.host() == std::vector<unsigned>{2, 2}, "the whole range of int");
  // Ranges of float that no scale of float divides.
  const Device<float> some(std::vector<float>{0.0f, 1.0f});
  const float ranges_of_none[][2] = {{-3e38f, 3.3e38f}, {0.0f, 1.6e-40f}, {0.0f, INFINITY},
                                     {-INFINITY, 0.0f}, {NAN, 1.0f},      {1.0f, 1.0f}};
  for (const auto& [lower, upper] : ranges_of_none) {
    verdict.expect(mk::histogram_range(counts.get(), 2, some.get(), 2, lower, upper) == cudaErrorInvalidValue,
                   "floats from %g to %g", lower, upper);
  }
  return verdict.finish();
}
