// mma: results against plain loops over matrices.
#include <cmath>
#include <random>

#include "exec/half.h"
#include "exec/matrix_test.h"

namespace muscope::exec::testing {
namespace {

/// One mma: rows by k times k by 8. `bits` of a factor; `sum_bits` of C and D.
struct Case {
  const char* mnemonic;
  unsigned rows, k, bits, sum_bits;
  unsigned a_registers() const { return rows * k * bits / 32 / (bits == 64 ? 64 : 32); }
  unsigned b_registers() const { return 8 * k * bits / 32 / (bits == 64 ? 64 : 32); }
  unsigned c_registers() const { return rows * 8 / 32 * sum_bits / (sum_bits == 16 ? 32 : sum_bits); }
};

/// Matrices of raw bits: A [row][k], B [k][column], C and D [row][column].
struct Matrices {
  std::vector<u64> a, b, c;
};

/// Executes the mma once. Registers travel as [register][lane].
std::vector<u64> multiply(const Case& c, const Matrices& m) {
  const bool wide = c.bits == 64;
  const unsigned bytes = wide ? 8 : 4, per = c.bits >= 32 ? 1 : 32 / c.bits, halves = c.rows / 8;
  const unsigned na = c.a_registers(), nb = c.b_registers(), nc = c.c_registers();
  std::vector<u64> registers((na + nb + nc) * 32);
  // PTX ISA, fragments of mma: g = lane / 4, t = lane % 4.
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < na * per; ++i) {
      const unsigned reg = i / per, row = reg % halves == 0 ? g : g + 8;
      const unsigned column = t * per + i % per + (reg / halves) * 4 * per;
      registers[reg * 32 + lane] |= m.a[row * c.k + column] << (i % per * c.bits) % 64;
    }
    for (unsigned i = 0; i < nb * per; ++i)
      registers[(na + i / per) * 32 + lane] |= m.b[(t * per + i % per + i / per * 4 * per) * 8 + g]
                                               << (i % per * c.bits) % 64;
    for (unsigned i = 0; i < c.rows / 4; ++i) {
      const u64 value = m.c[(i < 2 ? g : g + 8) * 8 + 2 * t + i % 2];
      registers[(na + nb + (c.sum_bits == 16 ? i / 2 : i)) * 32 + lane] |= value << (c.sum_bits == 16 ? i % 2 * 16 : 0);
    }
  }
  const char kind = wide ? 'd' : 'r';
  const std::string type = wide ? "b64" : "b32";
  unsigned next = 0;
  const std::string a = vector_text(kind, next, na), b = vector_text(kind, next, nb),
                    sums = vector_text(kind, next, nc);
  std::string body =
      "  .reg .b32 %r<64>; .reg .f64 %d<64>; .reg .b32 %t; .reg .b64 %i, %o;\n"
      "  ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
      "  mad.wide.u32 %i, %t, " +
      std::to_string(bytes) + ", %i; mad.wide.u32 %o, %t, " + std::to_string(bytes) + ", %o;\n";
  const auto at = [&](unsigned n) { return "+" + std::to_string(n * 32 * bytes) + "]"; };
  const auto reg = [&](unsigned n) { return "%" + std::string(1, kind) + std::to_string(n); };
  for (unsigned n = 0; n < na + nb + nc; ++n) body += "  ld.global." + type + " " + reg(n) + ", [%i" + at(n) + ";\n";
  const std::string d = vector_text(kind, next, nc);
  body += "  " + std::string(c.mnemonic) + " " + d + ", " + a + ", " + b + ", " + sums + ";\n";
  for (unsigned n = 0; n < nc; ++n)
    body += "  st.global." + type + " [%o" + at(n) + ", " + reg(na + nb + nc + n) + ";\n";
  Machine machine;
  machine.load(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + body + "  ret;\n}\n");
  const u64 out = machine.zeros(nc * 32 * bytes);
  std::vector<u32> narrow(registers.begin(), registers.end());
  machine.run_ok("k", {1, 1, 1}, {32, 1, 1}, wide ? machine.upload(registers) : machine.upload(narrow), out);
  std::vector<u64> results = wide ? machine.read<u64>(out, nc * 32) : std::vector<u64>();
  if (!wide)
    for (const u32 v : machine.read<u32>(out, nc * 32)) results.push_back(v);
  std::vector<u64> matrix(c.rows * 8);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < c.rows / 4; ++i) {
      const u64 word = results[(c.sum_bits == 16 ? i / 2 : i) * 32 + lane];
      matrix[(lane / 4 + (i < 2 ? 0 : 8)) * 8 + lane % 4 * 2 + i % 2] =
          c.sum_bits == 16 ? word >> (i % 2 * 16) & 0xffff : word;
    }
  return matrix;
}

