// Integer, logic and lane-exchange instructions: the text of every form, and what the fields mean.
#include <gtest/gtest.h>

#include "sass/golden_test.h"
#include "sass/special_registers.h"

namespace muscope::sass {
namespace {

Instruction at(std::uint64_t lo, std::uint64_t hi, std::uint32_t pc = 0) { return decode(Word{lo, hi}, pc); }

TEST(Integer, EveryFormIsWrittenAsTheDisassemblerDoes) { expect_texts_of("integer.tsv", 2000); }

TEST(Integer, TheSourcesOfAProductAreInTheOrderOfTheText) {
  const Instruction second = at(0x0000000407077c24, 0x001fe2000f8e0200);  // IMAD R7, R7, UR4, R0
  EXPECT_EQ(second.b.kind, OperandKind::kUniform);
  EXPECT_EQ(second.b.index, 4);
  EXPECT_EQ(second.c.index, 0);
  const Instruction third = at(0x0000000aff037e24, 0x000fe2000f8e00ff);  // IMAD.U32 R3, RZ, RZ, UR10
  EXPECT_EQ(third.b.index, kRz);
  EXPECT_EQ(third.c.kind, OperandKind::kUniform);
  EXPECT_EQ(third.c.index, 10);
  EXPECT_TRUE(third.integer.is_unsigned);
}

TEST(Integer, WideProductsAddSixtyFourBits) {
  const Instruction wide = at(0x00000004110e7825, 0x010fc800078e0208);  // IMAD.WIDE R14, R17, 0x4, R8
  EXPECT_TRUE(wide.integer.wide);
  EXPECT_EQ(wide.dst.words, 2);
  EXPECT_EQ(wide.a.words, 1);
  EXPECT_EQ(wide.c.words, 2);
  const Instruction high = at(0x0000000b05047227, 0x000fcc00078e0004);  // IMAD.HI.U32 R4, R5, R11, R4
  EXPECT_TRUE(high.integer.high);
  EXPECT_EQ(high.dst.words, 1);
  EXPECT_EQ(high.c.words, 2);
}

TEST(Integer, ExtendedSumsInvertWhereOthersNegate) {
  const Instruction plain = at(0x8000000403027210, 0x0000000001f38005);  // IADD3 R2, P1, R3, -R4, R5
  EXPECT_TRUE(plain.b.negate);
  EXPECT_FALSE(plain.b.invert);
  EXPECT_FALSE(plain.p0.exists());
  const Instruction extended = at(0x8000000403027210, 0x0000000001f38405);  // IADD3.X R2, P1, R3, ~R4, R5, P3, !P4
  EXPECT_FALSE(extended.b.negate);
  EXPECT_TRUE(extended.b.invert);
  EXPECT_EQ(extended.p0.index, 3);
  EXPECT_FALSE(extended.p0.invert);
  EXPECT_EQ(extended.p1.index, 4);
  EXPECT_TRUE(extended.p1.invert);
  EXPECT_EQ(extended.pdst0.index, 1);
}

TEST(Integer, UniformInstructionsHaveUniformOperandsAndGuards) {
  const Instruction sum = at(0x000000093f097290, 0x000fe200087fe43f);  // UIADD3.X UR9, URZ, UR9, URZ, UP0, !UPT
  EXPECT_EQ(sum.opcode, Opcode::kUIADD3);
  EXPECT_EQ(sum.a.kind, OperandKind::kUniform);
  EXPECT_EQ(sum.a.index, kUrz);
  EXPECT_EQ(sum.p0.kind, OperandKind::kUniformPredicate);
  const Instruction move = at(0x0000001500098c82, 0x000fc00008000000);  // @!UP0 UMOV UR9, UR21
  EXPECT_EQ(move.guard.kind, OperandKind::kUniformPredicate);
  const Instruction vote = at(0x0000000000020886, 0x0000000005840100);  // @P0 VOTEU.ANY UR2, UP2, !P3
  EXPECT_EQ(vote.guard.kind, OperandKind::kPredicate);
  EXPECT_EQ(vote.p0.kind, OperandKind::kPredicate);
  EXPECT_EQ(vote.pdst0.kind, OperandKind::kUniformPredicate);
}

TEST(Integer, TheTableOfThreePredicatesIsInTwoPlaces) {
  const Instruction logic = at(0x000000000012781c, 0x0000000002a3833d);  // PLOP3.LUT P1, P2, P5, !P4, UP3, 0x1d, 0x12
  EXPECT_EQ(logic.integer.lut, 0x1d);
  EXPECT_EQ(logic.integer.lut2, 0x12);
  EXPECT_EQ(logic.p0.index, 5);
  EXPECT_EQ(logic.p1.index, 4);
  EXPECT_TRUE(logic.p1.invert);
  EXPECT_EQ(logic.c.kind, OperandKind::kUniformPredicate);
  EXPECT_EQ(logic.c.index, 3);
}

TEST(Integer, MovesOfPredicatesStartAtTheFirstOne) {
  const Instruction out = at(0x00000002ff167803, 0x000fc60000000000);  // P2R R22, PR, RZ, 0x2
  EXPECT_EQ(out.p0.kind, OperandKind::kPredicate);
  EXPECT_EQ(out.p0.index, 0);
  EXPECT_EQ(out.b.value, 2u);
  const Instruction in = at(0x0000000314007804, 0x000fe20000000000);  // R2P PR, R20, 0x3
  EXPECT_EQ(in.pdst0.kind, OperandKind::kPredicate);
  EXPECT_EQ(in.pdst0.index, 0);
  EXPECT_FALSE(in.dst.exists());
}

TEST(Integer, SpecialRegistersAreNumbered) {
  const Instruction thread = at(0x0000000000027919, 0x000e220000002100);  // S2R R2, SR_TID.X
  EXPECT_EQ(thread.integer.special, static_cast<std::uint8_t>(SpecialRegister::kTID_X));
  const Instruction zero = at(0x0000000000067805, 0x000fe4000001ff00);  // CS2R R6, SRZ
  EXPECT_EQ(zero.integer.special, static_cast<std::uint8_t>(SpecialRegister::kZero));
  EXPECT_EQ(zero.dst.words, 2);
  EXPECT_EQ(special_register_text(36), "SR36");
}

TEST(Integer, LepcCountsFromTheNextInstruction) {
  EXPECT_EQ(at(0x000000001014794e, 0x000fce0000000000, 0x240).memory.target, 0x260);
  EXPECT_EQ(at(0xffffffff0014794e, 0x000fce000003ffff, 0x240).memory.target, 0x150);
}

}  // namespace
}  // namespace muscope::sass
