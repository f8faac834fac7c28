// Launches grouped by kernel, and what a metric comes to over them: what `muscope check` holds against budgets and
// `muscope diff` compares.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/metrics.h"
#include "report/report.h"

namespace muscope::diff {

/// All launches of one kernel of a report, in order. `kernel` points into the report.
struct KernelGroup {
  std::string kernel;  ///< demangled, with parameters
  std::vector<const report::LaunchReport*> launches;
};

/// In the order of the kernels' first launches.
std::vector<KernelGroup> kernels_of(const report::Report& report);

/// What a metric comes to over some launches. Launches where it has no value count as 0 when it is a count, and are
/// left out when it is a quotient or an attribute.
struct MetricTotals {
  bool known = false;  ///< false: no launch has a value (never for counts)
  report::MetricValue sum = std::uint64_t{0};
  report::MetricValue least = std::uint64_t{0}, median = std::uint64_t{0}, most = std::uint64_t{0};
  const report::LaunchReport* least_in = nullptr;  ///< the first launch with that value
  const report::LaunchReport* most_in = nullptr;
  std::string unit;
  report::Grade grade = report::Grade::kCounted;  ///< the worst of the launches
  std::string reason;
};
MetricTotals totals_of(const KernelGroup& group, const report::MetricRow& row);

/// Less than, exact for whole numbers.
bool less(const report::MetricValue& a, const report::MetricValue& b);
double as_double(const report::MetricValue& value);
/// "1,234", "25.0 %", "4.00": as reports show it, the unit behind percentages alone.
std::string value_text(const report::MetricValue& value, const std::string& unit);
/// "PTX stream", "sm_90 machine code (ptxas 13.0.88)": of all launches, " and " between different ones.
std::string counted_from(const KernelGroup& group);
/// The worst grade that counts of the kernel have.
report::Grade stream_grade(const KernelGroup& group);

}  // namespace muscope::diff
