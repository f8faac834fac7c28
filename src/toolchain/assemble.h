// PTX to machine code with NVIDIA's ptxas, where that is installed: the exact registers, spills and memory instructions
// of a kernel come from its cubin. Results are cached by content.
#pragma once

#include <string>
#include <vector>

#include "toolchain/cache.h"
#include "toolchain/tools.h"

namespace muscope::toolchain {

struct AssembleRequest {
  std::string ptx;
  int architecture = 90;             ///< sm_90
  char suffix = 0;                   ///< 'a' for sm_90a
  int max_registers = 0;             ///< -maxrregcount; 0: no limit
  std::vector<std::string> options;  ///< further ptxas options, for example those of the program's -Xptxas
};

struct Assembled {
  std::string cubin;     ///< ELF image; empty when ptxas rejected the PTX or could not be run
  std::string messages;  ///< what ptxas printed (its errors, or the -v listing), or why it did not run
  bool from_cache = false;

  bool ok() const { return !cubin.empty(); }
};

/// Assembles with line information (-lineinfo). `cache` may be null. Never throws for what ptxas says.
Assembled assemble(const Tool& ptxas, const AssembleRequest& request, Cache* cache);

}  // namespace muscope::toolchain
