// Machine code -> Kernel: the second front end of the executor, beside lower.h. What runs is what the GPU would issue,
// instruction by instruction, so that counts need no guess about what the assembler made of the PTX.
#pragma once

#include <memory>
#include <string>

#include "code/kernel.h"
#include "code/machine_input.h"

namespace muscope::code {

struct LoweredMachine {
  std::shared_ptr<const Kernel> kernel;  ///< null when the code has an instruction that cannot be executed
  std::string problem;                   ///< which, and where
  std::string doubt;  ///< the kernel is executed, but counts may differ from hardware's: why; empty when none may
};

/// `like` is the same kernel lowered from its PTX: names, launch bounds and parameters are taken from it.
LoweredMachine lower_machine(const MachineInput& input, const Kernel& like);

}  // namespace muscope::code
