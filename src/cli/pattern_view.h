// One pattern with all that `muscope pattern` shows of it: input to the text and JSON printers.
//
//   shared load, 4 bytes x 32 lanes                                          NVIDIA H200 (sm_90)
//     index 32*tid
//   ...lanes, picture, numbers (docs/commands.md)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "model/pattern.h"
#include "report/report.h"

namespace muscope::cli {

struct PatternView {
  arch::GpuSpec gpu;
  model::Pattern pattern;
  std::string origin;                                ///< "index 33*tid+1", "offsets"
  std::string place;                                 ///< "warp 0 of block 16x16x1"; empty for explicit offsets
  std::vector<std::optional<std::int64_t>> indexes;  ///< what the index expression gave, per lane; empty for offsets
  bool l1_on = true;
  model::PatternCounts counts;
  std::vector<std::uint32_t> passes;
  std::vector<unsigned> misaligned;
};

/// Applies the rules.
PatternView view_pattern(arch::GpuSpec gpu, model::Pattern pattern, bool l1_on);

struct GradedReason {
  report::Grade grade = report::Grade::kCounted;
  std::string reason;
};

/// How far the counts of this pattern can be trusted on this GPU, and why.
GradedReason grade_of(const arch::GpuSpec& gpu, const model::Pattern& pattern);

/// The whole page, at most 120 columns wide.
std::string pattern_text(const PatternView& view, bool colour);

/// The picture alone: lanes against sectors, banks, words or rows.
std::string pattern_picture(const PatternView& view, bool colour);

/// Who collides, in sentences: the banks, words and lanes of the worst group; empty when nobody does.
std::string pattern_collisions(const PatternView& view);

/// Schema muscope.pattern/1.
std::string pattern_json(const PatternView& view);

/// "0-7, 12, 14-15"
std::string lane_list(const std::vector<unsigned>& lanes);

}  // namespace muscope::cli
