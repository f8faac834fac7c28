// A report held against a capture, counter by counter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/metrics.h"
#include "report/report.h"
#include "verify/capture.h"
#include "verify/counter_rules.h"
#include "verify/match.h"

namespace muscope::verify {

enum class Verdict {
  kExact,   ///< equal, as far as the digits of the capture go
  kWithin,  ///< not equal, but within what the counter's rule allows
  kDifferent,
};

struct Difference {
  std::size_t report_launch = 0, capture_launch = 0;  ///< indices into the two lists
  std::string metric;
  double here = 0, there = 0;
  Verdict verdict = Verdict::kDifferent;
  std::string reason;  ///< the likely one

  /// (here - there) / there; infinite where only the GPU read zero.
  double relative() const;
};

struct MetricTally {
  std::string metric;
  const CounterRule* rule = nullptr;
  const report::MetricRow* row = nullptr;
  std::uint64_t compared = 0, exact = 0, within = 0, different = 0;
  std::uint64_t used = 0;  ///< launches where one side or both are not zero
};

inline constexpr std::size_t kMostDifferences = 20'000;

struct Comparison {
  Matching matching;
  std::vector<MetricTally> metrics;     ///< judged ones first, in the order of the metric table
  std::vector<Difference> differences;  ///< not exact ones: by launch, then in the order of `metrics`
  std::uint64_t unlisted = 0;           ///< differences beyond the first kMostDifferences
  std::uint64_t other_metrics = 0;      ///< of the capture that muscope has no number for

  /// Whether every counter that is judged is equal, or within its tolerance.
  bool good() const;
};

/// Whether a metric of that name can be compared: muscope computes it.
bool comparable(std::string_view metric);

/// Throws Error D743 when no launch of the one is in the other, D744 when they have no metric in common.
Comparison compare(const report::Report& report, const Capture& capture, const std::string& capture_name);

}  // namespace muscope::verify
