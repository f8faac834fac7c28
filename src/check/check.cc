#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check/locate.h"
#include "diff/kernel_group.h"
#include "report/kernel_name.h"
#include "report/number_format.h"

namespace muscope::check {
namespace {

using report::MetricValue;

constexpr std::size_t kNameWidth = 70;  ///< of kernels in sentences

std::string kernel_text(const std::string& kernel) { return report::shorten_kernel_name(kernel, kNameWidth); }

/// How far from the baseline a value may be: `before` moved by the slack.
MetricValue with_slack(const MetricValue& before, const Budget& budget) {
  const bool down = budget.ratchet == Ratchet::kDown;
  const double slack = diff::as_double(budget.slack);
  if (slack == 0) return before;
  const double base = diff::as_double(before);
  const double room = budget.slack_percent ? base * slack / 100 : slack;
  if (!std::holds_alternative<std::uint64_t>(before)) return down ? base + room : std::max(0.0, base - room);
  // Whole numbers stay whole: a fraction of a sector allows none.
  constexpr double kExactUpTo = 9e15;
  const std::uint64_t whole = static_cast<std::uint64_t>(std::floor(std::min(room, kExactUpTo)));
  const std::uint64_t value = std::get<std::uint64_t>(before);
  if (down) return value + std::min(whole, ~value);
  return value - std::min(whole, value);
}

class Holder {
 public:
  Holder(const report::Report& report, const Budgets& budgets, const Baseline* baseline)
      : report_(report), budgets_(budgets), baseline_(baseline), groups_(diff::kernels_of(report)) {}

  CheckResult run() {
    if (baseline_ != nullptr && budgets_.has_ratchets()) {
      const Baseline now = baseline_of(report_);
      result_.incomparable = incomparable(*baseline_, now);
      if (baseline_->tool_version != now.tool_version && result_.incomparable.empty())
        result_.notes.push_back(fmt::format(
            "the baseline was made by muscope {}, this is {}: numbers that differ may be those of a corrected rule",
            baseline_->tool_version, now.tool_version));
    }
    for (const Budget& budget : budgets_.budgets) hold(budget);
    for (const Judgement& j : result_.judgements) {
      if (j.verdict == Verdict::kHeld) ++result_.held;
      if (j.verdict == Verdict::kImproved) ++result_.improved;
      if (j.verdict == Verdict::kNoValue) ++result_.without_value;
      if (j.verdict == Verdict::kCrossed && j.level == Level::kError) ++result_.errors;
      if (j.verdict == Verdict::kCrossed && j.level == Level::kWarning) ++result_.warnings;
    }
    return std::move(result_);
  }

 private:
  void hold(const Budget& budget) {
    const bool ratchets = budget.ratchet != Ratchet::kNone && result_.incomparable.empty() && baseline_ != nullptr;
    bool any = false;
    for (const diff::KernelGroup& group : groups_) {
      if (!matches(budget, group.kernel)) continue;
      any = true;
      const BaselineKernel* before = ratchets ? baseline_->find(group.kernel) : nullptr;
      if (ratchets && before == nullptr) is_new(budget, group);
      for (const report::MetricRow* metric : budget.metrics) hold(budget, group, *metric, before);
    }
    if (ratchets)
      for (const BaselineKernel& kernel : baseline_->kernels) {
        if (!matches(budget, kernel.kernel)) continue;
        const bool here = std::any_of(groups_.begin(), groups_.end(),
                                      [&](const diff::KernelGroup& g) { return g.kernel == kernel.kernel; });
        if (!here) any = true, is_gone(budget, kernel);
      }
    if (!any && !budget.optional) {
      Judgement j = about(budget, Rule::kKernel, nullptr);
      j.verdict = Verdict::kCrossed;
      j.text = fmt::format("no kernel of the run matches {}", fmt::join(budget.kernels, ", "));
      result_.judgements.push_back(std::move(j));
    }
  }

  static Judgement about(const Budget& budget, Rule rule, const diff::KernelGroup* group) {
    Judgement j;
    j.rule = rule;
    j.budget = &budget;
    j.level = budget.level;
    if (group != nullptr) j.kernel = group->kernel;
    return j;
  }

  void is_new(const Budget& budget, const diff::KernelGroup& group) {
    if (told(Rule::kNew, group.kernel)) return;
    Judgement j = about(budget, Rule::kNew, &group);
    j.verdict = Verdict::kCrossed;
    j.level = std::min(budget.level, Level::kWarning);
    j.text = fmt::format("{} is not in the baseline: nothing holds it (muscope check --update-baseline records it)",
                         kernel_text(group.kernel));
    place(j, group, nullptr);
    result_.judgements.push_back(std::move(j));
  }

