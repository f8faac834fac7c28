#include "sass/memory_family.h"

namespace muscope::sass {

bool decode_async(const Word&, Instruction&) { return false; }

std::string async_text(const Instruction&) { return {}; }

}  // namespace muscope::sass
