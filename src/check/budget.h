// Budgets: what a run may cost, as read from muscope.toml (docs/ci.md).
//
//   version = 1
//   baseline = "muscope-baseline.json"
//
//   [[budget]]
//   kernel = "naiveRow(*"            # names with parameters, * and ? match
//   metric = "gst_efficiency"        # a name of Nsight Compute, nvprof or muscope
//   min = 80.0                       # a limit
//
//   [[budget]]
//   metric = ["gld_transactions", "gst_transactions"]
//   ratchet = "down"                 # never more than the baseline
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "report/metrics.h"

namespace muscope::check {

/// Where muscope looks when the command line names no file.
inline constexpr std::string_view kBudgetFile = "muscope.toml";
inline constexpr std::string_view kBaselineFile = "muscope-baseline.json";

enum class Level { kNote, kWarning, kError };
std::string_view name_of(Level level);

enum class Ratchet { kNone, kDown, kUp };  ///< kDown: the value may only fall

struct Budget {
  std::vector<std::string> kernels{"*"};  ///< globs, matched with and without the parameters of the kernel
  std::vector<const report::MetricRow*> metrics;
  std::optional<report::MetricValue> min, max;
  Ratchet ratchet = Ratchet::kNone;
  report::MetricValue slack = std::uint64_t{0};  ///< how much worse than the baseline is still good
  bool slack_percent = false;                    ///< `slack` is in percent of the baseline's value
  std::optional<report::Grade> grade;            ///< the worst grade the value may have
  bool per_launch = false;                       ///< each launch; else the sum of the kernel's launches
  bool optional = false;                         ///< a pattern that no kernel matches is fine
  Level level = Level::kError;
  std::string why;  ///< shown when it is crossed
  SourceLocation where;
};

struct Budgets {
  std::string file;
  std::string gpu;       ///< empty: any
  std::string baseline;  ///< as written; relative to the budget file
  std::vector<std::string> command;
  std::vector<Budget> budgets;

  bool has_ratchets() const;
};

/// Throws Error D761 (not TOML, with line and column) or D762 (a key or value that makes no sense, the same).
Budgets read_budgets(std::string_view text, const std::string& file);

/// Whether one of the budget's patterns matches the kernel, with its parameters or without.
bool matches(const Budget& budget, const std::string& kernel);

}  // namespace muscope::check
