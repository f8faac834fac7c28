// The parts of the text report, in the order in which they stand on the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/source_text.h"
#include "report/text.h"
#include "report/text_page.h"

namespace muscope::report {

/// Launches that are alike: same kernel, shape and metrics.
struct LaunchGroup {
  std::vector<const LaunchReport*> launches;  ///< in order
  const LaunchReport& first() const { return *launches.front(); }
};

/// The value of a metric as an integer, 0 when the launch does not have it.
std::uint64_t count_of(const Metrics& metrics, std::string_view name);
/// Sectors of global and local memory.
std::uint64_t traffic_of(const Metrics& metrics);
/// Global sectors beyond the ideal.
std::uint64_t global_waste_of(const Metrics& metrics);
/// Global sectors, wavefronts and constant requests beyond the ideal.
std::uint64_t waste_of(const Metrics& metrics);
/// Sectors of local memory beyond the ideal; of spills all, which enough registers would save.
std::uint64_t local_waste_of(const LaunchReport& launch);
/// The metric with the weakest grade of those that traffic and wasted sectors are summed from; null without traffic.
const Metric* weakest_of_traffic(const Metrics& metrics);
std::uint64_t requests_of(const Metrics& metrics);

/// " [modelled]" and, when `with_reason`, what makes it so.
std::string grade_mark(const Metric& metric, bool with_reason = false);
/// "gputime.cu:41", "PTX line 188"
std::string position_text(const SourcePosition& at, const TextOptions& options);

/// Program, GPU, toolchain, how many launches.
void print_head(Page& page, const Report& report);
/// One row per kernel, when there are several launches.
void print_summary(Page& page, const Report& report, const TextOptions& options);
/// One launch (or several that are alike): tables, occupancy, instruction mix, the lines that cost most.
void print_launch(Page& page, const Report& report, const LaunchGroup& group, const TextOptions& options);
/// The chosen metrics of one launch.
void print_metrics(Page& page, const Report& report, const LaunchGroup& group, const TextOptions& options);
/// The lines of a launch that waste most, with excerpt and cause.
void print_instructions(Page& page, const LaunchReport& launch);
/// Spills: how many bytes, and the lines with most of them. Nothing when there are none.
void print_spills(Page& page, const LaunchReport& launch, const TextOptions& options);
/// The best pieces of advice, with what each would bring. Nothing when there are none.
void print_advice(Page& page, const LaunchReport& launch, const TextOptions& options);
/// All that ptxas changed, line by line.
void print_changes(Page& page, const LaunchReport& launch, const TextOptions& options);
void print_lines(Page& page, const Report& report, const LaunchReport& launch, const TextOptions& options);
/// Something to say about a source line, and which part of it that is about.
struct Remark {
  std::string text;  ///< may be empty: the caret alone
  AccessKind access = AccessKind::kRead;
  int column = 0;  ///< 0: no caret
};
/// A source line, as far as it can be read (else `fallback`, which may be empty), with remarks behind or below carets.
void print_excerpt(Page& page, const SourcePosition& at, std::string_view fallback, const std::vector<Remark>& remarks,
                   const TextOptions& options, std::size_t gutter);
AccessKind access_of(trace::Kind kind);
/// Copies and memsets.
void print_transfers(Page& page, const Report& report, const TextOptions& options);
/// Faults, findings and diagnostics of launches, processes and the run.
void print_problems(Page& page, const Report& report, const TextOptions& options);
/// What the report says once, and what the grades mean.
void print_notes(Page& page, const Report& report);

}  // namespace muscope::report
