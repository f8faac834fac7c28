// Integer, logic and lane-exchange instructions of machine code: against what an H200 computed, and where registers
// overlap or lanes do not run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <vector>

#include "exec/op_table.h"

namespace muscope::exec {
namespace {

using sass::OperandKind;

/// Registers, uniform registers and predicates of one warp, laid out as the lowering does: predicates in a row.
class Machine {
 public:
  explicit Machine(const OpTable& table) : table_(table) {
    warp_.bases[0] = reinterpret_cast<std::uint8_t*>(words_.data());
    set_active(warp_, kAllLanes);
  }

  std::uint32_t* reg(unsigned n) { return &words_[(kRegisters + n) * kGroupLanes]; }
  std::uint32_t* uniform(unsigned n) { return &words_[(kUniforms + n) * kGroupLanes]; }
  std::uint32_t& predicate(unsigned n) { return words_[n]; }
  std::uint32_t& uniform_predicate(unsigned n) { return words_[8 + n]; }
  void set(unsigned n, std::uint32_t value) { std::fill_n(reg(n), kGroupLanes, value); }
  Warp& warp() { return warp_; }
  void clear() { std::fill(words_.begin(), words_.end(), 0u); }

  /// Runs an instruction in the lanes where its guard holds. False when there is no handler.
  bool run(std::uint64_t lo, std::uint64_t hi) {
    const sass::Instruction i = sass::decode({lo, hi}, 0);
    Handler handler = table_.sass_integer(i);
    if (!handler) handler = table_.sass_logic(i);
    if (!handler) return false;
    words_[kTrue] = kAllLanes;
    immediates_ = kImmediates;
    XOp op;
    op.sass = &i;
    op.dst = result(i.dst);
    op.dst2 = predicate_result(i.pdst0), op.dst3 = predicate_result(i.pdst1);
    op.a = source(i.a), op.b = source(i.b), op.c = source(i.c);
    op.d = source_predicate(i.p0), op.e = source_predicate(i.p1);
    const GroupMask running = warp_.active;
    if (i.guard.exists()) {
      const GroupMask guard = predicate(i.guard.index);
      set_active(warp_, running & (i.guard.invert ? ~guard : guard));
    }
    if (warp_.active != 0) handler(warp_, &op);
    set_active(warp_, running);
    return true;
  }

 private:
  static constexpr unsigned kTrue = 16, kJunkPredicate = 17;  // words of the first slot
  static constexpr unsigned kZero = 1, kJunk = 5, kImmediates = 9, kRegisters = 16, kUniforms = 60, kSlots = 80;

  static std::uint32_t slot(unsigned n) { return n * code::kSlotBytes; }
  static std::uint32_t place_of(const sass::Operand& o) {
    return 4u * (o.index + (o.kind == OperandKind::kUniformPredicate ? 8u : 0u));
  }
  static std::uint32_t source_predicate(const sass::Operand& o) {
    return o.exists() && o.index != sass::kPt ? place_of(o) : 4 * kTrue;
  }
  static std::uint32_t predicate_result(const sass::Operand& o) {
    return o.exists() && o.index != sass::kPt ? place_of(o) : 4 * kJunkPredicate;
  }
  static std::uint32_t result(const sass::Operand& o) {
    if (o.kind == OperandKind::kRegister && o.index != sass::kRz) return slot(kRegisters + o.index);
    if (o.kind == OperandKind::kUniform && o.index != sass::kUrz) return slot(kUniforms + o.index);
    return slot(kJunk);
  }
  std::uint32_t source(const sass::Operand& o) {
    switch (o.kind) {
      case OperandKind::kRegister:
        return o.index == sass::kRz ? slot(kZero) : slot(kRegisters + o.index);
      case OperandKind::kUniform:
        return o.index == sass::kUrz ? slot(kZero) : slot(kUniforms + o.index);
      case OperandKind::kPredicate:
      case OperandKind::kUniformPredicate:
        return source_predicate(o);
      case OperandKind::kImmediate:
        std::fill_n(&words_[immediates_ * kGroupLanes], kGroupLanes, o.value);
        return slot(immediates_++);
      default:
        return slot(kZero);
    }
  }

