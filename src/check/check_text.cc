// The check as text, and as a table in Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "check/output.h"
#include "diff/kernel_group.h"
#include "report/kernel_name.h"
#include "report/number_format.h"
#include "report/source_text.h"
#include "report/text_page.h"

namespace muscope::check {
namespace {

using report::counted_noun;

constexpr std::size_t kMostHeldRows = 12;  ///< held budgets are listed when they are no more

std::string verdict_text(const Judgement& j) {
  switch (j.verdict) {
    case Verdict::kHeld:
      return "ok";
    case Verdict::kImproved:
      return "better";
    case Verdict::kNoValue:
      return "none executed";
    case Verdict::kCrossed:
      break;
  }
  return j.level == Level::kError ? "CROSSED" : std::string(name_of(j.level));
}

std::string value_cell(const std::optional<report::MetricValue>& value, const report::MetricRow& metric) {
  return value ? diff::value_text(*value, std::string(metric.unit)) : "-";
}

std::string allowed_cell(const Judgement& j) {
  if (!j.allowed || j.metric == nullptr) return "-";
  const bool at_most = j.rule == Rule::kMax || (j.rule == Rule::kRatchet && j.budget->ratchet == Ratchet::kDown);
  return fmt::format("{} {}", at_most ? "<=" : ">=", value_cell(j.allowed, *j.metric));
}

std::string gpu_line(const CheckContext& context) {
  const report::Report& report = *context.report;
  std::string text = report.gpu.full_name.empty() ? report.gpu.name : report.gpu.full_name;
  if (report.gpu.cc_major > 0) text += fmt::format(" (sm_{}{})", report.gpu.cc_major, report.gpu.cc_minor);
  if (!report.toolchain.empty()) text += ", " + report.toolchain;
  text += fmt::format(", {} of {}", counted_noun(report.launches.size(), "launch", "launches"),
                      counted_noun(diff::kernels_of(report).size(), "kernel", "kernels"));
  return text;
}

std::string counts_line(const CheckResult& result) {
  std::string text = fmt::format("{} held", report::grouped(result.held + result.improved));
  if (result.improved > 0) text += fmt::format(" ({} better than the baseline)", result.improved);
  text += fmt::format(", {} crossed", result.errors);
  if (result.warnings > 0) text += ", " + counted_noun(result.warnings, "warning", "warnings");
  if (result.without_value > 0) text += fmt::format(", {} about what was not executed", result.without_value);
  return text;
}

std::string place_text(const CheckContext& context, const SourceLocation& at) {
  std::string text = path_text(context, at.file);
  if (at.line > 0) text += fmt::format(":{}", at.line);
  return text;
}

/// Characters that mean something in a cell of Markdown.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|#~").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

bool shown_in_table(const CheckContext& context, const Judgement& j, bool all) {
  if (j.metric == nullptr) return false;  // it is told as a finding
  if (j.verdict == Verdict::kCrossed || j.verdict == Verdict::kImproved || all) return true;
  return context.result->held + context.result->without_value <= kMostHeldRows;
}

}  // namespace

std::string to_text(const CheckContext& context, const CheckTextOptions& options) {
  const CheckResult& result = *context.result;
  const Budgets& budgets = *context.budgets;
  report::Page page(options.width, options.colour);
  page.line(page.styled("muscope check", report::Style::kBold) + ": " + gpu_line(context));
  page.paragraph("",
                 fmt::format("{} of {}{}", counted_noun(budgets.budgets.size(), "budget", "budgets"), budgets.file,
                             context.baseline_name.empty() ? "" : ", baseline " + context.baseline_name),
                 0);
  report::Table table;
  table.remark_style = report::Style::kPlain;
  table.heading({"kernel", "metric", "measured", "allowed", "grade", "result"});
  std::vector<const Judgement*> rows;
  for (const Judgement& j : result.judgements)
    if (shown_in_table(context, j, options.all)) rows.push_back(&j);
  for (const Judgement* j : rows)
    table.row({"", short_name(*j->metric), value_cell(j->measured, *j->metric), allowed_cell(*j),
               j->measured ? std::string(report::name_of(j->grade)) : "-", verdict_text(*j)});
  // The name takes what the others leave.
  const std::size_t taken = table.width() - table.rows.front().cells.front().size();
  const std::size_t room = std::max<std::size_t>(16, page.width() - std::min(page.width(), taken));
  std::vector<std::string> names;
  for (const Judgement* j : rows) names.push_back(j->kernel);
  names = report::shorten_kernel_names(names, room);
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i + 1].cells.front() = names[i];
  if (table.rows.size() > 1) {
    page.line();
    table.print(page, 0);
  }
  for (const Judgement* j : findings_of(result)) {
    page.line();
    const auto style = j->level == Level::kError ? report::Style::kRed : report::Style::kYellow;
    const std::string head = fmt::format("{}: ", name_of(j->level));
    page.hang(page.styled(head, style), std::string(head.size(), ' '), j->text, head.size());
    if (!j->at.file.empty())
      page.paragraph("  at ", place_text(context, j->at) + (j->cause.empty() ? "" : ": " + j->cause), 5);
    if (!j->advice.empty()) page.paragraph("  advice ", j->advice, 9);
    page.paragraph("  budget ", place_text(context, j->budget->where), 9);
  }
  if (!result.incomparable.empty()) {
    page.line();
    page.line("the baseline does not hold for this run:");
    for (const std::string& why : result.incomparable) page.paragraph("  ", why, 4);
  }
  for (const std::string& note : result.notes) page.paragraph("note: ", note, 6);
  page.line();
  if (!context.problem.empty())
    page.paragraph("", context.problem, 0, report::Style::kRed);
  else
    page.paragraph("", counts_line(result), 0, result.good() ? report::Style::kGreen : report::Style::kRed);
  if (result.improved > 0 && result.good()) page.line("keep what was won: muscope check --update-baseline");
  return page.text();
}

