// Source excerpts: which lines cost most, and why.
#include <fmt/format.h>

#include <algorithm>

#include "report/cause.h"
#include "report/number_format.h"
#include "report/source_text.h"
#include "report/text_parts.h"

namespace muscope::report {
namespace {

constexpr double kWorthShowing = 0.005;  ///< share of the launch's waste below which a line is left out
constexpr std::size_t kCausesPerLine = 3;

struct CostlyLine {
  const LineReport* line = nullptr;
  std::uint64_t waste = 0;
};

std::vector<CostlyLine> costly_lines(const LaunchReport& launch, int top) {
  std::vector<CostlyLine> lines;
  std::uint64_t all = 0;
  for (const LineReport& line : launch.lines) {
    std::uint64_t waste = 0;
    for (const SiteReport& site : line.sites) waste += waste_of(site);
    all += waste;
    if (waste > 0) lines.push_back({&line, waste});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.waste > b.waste; });
  if (lines.size() > static_cast<std::size_t>(std::max(1, top)))
    lines.resize(static_cast<std::size_t>(std::max(1, top)));
  std::erase_if(lines, [&](const CostlyLine& line) {
    return static_cast<double>(line.waste) < kWorthShowing * static_cast<double>(all);
  });
  // On the page they stand in the order of the file.
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return lines;
}

std::string gutter_text(std::string_view number, std::size_t gutter) {
  return fmt::format("{:>{}} | ", number, gutter);
}

/// A line of code that fits, with the place of its column after trimming and cutting.
struct Fitted {
  std::string text;
  std::size_t column = 0;
  std::size_t length = 0;
};

Fitted fit(const std::string& raw, int column, std::size_t room) {
  Fitted fitted{expand_tabs(raw), column > 0 ? expanded_column(raw, column) : 0, 0};
  const std::size_t blank = std::min(fitted.text.find_first_not_of(' '), fitted.text.size());
  fitted.text.erase(0, blank);
  fitted.column = fitted.column > blank ? fitted.column - blank : 0;
  if (fitted.column >= fitted.text.size()) fitted.column = 0;
  if (column > 0) fitted.length = expression_length(fitted.text, fitted.column);
  if (fitted.text.size() > room) {
    // Keep the expression in view.
    const std::size_t skip = fitted.column + fitted.length > room - 4 && fitted.column > 10 ? fitted.column - 10 : 0;
    if (skip > 0) {
      fitted.text = "..." + fitted.text.substr(skip + 3);
      fitted.column -= skip;
    }
    if (fitted.text.size() > room) fitted.text = fitted.text.substr(0, room - 3) + "...";
    fitted.length = std::min(fitted.length, room - fitted.column);
  }
  return fitted;
}

}  // namespace

std::string position_text(const SourcePosition& at) {
  if (at.file.empty()) return at.line > 0 ? fmt::format("PTX line {}", at.line) : "no source position";
  return at.line > 0 ? fmt::format("{}:{}", at.file, at.line) : at.file;
}

void print_excerpt(Page& page, const Excerpt& excerpt, const TextOptions& options, std::size_t gutter) {
  const SourcePosition& at = excerpt.at;
  const std::optional<std::string> source =
      options.source && !at.file.empty() ? options.source(at.file, at.line) : std::nullopt;
  const std::string left = gutter_text(at.line > 0 ? std::to_string(at.line) : "", gutter);
  const std::string bar = page.styled(gutter_text("", gutter), Style::kDim);
  const std::size_t room = page.width() - left.size();
  std::string marks;
  if (source) {
    const Fitted fitted = fit(*source, excerpt.column, room);
    page.line(page.styled(left, Style::kDim) + fitted.text);
    if (fitted.length > 0) marks = std::string(fitted.column, ' ') + '^' + std::string(fitted.length - 1, '~');
  } else if (!excerpt.fallback.empty()) {
    page.line(page.styled(left, Style::kDim) + std::string(excerpt.fallback.substr(0, room)));
  }
  const bool beside = !marks.empty() && marks.size() + 1 + excerpt.cause.size() <= room;
  if (!marks.empty())
    page.line(bar + page.styled(marks, Style::kGreen) +
              (beside && !excerpt.cause.empty() ? ' ' + page.styled(excerpt.cause, Style::kYellow) : ""));
  if (!beside && !excerpt.cause.empty()) page.hang(bar, bar, excerpt.cause, left.size(), Style::kYellow);
}

void print_lines(Page& page, const Report& report, const LaunchReport& launch, const TextOptions& options) {
  const std::vector<CostlyLine> lines = costly_lines(launch, options.top);
  std::uint64_t all = 0;
  for (const LineReport& line : launch.lines)
    for (const SiteReport& site : line.sites) all += waste_of(site);
  if (all == 0) {
    const bool any =
        std::any_of(launch.lines.begin(), launch.lines.end(), [](const LineReport& l) { return !l.sites.empty(); });
    if (any) page.line("  " + page.styled("no line wastes sectors, wavefronts or constant requests", Style::kGreen));
    return;
  }
  std::size_t gutter = 4;
  for (const CostlyLine& costly : lines) gutter = std::max(gutter, std::to_string(costly.line->at.line).size() + 4);

  const std::string* file = nullptr;
  for (const CostlyLine& costly : lines) {
    const LineReport& line = *costly.line;
    if (file == nullptr || *file != line.at.file) {
      file = &line.at.file;
      page.line("  " + page.styled(file->empty() ? "PTX (no line information)" : *file, Style::kBold));
    }
    std::vector<const SiteReport*> sites;
    for (const SiteReport& site : line.sites)
      if (waste_of(site) > 0) sites.push_back(&site);
    std::stable_sort(sites.begin(), sites.end(),
                     [](const SiteReport* a, const SiteReport* b) { return waste_of(*a) > waste_of(*b); });
    const std::string bar = page.styled(gutter_text("", gutter), Style::kDim);
    std::vector<std::string> causes;
    for (const SiteReport* site : sites) {
      if (causes.size() == kCausesPerLine) break;
      std::optional<std::string> cause = cause_of(*site, report.gpu);
      if (cause && std::find(causes.begin(), causes.end(), *cause) == causes.end()) causes.push_back(std::move(*cause));
    }
    print_excerpt(page, {line.at, sites.front()->column, sites.front()->text, causes.empty() ? "" : causes.front()},
                  options, gutter);
    for (std::size_t i = 1; i < causes.size(); ++i) page.hang(bar, bar, causes[i], gutter + 3, Style::kYellow);
    std::string context;
    if (!line.inlined_at.empty()) {
      if (!line.at.function.empty()) context = fmt::format("in {}, ", line.at.function);
      context += fmt::format("inlined at {}", position_text(line.inlined_at.front()));
      for (std::size_t i = 1; i < line.inlined_at.size() && i < 3; ++i)
        context += fmt::format(", from {}", position_text(line.inlined_at[i]));
    }
    if (lines.size() > 1 || costly.waste < all) {
      if (!context.empty()) context += "; ";
      context += fmt::format("{:.1f} % of what this launch wastes",
                             100 * static_cast<double>(costly.waste) / static_cast<double>(all));
    }
    if (!context.empty()) page.hang(bar, bar, context, gutter + 3, Style::kDim);
  }
}

}  // namespace muscope::report
