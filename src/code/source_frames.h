// Source positions of instructions as rows of KernelInfo::frames.
#pragma once

#include <map>

#include "code/kernel.h"

namespace muscope::code {

/// The demangled form of an Itanium ABI name, without what nvcc and clang add to names of internal linkage; the name
/// itself when it is not one.
std::string demangle(const std::string& name);

class SourceFrames {
 public:
  explicit SourceFrames(const ptx::Module& module) : module_(module) {}
  /// The row of an instruction: its `.loc`, or its PTX line where the program has no line information.
  std::uint32_t of(const ptx::Instruction& instruction);
  std::vector<views::Frame> take() { return std::move(frames_); }

 private:
  std::uint32_t of_loc(std::uint32_t loc, int depth);
  const ptx::Module& module_;
  std::vector<views::Frame> frames_;
  std::map<std::uint32_t, std::uint32_t> by_loc_;
  std::map<int, std::uint32_t> by_ptx_line_;
};

}  // namespace muscope::code
