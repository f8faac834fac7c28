// Grouping of what was counted by source line: every site and frame of a launch belongs to exactly one line, so the
// lines of a launch sum to it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/counts.h"
#include "report/report.h"

namespace muscope::report {

/// Where a frame of a kernel is: its own position and its call sites, innermost first. Damaged frame chains end early.
struct FramePosition {
  SourcePosition at;
  std::vector<SourcePosition> inlined_at;
};
FramePosition position_of(const views::KernelInfo& kernel, std::uint32_t frame);

/// Lines in the order of the report: by file, line, inline chain. Columns do not tell lines apart.
struct LineKey {
  std::string file;
  int line = 0;
  std::vector<std::pair<std::string, int>> chain;
  std::string function;
  auto operator<=>(const LineKey&) const = default;
};

LineKey key_of(const FramePosition& where);

struct LineCounts {
  FramePosition position;
  Counts counts;
  std::vector<SiteReport> sites;
};

struct LaunchCounts {
  Counts total;
  std::map<LineKey, LineCounts> lines;
  std::uint64_t damaged = 0;  ///< records left out: they named sites, frames or spaces that do not exist
};

LaunchCounts count_launch(const views::LaunchRecord& launch, const views::KernelInfo& kernel);

}  // namespace muscope::report
