// A comparison as text and as JSON (schema muscope.verify/1).
#pragma once

#include <string>

#include "verify/compare.h"

namespace muscope::verify {

inline constexpr std::string_view kVerifySchema = "muscope.verify/1";

struct VerifyTextOptions {
  int width = 100;
  bool colour = false;
  bool all = false;  ///< every difference and every metric, not the first ones
  std::string report_name, capture_name;
};

/// The table of metrics, what could not be matched, the differences with their likely reasons, the verdict.
std::string to_text(const Comparison& comparison, const report::Report& report, const Capture& capture,
                    const VerifyTextOptions& options);

/// Ends with a newline. The same input gives the same bytes.
std::string to_json(const Comparison& comparison, const report::Report& report, const Capture& capture);

}  // namespace muscope::verify
