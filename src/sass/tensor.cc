#include "sass/memory_family.h"

namespace muscope::sass {

bool decode_tensor(const Word&, Instruction&) { return false; }

std::string tensor_text(const Instruction&) { return {}; }

}  // namespace muscope::sass
