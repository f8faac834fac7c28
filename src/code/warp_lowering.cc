// Barriers and exchanges between lanes of PTX -> ops.
#include "code/function_lowering.h"

namespace muscope::code {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Type;

void FunctionLowering::lower_warp(Op& op, const ptx::Instruction& i) {
  std::size_t k = 0;
  const bool is_barrier = i.opcode == Opcode::k_bar || i.opcode == Opcode::k_barrier;
  if (!is_barrier || i.has(Mod::k_red)) {
    const ptx::Operand& to = i.operands[k++];
    if (to.kind == OperandKind::kPair && to.elements.size() == 2) {
      if (to.elements[0].kind == OperandKind::kRegister) op.dst = place_of_register(to.elements[0].reg);
      if (to.elements[1].kind == OperandKind::kRegister) op.dst2 = place_of_register(to.elements[1].reg);
    } else if (to.kind == OperandKind::kRegister) {
      op.dst = place_of_register(to.reg);
    }
  }
  if (is_barrier) {
    if (i.has(Mod::k_cluster)) return;
    if (i.has(Mod::k_warp)) {
      op.d = place(i.operands[k], Type::kB32);
      return;
    }
    if (k < i.operands.size()) op.a = place(i.operands[k++], Type::kU32);
    const bool red = i.has(Mod::k_red);
    if (i.operands.size() - k > (red ? 1u : 0u)) op.b = place(i.operands[k++], Type::kU32);
    if (red && k < i.operands.size()) op.c = predicate(i.operands[k], op.negate_c);
    return;
  }
  switch (i.opcode) {
    case Opcode::k_shfl:
      op.a = place(i.operands[1], Type::kB32);
      op.b = place(i.operands[2], Type::kB32);
      op.c = place(i.operands[3], Type::kB32);
      if (i.operands.size() > 4) op.d = place(i.operands[4], Type::kB32);
      return;
    case Opcode::k_vote:
      op.a = predicate(i.operands[1], op.a_negated);
      if (i.operands.size() > 2) op.d = place(i.operands[2], Type::kB32);
      return;
    case Opcode::k_match:
    case Opcode::k_redux:
      op.a = place(i.operands[1], op.type);
      if (i.operands.size() > 2) op.d = place(i.operands[2], Type::kB32);
      return;
    case Opcode::k_elect:
      if (i.operands.size() > 1) op.d = place(i.operands[1], Type::kB32);
      return;
    default:
      return;
  }
}

}  // namespace muscope::code
