// Functions of packed bytes and half words against lane-by-lane arithmetic with the host's own narrow types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "muscope/math/simd.h"

namespace {

namespace ms = muscope_math;

template <class Lane, class F>
std::uint32_t by_lane(std::uint32_t a, std::uint32_t b, F f) {
  Lane x[4 / sizeof(Lane)], y[4 / sizeof(Lane)], r[4 / sizeof(Lane)];
  std::memcpy(x, &a, 4);
  std::memcpy(y, &b, 4);
  for (std::size_t i = 0; i < std::size(x); ++i) r[i] = static_cast<Lane>(f(int{x[i]}, int{y[i]}));
  std::uint32_t word;
  std::memcpy(&word, r, 4);
  return word;
}
template <class Lane>
int clamped(int v) {
  return std::clamp<int>(v, std::numeric_limits<Lane>::min(), std::numeric_limits<Lane>::max());
}

template <class Signed, class Unsigned>
void check_all(std::uint32_t a, std::uint32_t b) {
  constexpr int kBits = sizeof(Signed) * 8;
  ASSERT_EQ(ms::lanes_add<kBits>(a, b), (by_lane<Unsigned>(a, b, [](int x, int y) { return x + y; }))) << a << " " << b;
  ASSERT_EQ(ms::lanes_subtract<kBits>(a, b), (by_lane<Unsigned>(a, b, [](int x, int y) { return x - y; })));
  ASSERT_EQ((ms::lanes<ms::LaneAdd, kBits, true, true>(a, b)),
            (by_lane<Signed>(a, b, [](int x, int y) { return clamped<Signed>(x + y); })));
  ASSERT_EQ((ms::lanes<ms::LaneSubtract, kBits, false, true>(a, b)),
            (by_lane<Unsigned>(a, b, [](int x, int y) { return clamped<Unsigned>(x - y); })));
  ASSERT_EQ((ms::lanes<ms::LaneAbs, kBits, true, false>(a, 0)),
            (by_lane<Signed>(a, b, [](int x, int) { return std::abs(x); })));
  ASSERT_EQ((ms::lanes<ms::LaneNegate, kBits, true, true>(a, 0)),
            (by_lane<Signed>(a, b, [](int x, int) { return clamped<Signed>(-x); })));
  ASSERT_EQ((ms::lanes<ms::LaneDistance, kBits, false, false>(a, b)),
            (by_lane<Unsigned>(a, b, [](int x, int y) { return std::abs(x - y); })));
  ASSERT_EQ((ms::lanes<ms::LaneMax, kBits, true, false>(a, b)),
            (by_lane<Signed>(a, b, [](int x, int y) { return std::max(x, y); })));
  ASSERT_EQ((ms::lanes<ms::LaneMin, kBits, false, false>(a, b)),
            (by_lane<Unsigned>(a, b, [](int x, int y) { return std::min(x, y); })));
  ASSERT_EQ((ms::lanes<ms::LaneGreater, kBits, false, false>(a, b)),
            (by_lane<Unsigned>(a, b, [](int x, int y) { return x > y; })));
  ASSERT_EQ((ms::lanes<ms::LaneAverage, kBits, false, false>(a, b)),
            (by_lane<Unsigned>(a, b, [](int x, int y) { return (x + y + 1) / 2; })));
  std::uint32_t sum = 0;
  for (int i = 0; i < 32 / kBits; ++i) {
    sum += static_cast<std::uint32_t>(
        std::abs(static_cast<Signed>(a >> (kBits * i)) - static_cast<Signed>(b >> (kBits * i))));
  }
  ASSERT_EQ((ms::lanes_sad<kBits, true>(a, b)), sum);
}

TEST(PackedIntegers, EveryOperationPerLane) {
  std::mt19937 random(1);
  const std::uint32_t edges[] = {0, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 0xffffffff, 0x00010001, 0x01010101};
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t a = i % 5 == 0 ? edges[random() % 8] : random(),
                        b = i % 7 == 0 ? edges[random() % 8] : random();
    check_all<std::int8_t, std::uint8_t>(a, b);
    check_all<std::int16_t, std::uint16_t>(a, b);
  }
}

// A sum of -1 rounds down, one of 1 up.
TEST(PackedIntegers, SignedAverageRounds) {
  EXPECT_EQ((ms::lanes<ms::LaneAverage, 16, true, false>(0xffff0001, 0x00000000)), 0xffff0001u);
  EXPECT_EQ((ms::lanes<ms::LaneAverage, 16, true, false>(0xfffd0003, 0x00000000)), 0xfffe0002u);
}

}  // namespace
