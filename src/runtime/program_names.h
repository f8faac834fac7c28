// The names in which a program is spoken to: CUDA's, or MUSA's where it was compiled as MUSA.
#pragma once

#include <string>

namespace muscope::runtime {

/// From now on the program is told MUSA's names; musa_runtime.h asks for it before main().
void speak_musa() noexcept;

/// True when the program was compiled as MUSA: what it is told then has MUSA's names.
bool speaks_musa() noexcept;

/// `text`, with MUSA's names for a program that speaks MUSA.
std::string in_program_names(const std::string& text);

}  // namespace muscope::runtime
