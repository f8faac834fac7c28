// The comparison as text, Markdown and JSON.
#pragma once

#include <string>

#include "diff/compare.h"

namespace muscope::diff {

struct DiffTextOptions {
  int width = 100;
  bool colour = false;
  int top = 5;       ///< lines of each kernel
  bool all = false;  ///< also kernels where nothing moved
  std::string before_name, after_name;
  std::string directory;  ///< files below it are named as seen from there
};

std::string to_text(const Difference& difference, const report::Report& before, const report::Report& after,
                    const DiffTextOptions& options);
std::string to_markdown(const Difference& difference, const report::Report& before, const report::Report& after,
                        const DiffTextOptions& options);
/// Schema "muscope.diff/1" (docs/report-schema.md).
std::string to_json(const Difference& difference, const report::Report& before, const report::Report& after,
                    const DiffTextOptions& options);

// Shared by them.
/// "tiled<32>(float*)", "tiled<16>(float*) -> tiled<32>(float*)"
std::string pair_text(const KernelPair& pair, std::size_t width);
/// "transpose.cu:32", "transpose.cu:32 -> 35"
std::string place_text(const LinePair& lines, const std::string& directory);
/// "-75.0 %", "+3", "", "new"
std::string moved_text(const Change& change);
std::string side_text(const std::optional<report::MetricValue>& value, const std::string& unit);

}  // namespace muscope::diff
