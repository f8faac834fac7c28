// Floating-point, half and conversion instructions of machine code: against what an H200 computed, and against
// arithmetic done here.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "exec/op_table.h"

namespace muscope::exec {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t kNan = 0x7fffffffu;

/// Registers and predicates of one warp, and the instructions run on them.
class Machine {
 public:
  explicit Machine(const OpTable& table = op_table()) : table_(table) {
    warp_.bases[0] = store_.data();
    set_active(warp_, kAllLanes);
    *predicate_word(7) = kAllLanes;
  }
  std::uint32_t* reg(unsigned n) { return reinterpret_cast<std::uint32_t*>(store_.data() + n * code::kSlotBytes); }
  void set(unsigned n, std::uint32_t value) {
    for (unsigned l = 0; l < kGroupLanes; ++l) reg(n)[l] = value;
  }
  void set_float(unsigned n, float value) { set(n, std::bit_cast<std::uint32_t>(value)); }
  void set_double(unsigned n, unsigned lane, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    reg(n)[lane] = static_cast<std::uint32_t>(bits), reg(n + 1)[lane] = static_cast<std::uint32_t>(bits >> 32);
  }
  double get_double(unsigned n, unsigned lane) {
    return std::bit_cast<double>(reg(n)[lane] | std::uint64_t{reg(n + 1)[lane]} << 32);
  }
  float get_float(unsigned n, unsigned lane = 0) { return std::bit_cast<float>(reg(n)[lane]); }
  std::uint32_t& predicate(unsigned n) { return *predicate_word(n); }
  Warp& warp() { return warp_; }

  /// False when there is no handler.
  bool run(std::uint64_t lo, std::uint64_t hi) {
    const sass::Instruction i = sass::decode({lo, hi}, 0);
    Handler handler = table_.sass_float(i);
    if (!handler) handler = table_.sass_convert(i);
    if (!handler) return false;
    std::memset(reg(kZero), 0, 4 * code::kSlotBytes);
    unsigned constants = kConstants;
    const auto source = [&](const sass::Operand& o) {
      if (o.kind == sass::OperandKind::kRegister) return (o.index == sass::kRz ? kZero : o.index) * code::kSlotBytes;
      if (o.kind != sass::OperandKind::kImmediate) return kZero * code::kSlotBytes;
      set(constants, o.words == 2 ? 0 : o.value);
      set(constants + 1, o.value);
      constants += 2;
      return (constants - 2) * code::kSlotBytes;
    };
    const auto result = [&](const sass::Operand& o) {
      return o.exists() && o.index != sass::kPt ? kPredicates + 4u * o.index : kPredicates + 4u * 9;
    };
    XOp op;
    op.a = source(i.a), op.b = source(i.b), op.c = source(i.c);
    op.dst = (i.dst.exists() && i.dst.index != sass::kRz ? i.dst.index : kJunk) * code::kSlotBytes;
    op.dst2 = result(i.pdst0), op.dst3 = result(i.pdst1);
    op.d = kPredicates + 4u * (i.p0.exists() ? i.p0.index : sass::kPt);
    op.sass = &i;
    handler(warp_, &op);
    return true;
  }

 private:
  static constexpr std::uint32_t kZero = 256, kJunk = 262, kConstants = 266, kSlots = 280;
  static constexpr std::uint32_t kPredicates = kSlots * code::kSlotBytes;
  std::uint32_t* predicate_word(unsigned n) {
    return reinterpret_cast<std::uint32_t*>(store_.data() + kPredicates + 4u * n);
  }
  const OpTable& table_;
  Warp warp_;
  alignas(64) std::array<std::uint8_t, (kSlots + 1) * code::kSlotBytes> store_{};
};

std::vector<const OpTable*> tables() {
  std::vector<const OpTable*> all{&isa_v2::kTable};
  if (&op_table() != all[0]) all.push_back(&op_table());
  return all;
}

TEST(SassFloat, ComputesWhatAnH200Computes) {
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/sass/float_h200.tsv");
    std::string line;
    unsigned count = 0;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::uint64_t lo = 0, hi = 0, want = 0;
      std::string sources;
      unsigned bytes = 0;
      fields >> std::hex >> lo >> hi >> sources >> want >> std::dec >> bytes;
      ASSERT_TRUE(fields) << line;
      for (const bool upper : {true, false}) {  // upper words first: another source may be the next register
        std::istringstream list(sources);
        for (std::string one; std::getline(list, one, ',');) {
          const unsigned n = static_cast<unsigned>(std::atoi(one.c_str() + 1));
          const std::uint64_t value = std::strtoull(one.c_str() + one.find('=') + 1, nullptr, 16);
          machine.set(upper ? n + 1 : n, static_cast<std::uint32_t>(upper ? value >> 32 : value));
        }
      }
      const sass::Instruction i = sass::decode({lo, hi}, 0);
      ASSERT_TRUE(machine.run(lo, hi)) << sass::text(i);
      for (const unsigned lane : {0u, 31u}) {
        std::uint64_t have = machine.reg(i.dst.index)[lane] | std::uint64_t{machine.reg(i.dst.index + 1)[lane]} << 32;
        if (bytes < 8) have &= (std::uint64_t{1} << (8 * bytes)) - 1;
        EXPECT_EQ(have, want) << sass::text(i) << " of " << sources << std::hex << " gave " << have << ", not " << want;
      }
      ++count;
    }
    EXPECT_GT(count, 1900u);
  }
}

