// What `muscope port` tells, as text, JSON and SARIF, and the shim header.
#pragma once

#include <string>
#include <string_view>

#include "port/port.h"

namespace muscope::port {

struct TextOptions {
  bool colour = false;
  bool notes = false;      ///< findings of severity note too
  std::size_t most = 200;  ///< findings that are listed
};

/// Findings like a compiler's messages.
std::string findings_text(const PortReport& report, const Rules& rules, const TextOptions& options);
/// The statistics.
std::string summary_text(const PortReport& report, const Rules& rules);
/// Schema muscope.port/1.
std::string to_json(const PortReport& report, const Rules& rules, const std::string& version);
std::string to_sarif(const PortReport& report, const Rules& rules, const std::string& version, int exit_code);
/// How a header that shim_header() made begins.
inline constexpr std::string_view kShimMark = "// Written by muscope port --shim: ";
/// A header with a macro for each name that the project uses, for CUDA sources that are compiled with MUSA as they are.
std::string shim_header(const PortReport& report);

}  // namespace muscope::port