  const OpTable& table_;
  Warp warp_;
  unsigned immediates_ = kImmediates;
  alignas(64) std::array<std::uint32_t, kSlots * kGroupLanes> words_{};
};

std::vector<const OpTable*> tables() {
  std::vector<const OpTable*> all{&isa_v2::kTable};
  if (&op_table() != all[0]) all.push_back(&op_table());
  return all;
}

/// What the H200's kernel loaded for one thread.
struct Input {
  std::array<std::uint32_t, 8> registers{};  // R20, R21, R24, R25, R28, R29, R32, R33
  std::uint32_t predicates = 0;              // P0 to P6
};
constexpr std::array kInputRegisters{20u, 21u, 24u, 25u, 28u, 29u, 32u, 33u};
constexpr unsigned kResult = 32, kUniformResult = 8, kUniformBefore = 0x1234, kPredicates = 7;

void load(Machine& machine, const Input* warp) {
  machine.clear();
  std::fill_n(machine.uniform(kUniformResult), kGroupLanes, kUniformBefore);
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    for (std::size_t k = 0; k < kInputRegisters.size(); ++k) machine.reg(kInputRegisters[k])[l] = warp[l].registers[k];
    for (unsigned k = 0; k < kPredicates; ++k) machine.predicate(k) |= ((warp[l].predicates >> k) & 1u) << l;
  }
}

/// FNV-1a over words.
struct Digest {
  std::uint64_t value = 0xcbf29ce484222325u;
  void add(std::uint32_t word) { value = (value ^ word) * 0x100000001b3u; }
};

void store(Machine& machine, Digest& digest) {
  for (unsigned l = 0; l < kGroupLanes; ++l) {
    std::uint32_t predicates = 0;
    for (unsigned k = 0; k < kPredicates; ++k) predicates |= ((machine.predicate(k) >> l) & 1u) << k;
    digest.add(machine.reg(kResult)[l]);
    digest.add(machine.reg(kResult + 1)[l]);
    digest.add(predicates);
    digest.add(machine.uniform(kUniformResult)[l]);
  }
}

TEST(SassInteger, ComputesWhatAnH200Computes) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/sass/integer_h200.tsv");
  std::vector<Input> inputs;
  unsigned count = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    if (line.rfind("input", 0) == 0) {
      std::string word;
      Input& input = inputs.emplace_back();
      fields >> word >> std::hex;
      for (std::uint32_t& r : input.registers) fields >> r;
      fields >> input.predicates;
      ASSERT_TRUE(fields) << line;
      continue;
    }
    std::uint64_t lo = 0, hi = 0, want = 0;
    fields >> std::hex >> lo >> hi >> want;
    ASSERT_TRUE(fields) << line;
    for (const OpTable* table : tables()) {
      Machine machine(*table);
      Digest digest;
      for (std::size_t first = 0; first < inputs.size(); first += kGroupLanes) {
        load(machine, &inputs[first]);
        ASSERT_TRUE(machine.run(lo, hi)) << sass::text(sass::decode({lo, hi}, 0));
        store(machine, digest);
      }
      EXPECT_EQ(digest.value, want) << sass::text(sass::decode({lo, hi}, 0));
    }
    ++count;
  }
  EXPECT_EQ(inputs.size(), 512u);
  EXPECT_GT(count, 650u);
}

TEST(SassInteger, ResultsMayOverwriteSources) {
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    machine.set(4, 0x80000000u);
    machine.set(5, 6);
    ASSERT_TRUE(machine.run(0x0000000404047225, 0x000fc600078e0004));  // IMAD.WIDE.U32 R4, R4, R4, R4
    EXPECT_EQ(machine.reg(4)[3], 0x80000000u);
    EXPECT_EQ(machine.reg(5)[3], 0x40000006u);
    machine.set(4, 3);
    machine.set(5, 0xfffffffeu);
    ASSERT_TRUE(machine.run(0x0000000505047225, 0x000fc600078e0204));  // IMAD.WIDE R4, R5, R5, R4
    EXPECT_EQ(machine.reg(4)[31], 7u);
    EXPECT_EQ(machine.reg(5)[31], 0xfffffffeu);
    machine.set(3, 0xffffffffu);
    machine.predicate(1) = 0x0000ffffu;
    ASSERT_TRUE(machine.run(0x0000000303037210, 0x0000000001f3e4ff));  // IADD3.X R3, P1, R3, R3, RZ, P3, !PT
    EXPECT_EQ(machine.reg(3)[0], 0xfffffffeu);
    EXPECT_EQ(machine.predicate(1), kAllLanes);
  }
}

TEST(SassInteger, LanesThatDoNotRunKeepTheirValues) {
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    machine.set(2, 10);
    machine.set(3, 20);
    machine.set(7, 99);
    machine.predicate(0) = 0xffff0000u;
    set_active(machine.warp(), 0x000000ffu);
    ASSERT_TRUE(machine.run(0x0000000302077210, 0x0000000007ffe0ff));  // IADD3 R7, R2, R3, RZ
    EXPECT_EQ(machine.reg(7)[7], 30u);
    EXPECT_EQ(machine.reg(7)[8], 99u);
    ASSERT_TRUE(machine.run(0x000000030200720c, 0x0000000003f01270));  // ISETP.LT.AND P0, PT, R2, R3, PT
    EXPECT_EQ(machine.predicate(0), 0xffff00ffu);
    ASSERT_TRUE(machine.run(0x0000000000077806, 0x00000000038e0100));  // VOTE.ANY R7, PT, PT
    EXPECT_EQ(machine.reg(7)[0], 0x000000ffu);
    EXPECT_EQ(machine.reg(7)[31], 99u);
    // Uniform results are for the whole warp.
    machine.reg(2)[0] = 5;
    ASSERT_TRUE(machine.run(0x00000000020472ca, 0x00000000000e0000));  // R2UR UR4, R2
    EXPECT_EQ(machine.uniform(4)[31], 5u);
    ASSERT_TRUE(machine.run(0x0000000000047886, 0x0000000003820100));  // VOTEU.ANY UR4, UP1, PT
    EXPECT_EQ(machine.uniform(4)[31], 0x000000ffu);
    EXPECT_EQ(machine.uniform_predicate(1), kAllLanes);
  }
}

TEST(SassInteger, UnknownFormsHaveNoHandler) {
  for (const OpTable* table : tables()) {
    Machine machine(*table);
    EXPECT_FALSE(machine.run(0x0000000200117202, 0x000fcc0000000500));  // MOV R17, R2, 0x5: some lanes of each quad
    EXPECT_FALSE(machine.run(0x0000000400027300, 0x0000000000000000));  // FLO.U32 R2, P0, R4
    EXPECT_FALSE(machine.run(0x0000000000027919, 0x000e220000002100));  // S2R: lowered to moves
  }
}

}  // namespace
}  // namespace muscope::exec
