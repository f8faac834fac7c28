// What instructions and modules say about themselves.
#include <algorithm>

#include "ptx/module.h"

namespace muscope::ptx {

bool Instruction::has(Mod mod) const { return std::find(mods.begin(), mods.end(), mod) != mods.end(); }

Space Instruction::space() const {
  for (const Mod mod : mods) {
    if (const Space space = space_of(mod); space != Space::kGeneric) return space;
  }
  return Space::kGeneric;
}

std::string Instruction::text() const {
  std::string out(name_of(opcode));
  for (const Mod mod : mods) out += name_of(mod);
  return out;
}

std::uint32_t Module::find_function(std::string_view wanted) const {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == wanted) return static_cast<std::uint32_t>(i);
  }
  return kNoIndex;
}

std::uint32_t Module::find_variable(std::string_view wanted) const {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name == wanted) return static_cast<std::uint32_t>(i);
  }
  return kNoIndex;
}

}  // namespace muscope::ptx
