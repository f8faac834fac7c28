// Floating-point and conversion instructions: the text of every form, and what the fields mean.
#include "sass/golden_test.h"

#include <gtest/gtest.h>

namespace muscope::sass {
namespace {

Instruction at(std::uint64_t lo, std::uint64_t hi) { return decode(Word{lo, hi}, 0); }

TEST(Float, EveryFormIsWrittenAsTheDisassemblerDoes) { expect_texts_of("float.tsv", 1700); }

TEST(Float, TheSecondSourceIsTheMiddleFieldInEveryFormOfASum) {
  const Instruction registers = at(0x00000004050b7221, 0x000fe20000010000);  // FADD.FTZ R11, R5, R4
  EXPECT_EQ(registers.opcode, Opcode::kFADD);
  EXPECT_EQ(registers.a.index, 5);
  EXPECT_EQ(registers.b.index, 4);
  EXPECT_FALSE(registers.c.exists());
  EXPECT_TRUE(registers.floating.ftz);
  const Instruction number = at(0x3f80000002007421, 0x000fe20000010000);  // FADD.FTZ R0, R2, 1
  EXPECT_EQ(number.b.kind, OperandKind::kImmediate);
  EXPECT_EQ(number.b.value, 0x3f800000u);
}

TEST(Float, DoublesTakeTwoRegisters) {
  const Instruction add = at(0x0000000014187229, 0x148fe20000000116);  // DADD R24, -R20, R22
  EXPECT_EQ(add.opcode, Opcode::kDADD);
  EXPECT_EQ(add.dst.words, 2);
  EXPECT_EQ(add.a.words, 2);
  EXPECT_EQ(add.b.index, 22);
  EXPECT_EQ(add.b.words, 2);
  EXPECT_TRUE(add.a.negate);
  const Instruction fused = at(0x3ff000000408742b, 0x001fd00000000102);  // DFMA R8, -R4, R2, 1
  EXPECT_EQ(fused.b.index, 2);
  EXPECT_EQ(fused.c.kind, OperandKind::kImmediate);
  EXPECT_EQ(fused.c.words, 2);
  EXPECT_EQ(fused.c.value, 0x3ff00000u);
  const Instruction upper = at(0x0000000500037308, 0x004e220000001800);  // MUFU.RCP64H R3, R5
  EXPECT_EQ(upper.floating.function, 6);
  EXPECT_EQ(upper.a.words, 1);
  const Instruction whole = at(0x0000000800087311, 0x000ea2000030d900);  // F2I.S64.F64.TRUNC R8, R8
  EXPECT_EQ(text(whole), "F2I.S64.F64.TRUNC R8, R8");
  EXPECT_EQ(whole.dst.words, 2);
  EXPECT_EQ(whole.a.words, 2);
  EXPECT_FALSE(whole.floating.nan_to_zero);
}

TEST(Float, ComparisonsNameTheirPredicates) {
  const Instruction compare = at(0x000000ff2d00720b, 0x040fe40003f23200);  // FSETP.LE.AND P1, PT, |R45|, RZ, PT
  EXPECT_EQ(compare.pdst0.index, 1);
  EXPECT_EQ(compare.pdst1.index, kPt);
  EXPECT_EQ(compare.p0.index, kPt);
  EXPECT_EQ(compare.floating.compare, Compare::kLe);
  EXPECT_TRUE(compare.a.absolute);
}

TEST(Float, WhatIsNotUnderstoodIsRefused) {
  EXPECT_EQ(at(0x00000004050b7221, 0x000fe20000011000).opcode, Opcode::kInvalid);  // FADD with an unused bit: .FMZ
  EXPECT_EQ(at(0x0000000300027308, 0x000fe20000002800).opcode, Opcode::kInvalid);  // MUFU of no function
  EXPECT_EQ(at(0x00000004050b7221, 0x000fe20008010000).opcode, Opcode::kInvalid);  // bit of uniform registers
}

}  // namespace
}  // namespace muscope::sass
