// `muscope cc`: takes nvcc's command lines, so that Makefiles and CMake build CUDA projects with no CUDA toolkit. Each
// file becomes an ordinary host object with its device code (PTX) inside; linking is the host linker's work.
#pragma once

#include <string>
#include <vector>

#include "toolchain/compile.h"

namespace muscope::toolchain {

/// Does what the command line asks for. Returns 0, or the exit code of nvcc where that was called. `version`: muscope's
/// own, for --version. Throws Error: D401 to D414, see docs/explain.
int run_driver(const std::vector<std::string>& args, Preference toolchain, const std::string& version);

/// What --version prints: our own words, with those that CMake and setup scripts search for.
std::string driver_version_text(const std::string& version, const std::string& compiler);

}  // namespace muscope::toolchain
