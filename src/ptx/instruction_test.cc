// Instructions: modifiers, operands, the row they match, what happens to those that match none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/opcodes.h"
#include "ptx/parser.h"
#include "ptx/verify.h"

namespace muscope::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ParseResult parse_body(std::string_view body) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 8 .b8 g[64];\n.visible .entry k(.param .u64 "
      "p)\n{\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<20>;\n" +
      std::string(body) + "\n}\n";
  ParseResult result = parse(text, "test.ptx");
  EXPECT_EQ(find_inconsistency(result.module), "");
  return result;
}

Instruction one(std::string_view text) {
  const ParseResult result = parse_body(text);
  for (const Diagnostic& diagnostic : result.diagnostics) ADD_FAILURE() << to_text(diagnostic);
  EXPECT_EQ(result.module.functions[0].body.size(), 1u);
  return result.module.functions[0].body.at(0);
}

Diagnostic problem(std::string_view text) {
  const ParseResult result = parse_body(text);
  EXPECT_EQ(result.diagnostics.size(), 1u) << text;
  EXPECT_EQ(result.module.functions[0].body.size(), 1u) << text;
  if (!result.module.functions[0].body.empty()) {
    EXPECT_EQ(result.module.functions[0].body[0].opcode, Opcode::kInvalid) << text;
  }
  return result.diagnostics.empty() ? Diagnostic{} : result.diagnostics[0];
}

TEST(Instruction, MatchesARow) {
  const Instruction i = one("ld.global.nc.v2.u32 {%r1, %r2}, [%rd1+-8];");
  EXPECT_EQ(i.opcode, Opcode::k_ld);
  EXPECT_EQ(i.text(), "ld.global.nc.v2.u32");
  EXPECT_THAT(i.mods, ElementsAre(Mod::k_global, Mod::k_nc, Mod::k_v2, Mod::k_u32));
  EXPECT_THAT(i.types, ElementsAre(Type::kU32));
  EXPECT_EQ(i.space(), Space::kGlobal);
  EXPECT_TRUE(i.has(Mod::k_nc));
  EXPECT_FALSE(i.has(Mod::k_volatile));
  EXPECT_EQ(i.row->manual, "data-movement-and-conversion-instructions-ld-global-nc");
  EXPECT_EQ(i.operands[0].elements.size(), 2u);
  EXPECT_EQ(i.operands[1].offset, -8);
}

TEST(Instruction, TakesModifiersInAnyOrder) {
  EXPECT_EQ(one("ld.u32.global %r1, [%rd1];").row, one("ld.global.u32 %r1, [%rd1];").row);
  EXPECT_EQ(one("vote.ballot.sync.b32 %r1, %p1, -1;").row, one("vote.sync.ballot.b32 %r1, %p1, -1;").row);
  EXPECT_EQ(one("ld .global .u32 %r1, [%rd1];").row, one("ld.global.u32 %r1, [%rd1];").row);
}

TEST(Instruction, KeepsTypesInOrder) {
  EXPECT_THAT(one("cvt.rn.f32.s32 %f1, %r1;").types, ElementsAre(Type::kF32, Type::kS32));
  EXPECT_EQ(problem("mul.wide.s64 %rd1, %rd2, %rd3;").code, "D302");
  EXPECT_EQ(problem("tex.2d.v4.s32.u32 {%r1,%r2,%r3,%r4}, [%rd1, {%r1, %r2}];").code, "D302")
      << "types may not swap places";
}

TEST(Instruction, ReadsGuards) {
  const Instruction i = one("@!%p3 bra L; L:");
  EXPECT_TRUE(i.guard_negated);
  EXPECT_EQ(i.operands[0].kind, OperandKind::kLabel);
  EXPECT_EQ(problem("@%r1 exit;").code, "D303");
  EXPECT_EQ(problem("@%nothing exit;").code, "D304");
}

TEST(Instruction, ReadsPairsSinksAndNegations) {
  const Instruction shuffle = one("shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;");
  ASSERT_EQ(shuffle.operands[0].kind, OperandKind::kPair);
  EXPECT_EQ(shuffle.operands[0].elements.size(), 2u);
  EXPECT_EQ(shuffle.operands[4].immediate, ~std::uint64_t{0});
  const Instruction compare = one("setp.lt.and.s32 %p1|_, %r1, %r2, !%p3;");
  EXPECT_EQ(compare.operands[0].elements[1].kind, OperandKind::kSink);
  EXPECT_TRUE(compare.operands[3].negated);
  EXPECT_EQ(one("elect.sync _|%p1, -1;").operands[0].elements[0].kind, OperandKind::kSink);
}

