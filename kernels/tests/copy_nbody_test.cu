// copy_bytes(), copy_rows(), copy_strided() byte for byte, and accelerations() against a sum in double.
#include "../copy.cuh"
#include "../nbody.cuh"

#include <cmath>

#include "check.h"

namespace mk = muscope::kernels;

void runs(Verdict& verdict) {
  for (const std::size_t n : {0u, 1u, 15u, 16u, 17u, 47u, 48u, 49u, 1000u, 30011u}) {
    for (std::size_t to = 0; to < 18; to += n > 1000 ? 3 : 1) {
      for (const std::size_t from : {0u, 1u, 4u, 7u, 8u, 13u}) {
        const auto in = random_elements<unsigned char>(n, static_cast<std::uint32_t>(n));
        const Device<unsigned char> device_in(in, from), out(n, to);
        CHECK(mk::copy_bytes(out.get(), device_in.get(), n));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(out.host(), in) && out.guard_holds(), "%zu bytes from +%zu to +%zu", n, from, to);
      }
    }
  }
}

void rows(Verdict& verdict) {
  for (const std::size_t width : {1u, 3u, 4u, 12u, 16u, 64u, 65u, 100u, 400u, 1001u}) {
    for (const std::size_t gap : {0u, 1u, 4u, 16u}) {
      for (const std::size_t offset : {0u, 1u, 4u}) {
        const std::size_t height = 37, in_pitch = width + gap, out_pitch = width + 2 * gap;
        const auto in = random_elements<unsigned char>(in_pitch * (height - 1) + width);
        const Device<unsigned char> device_in(in, offset), out(out_pitch * (height - 1) + width, 2 * offset);
        auto want = out.host();
        for (std::size_t y = 0; y < height; ++y) std::memcpy(&want[y * out_pitch], &in[y * in_pitch], width);
        CHECK(mk::copy_rows(out.get(), out_pitch, device_in.get(), in_pitch, width, height));
        CHECK(cudaDeviceSynchronize());
        verdict.expect(same_bytes(out.host(), want) && out.guard_holds(), "rows of %zu bytes, gap %zu, offset %zu",
                       width, gap, offset);
      }
    }
  }
}

template <typename T>
void strided(Verdict& verdict) {
  for (const std::size_t stride : {1u, 2u, 3u, 8u, 33u}) {
    const std::size_t n = 3001;
    const auto in = random_elements<T>((n - 1) * stride + 1);
    std::vector<T> want(n);
    for (std::size_t i = 0; i < n; ++i) want[i] = in[i * stride];
    const Device<T> device_in(in, 1), out(n, 3);
    CHECK(mk::copy_strided(out.get(), device_in.get(), stride, n));
    CHECK(cudaDeviceSynchronize());
    verdict.expect(same_bytes(out.host(), want) && out.guard_holds(), "stride %zu of %zu bytes", stride, sizeof(T));
  }
}

void bodies(Verdict& verdict) {
  for (const std::size_t n : {1u, 2u, 32u, 33u, 255u, 700u}) {
    Random random(3);
    std::vector<float4> all(n);
    const auto unit = [&] { return static_cast<float>(random.below(65536)) / 65536.0f; };
    for (float4& body : all) body = make_float4(unit(), unit(), unit(), unit());
    const Device<float4> in(all);
    const float softening = 0.01f;
    for (const int targets : {0, 1, 2, 4}) {
      const Device<float4> out(n, 1);
      const auto count = static_cast<unsigned>(n);
      const float s2 = softening * softening;
      if (targets == 0) CHECK(mk::accelerations(out.get(), in.get(), n, softening));
      if (targets == 1) CHECK((mk::detail::launch_nbody<1, 8, 4>(out.get(), in.get(), count, s2, nullptr)));
      if (targets == 2) CHECK((mk::detail::launch_nbody<2, 8, 3>(out.get(), in.get(), count, s2, nullptr)));
      if (targets == 4) CHECK((mk::detail::launch_nbody<4, 8, 2>(out.get(), in.get(), count, s2, nullptr)));
      CHECK(cudaDeviceSynchronize());
      const auto got = out.host();
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double x = 0, y = 0, z = 0;
        for (const float4& other : all) {
          const double dx = double{other.x} - all[i].x, dy = double{other.y} - all[i].y,
                       dz = double{other.z} - all[i].z;
          const double r2 = dx * dx + dy * dy + dz * dz + double{softening} * softening;
          const double scale = other.w / (r2 * std::sqrt(r2));
          x += dx * scale, y += dy * scale, z += dz * scale;
        }
        difference +=
            (got[i].x - x) * (got[i].x - x) + (got[i].y - y) * (got[i].y - y) + (got[i].z - z) * (got[i].z - z);
        size += x * x + y * y + z * z;
      }
      verdict.expect(std::sqrt(difference) <= 1e-5 * std::sqrt(size) && out.guard_holds(),
                     "%zu bodies, %d targets per thread: off by %g of %g", n, targets, std::sqrt(difference),
                     std::sqrt(size));
      if (targets != 0) continue;
      const Device<float4> again(n);
      CHECK(mk::accelerations(again.get(), in.get(), n, softening));
      CHECK(cudaDeviceSynchronize());
      verdict.expect(same_bytes(again.host(), got), "%zu bodies, the same sums again", n);
    }
  }
}

int main() {
  Verdict verdict;
  runs(verdict);
  rows(verdict);
  strided<unsigned char>(verdict);
  strided<short>(verdict);
  strided<float>(verdict);
  strided<double>(verdict);
  strided<uint4>(verdict);
  bodies(verdict);
  verdict.expect(mk::accelerations(nullptr, nullptr, 5, 0.1f) == cudaErrorInvalidValue, "null is refused");
  return verdict.finish();
}
