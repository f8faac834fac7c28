// Operands of PTX instructions -> places, literals and addresses.
#include <algorithm>
#include <bit>
#include <cstring>

#include "code/function_lowering.h"

namespace muscope::code {
namespace {

using ptx::OperandKind;
using ptx::Special;
using ptx::SymbolKind;
using ptx::Type;

Place bank_place(Bank bank, std::uint32_t slot) {
  return Place{(std::uint32_t{bank} << Place::kBankShift) | slot * kSlotBytes};
}

/// The bits of a literal as `type` wants them (PTX ISA, "Constants": an f64 literal may stand for an f32; ptxas takes
/// an f32 literal in an f64 place by its bits).
std::uint64_t literal_bits(const ptx::Operand& operand, Type type) {
  if (type == Type::kF32 && operand.literal == ptx::Literal::kF64)
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.immediate)));
  return operand.immediate;
}

}  // namespace

Place FunctionLowering::place_of_register(std::uint32_t reg) const {
  if (reg >= f_.registers.size()) return Place{};
  return alias_[reg].known ? alias_[reg].place : registers_.place.empty() ? Place{} : registers_.place[reg];
}

unsigned FunctionLowering::lane_bytes(const ptx::Operand& operand, Type type) const {
  if (operand.kind == OperandKind::kRegister && operand.reg < f_.registers.size())
    return static_cast<unsigned>(std::max(2, ptx::size_of(f_.registers[operand.reg].type)));
  return static_cast<unsigned>(std::max(2, ptx::size_of(type)));
}

Place FunctionLowering::place(const ptx::Operand& operand, Type type) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      if (const Place p = place_of_register(operand.reg); p.exists()) return p;
      break;
    case OperandKind::kImmediate:
      return b_.pool.literal(literal_bits(operand, type),
                             type == Type::kPred ? 4 : static_cast<unsigned>(std::max(2, ptx::size_of(type))));
    case OperandKind::kSpecial:
      if (const auto p = special_place(operand)) return *p;
      break;
    case OperandKind::kSymbol:
      if (const auto p = symbol_place(operand, static_cast<unsigned>(std::max(4, ptx::size_of(type))))) return *p;
      break;
    default:
      break;
  }
  missing_ = true;
  return Place{};
}

Place FunctionLowering::predicate(const ptx::Operand& operand, bool& negated) {
  negated = operand.negated;
  if (operand.kind == OperandKind::kImmediate) return b_.pool.literal(operand.immediate ? 0xffffffffu : 0, 4);
  if (operand.kind == OperandKind::kSpecial)
    if (const auto p = special_place(operand)) return *p;
  const Place found = place_of_register(operand.reg);
  if (!found.exists()) missing_ = true;
  return found;
}

bool FunctionLowering::is_local_symbol(const ptx::Operand& operand) const {
  switch (operand.symbol_kind) {
    case SymbolKind::kLocalVariable: {
      if (operand.symbol >= f_.variables.size()) return false;
      const ptx::Space space = f_.variables[operand.symbol].space;
      return space == ptx::Space::kLocal || space == ptx::Space::kParam;
    }
    case SymbolKind::kParameter:
      return !entry_;
    case SymbolKind::kReturnParameter:
      return true;
    default:
      return false;
  }
}

std::uint32_t FunctionLowering::local_offset(const ptx::Operand& operand) const {
  if (operand.symbol_kind == SymbolKind::kLocalVariable) return variable_local_[operand.symbol];
  // Own parameters, then results, each at its alignment: the order of lay_out_locals().
  std::uint32_t at = 0;
  const auto walk = [&](const std::vector<ptx::Parameter>& list, std::uint32_t stop) {
    for (std::uint32_t k = 0; k < list.size(); ++k) {
      const std::uint32_t alignment = static_cast<std::uint32_t>(std::max(list[k].alignment, 1));
      at = (at + alignment - 1) / alignment * alignment;
      if (k == stop) return true;
      at += static_cast<std::uint32_t>(list[k].size);
    }
    return false;
  };
  if (operand.symbol_kind == SymbolKind::kParameter) {
    walk(f_.params, operand.symbol);
    return at;
  }
  if (!entry_) walk(f_.params, kNone);
  walk(f_.returns, operand.symbol);
  return at;
}

