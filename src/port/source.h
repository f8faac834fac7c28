// Ports one C++ or CUDA source.
#pragma once

#include <string>
#include <string_view>

#include "port/project.h"
#include "port/result.h"

namespace muscope::port {

/// `path`: of the file, relative to the project: its extension tells device code, and findings about includes need it.
FileResult port_source(std::string_view text, const std::string& path, const Rules& rules, NameCache& names,
                       const Project& project, const Options& options);

/// .cu .cuh .mu .muh
bool is_device_file(std::string_view path);

/// Text of an asm statement that is PTX rather than the host's instructions.
bool looks_like_ptx(std::string_view text);

}  // namespace muscope::port
