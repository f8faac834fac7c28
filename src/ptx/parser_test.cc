// Modules, functions, names, constants, initialisers.
#include "ptx/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "ptx/verify.h"

namespace muscope::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";

Module good(std::string_view text) {
  const ParseResult result = parse(std::string(kHead) + std::string(text), "test.ptx");
  for (const Diagnostic& diagnostic : result.diagnostics) ADD_FAILURE() << to_text(diagnostic);
  EXPECT_EQ(find_inconsistency(result.module), "");
  return result.module;
}

/// The codes of the errors in `text`, which follows the head.
std::vector<std::string> codes(std::string_view text) {
  const ParseResult result = parse(std::string(kHead) + std::string(text), "test.ptx");
  EXPECT_EQ(find_inconsistency(result.module), "");
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : result.diagnostics) out.push_back(diagnostic.code);
  return out;
}

Module kernel(std::string_view body) { return good(".visible .entry k()\n{\n" + std::string(body) + "\n}\n"); }

TEST(Parser, ReadsTheHead) {
  const ParseResult result = parse(".version 7.8 // comment\n.target sm_90a, debug\n.address_size 64\n", "x");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.module.version_major, 7);
  EXPECT_EQ(result.module.version_minor, 8);
  EXPECT_EQ(result.module.target, "sm_90a");
  EXPECT_EQ(result.module.address_size, 64);
  EXPECT_EQ(result.module.name, "x");
}

TEST(Parser, AllowsATrailingNul) { EXPECT_TRUE(parse(std::string(kHead) + '\0', "x").ok()); }

TEST(Parser, ReadsVariables) {
  const Module m = good(R"(
.global .align 8 .u64 table[2] = {generic(a), f};
.visible .const .align 4 .f32 c[4] = {1.0, 0f40000000, -3, 4.5};
.extern .shared .align 16 .b8 dynamic[];
.global .attribute(.managed) .align 4 .u32 managed = 7;
.global .b16 grid[2][3] = {{1, 2}, {3, 4, 5}};
.global .v4 .f32 vector = {1.0, 2.0, 3.0, 4.0};
.global .b8 pointer[16] = {0xFF(a), 0xFF00(generic(a+2)), 1};
.weak .global .u32 a;
.global .f64 d = 0d400921FB54442D18;
.global .u32 sum = (1 << 4) + 3 * 2 - -1;
.global .b8 text[] = "hi\n";
.func f() { ret; }
)");
  ASSERT_EQ(m.variables.size(), 11u);
  const auto variable = [&](std::string_view name) -> const Variable& { return m.variables.at(m.find_variable(name)); };
  const Variable& table = variable("table");
  EXPECT_EQ(table.alignment, 8);
  EXPECT_EQ(table.size, 16u);
  ASSERT_EQ(table.relocations.size(), 2u);
  EXPECT_TRUE(table.relocations[0].generic);
  EXPECT_EQ(table.relocations[0].symbol, m.find_variable("a"));
  EXPECT_EQ(table.relocations[1].symbol_kind, SymbolKind::kFunction);
  EXPECT_EQ(table.relocations[1].symbol, m.find_function("f"));
  EXPECT_EQ(table.relocations[1].offset, 8u);
  EXPECT_THAT(variable("c").bytes, ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0xc0, 0, 0, 0x90, 0x40));
  EXPECT_EQ(variable("c").linkage, Linkage::kVisible);
  EXPECT_EQ(variable("dynamic").size, 0u);
  EXPECT_EQ(variable("dynamic").linkage, Linkage::kExtern);
  EXPECT_EQ(variable("dynamic").space, Space::kShared);
  EXPECT_TRUE(variable("managed").managed);
  EXPECT_THAT(variable("managed").bytes, ElementsAre(7, 0, 0, 0));
  EXPECT_THAT(variable("grid").bytes, ElementsAre(1, 0, 2, 0, 0, 0, 3, 0, 4, 0, 5, 0));
  EXPECT_EQ(variable("grid").size, 12u);
  EXPECT_EQ(variable("vector").size, 16u);
  EXPECT_EQ(variable("vector").alignment, 16);
  const Variable& pointer = variable("pointer");
  ASSERT_EQ(pointer.relocations.size(), 2u);
  EXPECT_EQ(pointer.relocations[1].shift, 8);
  EXPECT_EQ(pointer.relocations[1].size, 1);
  EXPECT_EQ(pointer.relocations[1].addend, 2);
  EXPECT_TRUE(pointer.relocations[1].generic);
  EXPECT_EQ(pointer.bytes[2], 1);
  EXPECT_EQ(variable("a").linkage, Linkage::kWeak);
  EXPECT_THAT(variable("d").bytes, ElementsAre(0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40));
  EXPECT_EQ(variable("sum").bytes[0], 23);
  EXPECT_THAT(variable("text").bytes, ElementsAre('h', 'i', '\n'));
  EXPECT_EQ(variable("text").size, 3u);
}

