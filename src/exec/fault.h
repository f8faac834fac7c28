// Faults of the emulated program: values, never C++ exceptions.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "exec/launcher.h"

namespace muscope::exec {

struct Fault {
  Outcome outcome = Outcome::kOk;
  std::uint32_t op = 0;     ///< index into Kernel::ops
  std::uint64_t block = 0;  ///< linear block index
  std::uint64_t order = 0;  ///< Block::order
  std::uint32_t warp = 0, lane = 0;
  std::string code, text, hint;
  explicit operator bool() const { return outcome != Outcome::kOk; }
};

}  // namespace muscope::exec