TEST(SassFloat, InactiveLanesKeepTheirRegisters) {
  Machine machine;
  machine.set_float(5, 1.0f);
  machine.set_float(4, 2.0f);
  machine.set(11, 77);
  set_active(machine.warp(), 0x0000ffffu);
  ASSERT_TRUE(machine.run(0x00000004050b7221, 0x000fe20000000000));  // FADD R11, R5, R4
  EXPECT_EQ(machine.get_float(11, 15), 3.0f);
  EXPECT_EQ(machine.reg(11)[16], 77u);
}

float random_float(std::mt19937_64& random, int low, int high) {
  const float magnitude = std::ldexp(1.0f + static_cast<float>(random() & 0x7fffffu) * 0x1p-23f,
                                     std::uniform_int_distribution<int>(low, high)(random));
  return random() & 1 ? -magnitude : magnitude;
}
double random_double(std::mt19937_64& random, int low, int high) {
  return std::ldexp(1.0 + static_cast<double>(random() & 0xfffffffffffffull) * 0x1p-52,
                    std::uniform_int_distribution<int>(low, high)(random));
}

// The instructions that ptxas writes for a / b, less those for the rare operands that FCHK finds.
TEST(SassFloat, DivisionIsCorrectlyRounded) {
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    std::mt19937_64 random(3);
    for (int turn = 0; turn < 2000; ++turn) {
      for (unsigned l = 0; l < kGroupLanes; ++l) {
        machine.reg(0)[l] = std::bit_cast<std::uint32_t>(random_float(random, -126, 127));
        machine.reg(3)[l] = std::bit_cast<std::uint32_t>(random_float(random, -126, 127));
      }
      std::array<float, kGroupLanes> a{}, b{};
      std::memcpy(a.data(), machine.reg(0), sizeof a);
      std::memcpy(b.data(), machine.reg(3), sizeof b);
      for (const auto& [lo, hi] : {std::pair<std::uint64_t, std::uint64_t>{0x0000000300087308, 0x008e300000001000},
                                   {0x0000000300007302, 0x004e620000000000},   // FCHK P0, R0, R3
                                   {0x3f80000003097423, 0x001fc80000000108},   // FFMA R9, -R3, R8, 1
                                   {0x0000000908097223, 0x000fc80000000008},   // FFMA R9, R8, R9, R8
                                   {0x0000000900087223, 0x000fc800000000ff},   // FFMA R8, R0, R9, RZ
                                   {0x00000008030a7223, 0x000fc80000000100},   // FFMA R10, -R3, R8, R0
                                   {0x0000000a09097223, 0x000fe20000000008}})  // FFMA R9, R9, R10, R8
        ASSERT_TRUE(machine.run(lo, hi));
      for (unsigned l = 0; l < kGroupLanes; ++l) {
        if ((machine.predicate(0) >> l) & 1) continue;
        ASSERT_EQ(machine.get_float(9, l), a[l] / b[l]) << a[l] << " / " << b[l];
      }
    }
  }
}

