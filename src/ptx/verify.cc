#include "ptx/verify.h"

#include <fmt/format.h>

namespace muscope::ptx {
namespace {

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  std::string run() {
    check_positions();
    for (const Variable& variable : module_.variables) check_variable(variable);
    for (const Function& function : module_.functions) check_function(function);
    return problem_;
  }

 private:
  void require(bool condition, std::string_view what) {
    if (!condition && problem_.empty()) problem_ = fmt::format("{}{}", where_, what);
  }

  void check_positions() {
    for (std::size_t i = 0; i < module_.locs.size(); ++i) {
      const Loc& loc = module_.locs[i];
      require(loc.file < module_.files.size(), "a position names no file");
      require(loc.inlined_at == kNoIndex || loc.inlined_at < i, "a call site does not stand before its position");
    }
  }

  void check_variable(const Variable& variable) {
    where_ = fmt::format("variable '{}': ", variable.name);
    require(variable.bytes.size() <= variable.size, "the initialiser is larger than the variable");
    require(variable.alignment > 0, "no alignment");
    for (const Relocation& relocation : variable.relocations) {
      require(relocation.offset + static_cast<std::uint64_t>(relocation.size) <= variable.size,
              "a relocation lies outside");
      const std::size_t limit =
          relocation.symbol_kind == SymbolKind::kFunction ? module_.functions.size() : module_.variables.size();
      require(relocation.symbol == kNoIndex || relocation.symbol < limit, "a relocation names nothing");
    }
  }

  void check_symbol(const Function& function, SymbolKind kind, std::uint32_t symbol) {
    std::size_t limit = 0;
    switch (kind) {
      case SymbolKind::kNone:
        break;
      case SymbolKind::kModuleVariable:
        limit = module_.variables.size();
        break;
      case SymbolKind::kLocalVariable:
        limit = function.variables.size();
        break;
      case SymbolKind::kParameter:
        limit = function.params.size();
        break;
      case SymbolKind::kReturnParameter:
        limit = function.returns.size();
        break;
      case SymbolKind::kFunction:
        limit = module_.functions.size();
        break;
      case SymbolKind::kPrototype:
        limit = function.prototypes.size();
        break;
      case SymbolKind::kBranchTargets:
      case SymbolKind::kCallTargets:
        limit = function.target_lists.size();
        break;
    }
    require(symbol < limit, "a symbol is out of range");
  }

  void check_operand(const Function& function, const Operand& operand, int depth) {
    switch (operand.kind) {
      case OperandKind::kRegister:
        require(operand.reg < function.registers.size(), "a register is out of range");
        break;
      case OperandKind::kSymbol:
        check_symbol(function, operand.symbol_kind, operand.symbol);
        break;
      case OperandKind::kAddress:
        if (operand.symbol_kind != SymbolKind::kNone) {
          check_symbol(function, operand.symbol_kind, operand.symbol);
        } else {
          require(operand.reg == kNoIndex || operand.reg < function.registers.size(),
                  "a base register is out of range");
        }
        break;
      case OperandKind::kLabel:
        require(operand.label < function.labels.size(), "a label is out of range");
        break;
      case OperandKind::kPair:
        require(operand.elements.size() == 2, "a pair does not have two elements");
        [[fallthrough]];
      case OperandKind::kVector:
      case OperandKind::kTexture:
        require(depth < 2, "vectors are nested");
        for (const Operand& element : operand.elements) check_operand(function, element, depth + 1);
        break;
      case OperandKind::kImmediate:
      case OperandKind::kSpecial:
      case OperandKind::kSink:
        break;
    }
  }

  void check_function(const Function& function) {
    where_ = fmt::format("function '{}': ", function.name);
    require(function.has_body || function.body.empty(), "a declaration has instructions");
    for (const Label& label : function.labels)
      require(label.position <= function.body.size(), "a label lies outside the body");
    for (const TargetList& list : function.target_lists) {
      for (std::uint32_t label : list.labels)
        require(label == kNoIndex || label < function.labels.size(), "a target is out of range");
      for (std::uint32_t f : list.functions)
        require(f == kNoIndex || f < module_.functions.size(), "a call target is out of range");
    }
    for (const Variable& variable : function.variables) check_variable(variable);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const Instruction& instruction = function.body[i];
      where_ = fmt::format("instruction {} of '{}': ", i, function.name);
      require(instruction.loc == kNoIndex || instruction.loc < module_.locs.size(), "a position is out of range");
      if (instruction.opcode == Opcode::kInvalid) continue;
      require(instruction.row != nullptr, "no row");
      require(instruction.guard == kNoIndex || instruction.guard < function.registers.size(),
              "the guard is out of range");
      for (const Operand& operand : instruction.operands) check_operand(function, operand, 0);
    }
  }

  const Module& module_;
  std::string where_;
  std::string problem_;
};

}  // namespace

std::string find_inconsistency(const Module& module) { return Verifier(module).run(); }

}  // namespace muscope::ptx
