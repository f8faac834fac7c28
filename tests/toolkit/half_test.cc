// The 16-bit types on the host: every bit pattern, and rounding at the borders of the formats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace {

/// Half precision by its definition: sign, exponent with bias 15, 10 bits.
float half_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  const double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>(bits >> 15 ? -magnitude : magnitude);
}

TEST(Half, EveryPatternToFloatAndBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const __half h = __ushort_as_half(static_cast<unsigned short>(bits));
    const float expected = half_by_definition(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(float(h))) << bits;
      EXPECT_TRUE(__hisnan(h)) << bits;
    } else {
      ASSERT_EQ(float(h), expected) << bits;
      ASSERT_EQ(__half_as_ushort(__half(expected)), bits);
      ASSERT_EQ(__half_as_ushort(__half(double(expected))), bits);
    }
  }
}

TEST(Half, HalfwayCasesGoToEven) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_by_definition(static_cast<std::uint16_t>(bits));
    const double high = half_by_definition(static_cast<std::uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(__half_as_ushort(__half(static_cast<float>(middle))), bits + (bits & 1)) << bits;
    // A double a hair from the middle, closer than a float can say, must not be rounded twice.
    ASSERT_EQ(__half_as_ushort(__half(std::nextafter(middle, high))), bits + 1) << bits;
    ASSERT_EQ(__half_as_ushort(__half(std::nextafter(middle, low))), bits) << bits;
  }
  EXPECT_EQ(__half_as_ushort(__half(65519.f)), 0x7bff);
  EXPECT_EQ(__half_as_ushort(__half(65520.f)), 0x7c00);
}

TEST(Half, Arithmetic) {
  EXPECT_EQ(float(__hadd(__half(1.f), __half(0x1p-11f))), 1.f);  // halfway, to even
  EXPECT_EQ(float(__hfma(__half(3.f), __half(5.f), __half(0.5f))), 15.5f);
  EXPECT_EQ(float(__hadd_sat(__half(0.75f), __half(0.75f))), 1.f);
  EXPECT_TRUE(__hgt(__half(2.f), __half(1.f)));
  EXPECT_FALSE(__hne(__half(NAN), __half(1.f)));
  EXPECT_TRUE(__hneu(__half(NAN), __half(1.f)));
  const __half2 sum = __floats2half2_rn(1.f, 2.f) + __float2half2_rn(0.5f);
  EXPECT_EQ(__low2float(sum), 1.5f);
  EXPECT_EQ(__high2float(sum), 2.5f);
}

TEST(Bfloat16, RoundsToEven) {
  EXPECT_EQ(__bfloat16_as_ushort(__nv_bfloat16(1.f)), 0x3f80);
  EXPECT_EQ(__bfloat16_as_ushort(__nv_bfloat16(1.f + 0x1p-8f)), 0x3f80);
  EXPECT_EQ(__bfloat16_as_ushort(__nv_bfloat16(1.f + 0x1.8p-7f)), 0x3f82);
  EXPECT_EQ(__bfloat16_as_ushort(__nv_bfloat16(3.4e38f)), 0x7f80);
  EXPECT_EQ(float(__nv_bfloat16(2.f) * __nv_bfloat16(3.f)), 6.f);
  EXPECT_EQ(__bfloat162int_rn(__nv_bfloat16(2.5f)), 2);
}

}  // namespace
