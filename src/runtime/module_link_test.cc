#include "runtime/module_link.h"

#include <gtest/gtest.h>

namespace muscope::runtime {
namespace {

using ptx::kNoIndex;
using ptx::Linkage;
using ptx::SymbolKind;

ptx::Variable variable(const std::string& name, Linkage linkage, std::uint64_t size) {
  ptx::Variable v;
  v.name = name;
  v.linkage = linkage;
  v.size = size;
  return v;
}

ptx::Function function(const std::string& name, Linkage linkage, bool body) {
  ptx::Function f;
  f.name = name;
  f.linkage = linkage;
  f.has_body = body;
  return f;
}

ptx::Operand symbol(SymbolKind kind, std::uint32_t index) {
  ptx::Operand operand;
  operand.kind = ptx::OperandKind::kSymbol;
  operand.symbol_kind = kind;
  operand.symbol = index;
  return operand;
}

// First unit: declares `shared` and `helper`, has an internal `text`, calls helper and reads all. Second: defines them,
// has a `text` of its own.
std::vector<ptx::Module> two_units() {
  ptx::Module one, two;
  one.target = "sm_90";
  one.files = {"one.cu"};
  one.locs = {{0, 10, 1, "", kNoIndex}};
  one.variables = {variable("text", Linkage::kInternal, 3), variable("shared", Linkage::kExtern, 0)};
  one.functions = {function("helper", Linkage::kExtern, false), function("kernel", Linkage::kVisible, true)};
  ptx::Instruction use;
  use.loc = 0;
  use.operands = {symbol(SymbolKind::kModuleVariable, 0), symbol(SymbolKind::kModuleVariable, 1),
                  symbol(SymbolKind::kFunction, 0)};
  one.functions[1].body = {use};

  two.files = {"two.cu"};
  two.locs = {{0, 20, 1, "", kNoIndex}, {0, 21, 1, "inlined", 0}};
  two.variables = {variable("text", Linkage::kInternal, 5), variable("shared", Linkage::kVisible, 64)};
  two.variables[1].relocations = {{0, 8, 0, true, SymbolKind::kModuleVariable, 0, 0}};
  two.functions = {function("helper", Linkage::kVisible, true)};
  ptx::Instruction inner;
  inner.loc = 1;
  ptx::Operand list;
  list.kind = ptx::OperandKind::kVector;
  list.elements = {symbol(SymbolKind::kModuleVariable, 0)};
  inner.operands = {list};
  two.functions[0].body = {inner};
  std::vector<ptx::Module> units;
  units.push_back(std::move(one));
  units.push_back(std::move(two));
  return units;
}

TEST(ModuleLink, OneModuleStaysAsItIs) {
  std::vector<ptx::Module> units = two_units();
  units.pop_back();
  const ptx::Module linked = link_modules(std::move(units), "app");
  EXPECT_EQ(linked.functions.size(), 2U);
  EXPECT_EQ(linked.target, "sm_90");
}

TEST(ModuleLink, DefinitionsReplaceDeclarations) {
  const ptx::Module linked = link_modules(two_units(), "app");
  ASSERT_EQ(linked.functions.size(), 2U);
  ASSERT_EQ(linked.variables.size(), 3U);
  const ptx::Function& kernel = linked.functions[1];
  ASSERT_EQ(kernel.name, "kernel");
  const auto& operands = kernel.body.at(0).operands;
  EXPECT_EQ(linked.variables.at(operands[0].symbol).size, 3U);   // its own `text`
  EXPECT_EQ(linked.variables.at(operands[1].symbol).size, 64U);  // the definition of `shared`
  EXPECT_TRUE(linked.functions.at(operands[2].symbol).has_body);
}

TEST(ModuleLink, InternalNamesStayApart) {
  const ptx::Module linked = link_modules(two_units(), "app");
  const ptx::Function& helper = linked.functions[0];
  ASSERT_EQ(helper.name, "helper");
  const ptx::Variable& text = linked.variables.at(helper.body.at(0).operands[0].elements[0].symbol);
  EXPECT_EQ(text.size, 5U);
  EXPECT_NE(text.name, "text");
  const ptx::Variable& shared = linked.variables.at(linked.find_variable("shared"));
  ASSERT_EQ(shared.relocations.size(), 1U);
  EXPECT_EQ(linked.variables.at(shared.relocations[0].symbol).size, 5U);
}

TEST(ModuleLink, SourcePositionsFollow) {
  const ptx::Module linked = link_modules(two_units(), "app");
  const ptx::Loc& inner = linked.locs.at(linked.functions[0].body.at(0).loc);
  EXPECT_EQ(inner.line, 21);
  EXPECT_EQ(linked.files.at(inner.file), "two.cu");
  EXPECT_EQ(linked.locs.at(inner.inlined_at).line, 20);
  EXPECT_EQ(linked.files.at(linked.locs.at(linked.functions[1].body.at(0).loc).file), "one.cu");
}

TEST(ModuleLink, OfWeakDefinitionsTheFirstStaysUnlessAStrongOneComes) {
  std::vector<ptx::Module> units(3);
  units[0].variables = {variable("v", Linkage::kWeak, 1)};
  units[1].variables = {variable("v", Linkage::kWeak, 2)};
  units[2].variables = {variable("w", Linkage::kVisible, 9)};
  EXPECT_EQ(link_modules(units, "app").variables.at(0).size, 1U);
  units[2].variables[0].name = "v";
  EXPECT_EQ(link_modules(units, "app").variables.at(0).size, 9U);
}

}  // namespace
}  // namespace muscope::runtime