  void is_gone(const Budget& budget, const BaselineKernel& kernel) {
    if (told(Rule::kGone, kernel.kernel)) return;
    Judgement j = about(budget, Rule::kGone, nullptr);
    j.kernel = kernel.kernel;
    j.verdict = Verdict::kCrossed;
    if (budget.optional) j.level = std::min(j.level, Level::kWarning);
    j.text = fmt::format("{} of the baseline was not launched (muscope check --update-baseline forgets it)",
                         kernel_text(kernel.kernel));
    result_.judgements.push_back(std::move(j));
  }

  bool told(Rule rule, const std::string& kernel) const {
    return std::any_of(result_.judgements.begin(), result_.judgements.end(),
                       [&](const Judgement& j) { return j.rule == rule && j.kernel == kernel; });
  }

  void hold(const Budget& budget, const diff::KernelGroup& group, const report::MetricRow& metric,
            const BaselineKernel* before) {
    const diff::MetricTotals totals = diff::totals_of(group, metric);
    if (!totals.known) {
      Judgement j = about(budget, budget.min ? Rule::kMin : budget.max ? Rule::kMax : Rule::kRatchet, &group);
      j.metric = &metric;
      j.verdict = Verdict::kNoValue;
      result_.judgements.push_back(std::move(j));
      return;
    }
    if (budget.max) limit(budget, group, metric, totals, true);
    if (budget.min) limit(budget, group, metric, totals, false);
    if (budget.grade && totals.grade > *budget.grade) grade(budget, group, metric, totals);
    if (before != nullptr) ratchet(budget, group, metric, totals, *before);
  }

  /// The value that a limit is about: the sum, or the launch that is worst.
  Judgement measured(const Budget& budget, Rule rule, const diff::KernelGroup& group, const report::MetricRow& metric,
                     const diff::MetricTotals& totals, bool high_is_bad) const {
    Judgement j = about(budget, rule, &group);
    j.metric = &metric;
    j.grade = totals.grade;
    j.launches = group.launches.size();
    if (budget.per_launch) {
      j.measured = high_is_bad ? totals.most : totals.least;
      j.launch = (high_is_bad ? totals.most_in : totals.least_in)->index;
    } else {
      j.measured = totals.sum;
    }
    return j;
  }

  std::string sentence(const Judgement& j, const diff::KernelGroup& group) const {
    std::string where;
    if (group.launches.size() > 1)
      where = j.budget->per_launch ? fmt::format(" in launch {}", j.launch)
                                   : fmt::format(" in {} launches", report::grouped(group.launches.size()));
    return fmt::format("{} of {} is {}{}", short_name(*j.metric), kernel_text(group.kernel),
                       text_of(*j.measured, *j.metric), where);
  }

  static std::string text_of(const MetricValue& value, const report::MetricRow& metric) {
    return diff::value_text(value, std::string(metric.unit));
  }

  void finish(Judgement j, const diff::KernelGroup& group) {
    if (j.verdict == Verdict::kCrossed) {
      if (!j.budget->why.empty()) j.text += ": " + j.budget->why;
      place(j, group, j.metric);
    }
    result_.judgements.push_back(std::move(j));
  }

  void place(Judgement& j, const diff::KernelGroup& group, const report::MetricRow* metric) const {
    Culprit culprit = culprit_of(report_, group, metric);
    j.at = std::move(culprit.at);
    j.cause = std::move(culprit.cause);
    j.advice = std::move(culprit.advice);
  }

  void limit(const Budget& budget, const diff::KernelGroup& group, const report::MetricRow& metric,
             const diff::MetricTotals& totals, bool is_max) {
    Judgement j = measured(budget, is_max ? Rule::kMax : Rule::kMin, group, metric, totals, is_max);
    j.allowed = is_max ? *budget.max : *budget.min;
    const bool crossed = is_max ? diff::less(*j.allowed, *j.measured) : diff::less(*j.measured, *j.allowed);
    if (crossed) {
      j.verdict = Verdict::kCrossed;
      j.text = fmt::format("{}, at {} {} is allowed", sentence(j, group), is_max ? "most" : "least",
                           text_of(*j.allowed, metric));
    }
    finish(std::move(j), group);
  }

