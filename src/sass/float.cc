#include "sass/alu_operands.h"

namespace muscope::sass {

bool decode_float(const Word&, Instruction&) { return false; }

std::string float_text(const Instruction&) { return {}; }

}  // namespace muscope::sass