TEST(Parser, ReadsFunctionHeads) {
  const Module m = good(R"(
.extern .func (.param .b32 r) printf_like (.param .b64 a, .param .b64 b) ;
.func later();
.visible .entry big(
  .param .u64 .ptr .global .align 4 pointer,
  .param .align 8 .b8 record[24],
  .param .f64 number
)
.maxntid 256, 2
.minnctapersm 3
.reqnctapercluster 2, 1, 1
{ ret; }
.func (.reg .b32 out) regs (.reg .pred %flag, .reg .f64 %x) .noreturn { ret; }
.weak .func later() { ret; }
)");
  ASSERT_EQ(m.functions.size(), 4u);
  EXPECT_EQ(m.functions[0].linkage, Linkage::kExtern);
  EXPECT_FALSE(m.functions[0].has_body);
  EXPECT_EQ(m.functions[0].params.size(), 2u);
  EXPECT_EQ(m.functions[0].returns[0].type, Type::kB32);
  EXPECT_EQ(m.functions[1].name, "later");
  EXPECT_TRUE(m.functions[1].has_body) << "the definition replaces the declaration";
  const Function& big = m.functions[2];
  EXPECT_TRUE(big.is_entry);
  EXPECT_EQ(big.linkage, Linkage::kVisible);
  ASSERT_EQ(big.params.size(), 3u);
  EXPECT_EQ(big.params[0].size, 8u);
  EXPECT_EQ(big.params[0].alignment, 8);
  EXPECT_EQ(big.params[1].size, 24u);
  EXPECT_EQ(big.params[1].alignment, 8);
  EXPECT_EQ(big.params[1].name, "record");
  EXPECT_THAT(big.maxntid, ElementsAre(256u, 2u, 1u));
  EXPECT_THAT(big.reqntid, ElementsAre(0u, 0u, 0u));
  EXPECT_THAT(big.reqnctapercluster, ElementsAre(2u, 1u, 1u));
  EXPECT_EQ(big.minnctapersm, 3u);
  const Function& regs = m.functions[3];
  EXPECT_TRUE(regs.noreturn);
  EXPECT_TRUE(regs.returns[0].is_register);
  EXPECT_EQ(regs.registers.at(regs.params[0].reg).type, Type::kPred);
  EXPECT_EQ(regs.registers.at(regs.params[1].reg).name, "%x");
}

TEST(Parser, CreatesTheRegistersThatAreUsed) {
  const Module m = kernel(".reg .b32 %r<100>;\n.reg .pred %p, %q;\nadd.s32 %r7, %r7, %r99;\n@%p ret;\nret;");
  const Function& f = m.functions[0];
  ASSERT_EQ(f.registers.size(), 4u);
  EXPECT_EQ(f.registers[2].name, "%r7");
  EXPECT_EQ(f.registers[2].type, Type::kB32);
  EXPECT_EQ(f.body[0].operands[0].reg, f.body[0].operands[1].reg);
  EXPECT_EQ(f.registers[f.body[0].operands[2].reg].name, "%r99");
  EXPECT_EQ(f.body[1].guard, 0u);
}

TEST(Parser, RefusesRegistersBeyondTheirRange) {
  EXPECT_THAT(codes(".func f() { .reg .b32 %r<4>; mov.u32 %r3, 1; mov.u32 %r4, 1; mov.u32 %r03, 1; }"),
              ElementsAre("D304", "D304"));
}

TEST(Parser, KeepsBlocksApart) {
  const Module m = kernel(R"(
  .reg .b32 %r<4>;
  { .reg .b32 t; .reg .pred p; mov.u32 t, 1; loop: @p bra loop; bra end; }
  { .reg .b64 t; mov.u64 t, 2; loop: bra loop; }
  bra end;
  end: ret;)");
  const Function& f = m.functions[0];
  EXPECT_EQ(f.registers[f.body[0].operands[0].reg].type, Type::kB32);
  EXPECT_EQ(f.registers[f.body[3].operands[0].reg].type, Type::kB64);
  ASSERT_EQ(f.labels.size(), 3u);
  EXPECT_EQ(f.labels[f.body[1].operands[0].label].position, 1u);
  EXPECT_EQ(f.labels[f.body[4].operands[0].label].position, 4u);
  EXPECT_EQ(f.labels[f.body[2].operands[0].label].name, "end");
  EXPECT_EQ(f.body[2].operands[0].label, f.body[5].operands[0].label);
  EXPECT_EQ(f.labels[f.body[5].operands[0].label].position, 6u);
}

