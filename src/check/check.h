// A report held against budgets and a baseline: one judgement for each budget, kernel and metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/baseline.h"
#include "check/budget.h"
#include "report/report.h"

namespace muscope::check {

/// What a judgement is about. Ids of SARIF rules and names in the other outputs come from it.
enum class Rule {
  kMax,      ///< more than `max`
  kMin,      ///< less than `min`
  kRatchet,  ///< worse than the baseline
  kGrade,    ///< the value is not as certain as the budget wants
  kKernel,   ///< no kernel of the run is one that the budget names
  kGone,     ///< a kernel of the baseline, under a ratchet, is not in the run
  kNew,      ///< a kernel of the run, under a ratchet, is not in the baseline
};
inline constexpr Rule kRules[] = {Rule::kMax,    Rule::kMin,  Rule::kRatchet, Rule::kGrade,
                                  Rule::kKernel, Rule::kGone, Rule::kNew};
/// "max", "min", "ratchet", "grade", "kernel", "gone", "new"
std::string_view id_of(Rule rule);
/// One sentence.
std::string_view description_of(Rule rule);

enum class Verdict {
  kHeld,
  kImproved,  ///< held, and better than the baseline: it can be tightened
  kNoValue,   ///< nothing of that kind was executed
  kCrossed,   ///< at the budget's level
};

struct Judgement {
  Rule rule = Rule::kMax;
  Verdict verdict = Verdict::kHeld;
  Level level = Level::kError;  ///< of a crossed one
  const Budget* budget = nullptr;
  std::string kernel;                         ///< empty: kKernel
  const report::MetricRow* metric = nullptr;  ///< null: kKernel, kGone, kNew
  std::optional<report::MetricValue> measured, allowed, before;
  std::uint64_t launches = 0;  ///< summed, when the budget is over the run
  std::uint32_t launch = 0;    ///< the one with this value, when it is over launches
  report::Grade grade = report::Grade::kCounted;
  std::string text;    ///< "gst_efficiency of naiveRow(...) is 25.0 %, at least 80.0 % are wanted"
  SourceLocation at;   ///< the source line that causes most of it; empty file: not known
  std::string cause;   ///< "store: neighbouring lanes are 4,096 B apart: ..."; may be empty
  std::string advice;  ///< "[A101] ..."; may be empty
};

/// Whether a judgement is one to tell about as a finding.
bool is_finding(const Judgement& judgement);

struct CheckResult {
  std::vector<Judgement> judgements;      ///< in the order of the budgets, then of the kernels, then of the metrics
  std::vector<std::string> incomparable;  ///< why the baseline does not hold for this run; then no ratchet was judged
  std::vector<std::string> notes;
  std::uint64_t held = 0, improved = 0, without_value = 0, errors = 0, warnings = 0;

  bool good() const { return errors == 0 && incomparable.empty(); }
};

/// `baseline` may be null when no budget has a ratchet.
CheckResult hold(const report::Report& report, const Budgets& budgets, const Baseline* baseline);

/// The name that people know best: nvprof's first one where there is one, else the metric's own.
std::string short_name(const report::MetricRow& row);

}  // namespace muscope::check
