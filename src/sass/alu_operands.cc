#include "sass/alu_operands.h"

#include <fmt/format.h>

namespace muscope::sass {
namespace {

AluForm form_of(const Word& word) { return static_cast<AluForm>(word.bits(9, 3)); }

bool middle_is_third(AluForm form) {
  return form == AluForm::kImmediateThird || form == AluForm::kConstantThird || form == AluForm::kUniformThird;
}

Operand middle(const Word& word, AluForm form) {
  switch (form) {
    case AluForm::kRegister:
      return register_operand(word, 32);
    case AluForm::kImmediateSecond:
    case AluForm::kImmediateThird: {
      Operand out;
      out.kind = OperandKind::kImmediate;
      out.value = static_cast<std::uint32_t>(word.bits(32, 32));
      return out;
    }
    case AluForm::kConstantSecond:
    case AluForm::kConstantThird:
      return constant_operand(word);
    case AluForm::kUniformSecond:
    case AluForm::kUniformThird:
      return uniform_operand(word, 32);
  }
  return {};
}

}  // namespace

Operand register_operand(const Word& word, unsigned first) {
  Operand out;
  out.kind = OperandKind::kRegister;
  out.index = static_cast<std::uint8_t>(word.bits(first, 8));
  return out;
}

Operand uniform_operand(const Word& word, unsigned first) {
  Operand out;
  out.kind = OperandKind::kUniform;
  out.index = static_cast<std::uint8_t>(word.bits(first, 6));
  return out;
}

Operand predicate_operand(const Word& word, unsigned first, unsigned invert_bit) {
  Operand out = predicate_result(word, first);
  out.invert = word.bit(invert_bit);
  return out;
}

Operand predicate_result(const Word& word, unsigned first) {
  Operand out;
  out.kind = OperandKind::kPredicate;
  out.index = static_cast<std::uint8_t>(word.bits(first, 3));
  return out;
}

Operand constant_operand(const Word& word) {
  Operand out;
  out.kind = OperandKind::kConstant;
  out.value = static_cast<std::uint32_t>(word.bits(38, 16));
  out.uniform_bank = word.bit(91);
  out.index = static_cast<std::uint8_t>(out.uniform_bank ? word.bits(32, 6) : word.bits(54, 5));
  return out;
}

bool alu_sources(const Word& word, AluSources& out) {
  const AluForm form = form_of(word);
  if (static_cast<unsigned>(form) == 0) return false;
  out.a = register_operand(word, 24);
  const Operand last = register_operand(word, 64);
  const Operand mid = middle(word, form);
  out.b = middle_is_third(form) ? last : mid;
  out.c = middle_is_third(form) ? mid : last;
  return true;
}

void alu_signs(const Word& word, AluSources& sources) {
  const bool third = middle_is_third(form_of(word));
  Operand& mid = third ? sources.c : sources.b;
  Operand& last = third ? sources.b : sources.c;
  sources.a.negate = word.bit(72);
  sources.a.absolute = word.bit(73);
  if (mid.kind != OperandKind::kImmediate) {
    mid.negate = word.bit(63);
    mid.absolute = word.bit(62);
  }
  last.negate = word.bit(75);
  last.absolute = word.bit(74);
}

std::string operand_text(const Operand& operand) {
  std::string text;
  switch (operand.kind) {
    case OperandKind::kNone:
      return "";
    case OperandKind::kRegister:
      text = operand.index == kRz ? "RZ" : fmt::format("R{}", operand.index);
      break;
    case OperandKind::kUniform:
      text = operand.index == kUrz ? "URZ" : fmt::format("UR{}", operand.index);
      break;
    case OperandKind::kPredicate:
      text = operand.index == kPt ? "PT" : fmt::format("P{}", operand.index);
      break;
    case OperandKind::kUniformPredicate:
      text = operand.index == kPt ? "UPT" : fmt::format("UP{}", operand.index);
      break;
    case OperandKind::kImmediate:
      text = fmt::format("{:#x}", operand.value);
      break;
    case OperandKind::kConstant:
      text = operand.uniform_bank ? fmt::format("cx[UR{}][{:#x}]", operand.index, operand.value)
                                  : fmt::format("c[{:#x}][{:#x}]", operand.index, operand.value);
      break;
    case OperandKind::kBarrier:
      text = fmt::format("B{}", operand.index);
      break;
  }
  if (operand.half == 2) text += ".H0_H0";
  if (operand.half == 3) text += ".H1_H1";
  if (operand.absolute) text = "|" + text + "|";
  if (operand.invert)
    text =
        (operand.kind == OperandKind::kPredicate || operand.kind == OperandKind::kUniformPredicate ? "!" : "~") + text;
  if (operand.negate) text = "-" + text;
  return text;
}

}  // namespace muscope::sass
