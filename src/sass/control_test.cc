// Branches, calls and barriers: targets and operands.
#include "sass/golden_test.h"

#include <gtest/gtest.h>

#include "sass/alu_operands.h"
#include "sass/instruction.h"

namespace muscope::sass {
namespace {

Instruction at(std::uint32_t pc, std::uint64_t lo, std::uint64_t hi) { return decode(Word{lo, hi}, pc); }

Instruction before_90(std::uint32_t pc, std::uint64_t lo, std::uint64_t hi) {
  return decode(Word{lo, hi}, pc, Encoding::kAmpere);
}

TEST(Ampere, EveryFormIsWrittenAsTheDisassemblerDoes) { expect_texts_of("ampere.tsv", 1400, Encoding::kAmpere); }

// The same words mean something else from 9.0 on.
TEST(Ampere, WhatHasAnotherPlaceOrNumber) {
  EXPECT_EQ(before_90(0xe0, 0x000001b000001947, 0x000fea0003800000).memory.target, 0x2a0);
  EXPECT_EQ(before_90(0x350, 0xffffffb000001947, 0x002fea000383ffff).memory.target, 0x310);
  EXPECT_EQ(at(0xf0, 0x00000000006c1947, 0x000fea0003800000).memory.target, 0x2b0);

  const Instruction sum = before_90(0, 0x000000070200798e, 0x0001e8000c10e790);
  EXPECT_EQ(text(sum), "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R7");
  EXPECT_EQ(sum.memory.type, 4);
  EXPECT_EQ(sum.memory.bytes, 4);
  EXPECT_EQ(at(0, 0x000000070200798e, 0x0001e8000c10e790).memory.type, 3) << "S64";
  const Instruction wide = before_90(0, 0x000000090400798e, 0x0001e4000c10ed84);
  EXPECT_EQ(text(wide), "RED.E.ADD.F64.RN.STRONG.GPU [R4.64], R9");
  EXPECT_EQ(wide.a.words, 2);
  EXPECT_EQ(before_90(0, 0x000000090400798e, 0x0001e4000c90ed84).opcode, Opcode::kInvalid) << "no minimum of F64";
  EXPECT_EQ(before_90(0, 0x000000090400798e, 0x0001e4000c10ef84).opcode, Opcode::kInvalid) << "INVALID7";

  const Instruction own = before_90(0x60, 0x000000000006734e, 0x000fe20000000000);
  EXPECT_EQ(text(own), "LEPC R6");
  EXPECT_EQ(own.memory.target, 0x60);
  EXPECT_EQ(at(0x60, 0x000000000006734e, 0x000fe20000000000).opcode, Opcode::kInvalid);

  const Instruction some = before_90(0, 0x0000003100007348, 0x000fe80003800000);
  EXPECT_EQ(text(some), "WARPSYNC R49");
  const Instruction all = before_90(0, 0xffffffff00007948, 0x000fe20003800000);
  EXPECT_EQ(text(all), "WARPSYNC 0xffffffff");
  EXPECT_EQ(all.a.value, 0xffffffffu);
  EXPECT_EQ(text(before_90(0, 0x0000000400007348, 0x000fea0003c00000)), "WARPSYNC.EXCLUSIVE R4");
  EXPECT_EQ(before_90(0, 0x0000000400007348, 0x000fea0003a00000).opcode, Opcode::kInvalid);
  EXPECT_EQ(at(0, 0x000000000d0573c2, 0x0022b000000e0000).opcode, Opcode::kInvalid);
  EXPECT_EQ(text(before_90(0, 0x000000000d0573c2, 0x0022b000000e0000)), "R2UR UR5, R13");
}

TEST(Control, BranchTargetsAreOffsetsInTheSection) {
  const Instruction forward = at(0x170, 0x0000000000d88947, 0x000fea0003800000);
  EXPECT_EQ(forward.opcode, Opcode::kBRA);
  EXPECT_EQ(forward.memory.target, 0x4e0);
  EXPECT_TRUE(forward.guard.invert);
  EXPECT_FALSE(forward.p0.exists());
  const Instruction back = at(0x1000, 0xfffffffc00c80947, 0x000fea000083ffff);  // @P0 BRA P1, -...
  EXPECT_EQ(back.memory.target, 0x1000 + 16 - 1024 + 0xc8 * 4);
  EXPECT_EQ(back.p0.index, 1);
  EXPECT_EQ(back.guard.index, 0);
}

TEST(Control, BranchesOfTheWholeWarp) {
  const Instruction divided = at(0, 0x0000003a042c7947, 0x020fea000b800000);  // BRA.DIV UR4
  EXPECT_EQ(divided.memory.mode & 3, 2);
  EXPECT_EQ(divided.a.kind, OperandKind::kUniform);
  EXPECT_EQ(divided.a.index, 4);
  const Instruction uniform = at(0, 0x0000000108047547, 0x000fea000b800000);  // BRA.U !UP0
  EXPECT_EQ(uniform.memory.mode & 3, 1);
  EXPECT_EQ(uniform.p1.kind, OperandKind::kUniformPredicate);
  EXPECT_TRUE(uniform.p1.invert);
}

TEST(Control, IndirectTargetsAddARegister) {
  // A table of offsets from the start of the section: what is added to the register is 0.
  const Instruction table = at(0x3e0, 0xfffffffc04047949, 0x000fea000383ffff);
  EXPECT_EQ(table.opcode, Opcode::kBRX);
  EXPECT_EQ(table.a.index, 4);
  EXPECT_EQ(table.a.words, 2);
  EXPECT_EQ(table.memory.target, 0x3e0 + 16 - 1024 + 4 * 4);
  EXPECT_EQ(text(table), "BRX R4 -0x3f0");
  const Instruction back = at(0xb60, 0xfffffff40a887950, 0x001fea0003c3ffff);  // RET.REL.NODEC R10
  EXPECT_EQ(back.memory.target, 0xb60 + 16 - 3072 + 0x88 * 4);
  EXPECT_EQ(back.memory.mode, 2);
  const Instruction absolute = at(0xb30, 0x0000000006007343, 0x021fea0003c00000);  // CALL.ABS.NOINC R6
  EXPECT_EQ(absolute.memory.mode, 3);
  EXPECT_EQ(absolute.memory.target, 0);
  EXPECT_EQ(absolute.a.words, 2);
}

TEST(Control, Convergence) {
  const Instruction start = at(0x20, 0x0000018000027945, 0x000fe20003800000);
  EXPECT_EQ(start.opcode, Opcode::kBSSY);
  EXPECT_EQ(start.a.kind, OperandKind::kBarrier);
  EXPECT_EQ(start.a.index, 2);
  EXPECT_EQ(start.memory.target, 0x1b0);
  EXPECT_EQ(at(0, 0x0000000000017941, 0x000fea0003800000).a.index, 1);
  const Instruction leave = at(0, 0x0000000000000942, 0x000fea0001000000);  // @P0 BREAK P2, B0
  EXPECT_EQ(leave.p0.index, 2);
  const Instruction together = at(0x4180, 0x000000001a087348, 0x000fea0003c00000);  // WARPSYNC.COLLECTIVE R26
  EXPECT_EQ(together.memory.target, 0x4180 + 16 + 32);
  EXPECT_EQ(together.a.index, 26);
}

TEST(Control, BlockBarriers) {
  const Instruction plain = at(0, 0x0041000000007b1d, 0x000fec0000010000);  // BAR.SYNC.DEFER_BLOCKING 0x1, 0x40
  EXPECT_EQ(plain.memory.mode, 0);
  EXPECT_EQ(plain.memory.barrier, 1);
  EXPECT_EQ(plain.b.value, 64u);
  EXPECT_FALSE(at(0, 0x0000000000007b1d, 0x000fe20000010000).b.exists());
  const Instruction arrive = at(0, 0x0141800000007b1d, 0x000fec0000002000);
  EXPECT_EQ(arrive.memory.mode, 1);
  EXPECT_EQ(arrive.a.value, 5u);
  EXPECT_EQ(arrive.b.value, 96u);
  const Instruction any = at(0, 0x0000000000007b1d, 0x000fec0000014800);  // BAR.RED.OR 0x0, P0
  EXPECT_EQ(any.memory.mode, 4);
  EXPECT_EQ(any.p0.index, 0);
  const Instruction packed = at(0, 0x000000020000731d, 0x0001ec0000002000);  // BAR.ARV R2, R2
  EXPECT_EQ(packed.a, packed.b);
  const Instruction result = at(0, 0x0000000000ff731c, 0x000e240000004000);  // B2R.RESULT RZ, P0
  EXPECT_EQ(result.memory.mode, 1);
  EXPECT_EQ(result.pdst0.index, 0);
  const Instruction fence = at(0, 0x0000000000007992, 0x000fec0000002000);  // MEMBAR.SC.GPU
  EXPECT_EQ(fence.memory.mode, 0);
  EXPECT_EQ(fence.memory.scope, 2);
}

TEST(Control, GuardsOfUniformInstructionsAreUniformPredicates) {
  EXPECT_EQ(text(at(0, 0x00000000000019c7, 0x000fe20008000000)), "@UP1 UCGABAR_ARV");
}

}  // namespace
}  // namespace muscope::sass
