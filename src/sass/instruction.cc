#include "sass/instruction.h"

#include "sass/alu_operands.h"

namespace muscope::sass {

const char* name(Opcode opcode) {
  static constexpr std::array<const char*, static_cast<std::size_t>(Opcode::kOpcodes)> kNames{
      "?",
#define MUSCOPE_SASS_OPCODE(name) #name,
#include "sass/opcodes.inc"
#undef MUSCOPE_SASS_OPCODE
  };
  return kNames[static_cast<std::size_t>(opcode)];
}

Instruction decode(const Word& word, std::uint32_t pc, Encoding encoding) {
  Instruction out;
  out.encoding = encoding;
  out.pc = pc;
  if (word.bits(12, 4) != kPt) out.guard = predicate_operand(word, 12, 15);
  for (const auto family : {decode_integer, decode_float, decode_memory}) {
    Instruction mine = out;
    if (family(word, mine)) return mine;
  }
  return out;
}

std::string text(const Instruction& instruction) {
  std::string body;
  for (const auto family : {integer_text, float_text, memory_text})
    if (body = family(instruction); !body.empty()) break;
  if (body.empty()) body = "?";
  return instruction.guard.exists() ? "@" + operand_text(instruction.guard) + " " + body : body;
}

}  // namespace muscope::sass
