// Ports build files: CMake's, make's, and scripts that call nvcc.
#pragma once

#include <string>
#include <string_view>

#include "port/project.h"
#include "port/result.h"

namespace muscope::port {

enum class BuildKind { kCMake, kMake };

FileResult port_build_file(std::string_view text, const std::string& path, BuildKind kind, const Rules& rules,
                           const Project& project, const Options& options);

/// nvcc's words for the architecture, "-arch=sm_80" or "arch=compute_90,code=sm_90": the mp_ number; 0: none in it.
int musa_arch_of_option(std::string_view word, const Rules& rules);

}  // namespace muscope::port