TEST(Parser, PrefersTheInnerLabelEvenWhenTheOuterStandsFirst) {
  const Module m = kernel("again: { bra again; again: ret; }");
  const Function& f = m.functions[0];
  EXPECT_EQ(f.labels[f.body[0].operands[0].label].position, 1u);
}

TEST(Parser, ResolvesCalls) {
  const Module m = good(R"(
.visible .entry k() {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  proto : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) ;
  targets : .calltargets g, h;
  { .param .b64 param0; .param .b32 retval0;
    st.param.b64 [param0+0], %rd1;
    call.uni (retval0), g, (param0);
    ld.param.b32 %r1, [retval0+0];
    call (retval0), %rd2, (param0, param0), proto;
    call (retval0), %rd2, (param0), targets;
    call h;
    call noargs, (1, %r1);
  }
  ret;
}
.func (.param .b32 r) g (.param .b64 a) { ret; }
.func h() { ret; }
.extern .func noargs(.param .b32 x, .param .b32 y);
)");
  const Function& f = m.functions[m.find_function("k")];
  const Instruction& direct = f.body[1];
  EXPECT_EQ(direct.operands[CallOperands::kReturns].elements[0].symbol_kind, SymbolKind::kLocalVariable);
  EXPECT_EQ(f.variables[direct.operands[CallOperands::kReturns].elements[0].symbol].name, "retval0");
  EXPECT_EQ(direct.operands[CallOperands::kCallee].symbol_kind, SymbolKind::kFunction);
  EXPECT_EQ(direct.operands[CallOperands::kCallee].symbol, m.find_function("g"));
  EXPECT_EQ(direct.operands.size(), 3u);
  const Instruction& by_prototype = f.body[3];
  EXPECT_EQ(by_prototype.operands[CallOperands::kCallee].kind, OperandKind::kRegister);
  EXPECT_EQ(by_prototype.operands[CallOperands::kPrototype].symbol_kind, SymbolKind::kPrototype);
  ASSERT_EQ(f.prototypes.size(), 1u);
  EXPECT_EQ(f.prototypes[0].params[1].size, 16u);
  EXPECT_EQ(f.body[4].operands[CallOperands::kPrototype].symbol_kind, SymbolKind::kCallTargets);
  EXPECT_THAT(f.target_lists[0].functions, ElementsAre(m.find_function("g"), m.find_function("h")));
  EXPECT_TRUE(f.body[5].operands[CallOperands::kArguments].elements.empty());
  EXPECT_EQ(f.body[6].operands[CallOperands::kArguments].elements[0].immediate, 1u);
}

TEST(Parser, ResolvesBranchTables) {
  const Module m = kernel(R"(.reg .b32 %r<3>;
  ts: .branchtargets B, A, B;
  brx.idx %r1, ts;
  A: ret;
  B: ret;)");
  const Function& f = m.functions[0];
  EXPECT_EQ(f.body[0].operands[1].symbol_kind, SymbolKind::kBranchTargets);
  ASSERT_EQ(f.target_lists.size(), 1u);
  const auto& labels = f.target_lists[0].labels;
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(f.labels[labels[0]].position, 2u);
  EXPECT_EQ(f.labels[labels[1]].position, 1u);
  EXPECT_EQ(labels[0], labels[2]);
}

TEST(Parser, ResolvesNamesThatComeLater) {
  const Module m = good(
      R"(.entry k() { .reg .b64 %rd<3>; .reg .b32 %r<2>; mov.u64 %rd1, later+8; mov.u64 %rd2, f; ld.global.u32 %r1, [later+4]; ret; }
.global .b32 later[4];
.func f() { ret; })");
  const Function& k = m.functions[0];
  EXPECT_EQ(k.body[0].operands[1].symbol_kind, SymbolKind::kModuleVariable);
  EXPECT_EQ(k.body[0].operands[1].offset, 8);
  EXPECT_EQ(k.body[1].operands[1].symbol_kind, SymbolKind::kFunction);
  EXPECT_EQ(k.body[2].operands[1].kind, OperandKind::kAddress);
  EXPECT_EQ(k.body[2].operands[1].symbol, 0u);
  EXPECT_EQ(k.body[2].operands[1].offset, 4);
}

TEST(Parser, FollowsAliases) {
  const Module m = good(R"(.func real() { ret; }
.visible .func other();
.alias other, real;
.entry k() { call other; ret; })");
  const std::uint32_t other = m.find_function("other");
  EXPECT_EQ(m.functions[other].alias_of, m.find_function("real"));
  EXPECT_EQ(m.functions[m.find_function("k")].body[0].operands[CallOperands::kCallee].symbol, m.find_function("real"));
}

