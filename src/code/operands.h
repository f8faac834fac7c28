// Which registers a PTX instruction reads and writes.
#pragma once

#include <cstdint>

#include "ptx/module.h"

namespace muscope::code {

/// How many leading operands are destinations.
inline unsigned destination_count(const ptx::Instruction& i) {
  using ptx::Opcode;
  switch (i.opcode) {
    case Opcode::kInvalid:
    case Opcode::k_st:
    case Opcode::k_stmatrix:
    case Opcode::k_red:
    case Opcode::k_sust:
    case Opcode::k_sured:
    case Opcode::k_bra:
    case Opcode::k_brx:
    case Opcode::k_membar:
    case Opcode::k_fence:
    case Opcode::k_ret:
    case Opcode::k_exit:
    case Opcode::k_trap:
    case Opcode::k_nanosleep:
    case Opcode::k_prefetch:
    case Opcode::k_prefetchu:
    case Opcode::k_cp:
    case Opcode::k_call:
      return 0;
    case Opcode::k_wmma:
      return i.has(ptx::Mod::k_store) ? 0 : 1;
    case Opcode::k_bar:
    case Opcode::k_barrier:
      return i.has(ptx::Mod::k_red) ? 1 : 0;
    default:
      return i.operands.empty() ? 0 : 1;
  }
}

namespace detail {

template <typename Use>
void uses_of(const ptx::Operand& o, Use&& use) {
  if (o.reg != ptx::kNoIndex) use(o.reg);
  for (const ptx::Operand& e : o.elements) uses_of(e, use);
}

template <typename Use, typename Def>
void destination(const ptx::Operand& o, Use&& use, Def&& def) {
  switch (o.kind) {
    case ptx::OperandKind::kRegister:
      def(o.reg);
      break;
    case ptx::OperandKind::kVector:
    case ptx::OperandKind::kPair:
      for (const ptx::Operand& e : o.elements) destination(e, use, def);
      break;
    case ptx::OperandKind::kSink:
      break;
    default:
      uses_of(o, use);
  }
}

}  // namespace detail

/// Calls use(reg) for every register read (guard included), then def(reg) for every register written: an instruction
/// that overwrites its own source still reads it.
template <typename Use, typename Def>
void for_each_register(const ptx::Instruction& i, Use&& use, Def&& def) {
  if (i.guard != ptx::kNoIndex) use(i.guard);
  std::size_t first = 0, last = destination_count(i);
  if (i.opcode == ptx::Opcode::k_call) first = ptx::CallOperands::kReturns, last = first + 1;
  for (std::size_t k = 0; k < i.operands.size(); ++k)
    if (k < first || k >= last) detail::uses_of(i.operands[k], use);
  for (std::size_t k = first; k < last && k < i.operands.size(); ++k) detail::destination(i.operands[k], use, def);
}

}  // namespace muscope::code
