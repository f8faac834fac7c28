// Which sources are MUSA's: by their names, or by the headers that they include.
#pragma once

#include <string>

namespace muscope::toolchain {

/// True for a file that includes a header of MUSA (<musa_runtime.h>, "musa.h", <mublas.h> ...). False for what cannot
/// be read.
bool includes_musa(const std::string& path);

}  // namespace muscope::toolchain