/// The value of a symbol that is the same for every thread and activation.
std::optional<std::uint64_t> FunctionLowering::symbol_value(const ptx::Operand& operand) const {
  const std::uint64_t offset = static_cast<std::uint64_t>(operand.offset);
  switch (operand.symbol_kind) {
    case SymbolKind::kModuleVariable: {
      if (operand.symbol >= b_.module->variables.size()) return std::nullopt;
      const ptx::Variable& variable = b_.module->variables[operand.symbol];
      if (variable.space == ptx::Space::kShared) {
        const auto at = b_.shared_offset.find({kNone, operand.symbol});
        if (at == b_.shared_offset.end()) return std::nullopt;
        return at->second + offset;
      }
      const LoadedModule::Symbol* symbol = b_.loaded.symbol(variable.name);
      if (!symbol) return std::nullopt;
      return symbol->address + offset;
    }
    case SymbolKind::kLocalVariable: {
      if (operand.symbol >= f_.variables.size()) return std::nullopt;
      const ptx::Variable& variable = f_.variables[operand.symbol];
      if (variable.space == ptx::Space::kShared) {
        const auto at = b_.shared_offset.find({ptx_index_, operand.symbol});
        if (at == b_.shared_offset.end()) return std::nullopt;
        return at->second + offset;
      }
      if (variable.space == ptx::Space::kLocal && entry_) return variable_local_[operand.symbol] + offset;
      if (variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst) {
        const LoadedModule::Symbol* symbol = b_.loaded.symbol(f_.name + "::" + variable.name);
        if (symbol) return symbol->address + offset;
      }
      return std::nullopt;
    }
    case SymbolKind::kParameter:
      if (!entry_ || operand.symbol >= k_.params.size()) return std::nullopt;
      return kParamWindow + k_.params[operand.symbol].offset + offset;
    case SymbolKind::kFunction:
      return kFunctionWindow + std::uint64_t{operand.symbol} * 16;
    default:
      return std::nullopt;
  }
}

std::optional<Place> FunctionLowering::symbol_place(const ptx::Operand& operand, unsigned lane_bytes) {
  const auto value = symbol_value(operand);
  if (!value) return std::nullopt;
  const ptx::Variable* variable = nullptr;
  if (operand.symbol_kind == SymbolKind::kModuleVariable) variable = &b_.module->variables[operand.symbol];
  if (operand.symbol_kind == SymbolKind::kLocalVariable) variable = &f_.variables[operand.symbol];
  const bool ranked = variable && variable->space == ptx::Space::kShared && lane_bytes >= 4;
  if (!ranked) return b_.pool.literal(*value, lane_bytes);
  std::uint32_t n = 0;
  for (; n < k_.shared_addresses.size(); ++n)
    if (k_.shared_addresses[n].offset == *value && k_.shared_addresses[n].lane_bytes == lane_bytes) break;
  if (n == k_.shared_addresses.size()) k_.shared_addresses.push_back({*value, lane_bytes});
  return bank_place(kBlockBank, kBlockSlots + 2 * n);
}

