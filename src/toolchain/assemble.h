// PTX to machine code with NVIDIA's ptxas, where that is installed: the exact registers, spills and memory instructions
// of a kernel come from its cubin. Results are cached by content.
#pragma once

#include <string>
#include <vector>

#include "toolchain/cache.h"
#include "toolchain/process.h"
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

/// Assembles with line information (-lineinfo). `cache` may be null; `listed` gets the ptxas while it runs. Never
/// throws for what ptxas says. Thread-safe.
Assembled assemble(const Tool& ptxas, const AssembleRequest& request, Cache* cache, RunningProcesses* listed = nullptr);

/// What a fat binary records for ptxas, sorted out for assemble().
struct RecordedOptions {
  std::vector<std::string> words;  ///< those that change the code, in ptxas's own spelling
  std::string problem;             ///< the first one that is not known; empty when all are
};

/// Reads the options that nvcc stores with PTX (" -maxrregcount=32 -dlcm=cg"). Options that only affect messages, line
/// tables or the kind of output are left out. Those of CUDA 13.0 (`ptxas --help`) are known. Never throws.
RecordedOptions read_recorded_options(const std::string& text);

}  // namespace muscope::toolchain
