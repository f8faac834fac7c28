// --emit: writes what the runtime decoded and lowered into the folder that `muscope run` named.
#pragma once

#include <string>
#include <string_view>

#include "views/records.h"

namespace muscope::runtime {

/// "ptx": the PTX text that runs, as <folder>/<pid>-<n>.ptx with its origin in the first line.
void emit_ptx(std::string_view origin, std::string_view text);

/// "kernels": one line per kernel and one per memory instruction of it, appended to <folder>/<pid>-kernels.txt.
void emit_kernel(const views::KernelInfo& info);

}  // namespace muscope::runtime
