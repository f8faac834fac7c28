// Cubins without PTX: a PTX module around their machine code.
#pragma once

#include <string>

#include "code/machine_module.h"

namespace muscope::runtime {

/// PTX that declares what the machine code has: variables with their first values, kernels with their parameters,
/// limits and shared memory. Bodies do nothing; only the machine code may be executed (FatBinary::only_machine_code).
/// They say that the order of blocks matters, since who does not see the code cannot know. Throws Error D509 for data
/// that hold addresses of functions, which need not be those of this process.
std::string ptx_frame(const code::MachineCode& code);

}  // namespace muscope::runtime