TEST(SassFloat, SquareRootIsCorrectlyRounded) {
  Machine machine;
  std::mt19937_64 random(4);
  for (int turn = 0; turn < 2000; ++turn) {
    std::array<float, kGroupLanes> a{};
    for (float& v : a) v = std::fabs(random_float(random, -100, 127));
    std::memcpy(machine.reg(0), a.data(), sizeof a);
    for (const auto& [lo, hi] : {std::pair<std::uint64_t, std::uint64_t>{0x0000000000077308, 0x0000660000001400},
                                 {0x0000000700037220, 0x002fe20000410000},   // FMUL.FTZ R3, R0, R7
                                 {0x3f00000007077820, 0x000fc60000410000},   // FMUL.FTZ R7, R7, 0.5
                                 {0x0000000303007223, 0x000fc80000000100},   // FFMA R0, -R3, R3, R0
                                 {0x0000000700077223, 0x000fce0000000003}})  // FFMA R7, R0, R7, R3
      ASSERT_TRUE(machine.run(lo, hi));
    for (unsigned l = 0; l < kGroupLanes; ++l) ASSERT_EQ(machine.get_float(7, l), std::sqrt(a[l])) << a[l];
  }
}

TEST(SassFloat, DoubleDivisionIsCorrectlyRounded) {
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    std::mt19937_64 random(5);
    unsigned fast = 0;
    for (int turn = 0; turn < 2000; ++turn) {
      std::array<double, kGroupLanes> a{}, b{};
      for (unsigned l = 0; l < kGroupLanes; ++l) {
        a[l] = random_double(random, -900, 900), b[l] = random_double(random, -900, 900);
        machine.set_double(6, l, a[l]);
        machine.set_double(4, l, b[l]);
      }
      machine.set(2, 1);
      for (const auto& [lo, hi] : {std::pair<std::uint64_t, std::uint64_t>{0x0000000500037308, 0x004e220000001800},
                                   {0x036000000700780b, 0x008fc60003f2e200},   // FSETP.GEU.AND P1, PT, |R7|, ...
                                   {0x3ff000000408742b, 0x001fd00000000102},   // DFMA R8, -R4, R2, 1
                                   {0x000000080808722b, 0x000fd00000000008},   // DFMA R8, R8, R8, R8
                                   {0x000000080208722b, 0x000fd00000000002},   // DFMA R8, R2, R8, R2
                                   {0x3ff000000402742b, 0x000fd00000000108},   // DFMA R2, -R4, R8, 1
                                   {0x000000020802722b, 0x000fd00000000008},   // DFMA R2, R8, R2, R8
                                   {0x0000000206087228, 0x000fd00000000000},   // DMUL R8, R6, R2
                                   {0x00000008040a722b, 0x000fd00000000106},   // DFMA R10, -R4, R8, R6
                                   {0x0000000a0202722b, 0x000fd40000000008},   // DFMA R2, R2, R10, R8
                                   {0x00000005ff087223, 0x000fca0000000003},   // FFMA R8, RZ, R5, R3
                                   {0x001000000800780b, 0x000fda0003f04200}})  // FSETP.GT.AND P0, PT, |R8|, ...
        ASSERT_TRUE(machine.run(lo, hi));
      for (unsigned l = 0; l < kGroupLanes; ++l) {
        if (!((machine.predicate(0) & machine.predicate(1)) >> l & 1)) continue;
        ++fast;
        ASSERT_EQ(machine.get_double(2, l), a[l] / b[l]) << a[l] << " / " << b[l];
      }
    }
    EXPECT_GT(fast, 20000u);
  }
}

TEST(SassFloat, DoubleSquareRootIsCorrectlyRounded) {
  Machine machine;
  std::mt19937_64 random(6);
  for (int turn = 0; turn < 2000; ++turn) {
    std::array<double, kGroupLanes> a{};
    for (unsigned l = 0; l < kGroupLanes; ++l) machine.set_double(4, l, a[l] = random_double(random, -900, 900));
    machine.set(8, 0);
    machine.set(9, 0x3fd80000u);
    for (unsigned l = 0; l < kGroupLanes; ++l) machine.reg(6)[l] = machine.reg(5)[l] - 0x3500000u;
    for (const auto& [lo, hi] : {std::pair<std::uint64_t, std::uint64_t>{0x0000000500077308, 0x004e220000001c00},
                                 {0x0000000606027228, 0x001fd00000000000},   // DMUL R2, R6, R6
                                 {0x3ff000000402742b, 0x000fd00000000802},   // DFMA R2, R4, -R2, 1
                                 {0x3fe000000208742b, 0x000fe40000000008},   // DFMA R8, R2, R8, 0.5
                                 {0x0000000206027228, 0x000fd00000000000},   // DMUL R2, R6, R2
                                 {0x000000020808722b, 0x000fd00000000006},   // DFMA R8, R8, R2, R6
                                 {0x00000008040a7228, 0x000fe40000000000}})  // DMUL R10, R4, R8
      ASSERT_TRUE(machine.run(lo, hi));
    for (unsigned l = 0; l < kGroupLanes; ++l) {
      machine.reg(14)[l] = machine.reg(8)[l];
      machine.reg(15)[l] = machine.reg(9)[l] - 0x100000u;
    }
    ASSERT_TRUE(machine.run(0x8000000a0a0c722b, 0x000fd00000000004));  // DFMA R12, R10, -R10, R4
    ASSERT_TRUE(machine.run(0x0000000e0c02722b, 0x000fe2000000000a));  // DFMA R2, R12, R14, R10
    for (unsigned l = 0; l < kGroupLanes; ++l) ASSERT_EQ(machine.get_double(2, l), std::sqrt(a[l])) << a[l];
  }
}

