// Numbers of the special registers that S2R, S2UR and CS2R read.
#pragma once

#include <cstdint>
#include <string>

namespace muscope::sass {

/// Those that code for compute capability 9.0 can name, as the disassembler numbers them.
enum class SpecialRegister : std::uint8_t {
#define MUSCOPE_SPECIAL_REGISTER(number, name, text) k##name = number,
#include "sass/special_registers.inc"
#undef MUSCOPE_SPECIAL_REGISTER
};

/// As the disassembler writes it: "SR_TID.X"; "SR36" where it has no name.
std::string special_register_text(std::uint8_t number);

}  // namespace muscope::sass