TEST(Instruction, ReadsSpecialRegisters) {
  EXPECT_EQ(one("mov.u32 %r1, %ctaid.z;").operands[1].special, Special::kCtaidZ);
  EXPECT_EQ(one("mov.u32 %r1, %lanemask_lt;").operands[1].special, Special::kLanemaskLt);
  EXPECT_EQ(one("mov.u64 %rd1, %clock64;").operands[1].special, Special::kClock64);
  EXPECT_EQ(one("mov.u32 %r1, WARP_SZ;").operands[1].special, Special::kWarpSize);
  const Instruction environment = one("mov.b32 %r1, %envreg2;");
  EXPECT_EQ(environment.operands[1].special, Special::kEnvreg);
  EXPECT_EQ(environment.operands[1].immediate, 2u);
  EXPECT_EQ(one("mov.u32 %r1, %cluster_nctaid.y;").operands[1].special, Special::kClusterNctaidY);
  EXPECT_EQ(one("mov.pred %p1, %is_explicit_cluster;").operands[1].special, Special::kIsExplicitCluster);
}

TEST(Instruction, ReadsImmediates) {
  EXPECT_EQ(one("add.s32 %r1, %r1, -1;").operands[2].immediate, ~std::uint64_t{0});
  const Instruction single = one("add.f32 %f1, %f1, 0fBF800000;");
  EXPECT_EQ(single.operands[2].literal, Literal::kF32);
  EXPECT_EQ(single.operands[2].immediate, 0xBF800000u);
  EXPECT_EQ(one("add.f32 %f1, %f1, -1.5;").operands[2].literal, Literal::kF64);
  EXPECT_EQ(one("mov.u32 %r1, (3 + 4) * 2;").operands[1].immediate, 14u);
  EXPECT_EQ(one("mov.u32 %r1, !0;").operands[1].immediate, 1u);
  EXPECT_EQ(one("add.s32 %r1, %r1, 0xFFFFFFFF;").operands[2].immediate, 0xFFFFFFFFu);
}

TEST(Instruction, ReadsAddresses) {
  EXPECT_EQ(one("ld.param.u64 %rd1, [p];").operands[1].symbol_kind, SymbolKind::kParameter);
  const Instruction symbol = one("st.global.u32 [g+12], %r1;");
  EXPECT_EQ(symbol.operands[0].symbol_kind, SymbolKind::kModuleVariable);
  EXPECT_EQ(symbol.operands[0].offset, 12);
  const Instruction absolute = one("ld.shared.u32 %r1, [0x40];");
  EXPECT_EQ(absolute.operands[1].reg, kNoIndex);
  EXPECT_EQ(absolute.operands[1].offset, 0x40);
  EXPECT_EQ(one("ld.global.u32 %r1, [%rd1-4];").operands[1].offset, -4);
  const Instruction indexed = one("ld.global.u32 %r1, g[3];");
  EXPECT_EQ(indexed.operands[1].kind, OperandKind::kAddress);
  EXPECT_EQ(indexed.operands[1].offset, 3) << "g has elements of one byte";
  EXPECT_EQ(one("mov.u64 %rd1, g[5];").operands[1].kind, OperandKind::kSymbol);
}

TEST(Instruction, ReadsTextures) {
  const Instruction plain = one("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];");
  ASSERT_EQ(plain.operands[1].kind, OperandKind::kTexture);
  ASSERT_EQ(plain.operands[1].elements.size(), 2u);
  EXPECT_EQ(plain.operands[1].elements[1].elements.size(), 2u);
  const Instruction sampled = one("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, %r3];");
  ASSERT_EQ(sampled.operands[1].elements.size(), 3u);
  EXPECT_EQ(sampled.operands[1].elements[2].kind, OperandKind::kVector);
  EXPECT_EQ(one("sust.b.1d.b32.trap [%rd1, {%r1}], %r2;").operands[1].kind, OperandKind::kVector)
      << "a register stands for {it}";
}