TEST(SassFloat, ChecksWhichDivisionsAreRare) {
  Machine machine;
  const auto rare = [&](float a, float b) {
    machine.set_float(0, a);
    machine.set_float(3, b);
    EXPECT_TRUE(machine.run(0x0000000300007302, 0x004e620000000000));  // FCHK P0, R0, R3
    return machine.predicate(0) == kAllLanes;
  };
  EXPECT_FALSE(rare(1.0f, 3.0f));
  EXPECT_FALSE(rare(-1e10f, 3.0f));
  EXPECT_TRUE(rare(1.0f, 0.0f));
  EXPECT_TRUE(rare(0.0f, 1.0f));
  EXPECT_TRUE(rare(kInfinity, 1.0f));
  EXPECT_TRUE(rare(std::bit_cast<float>(kNan), 1.0f));
  EXPECT_FALSE(rare(0x1p-102f, 1.0f));
  EXPECT_TRUE(rare(0x1p-103f, 1.0f));
  EXPECT_FALSE(rare(0x1p120f, 0x1p124f));
  EXPECT_TRUE(rare(0x1p120f, 0x1p125f));
  EXPECT_FALSE(rare(1.0f, 0x1p124f));
  EXPECT_TRUE(rare(0x1p-1f, 0x1p124f));
  EXPECT_FALSE(rare(0x1p1f, 0x1p-125f));
  EXPECT_TRUE(rare(0x1p2f, 0x1p-125f));
}

TEST(SassFloat, ScaledProductsAreRoundedOnce) {
  Machine machine;
  machine.set_float(33, 0x1.fffffep-126f);
  ASSERT_TRUE(machine.run(0x3f80000021327820, 0x000fe20000300000));  // FMUL.D2 R50, R33, 1
  EXPECT_EQ(machine.get_float(50), static_cast<float>(0x1.fffffep-126 / 2));
  machine.set_float(33, 3.0f);
  ASSERT_TRUE(machine.run(0x4000000021327820, 0x000fe20000300000));  // FMUL.D2 R50, R33, 2
  EXPECT_EQ(machine.get_float(50), 3.0f);
}

TEST(SassFloat, ComparisonsWriteTheResultAndItsOpposite) {
  Machine machine;
  for (unsigned l = 0; l < kGroupLanes; ++l)
    machine.reg(0)[l] = l == 31 ? kNan : std::bit_cast<std::uint32_t>(static_cast<float>(l));
  machine.set_float(1, 4.0f);
  machine.predicate(2) = 0xffffff00u;
  // FSETP.LT.AND P0, P1, R0, R1, P2 and the same with !P2: bits of the predicates are set by hand.
  const std::uint64_t lo = 0x000000010000720bull, base = 1ull << 12 | 1ull << 20;
  ASSERT_EQ(sass::text(sass::decode({lo, base | 2ull << 23}, 0)), "FSETP.LT.AND P0, P1, R0, R1, P2");
  ASSERT_TRUE(machine.run(lo, base | 2ull << 23));
  EXPECT_EQ(machine.predicate(0), 0u);
  EXPECT_EQ(machine.predicate(1), 0xffffff00u);
  ASSERT_TRUE(machine.run(lo, base | 2ull << 23 | 1ull << 26));
  EXPECT_EQ(machine.predicate(0), 0xfu);
  EXPECT_EQ(machine.predicate(1), 0xf0u);
  // GEU holds for what is not a number.
  ASSERT_EQ(sass::text(sass::decode({lo, 14ull << 12 | 1ull << 20 | 7ull << 23}, 0)),
            "FSETP.GEU.AND P0, P1, R0, R1, PT");
  ASSERT_TRUE(machine.run(lo, 14ull << 12 | 1ull << 20 | 7ull << 23));
  EXPECT_EQ(machine.predicate(0), 0xfffffff0u);
}