std::string to_markdown(const CheckContext& context) {
  const CheckResult& result = *context.result;
  std::string out =
      fmt::format("### muscope check: {}\n\n", !context.problem.empty()       ? "not judged"
                                               : !result.incomparable.empty() ? "baseline of another setup"
                                               : result.good()                ? "passed"
                                                                              : "budgets crossed");
  out += escaped(gpu_line(context)) + "  \n" + counts_line(result) + "\n\n";
  if (!context.problem.empty()) out += escaped(context.problem) + "\n\n";
  for (const std::string& why : result.incomparable) out += "- " + escaped(why) + "\n";
  if (!result.incomparable.empty()) out += "\n";
  std::string rows;
  for (const Judgement& j : result.judgements) {
    if (j.metric == nullptr || (j.verdict != Verdict::kCrossed && j.verdict != Verdict::kImproved)) continue;
    const SourceLocation at = shown_at(j);
    rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", verdict_text(j),
                        escaped(report::shorten_kernel_name(j.kernel, 60)), escaped(short_name(*j.metric)),
                        j.before ? value_cell(j.before, *j.metric) : "", value_cell(j.measured, *j.metric),
                        escaped(allowed_cell(j)), report::name_of(j.grade), escaped(place_text(context, at)));
  }
  if (!rows.empty())
    out += "| | kernel | metric | baseline | measured | allowed | grade | line |\n|---|---|---|--:|--:|--:|---|---|\n" +
           rows + "\n";
  for (const Judgement* j : findings_of(result)) {
    if (j->metric != nullptr && j->cause.empty() && j->advice.empty()) continue;
    out += fmt::format("- {}: {}", escaped(place_text(context, shown_at(*j))), escaped(message_of(*j)));
    out += j->advice.empty() ? "\n" : fmt::format("<br>Advice: {}\n", escaped(j->advice));
  }
  return out;
}

}  // namespace muscope::check