TEST(Instruction, ResolvesTextureNames) {
  const ParseResult result = parse(
      ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { .reg .f32 %f<9>; tex.2d.v4.f32.f32 "
      "{%f1,%f2,%f3,%f4}, [image, {%f5,%f6}]; }\n.global .texref image;",
      "x");
  ASSERT_TRUE(result.ok());
  const Operand& texture = result.module.functions[0].body[0].operands[1];
  EXPECT_EQ(texture.elements[0].symbol_kind, SymbolKind::kModuleVariable);
  EXPECT_EQ(result.module.variables[texture.elements[0].symbol].type, Type::kTexref);
}

TEST(Instruction, ReadsVideoSelectors) {
  const Instruction i = one("vmad.s32.u32.s32.sat %r1, %r2.b3, -%r3.h1, %r4;");
  EXPECT_EQ(i.operands[1].selector, Mod::k_b3);
  EXPECT_EQ(i.operands[2].selector, Mod::k_h1);
  EXPECT_TRUE(i.operands[2].negated);
}

TEST(Instruction, UnpacksVectorRegisters) {
  const ParseResult result = parse_body(".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 %f1, v.x, v.w;");
  ASSERT_TRUE(result.ok()) << to_text(result.diagnostics[0]);
  const auto& body = result.module.functions[0].body;
  ASSERT_EQ(body[0].operands[0].elements.size(), 4u);
  EXPECT_EQ(body[1].operands[2].reg, body[0].operands[0].elements[3].reg);
}

TEST(Instruction, NamesTheUnknown) {
  const Diagnostic opcode = problem("adf.s32 %r1, %r2, %r3;");
  EXPECT_EQ(opcode.code, "D301");
  EXPECT_THAT(opcode.text, HasSubstr("'adf.s32'"));
  EXPECT_THAT(opcode.hint, HasSubstr("'add'"));
  const Diagnostic modifier = problem("add.nonsense.s32 %r1, %r2, %r3;");
  EXPECT_EQ(modifier.code, "D302");
  EXPECT_THAT(modifier.text, HasSubstr("'.nonsense'"));
  const Diagnostic foreign = problem("add.global.s32 %r1, %r2, %r3;");
  EXPECT_EQ(foreign.code, "D302");
  EXPECT_THAT(foreign.text, HasSubstr("'.global'"));
  const Diagnostic combination = problem("add.rn.s32 %r1, %r2, %r3;");
  EXPECT_EQ(combination.code, "D302");
  const Diagnostic missing = problem("shfl.sync.down %r1, %r2, 1, 31, -1;");
  EXPECT_EQ(missing.code, "D302");
  EXPECT_THAT(missing.text, HasSubstr(".b32"));
}

TEST(Instruction, RefusesOperandsOfTheWrongKind) {
  for (std::string_view text :
       {"add.s32 %r1, %r2;", "add.s32 %r1, %r2, %r3, %r4;", "add.s32 5, %r2, %r3;", "add.s32 %p1, %r2, %r3;",
        "add.s32 %r1, [%rd1], %r3;", "ld.global.u32 %r1, %rd1;", "ld.global.v2.u32 {%r1, 5}, [%rd1];",
        "setp.eq.s32 %r1, %r2, %r3;", "selp.b32 %r1, %r2, %r3, %r4;", "mov.u32 _, {%r1};",
        "st.global.v2.u32 [%rd1], {%r1, _};", "ld.global.v2.u32 {{%r1}, %r2}, [%rd1];", "mov.u32 %r1, !%r2;",
        "add.s32 -%r1, %r2, %r3;", "add.s32 %r1, %r2, -%r3;", "ld.global.u32 %r1, g;", "ld.global.u32 %r1, [%rd1.x];",
        "bar.sync [%rd1];"}) {
    const std::string code = problem(text).code;
    EXPECT_TRUE(code == "D303" || code == "D302" || code == "D300") << text << " gave " << code;
  }
}

TEST(Instruction, GoesOnAfterAnError) {
  const ParseResult result =
      parse_body("fooble.u32 %r1;\nadd.s32 %r1, {%zz, %r2}, 1;\nadd.s32 %r1, %r1, 1;\n{ bogus {%r1}; ret; }\nexit;");
  EXPECT_EQ(result.diagnostics.size(), 3u);
  const auto& body = result.module.functions[0].body;
  ASSERT_EQ(body.size(), 6u);
  EXPECT_EQ(body[0].opcode, Opcode::kInvalid);
  EXPECT_EQ(body[1].opcode, Opcode::kInvalid);
  EXPECT_EQ(body[2].opcode, Opcode::k_add);
  EXPECT_EQ(body[4].opcode, Opcode::k_ret);
  EXPECT_EQ(body[5].opcode, Opcode::k_exit);
}

TEST(Instruction, KnowsItsLine) {
  const ParseResult result = parse_body("@%p1\nbra\n  L;\nL: ret;");
  EXPECT_EQ(result.module.functions[0].body[0].ptx_line, 9);
  EXPECT_EQ(result.module.functions[0].body[1].ptx_line, 11);
}

}  // namespace
}  // namespace muscope::ptx
