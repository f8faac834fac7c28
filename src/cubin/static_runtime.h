// The CUDA runtime that a program or library contains, when its symbols were stripped: programs linked by nvcc's
// default, and NVIDIA's libraries (cuRAND, cuBLAS, cuSPARSE, ...). It is one object file, so its functions keep their
// distances; where they lie is known for some releases (static_layout_*.inc, made by tools/dev/static_layout.py).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cubin/elf_view.h"

namespace muscope::cubin {

struct StrippedFunction {
  std::string_view name;
  std::uint64_t address = 0;  ///< before the object's load address is added
  std::uint64_t room = 0;     ///< bytes up to the next function
};

/// The functions of a runtime in `text`, which begins at `address`; empty when there is none, or none of a known
/// release. Only a place where every function of a release begins as it should is taken. Whatever the bytes hold.
std::vector<StrippedFunction> find_stripped_runtime(std::span<const std::uint8_t> text, std::uint64_t address);

/// The same for a program or library with device code.
std::vector<StrippedFunction> find_stripped_runtime(const ElfView& elf);

/// CUDA version of the releases that are known.
inline constexpr int kKnownStaticRuntime = 13;

}  // namespace muscope::cubin
