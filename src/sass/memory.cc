#include "sass/alu_operands.h"

namespace muscope::sass {

bool decode_memory(const Word&, Instruction&) { return false; }

std::string memory_text(const Instruction&) { return {}; }

}  // namespace muscope::sass
