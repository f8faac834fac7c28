// Integer, logic, move, predicate and lane-exchange instructions: what their decoders share.
#include "sass/integer_parts.h"

namespace muscope::sass {

bool integer_sources(const Word& word, unsigned allowed, bool uniform, IntegerSources& out) {
  const auto form = static_cast<unsigned>(word.bits(9, 3));
  if (((allowed >> form) & 1) == 0) return false;
  out.form = static_cast<AluForm>(form);
  const bool constant = out.form == AluForm::kConstantSecond || out.form == AluForm::kConstantThird;
  const bool by_uniform = out.form == AluForm::kUniformSecond || out.form == AluForm::kUniformThird;
  if (!constant && word.bit(91) != (uniform || by_uniform)) return false;
  AluSources sources;
  if (!alu_sources(word, sources)) return false;
  out.a = sources.a;
  out.b = sources.b;
  out.c = sources.c;
  out.middle_is_third =
      out.form == AluForm::kImmediateThird || out.form == AluForm::kConstantThird || out.form == AluForm::kUniformThird;
  if (uniform) {
    // 6 bits of number where others have 8.
    for (Operand* o : {&out.a, &out.b, &out.c})
      if (o->kind == OperandKind::kRegister) {
        o->kind = OperandKind::kUniform;
        o->index &= kUrz;
      }
  }
  return true;
}

void negate_if(const Word& word, unsigned bit, bool extended, Operand& operand) {
  if (operand.kind == OperandKind::kImmediate || !word.bit(bit)) return;
  (extended ? operand.invert : operand.negate) = true;
}

Operand predicate_of(const Word& word, unsigned first, unsigned invert_bit, bool uniform) {
  Operand out = predicate_operand(word, first, invert_bit);
  if (uniform) out.kind = OperandKind::kUniformPredicate;
  return out;
}

Operand predicate_result_of(const Word& word, unsigned first, bool uniform) {
  Operand out = predicate_result(word, first);
  if (uniform) out.kind = OperandKind::kUniformPredicate;
  return out;
}

Operand destination(const Word& word, bool uniform) {
  return uniform ? uniform_operand(word, 16) : register_operand(word, 16);
}

bool decode_integer(const Word& word, Instruction& out) {
  for (const auto part : {decode_arithmetic, decode_minimum, decode_logic, decode_lanes}) {
    Instruction mine = out;
    if (!part(word, mine)) continue;
    // Instructions that only the uniform datapath runs are guarded by its predicates.
    const bool lanes = mine.opcode == Opcode::kVOTEU || mine.opcode == Opcode::kR2UR || mine.opcode == Opcode::kREDUX ||
                       mine.opcode == Opcode::kELECT;
    const bool uniform = mine.dst.kind == OperandKind::kUniform || mine.pdst0.kind == OperandKind::kUniformPredicate;
    if (mine.guard.exists() && uniform && !lanes) mine.guard.kind = OperandKind::kUniformPredicate;
    out = mine;
    return true;
  }
  return false;
}

}  // namespace muscope::sass
