// The examples as nvcc builds them (the committed programs) against the same sources built by clang with muscope's own
// device headers: what each source line moves.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "counters.h"

namespace muscope::counters {

/// Names of the folders of examples/, in order.
std::vector<std::string> example_names();

/// What one line of an example did in one space, summed over the launches.
struct LineTraffic {
  std::string line;  ///< "scan.cu:66", the innermost position in the example itself
  std::string what;  ///< "shared load"
  double requests = 0;
  double cost = 0;  ///< sectors; wavefronts in shared, requests in constant and texture memory

  auto key() const { return std::pair(line, what); }
};

/// Traffic per line of a report that was read with its lines.
std::vector<LineTraffic> line_traffic(const std::string& example, const Reported& reported);

struct ToolchainDifference {
  LineTraffic nvcc, clang;  ///< of the same line and kind; zero where a build has none
  std::string reason;       ///< from toolchain_differences.tsv; empty when it is not listed there
};

struct ToolchainComparison {
  Reported nvcc, clang;
  std::size_t lines = 0;  ///< how many lines were compared
  std::vector<ToolchainDifference> differences;
};

/// Runs both builds. Needs clang 19 or newer.
ToolchainComparison compare_toolchains(const std::string& example, const std::string& work);

/// "sectors", "wavefronts" or "requests": the unit of LineTraffic::cost.
std::string cost_unit(const std::string& what);

}  // namespace muscope::counters
