// What `muscope check` writes: text for people, and the formats that CI systems show beside the code. The same result
// gives the same bytes: no times, no absolute paths below the root.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "check/check.h"

namespace muscope::check {

struct CheckContext {
  const report::Report* report = nullptr;
  const Budgets* budgets = nullptr;
  const CheckResult* result = nullptr;
  std::string baseline_name;  ///< empty: none was used
  std::string directory;      ///< absolute: what relative paths of the report are relative to
  std::string root;           ///< absolute: what paths are written relative to
  std::string problem;        ///< why nothing was judged (the program failed); else empty
  int exit_code = 0;          ///< that muscope will end with
};

struct CheckTextOptions {
  int width = 100;
  bool colour = false;
  bool all = false;  ///< also the budgets that hold
};

/// Aligned text with one line per budget and kernel, and the findings with their source lines.
std::string to_text(const CheckContext& context, const CheckTextOptions& options);
/// A table for a merge request.
std::string to_markdown(const CheckContext& context);
/// SARIF 2.1.0: a result for each finding.
std::string to_sarif(const CheckContext& context);
/// JUnit's XML: a test case for each budget, kernel and metric.
std::string to_junit(const CheckContext& context);
/// GitLab's Code Quality report: an array with an entry for each finding.
std::string to_gitlab(const CheckContext& context);
/// GitHub's workflow commands: "::error file=...,line=...::...", a line for each finding.
std::string to_github(const CheckContext& context);

// For these formats.
/// The path of a file in a repository: relative to the root where it is below it, with / between its parts.
std::string path_text(const CheckContext& context, std::string_view file);
/// Where a finding is shown: its source line, else the budget that was crossed.
SourceLocation shown_at(const Judgement& judgement);
/// The sentence and its cause.
std::string message_of(const Judgement& judgement);
/// That with what to do about it, on a line of its own; for formats without a place for advice.
std::string message_and_advice(const Judgement& judgement);
/// 16 hexadecimal digits that stay the same while lines move: of rule, kernel, metric and file; `nth` tells equal ones
/// apart.
std::string fingerprint(const CheckContext& context, const Judgement& judgement, std::uint64_t nth);
/// The crossed judgements, in the order of their places.
std::vector<const Judgement*> findings_of(const CheckResult& result);
/// "naiveRow(...): gst_efficiency >= 80.0 %": what was held, in one line.
std::string budget_text(const Judgement& judgement);

}  // namespace muscope::check
