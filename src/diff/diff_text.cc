// The comparison as text and as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "diff/diff_output.h"
#include "diff/verdict.h"
#include "report/number_format.h"
#include "report/text_page.h"

namespace muscope::diff {
namespace {

using report::counted_noun;
using report::Page;
using report::Style;
using report::Table;

Style style_of(Direction direction) {
  return direction == Direction::kBetter ? Style::kGreen : direction == Direction::kWorse ? Style::kRed : Style::kPlain;
}

std::string arrow_text(const Change& c) {
  if (!c.moved()) return side_text(c.after, c.unit);
  return fmt::format("{} -> {}", side_text(c.before, c.unit), side_text(c.after, c.unit));
}

std::string side_line(std::string_view label, const report::Report& report, const std::string& name) {
  std::string text = fmt::format("{}  {}: {}", label, name, report.gpu.name);
  if (!report.toolchain.empty()) text += ", " + report.toolchain;
  return text + ", " + counted_noun(report.launches.size(), "launch", "launches");
}

std::string how_text(const KernelPair& pair) {
  switch (pair.by) {
    case MatchedBy::kParameters:
      return "other parameters";
    case MatchedBy::kTemplate:
      return "other template arguments";
    case MatchedBy::kSimilarity:
      return fmt::format("renamed? the names are {:.0f} % alike", 100 * pair.similarity);
    case MatchedBy::kNothing:
      return pair.before == nullptr ? "new" : "gone";
    case MatchedBy::kName:
      break;
  }
  return {};
}

void print_accesses(Page& page, const std::vector<AccessChange>& accesses, std::size_t indent) {
  Table table;
  for (const AccessChange& access : accesses) {
    if (!access.moved()) continue;
    bool first = true;
    for (const Change& c : access.changes) {
      if (!c.moved()) continue;
      Table::Row row;
      row.cells = {fmt::format("{:<17} {}", first ? access.label : "", c.label), side_text(c.before, c.unit), "->",
                   side_text(c.after, c.unit), moved_text(c)};
      row.remark = c.direction == Direction::kBetter ? "better" : c.direction == Direction::kWorse ? "worse" : "";
      table.rows.push_back(std::move(row));
      first = false;
    }
  }
  table.print(page, indent);
}

/// A line that one side has: what it does there.
void print_one_sided(Page& page, const LineChange& line) {
  const bool gone = line.lines.after == nullptr;
  for (const AccessChange& access : line.accesses) {
    std::string values;
    for (const Change& c : access.changes) {
      const auto& value = gone ? c.before : c.after;
      if (value && c.label.front() != '/')
        values += fmt::format("{}{} {}", values.empty() ? "" : ", ", side_text(value, c.unit), c.label);
    }
    page.paragraph(fmt::format("    {:<17} ", access.label), values, 22);
  }
}

void print_lines(Page& page, const KernelChange& kernel, const DiffTextOptions& options) {
  const int top = options.top;
  int shown = 0;
  for (const LineChange& line : kernel.lines) {
    if (shown++ == std::max(1, top)) {
      page.line(
          fmt::format("  and {} (--top shows more)",
                      counted_noun(kernel.lines.size() - static_cast<std::size_t>(top), "more line", "more lines")));
      return;
    }
    const bool gone = line.lines.after == nullptr, fresh = line.lines.before == nullptr;
    page.line(fmt::format("  {}{}", place_text(line.lines, options.directory),
                          gone    ? "  (gone)"
                          : fresh ? "  (new)"
                                  : ""));
    const auto source = [&](const LineSums* side, const char* mark, Style style) {
      if (side == nullptr || !side->text) return;
      std::string text = *side->text;
      if (const std::size_t room = page.width() - 8; text.size() > room) text = text.substr(0, room - 3) + "...";
      page.line(fmt::format("    {} {}", page.styled(mark, style), text));
    };
    const bool edited = !gone && !fresh && line.lines.before->text && line.lines.after->text &&
                        *line.lines.before->text != *line.lines.after->text;
    if (gone || edited) source(line.lines.before, "-", Style::kRed);
    source(gone ? nullptr : line.lines.after, edited || fresh ? "+" : "|",
           edited || fresh ? Style::kGreen : Style::kDim);
    if (gone || fresh)
      print_one_sided(page, line);
    else
      print_accesses(page, line.accesses, 4);
    if (line.cause_before != line.cause_after) {
      if (!line.cause_before.empty()) page.paragraph("    was: ", line.cause_before, 9);
      if (!line.cause_after.empty()) page.paragraph("    is:  ", line.cause_after, 9);
    } else if (!line.cause_after.empty()) {
      page.paragraph("    ", line.cause_after, 4);
    }
  }
}

void print_kernel(Page& page, const KernelChange& kernel, const DiffTextOptions& options) {
  page.line();
  std::string how = how_text(kernel.kernels);
  if (kernel.kernels.by != MatchedBy::kNothing) how = verdict_text(kernel) + (how.empty() ? "" : ", " + how);
  page.spread(pair_text(kernel.kernels, page.width() > how.size() + 22 ? page.width() - how.size() - 2 : 20),
              Style::kBold, how, Style::kPlain);
  print_accesses(page, kernel.accesses, 2);
  for (const Change& c : kernel.launch)
    if (c.moved())
      page.line(
          fmt::format("  {:<22} {}  {}", c.label, arrow_text(c), page.styled(moved_text(c), style_of(c.direction))));
  for (const Change& c : kernel.hardware)
    if (c.moved() || (options.all && c.missing.empty()))
      page.line(fmt::format("  {:<22} {} [{}]", c.label, arrow_text(c), report::name_of(c.grade)));
  for (const std::string& reason : kernel.reasons) page.paragraph("  because ", reason, 10);
  print_lines(page, kernel, options);
}

/// What no kernel has a value for, said once: "not modelled yet: L1 hit rate, L2 hit rate"; empty when nothing.
std::string missing_text(const Difference& difference) {
  std::vector<std::string> reasons, labels;
  for (const KernelChange& kernel : difference.kernels)
    for (const Change& c : kernel.hardware) {
      const bool everywhere =
          std::all_of(difference.kernels.begin(), difference.kernels.end(), [&](const KernelChange& k) {
            return std::any_of(k.hardware.begin(), k.hardware.end(), [&](const Change& other) {
              return other.label == c.label && other.missing == c.missing;
            });
          });
      if (c.missing.empty() || !everywhere || std::find(labels.begin(), labels.end(), c.label) != labels.end())
        continue;
      labels.push_back(c.label);
      if (reasons.empty() || !reasons.back().starts_with(c.missing + ":"))
        reasons.push_back(c.missing + ": " + c.label);
      else
        reasons.back() += ", " + c.label;
    }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

/// Kernels that one side alone has are named up to so many where most are such.
constexpr std::size_t kMostOneSided = 8;

/// Those to speak of: all, or, where the programs have little in common, no more one-sided ones than that.
std::vector<const KernelChange*> worth_telling(const Difference& difference, bool all) {
  const bool unrelated = is_unrelated(difference) && !all;
  std::vector<const KernelChange*> told;
  std::size_t one_sided = 0;
  for (const KernelChange& kernel : difference.kernels)
    if (kernel.kernels.by != MatchedBy::kNothing || !unrelated || ++one_sided <= kMostOneSided) told.push_back(&kernel);
  return told;
}

/// "2 of 14 kernels have a counterpart: ..."; empty where most have one.
std::string unrelated_text(const Difference& difference) {
  if (!is_unrelated(difference)) return {};
  std::size_t matched = 0, gone = 0, fresh = 0;
  for (const KernelChange& kernel : difference.kernels)
    (kernel.kernels.by != MatchedBy::kNothing ? matched : kernel.kernels.after == nullptr ? gone : fresh)++;
  return fmt::format(
      "{} in both reports, {} only before, {} only after: these look like different programs, so that kernels of one "
      "side are only named",
      counted_noun(matched, "kernel is", "kernels are"), gone, fresh);
}

void print_summary(Page& page, const Difference& difference, const std::vector<const KernelChange*>& told) {
  Table table;
  table.remark_style = Style::kPlain;
  table.heading({"kernel", "sectors before", "after", "change"});
  for (const KernelChange* one : told) {
    const KernelChange& kernel = *one;
    Change traffic;
    traffic.before = kernel.traffic_before;
    traffic.after = kernel.traffic_after;
    if (kernel.kernels.before == nullptr) traffic.before.reset();
    if (kernel.kernels.after == nullptr) traffic.after.reset();
    if (kernel.traffic_before != kernel.traffic_after) traffic.direction = Direction::kOther;
    table.row({"", side_text(traffic.before, ""), side_text(traffic.after, ""),
               kernel.kernels.by == MatchedBy::kNothing ? "" : moved_text(traffic)},
              verdict_text(kernel));
  }
  // The names take what the numbers and the verdict leave.
  std::size_t verdict = 0;
  for (const KernelChange* kernel : told) verdict = std::max(verdict, verdict_text(*kernel).size() + 2);
  const std::size_t numbers = table.width() - table.rows.front().cells.front().size() + verdict;
  const std::size_t room = std::max<std::size_t>(20, page.width() - std::min(page.width(), numbers));
  for (std::size_t i = 0; i < told.size(); ++i) table.rows[i + 1].cells.front() = pair_text(told[i]->kernels, room);
  table.print(page, 0);
  if (const std::size_t left = difference.kernels.size() - told.size(); left > 0)
    page.line(fmt::format("and {} that one side alone has (--all shows them)",
                          counted_noun(left, "more kernel", "more kernels")));
}

/// Characters that mean something in Markdown.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|#~").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void markdown_kernel(std::string& out, const KernelChange& kernel, const DiffTextOptions& options) {
  out += fmt::format("\n### {}\n\n{}\n\n", escaped(pair_text(kernel.kernels, 100)), verdict_text(kernel));
  out += "| | before | after | change |\n|---|--:|--:|---|\n";
  const auto row = [&](const std::string& label, const Change& c) {
    const std::string moved = moved_text(c);
    std::string word = c.direction == Direction::kBetter  ? " better"
                       : c.direction == Direction::kWorse ? " **worse**"
                                                          : "";
    out += fmt::format("| {} | {} | {} | {}{} |\n", escaped(label), side_text(c.before, c.unit),
                       side_text(c.after, c.unit), moved, word);
  };
  for (const AccessChange& access : kernel.accesses)
    for (const Change& c : access.changes)
      if (c.moved()) row(access.label + " " + c.label, c);
  for (const Change& c : kernel.launch)
    if (c.moved()) row(c.label, c);
  for (const Change& c : kernel.hardware)
    if (c.moved() || (options.all && c.missing.empty())) row(c.label, c);
  if (!kernel.reasons.empty()) out += "\n";
  for (const std::string& reason : kernel.reasons) out += fmt::format("- {}\n", escaped(reason));
  int shown = 0;
  for (const LineChange& line : kernel.lines) {
    if (shown++ == std::max(1, options.top)) break;
    std::string what;
    for (const AccessChange& access : line.accesses)
      for (const Change& c : access.changes)
        if (c.moved() && c.label != "/request" && c.label != "/load")
          what += fmt::format("{}{} {} {}", what.empty() ? "" : ", ", access.label, c.label, arrow_text(c));
    out += fmt::format("{}- {}: {}{}\n", shown == 1 && kernel.reasons.empty() ? "\n" : "",
                       escaped(place_text(line.lines, options.directory)), escaped(what),
                       line.cause_after.empty() ? "" : "; " + escaped(line.cause_after));
  }
}

}  // namespace

std::string to_text(const Difference& difference, const report::Report& before, const report::Report& after,
                    const DiffTextOptions& options) {
  Page page(options.width, options.colour);
  page.line(side_line("before", before, options.before_name));
  page.line(side_line("after ", after, options.after_name));
  page.line();
  const std::string unrelated = options.all ? std::string() : unrelated_text(difference);
  if (!unrelated.empty()) {
    page.paragraph("", unrelated + " (--all shows everything)", 0, Style::kYellow);
    page.line();
  }
  print_summary(page, difference, worth_telling(difference, options.all));
  std::size_t same = 0, told = 0;
  for (const KernelChange& kernel : difference.kernels) {
    if (!unrelated.empty() && kernel.kernels.by == MatchedBy::kNothing) continue;
    if (!kernel.moved() && !options.all) {
      ++same;
      continue;
    }
    print_kernel(page, kernel, options);
    ++told;
  }
  if (same > 0) {
    page.line();
    page.line(fmt::format("{} as before (--all shows them)", counted_noun(same, "kernel is", "kernels are")));
  }
  if (const std::string missing = missing_text(difference); told > 0 && !missing.empty()) {
    page.line();
    page.paragraph("", missing, 0);
  }
  return page.text();
}

std::string to_markdown(const Difference& difference, const report::Report& before, const report::Report& after,
                        const DiffTextOptions& options) {
  std::string out = "## muscope diff\n\n";
  out += fmt::format("- {}\n- {}\n", escaped(side_line("before:", before, options.before_name)),
                     escaped(side_line("after:", after, options.after_name)));
  for (const std::string& warning : difference.warnings) out += fmt::format("- **warning**: {}\n", escaped(warning));
  const std::string unrelated = options.all ? std::string() : unrelated_text(difference);
  if (!unrelated.empty()) {
    out += fmt::format("\n{}.\n\n", unrelated);
    for (const KernelChange* kernel : worth_telling(difference, false))
      if (kernel->kernels.by == MatchedBy::kNothing)
        out += fmt::format("- {}: {}\n", how_text(kernel->kernels), escaped(pair_text(kernel->kernels, 100)));
  }
  std::size_t same = 0, told = 0;
  for (const KernelChange& kernel : difference.kernels) {
    if (!unrelated.empty() && kernel.kernels.by == MatchedBy::kNothing) continue;
    if (!kernel.moved() && !options.all) {
      ++same;
      continue;
    }
    markdown_kernel(out, kernel, options);
    ++told;
  }
  if (same > 0) out += fmt::format("\n{} as before.\n", counted_noun(same, "kernel is", "kernels are"));
  if (const std::string missing = missing_text(difference); told > 0 && !missing.empty())
    out += fmt::format("\n{}.\n", missing);
  return out;
}

}  // namespace muscope::diff