class Matrix : public ::testing::Test {
 protected:
  std::mt19937_64 random_{17};
  Matrices of(const Case& c, auto&& factor, auto&& sum) {
    Matrices m;
    for (unsigned n = 0; n < c.rows * c.k; ++n) m.a.push_back(factor());
    for (unsigned n = 0; n < c.k * 8; ++n) m.b.push_back(factor());
    for (unsigned n = 0; n < c.rows * 8; ++n) m.c.push_back(sum());
    return m;
  }
  Matrices noise(const Case& c) {
    const auto bits = [this](unsigned count) { return count == 64 ? random_() : random_() >> (64 - count); };
    return of(c, [&] { return bits(c.bits); }, [&] { return bits(c.sum_bits); });
  }
};

s64 signed_value(u64 raw, unsigned bits, bool is_signed) {
  const auto v = static_cast<s64>(raw);
  return is_signed && (raw >> (bits - 1) & 1) != 0 ? v - (s64{1} << bits) : v;
}

TEST_F(Matrix, IntegersWrapOrSaturate) {
  struct Row {
    Case c;
    bool a_signed, b_signed, saturate;
  };
  const Row rows[] = {
      {{"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, 8, 32}, true, true, false},
      {{"mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32", 16, 16, 8, 32}, false, true, false},
      {{"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 16, 32, 8, 32}, true, false, false},
      {{"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", 16, 32, 8, 32}, false, false, true},
      {{"mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32", 8, 32, 4, 32}, true, false, false},
      {{"mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32", 16, 32, 4, 32}, false, true, false},
      {{"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32", 16, 64, 4, 32}, true, true, true},
  };
  for (const Row& row : rows) {
    Matrices m = noise(row.c);
    m.c[0] = 0x7fffffff, m.c[1] = 0x80000000, m.c[2] = 0x7ffffff0;
    const auto got = multiply(row.c, m);
    for (unsigned r = 0; r < row.c.rows; ++r)
      for (unsigned n = 0; n < 8; ++n) {
        s64 sum = static_cast<s32>(m.c[r * 8 + n]);
        for (unsigned k = 0; k < row.c.k; ++k)
          sum += signed_value(m.a[r * row.c.k + k], row.c.bits, row.a_signed) *
                 signed_value(m.b[k * 8 + n], row.c.bits, row.b_signed);
        if (row.saturate) sum = std::clamp<s64>(sum, -2147483648ll, 2147483647ll);
        ASSERT_EQ(got[r * 8 + n], static_cast<u32>(sum)) << row.c.mnemonic << " " << r << " " << n;
      }
  }
}

TEST_F(Matrix, BitsAreCounted) {
  for (const bool exclusive : {false, true})
    for (const unsigned k : {128u, 256u}) {
      const std::string shape = "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col.s32.b1.b1.s32.";
      const std::string mnemonic = shape + (exclusive ? "xor.popc" : "and.popc");
      const Case c{mnemonic.c_str(), 16, k, 1, 32};
      const Matrices m = noise(c);
      const auto got = multiply(c, m);
      for (unsigned r = 0; r < 16; ++r)
        for (unsigned n = 0; n < 8; ++n) {
          u32 sum = static_cast<u32>(m.c[r * 8 + n]);
          for (unsigned i = 0; i < k; ++i)
            sum += static_cast<u32>(exclusive ? m.a[r * k + i] ^ m.b[i * 8 + n] : m.a[r * k + i] & m.b[i * 8 + n]);
          ASSERT_EQ(got[r * 8 + n], sum) << mnemonic;
        }
    }
}

TEST_F(Matrix, DoublesAreFusedOneAfterTheOther) {
  const Case cases[] = {{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8, 4, 64, 64},
                        {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 16, 4, 64, 64},
                        {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 64, 64},
                        {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 16, 16, 64, 64}};
  for (const Case& c : cases) {
    const auto number = [this] {
      return std::bit_cast<u64>(std::ldexp(static_cast<double>(static_cast<s64>(random_())), -63));
    };
    const Matrices m = of(c, number, number);
    const auto got = multiply(c, m);
    for (unsigned r = 0; r < c.rows; ++r)
      for (unsigned n = 0; n < 8; ++n) {
        double sum = std::bit_cast<double>(m.c[r * 8 + n]);
        for (unsigned k = 0; k < c.k; ++k)
          sum = std::fma(std::bit_cast<double>(m.a[r * c.k + k]), std::bit_cast<double>(m.b[k * 8 + n]), sum);
        ASSERT_EQ(got[r * 8 + n], std::bit_cast<u64>(sum)) << c.mnemonic << " " << r << " " << n;
      }
  }
}

/// A float format: value = (-1)^s * 1.fraction * 2^(exponent - bias).
struct Format {
  int fraction, exponent;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  double value(u64 raw) const {
    const double sign = raw >> (fraction + exponent) & 1 ? -1 : 1;
    const int biased = static_cast<int>(raw >> fraction) & ((1 << exponent) - 1);
    const double rest = static_cast<double>(raw & ((u64{1} << fraction) - 1));
    if (biased == (1 << exponent) - 1) return rest != 0 ? NAN : sign * INFINITY;
    return biased == 0 ? sign * std::ldexp(rest, 1 - bias() - fraction)
                       : sign * std::ldexp(rest + std::ldexp(1, fraction), biased - bias() - fraction);
  }
  /// Of the significand's leading place; subnormals have that of the least normal number, zero has -126.
  int exponent_of(double v) const { return v == 0 ? -126 : std::max(std::ilogb(v), 1 - bias()); }
};
constexpr Format kHalf{10, 5}, kBrain{7, 8}, kSingle{23, 8};

/// All products and c at the largest exponent, cut off behind 25 fraction bits, summed exactly.
double aligned_sum(const std::vector<double>& x, const std::vector<double>& y, const Format& factor, double c,
                   const Format& sum) {
  int most = sum.exponent_of(c);
  for (std::size_t k = 0; k < x.size(); ++k) most = std::max(most, factor.exponent_of(x[k]) + factor.exponent_of(y[k]));
  const auto cut = [most](double v) { return std::trunc(std::ldexp(v, 25 - most)); };
  double total = cut(c);
  for (std::size_t k = 0; k < x.size(); ++k) total += cut(x[k] * y[k]);
  return std::ldexp(total, most - 25);
}

/// Towards zero, infinite from 2^128 on.
u32 float_of(double v) {
  if (v == 0) return 0;
  if (std::fabs(v) >= 0x1p128) return v < 0 ? 0xff800000u : 0x7f800000u;
  float f = static_cast<float>(v);
  if (std::fabs(static_cast<double>(f)) > std::fabs(v)) f = std::nextafter(f, 0.0f);
  return std::bit_cast<u32>(f) == 0x80000000u ? 0 : std::bit_cast<u32>(f);
}

TEST_F(Matrix, FloatsAreCutOffBehind25Bits) {
  struct Row {
    Case c;
    Format factor;
    unsigned drop;  ///< low bits of a factor that do not count
  };
  const Row rows[] = {{{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 16, 32}, kHalf, 0},
                      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, 32}, kHalf, 0},
                      {{"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 16, 32}, kBrain, 0},
                      {{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 16, 32}, kBrain, 0},
                      {{"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, 32, 32}, {10, 8}, 13},
                      {{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 32, 32}, {10, 8}, 13},
                      {{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, 16, 16, 16}, kHalf, 0},
                      {{"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 16, 16}, kHalf, 0}};
  for (const Row& row : rows) {
    const Format sum = row.c.sum_bits == 16 ? kHalf : kSingle;
    // Round 0: numbers near 1; round 1: any finite ones, subnormals among them; round 2: with zeros.
    for (unsigned round = 0; round < 3; ++round) {
      const auto finite = [&](const Format& format, unsigned drop) -> u64 {
        for (;;) {
          const u64 raw = random_() >> (64 - format.fraction - format.exponent - 1 - static_cast<int>(drop));
          const double v = format.value(raw >> drop);
          if (round == 2 && random_() % 4 == 0) return 0;
          if (std::isfinite(v) && (round != 0 || (std::fabs(v) < 8 && std::fabs(v) > 0.125))) return raw;
        }
      };
      const Matrices m = of(row.c, [&] { return finite(row.factor, row.drop); }, [&] { return finite(sum, 0); });
      const auto got = multiply(row.c, m);
      for (unsigned r = 0; r < row.c.rows; ++r)
        for (unsigned n = 0; n < 8; ++n) {
          std::vector<double> x, y;
          for (unsigned k = 0; k < row.c.k; ++k) {
            x.push_back(row.factor.value(m.a[r * row.c.k + k] >> row.drop));
            y.push_back(row.factor.value(m.b[k * 8 + n] >> row.drop));
          }
          const double v = aligned_sum(x, y, row.factor, sum.value(m.c[r * 8 + n]), sum);
          const u32 want = row.c.sum_bits == 16 ? (v == 0 ? 0u : to_half(v)) : float_of(v);
          ASSERT_EQ(got[r * 8 + n], want) << row.c.mnemonic << " " << r << " " << n << " round " << round;
        }
    }
  }
}

TEST_F(Matrix, WhatIsNotANumber) {
  const Case c{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 16, 32};
  Matrices m = of(c, [] { return u64{0x3c00}; }, [] { return u64{0x3f800000}; });
  m.a[0 * 16 + 3] = 0x7c00;  // infinity in row 0
  m.a[1 * 16 + 5] = 0x7e00;  // not a number in row 1
  m.b[3 * 8 + 2] = 0;        // infinity times zero
  m.c[2 * 8 + 1] = 0xff800000;
  const auto got = multiply(c, m);
  EXPECT_EQ(got[0], 0x7f800000u);
  EXPECT_EQ(got[2], 0x7fffffffu);
  EXPECT_EQ(got[1 * 8 + 7], 0x7fffffffu);
  EXPECT_EQ(got[2 * 8 + 1], 0xff800000u);
  EXPECT_EQ(got[2 * 8 + 0], std::bit_cast<u32>(17.0f));
}

TEST_F(Matrix, BytesAsFloats) {
  const char* const mnemonics[] = {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
                                   "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32"};
  for (const char* mnemonic : mnemonics) {
    const Case c{mnemonic, 16, 32, 8, 32};
    const bool a_is_e4m3 = mnemonic == mnemonics[0];
    // Small whole numbers and subnormals: every sum is exact.
    const auto value = [](bool e4m3, u64 raw) { return e4m3 ? Format{3, 4}.value(raw) : Format{2, 5}.value(raw); };
    const auto number = [this] {
      return (random_() & 0x80) | (random_() % 2 != 0 ? 0x38 + random_() % 8 : random_() % 4);
    };
    const Matrices m = of(c, number, [] { return u64{std::bit_cast<u32>(0.5f)}; });
    const auto got = multiply(c, m);
    for (unsigned r = 0; r < 16; ++r)
      for (unsigned n = 0; n < 8; ++n) {
        double low = 0, high = 0;
        for (unsigned k = 0; k < 32; ++k)
          (k % 4 < 2 ? low : high) += value(a_is_e4m3, m.a[r * 32 + k]) * value(!a_is_e4m3, m.b[k * 8 + n]);
        const double error =
            std::fabs(static_cast<double>(std::bit_cast<float>(static_cast<u32>(got[r * 8 + n]))) - (0.5 + low + high));
        ASSERT_LE(error, std::ldexp(1, -19)) << mnemonic << " " << r << " " << n;
      }
  }
}

TEST_F(Matrix, WhatHopperDoesNotHaveSaysSo) {
  Machine m;
  m.load(R"(.visible .entry k()
{ .reg .b32 %r<16>; .reg .f32 %f<16>;
  mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r0, %r1}, {%r2, %r3},
    {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
  ret; })");
  EXPECT_EQ(m.run("k", {1, 1, 1}, {32, 1, 1}).record.fault.code, "D609");
}

}  // namespace
}  // namespace muscope::exec::testing
