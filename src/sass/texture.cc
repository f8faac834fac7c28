#include "sass/memory_family.h"

namespace muscope::sass {

bool decode_texture(const Word&, Instruction&) { return false; }

std::string texture_text(const Instruction&) { return {}; }

}  // namespace muscope::sass