  void grade(const Budget& budget, const diff::KernelGroup& group, const report::MetricRow& metric,
             const diff::MetricTotals& totals) {
    Judgement j = measured(budget, Rule::kGrade, group, metric, totals, true);
    j.verdict = Verdict::kCrossed;
    j.text = fmt::format("{} of {} is {}, {} is wanted{}", short_name(metric), kernel_text(group.kernel),
                         report::name_of(totals.grade), report::name_of(*budget.grade),
                         totals.reason.empty() ? "" : " (" + totals.reason + ")");
    finish(std::move(j), group);
  }

  void ratchet(const Budget& budget, const diff::KernelGroup& group, const report::MetricRow& metric,
               const diff::MetricTotals& totals, const BaselineKernel& before) {
    const bool down = budget.ratchet == Ratchet::kDown;
    const bool count = metric.aggregation == report::Aggregation::kAdditive;
    Judgement j = measured(budget, Rule::kRatchet, group, metric, totals, down);
    const auto found = before.metrics.find(metric.name);
    if (found == before.metrics.end() && !count) {
      j.verdict = Verdict::kCrossed;
      j.level = std::min(budget.level, Level::kWarning);
      j.text =
          fmt::format("{} of {} is not in the baseline: nothing holds it (muscope check --update-baseline records it)",
                      short_name(metric), kernel_text(group.kernel));
      return finish(std::move(j), group);
    }
    // A count that is absent is 0: nothing of the kind was executed.
    MetricValue was = std::uint64_t{0};
    if (found != before.metrics.end()) {
      was = budget.per_launch ? (down ? found->second.most : found->second.least)
                              : MetricValue(found->second.sum.value_or(0));
    }
    j.before = was;
    j.allowed = with_slack(was, budget);
    const bool crossed = down ? diff::less(*j.allowed, *j.measured) : diff::less(*j.measured, *j.allowed);
    const bool better = down ? diff::less(*j.measured, was) : diff::less(was, *j.measured);
    if (crossed) {
      j.verdict = Verdict::kCrossed;
      j.text = fmt::format("{}, it was {} in the baseline", sentence(j, group), text_of(was, metric));
      if (!budget.per_launch && before.launches != group.launches.size())
        j.text += fmt::format(" in {}", report::counted_noun(before.launches, "launch", "launches"));
      // GPU, toolchain and what was counted are the same: the program itself now does what has another grade.
      if (found != before.metrics.end() && found->second.grade != totals.grade)
        j.text +=
            fmt::format(" ({} then, {} now)", report::name_of(found->second.grade), report::name_of(totals.grade));
    } else if (better) {
      j.verdict = Verdict::kImproved;
      j.text = fmt::format("{}, it was {}", sentence(j, group), text_of(was, metric));
    }
    finish(std::move(j), group);
  }

  const report::Report& report_;
  const Budgets& budgets_;
  const Baseline* baseline_;
  std::vector<diff::KernelGroup> groups_;
  CheckResult result_;
};

}  // namespace

std::string_view id_of(Rule rule) {
  switch (rule) {
    case Rule::kMax:
      return "max";
    case Rule::kMin:
      return "min";
    case Rule::kRatchet:
      return "ratchet";
    case Rule::kGrade:
      return "grade";
    case Rule::kKernel:
      return "kernel";
    case Rule::kGone:
      return "gone";
    case Rule::kNew:
      break;
  }
  return "new";
}

std::string_view description_of(Rule rule) {
  switch (rule) {
    case Rule::kMax:
      return "A metric of a kernel is above the budget's maximum.";
    case Rule::kMin:
      return "A metric of a kernel is below the budget's minimum.";
    case Rule::kRatchet:
      return "A metric of a kernel is worse than in the baseline.";
    case Rule::kGrade:
      return "A metric is less certain than the budget wants it.";
    case Rule::kKernel:
      return "No kernel of the run is one that the budget names.";
    case Rule::kGone:
      return "A kernel of the baseline was not launched.";
    case Rule::kNew:
      break;
  }
  return "A kernel is not in the baseline.";
}

bool is_finding(const Judgement& judgement) { return judgement.verdict == Verdict::kCrossed; }

std::string short_name(const report::MetricRow& row) {
  if (row.nvprof.empty()) return std::string(row.name);
  return std::string(row.nvprof.substr(0, row.nvprof.find(',')));
}

CheckResult hold(const report::Report& report, const Budgets& budgets, const Baseline* baseline) {
  return Holder(report, budgets, baseline).run();
}

}  // namespace muscope::check