TEST(Parser, SkipsSections) {
  const Module m = good(
      ".section .debug_info { .b32 1, 2\n.b8 3 L: .b64 .debug_abbrev }\n.section .debug_loc { }\n@@DWARF .byte "
      "3\n.global .u32 x;");
  EXPECT_EQ(m.variables.size(), 1u);
}

TEST(Parser, TellsWhatIsWrong) {
  EXPECT_THAT(codes(".global .u32 a[0x10000000000];"), ElementsAre("D306"));
  EXPECT_THAT(codes(".global .u32 a[65536][65536][65536];"), ElementsAre("D306"));
  EXPECT_THAT(codes(".global .align 3 .u32 a;"), ElementsAre("D306"));
  EXPECT_THAT(codes(".global .u32 a; .global .u32 a;"), ElementsAre("D305"));
  EXPECT_THAT(codes(".extern .global .u32 a; .global .u32 a;"), ElementsAre());
  EXPECT_THAT(codes(".global .u32 a[2] = {1, 2, 3};"), ElementsAre("D320"));
  EXPECT_THAT(codes(".global .u32 a = nowhere;"), ElementsAre("D304"));
  EXPECT_THAT(codes(".global .u16 a = b;"), ElementsAre("D320"));
  EXPECT_THAT(codes(".global .b8 a[2] = {0xF0(b)}; .global .u32 b;"), ElementsAre("D320"));
  EXPECT_THAT(codes(".global .b8 a[2][0x100000000] = {{1}, {2}};"), ElementsAre("D306"));
  EXPECT_THAT(codes(".nonsense;"), ElementsAre("D307"));
  EXPECT_THAT(codes(".func f() { ret; } .func f() { ret; }"), ElementsAre("D305"));
  EXPECT_THAT(codes(".func f() { bra nowhere; }"), ElementsAre("D304"));
  EXPECT_THAT(codes(".func f() { call nowhere; }"), ElementsAre("D304"));
  EXPECT_THAT(codes(".func f() { l: l: ret; }"), ElementsAre("D305"));
  EXPECT_THAT(codes(".func f() { .reg .b32 a; .reg .b32 a; }"), ElementsAre("D305"));
  EXPECT_THAT(codes(".func f() { ret;"), ElementsAre("D309"));
  EXPECT_THAT(codes(".func f("), ElementsAre("D309"));
  EXPECT_THAT(codes(".global .u32 a = 1 / 0;"), ElementsAre("D306"));
  EXPECT_THAT(codes(".func f() { .reg .b32 %r<99999999>; }"), ElementsAre("D306"));
  EXPECT_THAT(codes(".global .u32 a = 0f12;"), ElementsAre("D321"));
}

TEST(Parser, LocatesItsMessages) {
  const ParseResult result =
      parse(std::string(kHead) + ".func f() {\n  .reg .b32 %r<2>;\n  mov.u32 %r1, %x;\n}\n", "a.ptx");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].where.file, "a.ptx");
  EXPECT_EQ(result.diagnostics[0].where.line, 6);
  EXPECT_THAT(result.diagnostics[0].text, HasSubstr("'%x'"));
}

TEST(Parser, RefusesTextThatIsNoPtx) {
  for (std::string_view text : {"hello world", "", "\177ELF", "{}{}{}", "}}}}", ".func f() { ret; }"}) {
    const ParseResult result = parse(text, "x");
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.diagnostics[0].code, "D310") << text;
  }
}

TEST(Parser, BoundsItsRecursion) {
  EXPECT_THAT(codes(".global .u32 a = " + std::string(100'000, '(') + "1;"), testing::Contains("D308"));
  EXPECT_THAT(codes(".global .u32 a = " + std::string(100'000, '-') + "1;"), testing::Contains("D308"));
  EXPECT_THAT(codes(".func f() {" + std::string(100'000, '{') + std::string(100'000, '}') + " ret; }"),
              testing::Contains("D308"));
  std::string dimensions;
  for (int i = 0; i < 1000; ++i) dimensions += "[1]";
  EXPECT_THAT(codes(".global .u32 a" + dimensions + ";"), ElementsAre("D308"));
}

TEST(Parser, StopsTellingAfterManyErrors) {
  std::string text = ".func f() {";
  for (int i = 0; i < 5000; ++i) text += "fooble;\n";
  const ParseResult result = parse(std::string(kHead) + text + "}", "x");
  ASSERT_EQ(result.diagnostics.size(), 201u);
  EXPECT_EQ(result.diagnostics.back().code, "D322");
  EXPECT_EQ(result.module.functions[0].body.size(), 5000u);
}

}  // namespace
}  // namespace muscope::ptx
