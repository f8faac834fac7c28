// Which machine code the kernels of a fat binary are made from: that of a cubin in the program, else what ptxas makes
// of the PTX that would be executed. ptxas runs in `muscope run`: a child process in here would end up in the program's
// wait().
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "code/machine_module.h"
#include "cubin/fatbin.h"
#include "runtime/run_options.h"

namespace muscope::runtime {

struct MachineChoice {
  std::shared_ptr<const code::MachineCode> code;  ///< null: kernels are made from PTX
  std::string problem;                            ///< as views::KernelInfo::machine_problem
  std::string other_release;                      ///< of CUDA, that made the PTX which ptxas took: "12.4"; else empty
};

/// The PTX that was chosen for this GPU.
struct ChosenPtx {
  struct Part {
    const cubin::FatbinEntry* entry = nullptr;
    std::string_view text;
  };
  std::vector<Part> parts;  ///< one per file of an -rdc=true program, else one
  bool not_for_target = false;
  bool incomplete = false;  ///< a file of the program has no PTX
};

/// For a GPU of compute capability `sm`. Waits for ptxas where it is asked; gives up when the run is to end. Never
/// throws for what is wrong with cubins, PTX or ptxas.
MachineChoice choose_machine_code(const cubin::Fatbin& fatbin, const ChosenPtx& ptx, int sm, const RunOptions& options);

/// "12.4" when PTX of this ISA version was made by a CUDA release other than that of ptxas `version` ("13.0.88"); empty
/// when by the same one.
std::string other_release(int ptx_major, int ptx_minor, std::string_view version);

}  // namespace muscope::runtime