std::optional<Place> FunctionLowering::special_place(const ptx::Operand& operand) {
  using L = ConstSlot::Launch;
  switch (operand.special) {
    case Special::kTidX:
      return bank_place(kThreadBank, kTidX);
    case Special::kTidY:
      return bank_place(kThreadBank, kTidY);
    case Special::kTidZ:
      return bank_place(kThreadBank, kTidZ);
    case Special::kWarpid:
      return bank_place(kThreadBank, kWarpId);
    case Special::kCtaidX:
      return bank_place(kBlockBank, kCtaidX);
    case Special::kCtaidY:
      return bank_place(kBlockBank, kCtaidY);
    case Special::kCtaidZ:
      return bank_place(kBlockBank, kCtaidZ);
    case Special::kSmid:
      return bank_place(kBlockBank, kSmId);
    case Special::kNtidX:
      return b_.pool.launch(L::kNtidX);
    case Special::kNtidY:
      return b_.pool.launch(L::kNtidY);
    case Special::kNtidZ:
      return b_.pool.launch(L::kNtidZ);
    case Special::kNctaidX:
      return b_.pool.launch(L::kNctaidX);
    case Special::kNctaidY:
      return b_.pool.launch(L::kNctaidY);
    case Special::kNctaidZ:
      return b_.pool.launch(L::kNctaidZ);
    case Special::kNwarpid:
      return b_.pool.launch(L::kNwarpId);
    case Special::kNsmid:
      return b_.pool.launch(L::kNsmId);
    case Special::kLaneid:
      return b_.pool.launch(L::kLaneId);
    case Special::kLanemaskEq:
      return b_.pool.launch(L::kLanemaskEq);
    case Special::kLanemaskLe:
      return b_.pool.launch(L::kLanemaskLe);
    case Special::kLanemaskLt:
      return b_.pool.launch(L::kLanemaskLt);
    case Special::kLanemaskGe:
      return b_.pool.launch(L::kLanemaskGe);
    case Special::kLanemaskGt:
      return b_.pool.launch(L::kLanemaskGt);
    case Special::kDynamicSmemSize:
      return b_.pool.launch(L::kDynamicShared);
    case Special::kTotalSmemSize:
      return b_.pool.launch(L::kTotalShared);
    case Special::kAggrSmemSize:
      return b_.pool.launch(L::kAggregateShared);
    case Special::kReservedSmemBegin:
      return b_.pool.literal(0, 4);
    case Special::kReservedSmemEnd:
      return b_.pool.literal(kReservedSharedUsed, 4);
    case Special::kReservedSmemCap:
      return b_.pool.literal(kSharedBase, 4);
    case Special::kWarpSize:
      return b_.pool.literal(kGroupLanes, 4);
    case Special::kGridid:
    case Special::kCurrentGraphExec:
      return b_.pool.literal(0, 4);
    // A launch without clusters is a grid of clusters of one block (PTX ISA, "%cluster_ctaid").
    case Special::kClusterCtaidX:
      return bank_place(kBlockBank, kClusterCtaidX);
    case Special::kClusterCtaidY:
      return bank_place(kBlockBank, kClusterCtaidY);
    case Special::kClusterCtaidZ:
      return bank_place(kBlockBank, kClusterCtaidZ);
    case Special::kClusterCtarank:
      return bank_place(kBlockBank, kClusterRank);
    case Special::kIsExplicitCluster:
      return b_.pool.launch(L::kIsExplicitCluster);
    case Special::kClusterNctaidX:
      return b_.pool.launch(L::kClusterNctaidX);
    case Special::kClusterNctaidY:
      return b_.pool.launch(L::kClusterNctaidY);
    case Special::kClusterNctaidZ:
      return b_.pool.launch(L::kClusterNctaidZ);
    case Special::kClusterNctarank:
      return b_.pool.launch(L::kClusterNctarank);
    case Special::kClusteridX:
      return bank_place(kBlockBank, kClusterIdX);
    case Special::kClusteridY:
      return bank_place(kBlockBank, kClusterIdY);
    case Special::kClusteridZ:
      return bank_place(kBlockBank, kClusterIdZ);
    case Special::kNclusteridX:
      return b_.pool.launch(L::kNclusteridX);
    case Special::kNclusteridY:
      return b_.pool.launch(L::kNclusteridY);
    case Special::kNclusteridZ:
      return b_.pool.launch(L::kNclusteridZ);
    // Cooperative groups take the grid's barrier from here, high half first; the rest of the environment is 0.
    case Special::kEnvreg:
      if (operand.immediate == 1) return b_.pool.launch(L::kGridWorkspaceHigh);
      if (operand.immediate == 2) return b_.pool.launch(L::kGridWorkspaceLow);
      return b_.pool.literal(0, 4);
    default:
      return std::nullopt;  // %clock and others that change while the kernel runs
  }
}

/// Sets op.a, op.offset, op.address_is_64 and op.local_relative from [base + offset].
void FunctionLowering::address(Op& op, const ptx::Operand& operand) {
  op.offset = operand.offset;
  if (operand.reg != ptx::kNoIndex) {
    op.a = place_of_register(operand.reg);
    op.address_is_64 = operand.reg < f_.registers.size() && ptx::size_of(f_.registers[operand.reg].type) == 8;
    return;
  }
  op.address_is_64 = true;
  if (is_local_symbol(operand)) {
    op.local_relative = true;
    op.offset += local_offset(operand);
  } else if (operand.symbol_kind != SymbolKind::kNone) {
    ptx::Operand symbol = operand;
    symbol.offset = 0;
    if (const auto value = symbol_value(symbol))
      op.offset += static_cast<std::int64_t>(*value);
    else
      op.opcode = ptx::Opcode::kInvalid;
  } else {
    op.offset += static_cast<std::int64_t>(operand.immediate);
  }
}

}  // namespace muscope::code