TEST(SassFloat, HalvesHaveAPredicateEach) {
  Machine machine;
  machine.set(0, 0x3c004000u);  // 1, 2
  machine.set(7, 0x40003c00u);  // 2, 1
  const std::uint64_t lo = 0x0000000700007234ull, hi = 1ull << 12 | 1ull << 20 | 7ull << 23;
  ASSERT_EQ(sass::text(sass::decode({lo, hi}, 0)), "HSETP2.LT.AND P0, P1, R0, R7, PT");
  ASSERT_TRUE(machine.run(lo, hi));
  EXPECT_EQ(machine.predicate(0), 0u);
  EXPECT_EQ(machine.predicate(1), kAllLanes);
}

TEST(SassFloat, MinimaOfDoublesChooseByPredicate) {
  Machine machine;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double cases[][2] = {{1, 2}, {2, 1}, {nan, 1}, {1, nan}, {nan, nan}, {-0.0, 0.0}, {0.0, -0.0}};
  for (unsigned l = 0; l < 7; ++l) {
    machine.set_double(2, l, cases[l][0]);
    machine.set_double(8, l, cases[l][1]);
  }
  set_active(machine.warp(), 0x7f);
  const std::uint64_t lo = 0x000000080200722aull, min = 1ull << 20 | 7ull << 23, max = min | 15ull << 12;
  ASSERT_EQ(sass::text(sass::decode({lo, min}, 0)), "DSETP.MIN.AND P0, P1, R2, R8, PT");
  ASSERT_TRUE(machine.run(lo, min));
  EXPECT_EQ(machine.predicate(0) & 0x7f, 0b0101001u);
  EXPECT_EQ(machine.predicate(1) & 0x7f, 0b0010000u);
  ASSERT_TRUE(machine.run(lo, max));
  EXPECT_EQ(machine.predicate(0) & 0x7f, 0b1001010u);
}

TEST(SassFloat, SpecialFunctionsTakeRevolutionsAndFlush) {
  Machine machine;
  const auto mufu = [&](unsigned function, float v) {
    machine.set_float(3, v);
    EXPECT_TRUE(machine.run(0x0000000300017308, 0x000fe20000000000ull | std::uint64_t{function} << 10));
    return machine.get_float(1);
  };
  EXPECT_EQ(mufu(0, 0.5f), -1.0f);  // cos of half a turn
  EXPECT_EQ(mufu(1, 0.25f), 1.0f);  // sin
  EXPECT_EQ(mufu(1, 1e30f), 0.0f);
  EXPECT_EQ(mufu(2, 10.0f), 1024.0f);
  EXPECT_EQ(mufu(2, -127.0f), 0.0f);  // would be subnormal
  EXPECT_EQ(mufu(3, 8.0f), 3.0f);
  EXPECT_EQ(mufu(3, 1e-40f), -kInfinity);
  EXPECT_EQ(mufu(4, 1e-40f), kInfinity);
  EXPECT_EQ(mufu(5, 4.0f), 0.5f);
  EXPECT_EQ(mufu(8, 9.0f), 3.0f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(mufu(8, -1.0f)), kNan);
  EXPECT_EQ(mufu(9, 1e-40f), 1e-40f);
}

// Results of an H200 that are not the correctly rounded ones.
TEST(SassFloat, SpecialFunctionsHaveTheUnitsLastBit) {
  struct Case {
    unsigned function;
    std::uint32_t argument, result;
  };
  constexpr Case kCases[] = {
      {0, 0x3d88aa10, 0x3f69d365}, {0, 0x3e88f765, 0xbde0e529}, {1, 0x3e069be4, 0x3f3c358d},
      {1, 0x3f0b37fc, 0xbe8b341e}, {2, 0x3f57a3d4, 0x3fe57fba}, {2, 0xbf4db677, 0x3f12aba4},
      {3, 0x3f56ea03, 0xbe81386b}, {3, 0x404ceeae, 0x3fd6e99a}, {4, 0x3fd0ff64, 0x3f1cc957},
      {5, 0x3fca50e3, 0x3f4b9fdb}, {5, 0x40506e87, 0x3f0ddb2a}, {8, 0x3fd634bc, 0x3fa595bd},
      {8, 0x4056190c, 0x3fea1d02}, {9, 0x3dd54caa, 0x3dd48843}, {9, 0x3f55a8c6, 0x3f2ed583},
      {9, 0x4050e2bf, 0x3f7f4097},
  };
  Machine machine;
  for (const Case& c : kCases) {
    machine.set_float(3, std::bit_cast<float>(c.argument));
    ASSERT_TRUE(machine.run(0x0000000300017308, 0x000fe20000000000ull | std::uint64_t{c.function} << 10));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(machine.get_float(1)), c.result) << c.function << std::hex << c.argument;
  }
}

