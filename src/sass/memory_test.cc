// Loads, stores, constants, atomics, textures: the text of every form, and what the fields mean.
#include "sass/golden_test.h"

#include <gtest/gtest.h>

#include <random>

#include "sass/alu_operands.h"

namespace muscope::sass {
namespace {

Instruction at(std::uint64_t lo, std::uint64_t hi, std::uint32_t pc = 0) { return decode(Word{lo, hi}, pc); }

TEST(Memory, EveryFormIsWrittenAsTheDisassemblerDoes) { expect_texts_of("memory.tsv", 1000); }

TEST(Memory, AnyBitsDecodeAndPrint) {
  std::mt19937_64 random(7);
  for (unsigned opcode = 0; opcode < 4096; ++opcode)
    for (int turn = 0; turn < 40; ++turn) {
      const Instruction instruction = at((random() & ~std::uint64_t{0xfff}) | opcode, random(), 16);
      const std::string written = text(instruction);
      EXPECT_EQ(instruction.opcode == Opcode::kInvalid, written.back() == '?') << written;
    }
}

TEST(Memory, ADescriptorIsNoPartOfTheAddress) {
  const Instruction load = at(0x000004060c177981, 0x000ee2000c1e1900);  // LDG.E R23, [R12.64+0x4]
  EXPECT_EQ(load.opcode, Opcode::kLDG);
  EXPECT_FALSE(load.memory.uniform.exists());
  EXPECT_EQ(load.memory.descriptor.index, 6);
  EXPECT_TRUE(load.memory.address_64);
  EXPECT_EQ(load.memory.base.index, 12);
  EXPECT_EQ(load.memory.base.words, 2);
  EXPECT_EQ(load.memory.offset, 4);
  EXPECT_EQ(load.dst.words, 1);

  const Instruction added = at(0x000004060c177981, 0x000ee2000c1e0900);  // LDG.E R23, [R12.64+UR6+0x4]
  EXPECT_EQ(added.memory.uniform.index, 6);
  EXPECT_TRUE(added.memory.uniform_64);
  EXPECT_FALSE(added.memory.descriptor.exists());

  const Instruction narrow = at(0x000004060c177981, 0x000ee200081e0900);  // LDG.E R23, [R12.U32+UR6+0x4]
  EXPECT_FALSE(narrow.memory.address_64);
  EXPECT_EQ(narrow.memory.base.words, 1);
  EXPECT_TRUE(narrow.memory.uniform_64);
}

TEST(Memory, WidthsAndOrder) {
  const Instruction wide = at(0x0000100604047981, 0x000ea2000c1efd00);  // LDG.E.128.STRONG.GPU R4, [R4.64+0x10]
  EXPECT_EQ(wide.memory.bytes, 16);
  EXPECT_EQ(wide.dst.words, 4);
  EXPECT_EQ(wide.memory.strength, 2);
  EXPECT_EQ(wide.memory.scope, 2);
  EXPECT_FALSE(wide.memory.constant);
  EXPECT_TRUE(at(0x0000000408089981, 0x000ea2000c1e9900).memory.constant);  // @!P1 LDG.E.CONSTANT R8, [R8.64]
  const Instruction small = at(0x00000008040a1981, 0x008ee8000c1e1700);     // @P1 LDG.E.S16 R10, [R4.64]
  EXPECT_EQ(small.memory.bytes, 2);
  EXPECT_TRUE(small.memory.is_signed);
  EXPECT_EQ(small.guard.index, 1);
  EXPECT_FALSE(small.p0.exists());

  const Instruction store = at(0xfffffc0e0f007387, 0x0045f40000100800);  // STL [R15+-0x4], R14
  EXPECT_EQ(store.memory.offset, -4);
  EXPECT_EQ(store.a.index, 14);
  EXPECT_FALSE(store.dst.exists());
}

TEST(Memory, SharedAddresses) {
  const Instruction load = at(0x0001000408038984, 0x000ea40008000800);  // @!P0 LDS R3, [R8+UR4+0x100]
  EXPECT_EQ(load.memory.base.index, 8);
  EXPECT_EQ(load.memory.uniform.index, 4);
  EXPECT_FALSE(load.memory.uniform_64);
  EXPECT_EQ(load.memory.offset, 256);
  EXPECT_EQ(at(0x0000040004027984, 0x000e240000008800).memory.scale, 3);  // LDS R2, [R4.X8+0x4]
}

TEST(Memory, Constants) {
  const Instruction plain = at(0x00000a00ff017b82, 0x000fe20000000800);  // LDC R1, c[0x0][0x28]
  EXPECT_EQ(plain.b.kind, OperandKind::kConstant);
  EXPECT_EQ(plain.b.index, 0);
  EXPECT_EQ(plain.b.value, 0x28u);
  EXPECT_EQ(plain.memory.base.index, kRz);
  const Instruction indexed = at(0x00c002000d067abb, 0x000fe20008000a00);  // ULDC.64 UR6, c[0x3][UR13+0x8]
  EXPECT_EQ(indexed.dst.kind, OperandKind::kUniform);
  EXPECT_EQ(indexed.dst.words, 2);
  EXPECT_EQ(indexed.memory.base.kind, OperandKind::kUniform);
  EXPECT_EQ(indexed.memory.base.index, 13);
  EXPECT_EQ(indexed.b.index, 3);
  EXPECT_EQ(indexed.b.value, 8u);
}

TEST(Memory, CompareAndSwapTakesTheComparedValueFirst) {
  const Instruction cas =
      at(0x00000408020273a9, 0x001ee200001ee50a);  // ATOMG.E.CAS.64.STRONG.GPU PT, R2, [R2+0x4], R8, R10
  EXPECT_EQ(cas.memory.atomic, 9);
  EXPECT_EQ(cas.memory.type, 2);
  EXPECT_EQ(cas.memory.bytes, 8);
  EXPECT_EQ(cas.a.index, 8);
  EXPECT_EQ(cas.b.index, 10);
  EXPECT_EQ(cas.b.words, 2);
  EXPECT_EQ(cas.pdst0.index, kPt);
  EXPECT_TRUE(cas.memory.address_64);

  const Instruction spin = at(0x000004040306738d, 0x000e240001800406);  // ATOMS.CAST.SPIN.64 R6, [R3+0x4], R4, R6
  EXPECT_TRUE(spin.memory.spin);
  EXPECT_EQ(spin.memory.bytes, 8);
  EXPECT_EQ(spin.dst.words, 1);  // whether it was swapped
  EXPECT_EQ(spin.a.words, 2);
}

TEST(Memory, Atomics) {
  const Instruction sum = at(0x00000007020079a6, 0x002fe2000c10f386);  // REDG.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R7
  EXPECT_EQ(sum.opcode, Opcode::kREDG);
  EXPECT_EQ(sum.memory.type, 4);
  EXPECT_TRUE(sum.memory.ftz);
  EXPECT_FALSE(sum.memory.uniform.exists());
  EXPECT_FALSE(sum.dst.exists());
  EXPECT_EQ(sum.a.index, 7);
  const Instruction four = at(0x00000008040879a3, 0x000ea200081ef7c6);  // ATOMG.E.ADD.F32x4.FTZ.RN ...
  EXPECT_EQ(four.memory.vector, 4);
  EXPECT_EQ(four.memory.bytes, 16);
  EXPECT_EQ(four.dst.words, 4);
  const Instruction generic =
      at(0x0000040b020079a2, 0x000362000810f3c6);  // ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU P0, R0, ...
  EXPECT_EQ(generic.opcode, Opcode::kATOM);
  EXPECT_EQ(generic.pdst0.index, 0);
  const Instruction count = at(0x00000000ffff7f8c, 0x000fe2000d800004);  // ATOMS.POPC.INC.32 RZ, [UR4]
  EXPECT_EQ(count.memory.atomic, 10);
  EXPECT_EQ(count.memory.uniform.index, 4);
  EXPECT_EQ(count.memory.base.index, kRz);
  EXPECT_FALSE(count.a.exists());
}

TEST(Memory, Textures) {
  const Instruction sample =
      at(0x2000040a080c8f60, 0x02116200099e1f0e);  // @!P0 TEX.LL.AOFFI R14, R12, R8, R10, UR4, 0x0, 2D
  EXPECT_EQ(sample.dst.index, 12);
  EXPECT_EQ(sample.dst.words, 2);
  EXPECT_EQ(sample.memory.dst2.index, 14);
  EXPECT_EQ(sample.memory.dst2.words, 2);
  EXPECT_EQ(sample.memory.dimensions, 2);
  EXPECT_EQ(sample.memory.components, 15);
  EXPECT_EQ(sample.memory.mode, 3);
  EXPECT_TRUE(sample.memory.texel_offset);
  EXPECT_EQ(sample.a.words, 2);
  EXPECT_EQ(sample.b.words, 2);
  EXPECT_EQ(sample.memory.descriptor.index, 4);
  const Instruction layered =
      at(0x800004000a099f60, 0x02016200099e02ff);  // @!P1 TEX.LL RZ, R9, R10, R0, UR4, 0x0, ARRAY_1D, 0x2
  EXPECT_EQ(layered.memory.dimensions, 9);
  EXPECT_EQ(layered.memory.components, 2);
  EXPECT_EQ(layered.dst.words, 1);
  EXPECT_EQ(layered.a.words, 2);
}

TEST(Memory, AsynchronousCopies) {
  const Instruction copy = at(0x0001001002057fae, 0x000fe2000b921c44);  // LDGSTS.E.128 [R5+0x10], [R2.64+0x10]
  EXPECT_EQ(copy.memory.bytes, 16);
  EXPECT_EQ(copy.memory.base.index, 2);
  EXPECT_EQ(copy.memory.offset, 16);
  EXPECT_EQ(copy.memory.second.index, 5);
  EXPECT_EQ(copy.memory.second_offset, 16);
  EXPECT_EQ(copy.memory.mode, 0);
}

TEST(Memory, MatrixFragments) {
  const Instruction product = at(0x0000000e0404723c, 0x000fe20000001808);  // HMMA.16816.F32 R4, R4, R14, R8
  EXPECT_EQ(product.a.words, 4);
  EXPECT_EQ(product.b.words, 2);
  EXPECT_EQ(product.c.words, 4);
  EXPECT_EQ(product.c.index, 8);
  EXPECT_EQ(product.dst.words, 4);
}

}  // namespace
}  // namespace muscope::sass
