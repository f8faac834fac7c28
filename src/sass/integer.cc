#include "sass/alu_operands.h"

namespace muscope::sass {

bool decode_integer(const Word&, Instruction&) { return false; }

std::string integer_text(const Instruction&) { return {}; }

}  // namespace muscope::sass
