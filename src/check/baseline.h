// Baselines: what a run cost when it was last accepted. A JSON file, schema "muscope.baseline/1", one line per metric
// so that version control shows what moved. Counts are whole numbers, quotients have all digits of a double.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/metrics.h"
#include "report/report.h"

namespace muscope::check {

inline constexpr std::string_view kBaselineSchema = "muscope.baseline/1";

struct BaselineMetric {
  std::optional<std::uint64_t> sum;  ///< of all launches; counts only
  report::MetricValue least, most;   ///< of the launches
  report::Grade grade = report::Grade::kCounted;
};

struct BaselineKernel {
  std::string kernel;
  std::string counted_from;                       ///< "PTX stream", "sm_90 machine code (ptxas 13.0.88)"
  std::string registers_source;                   ///< names the ptxas where counted_from does not
  report::Grade grade = report::Grade::kCounted;  ///< of counts
  std::uint64_t launches = 0;
  std::map<std::string, BaselineMetric, std::less<>> metrics;
};

struct Baseline {
  std::string tool_version;
  std::string gpu, architecture, cc;
  std::int64_t sm_count = 0;  ///< 0: not known
  std::string toolchain;
  std::vector<BaselineKernel> kernels;  ///< by name

  const BaselineKernel* find(std::string_view kernel) const;
};

Baseline baseline_of(const report::Report& report);
/// The same report gives the same bytes. Ends with a newline.
std::string to_json(const Baseline& baseline);
/// Throws Error D763, with line and column where it is not JSON, else with the path of the field.
Baseline read_baseline(std::string_view text, const std::string& file);

/// What keeps the numbers of one from being compared with the other's: another GPU, compiler or ptxas, or a worse grade
/// of all counts of a kernel. A
/// sentence each, without full stop; empty when they can be compared. Kernels that only one side has are left out.
std::vector<std::string> incomparable(const Baseline& before, const Baseline& now);

}  // namespace muscope::check