// Upper words that an H200 gave.
TEST(SassFloat, UpperWordsOfReciprocals) {
  Machine machine;
  const auto upper = [&](unsigned function, std::uint32_t high) {
    machine.set(3, high);
    EXPECT_TRUE(machine.run(0x0000000300017308, 0x000fe20000000000ull | std::uint64_t{function} << 10));
    return machine.reg(1)[0];
  };
  constexpr unsigned kRcp = 6, kRsq = 7;
  EXPECT_EQ(upper(kRcp, 0x40000000u), 0x3fe00000u);
  EXPECT_EQ(upper(kRsq, 0x40100000u), 0x3fe00000u);
  EXPECT_EQ(upper(kRcp, 0), 0x7ff00000u);
  EXPECT_EQ(upper(kRcp, 0x80000001u), 0xfff00000u);
  EXPECT_EQ(upper(kRsq, 0x80000001u), 0xfff00000u);
  EXPECT_EQ(upper(kRcp, 0xfff00000u), 0x80000000u);
  EXPECT_EQ(upper(kRsq, 0xfff00000u), kNan);
  EXPECT_EQ(upper(kRcp, 0xfff80000u), kNan);
  EXPECT_EQ(upper(kRcp, 0x7fe00000u), 0u);  // subnormal
}

// bfloat16 has the exponents of float: products that are no floats take the general way.
TEST(SassFloat, FusedBfloatsAreRoundedOnce) {
  const auto to_float = [](std::uint32_t v) { return std::bit_cast<float>(v << 16); };
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    std::mt19937_64 random(8);
    for (int turn = 0; turn < 3000; ++turn) {
      for (const unsigned n : {0u, 9u, 27u})
        for (unsigned l = 0; l < kGroupLanes; ++l) machine.reg(n)[l] = static_cast<std::uint32_t>(random());
      std::array<std::array<std::uint32_t, kGroupLanes>, 3> in{};
      for (const unsigned k : {0u, 1u, 2u}) std::memcpy(in[k].data(), machine.reg(k == 0 ? 0 : k == 1 ? 9 : 27), 128);
      ASSERT_TRUE(machine.run(0x0000000900097231, 0x000fe2000020001b));  // HFMA2.BF16_V2 R9, R0, R9, R27
      for (unsigned l = 0; l < kGroupLanes; ++l)
        for (const unsigned shift : {0u, 16u}) {
          const auto part = [&](unsigned k) { return to_float((in[k][l] >> shift) & 0xffffu); };
          // 80 bits hold every product exactly; the sum is exact or has a sticky part far below.
          const long double exact = static_cast<long double>(part(0)) * part(1) + part(2);
          const float have = to_float((machine.reg(9)[l] >> shift) & 0xffffu);
          if (exact != exact) {
            EXPECT_EQ((machine.reg(9)[l] >> shift) & 0xffffu, 0x7fffu);
            continue;
          }
          if (std::fabs(exact) > 3.38e38L || std::fabs(exact) < 1e-37L) continue;
          int exponent = 0;
          std::frexp(exact, &exponent);
          EXPECT_LE(std::fabs(static_cast<long double>(have) - exact), std::ldexp(0.5L, exponent - 8) * 1.0000001L)
              << part(0) << " * " << part(1) << " + " << part(2);
        }
    }
  }
}

TEST(SassFloat, FormsThatAreNotUnderstoodHaveNoHandler) {
  Machine machine;
  EXPECT_FALSE(machine.run(0x0000001b02017822, 0x0000000000000004));                 // FSWZADD
  EXPECT_FALSE(machine.run(0x000000030001723e, 0x0000000006802001 | 0x0000000004));  // F2FP into c
}

}  // namespace
}  // namespace muscope::exec
