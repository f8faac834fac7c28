// Source excerpts: which lines cost most, and why.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/cause.h"
#include "report/compiled_text.h"
#include "report/number_format.h"
#include "report/source_text.h"
#include "report/text_parts.h"
#include "report/user_place.h"

namespace muscope::report {
namespace {

constexpr double kWorthShowing = 0.005;  ///< share of the launch's waste below which a line is left out
constexpr std::size_t kCausesPerLine = 3;

/// A line and where it is shown: at its own place, or, for code of system headers, at the call in the program.
struct CostlyLine {
  const LineReport* line = nullptr;
  std::uint64_t waste = 0;
  const SourcePosition* shown = nullptr;
  std::size_t depth = 0;  ///< 0: at its own place; n: at inlined_at[n - 1]
};

CostlyLine shown_where(const LineReport& line, std::uint64_t waste) {
  const UserPlace place = user_place(line.at, line.inlined_at);
  return {&line, waste, place.at, place.depth};
}

/// Where the code of the line is called from, or what the shown line calls.
std::string context_of(const CostlyLine& costly, const TextOptions& options) {
  const LineReport& line = *costly.line;
  std::string text;
  const std::string function = line.at.function.empty() ? std::string() : function_text(line.at.function);
  if (costly.depth > 0) {
    const std::size_t slash = line.at.file.rfind('/');
    const std::string file = slash == std::string::npos ? line.at.file : line.at.file.substr(slash + 1);
    text = fmt::format("in {}{}:{}", function.empty() ? "" : function + ", ", file, line.at.line);
  } else if (!line.inlined_at.empty() && !function.empty()) {
    text = fmt::format("in {}", function);
  }
  for (std::size_t i = costly.depth; i < line.inlined_at.size() && i < costly.depth + 3; ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", i == costly.depth ? "inlined at" : "from",
                        position_text(line.inlined_at[i], options));
  return text;
}

std::vector<CostlyLine> costly_lines(const LaunchReport& launch, int top) {
  std::vector<CostlyLine> lines;
  std::uint64_t all = 0;
  for (const LineReport& line : launch.lines) {
    std::uint64_t waste = 0;
    for (const SiteReport& site : line.sites) waste += waste_of(site);
    all += waste;
    if (waste > 0) lines.push_back(shown_where(line, waste));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.waste > b.waste; });
  if (lines.size() > static_cast<std::size_t>(std::max(1, top)))
    lines.resize(static_cast<std::size_t>(std::max(1, top)));
  std::erase_if(lines, [&](const CostlyLine& line) {
    return static_cast<double>(line.waste) < kWorthShowing * static_cast<double>(all);
  });
  // On the page they stand in the order of the file.
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return std::tie(a.shown->file, a.shown->line) < std::tie(b.shown->file, b.shown->line);
  });
  return lines;
}

std::string gutter_text(std::string_view number, std::size_t gutter) {
  return fmt::format("{:>{}} | ", number, gutter);
}

/// A line of code made to fit: what was cut from its left.
struct Fitted {
  std::string text;
  std::size_t cut = 0;
};

Fitted fit(std::string text, std::optional<Extent> in_view, std::size_t room) {
  Fitted fitted{std::move(text), 0};
  const std::size_t blank = std::min(fitted.text.find_first_not_of(' '), fitted.text.size());
  fitted.text.erase(0, blank);
  fitted.cut = blank;
  if (fitted.text.size() <= room) return fitted;
  const std::size_t start = in_view ? in_view->start - std::min(in_view->start, blank) : 0;
  if (const std::size_t end = in_view ? start + in_view->length : 0; end + 4 > room && start > 10) {
    const std::size_t skip = std::min(start - 10, end + 4 - room);
    fitted.text = "..." + fitted.text.substr(skip + 3);
    fitted.cut += skip;
  }
  if (fitted.text.size() > room) fitted.text = fitted.text.substr(0, room - 3) + "...";
  return fitted;
}

/// Where the caret of a remark goes: the access if it can be told from the text, else the expression at the column,
/// unless that is not the kind of thing the remark is about.
std::optional<Extent> caret_of(const std::string& raw, const Remark& remark) {
  if (remark.column <= 0) return {};
  const std::string line = expand_tabs(raw);
  const std::size_t start = expanded_column(raw, remark.column);
  if (start >= line.size()) return {};
  if (const auto access = find_access(line, start, remark.access)) return access;
  return {};
}

}  // namespace

AccessKind access_of(trace::Kind kind) {
  switch (kind) {
    case trace::Kind::kLoad:
    case trace::Kind::kLoadMatrix:
    case trace::Kind::kSample:
      return AccessKind::kRead;
    case trace::Kind::kStore:
    case trace::Kind::kStoreMatrix:
    case trace::Kind::kCopy:
    case trace::Kind::kCopyAround:
      return AccessKind::kWrite;
    default:
      return AccessKind::kUpdate;
  }
}

std::string position_text(const SourcePosition& at, const TextOptions& options) {
  const std::string file = relative_path(at.file, options.directory);
  if (at.file.empty()) return at.line > 0 ? fmt::format("PTX line {}", at.line) : "no source position";
  return at.line > 0 ? fmt::format("{}:{}", file, at.line) : file;
}

void print_excerpt(Page& page, const SourcePosition& at, std::string_view fallback, const std::vector<Remark>& remarks,
                   const TextOptions& options, std::size_t gutter) {
  const std::optional<std::string> source =
      options.source && !at.file.empty() ? options.source(at.file, at.line) : std::nullopt;
  const std::string left = gutter_text(at.line > 0 ? std::to_string(at.line) : "", gutter);
  const std::string bar = page.styled(gutter_text("", gutter), Style::kDim);
  const std::size_t room = page.width() - left.size();
  std::vector<std::optional<Extent>> carets(remarks.size());
  Fitted fitted;
  if (source) {
    for (std::size_t i = 0; i < remarks.size(); ++i) carets[i] = caret_of(*source, remarks[i]);
    std::optional<Extent> in_view = carets.empty() ? std::nullopt : carets.front();
    constexpr std::size_t kStatement = 30;  // shown from the statement on where the access is not known
    if (!in_view && !remarks.empty() && remarks.front().column > 0)
      in_view = Extent{expanded_column(*source, remarks.front().column), kStatement};
    fitted = fit(expand_tabs(*source), in_view, room);
    page.line(page.styled(left, Style::kDim) + fitted.text);
  } else if (!fallback.empty()) {
    page.line(page.styled(left, Style::kDim) + std::string(fallback.substr(0, room)));
  }
  for (std::size_t i = 0; i < remarks.size(); ++i) {
    const std::string& text = remarks[i].text;
    std::string marks;
    if (carets[i] && (i == 0 || carets[i] != carets[i - 1]) && carets[i]->start >= fitted.cut &&
        carets[i]->start - fitted.cut < fitted.text.size()) {
      const std::size_t start = carets[i]->start - fitted.cut;
      const std::size_t length = std::min(carets[i]->length, fitted.text.size() - start);
      marks = std::string(start, ' ') + '^' + std::string(length - 1, '~');
    }
    const bool beside = !marks.empty() && !text.empty() && marks.size() + 1 + text.size() <= room;
    if (!marks.empty())
      page.line(bar + page.styled(marks, Style::kGreen) +
                (beside ? fmt::format(" {}", page.styled(text, Style::kYellow)) : std::string()));
    if (!beside && !text.empty()) page.hang(bar, bar, text, left.size(), Style::kYellow);
  }
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
  for (const CostlyLine& costly : lines) gutter = std::max(gutter, std::to_string(costly.shown->line).size() + 4);

  const std::string* file = nullptr;
  for (const CostlyLine& costly : lines) {
    const LineReport& line = *costly.line;
    if (file == nullptr || *file != costly.shown->file) {
      file = &costly.shown->file;
      page.line("  " +
                page.styled(file->empty() ? "PTX (no line information)" : relative_path(*file, options.directory),
                            Style::kBold));
    }
    std::vector<const SiteReport*> sites;
    for (const SiteReport& site : line.sites)
      if (waste_of(site) > 0) sites.push_back(&site);
    std::stable_sort(sites.begin(), sites.end(),
                     [](const SiteReport* a, const SiteReport* b) { return waste_of(*a) > waste_of(*b); });
    const std::string bar = page.styled(gutter_text("", gutter), Style::kDim);
    std::vector<Cause> causes;
    std::vector<Remark> remarks;
    for (const SiteReport* site : sites) {
      const std::optional<Cause> cause = cause_of(*site, report.gpu);
      if (!cause || std::any_of(causes.begin(), causes.end(), [&](Cause& c) { return c.merge(*cause); })) continue;
      if (causes.size() == kCausesPerLine) continue;
      causes.push_back(*cause);
      remarks.push_back({{}, access_of(site->kind), costly.depth == 0 ? site->column : costly.shown->column});
    }
    for (std::size_t i = 0; i < remarks.size(); ++i) {
      const std::string text = causes[i].text();
      // A load and a store with the same cause are said together.
      for (std::size_t j = i + 1; j < remarks.size();) {
        if (causes[j].text() != text) {
          ++j;
          continue;
        }
        causes[i].subject += " and " + causes[j].subject;
        causes.erase(causes.begin() + static_cast<std::ptrdiff_t>(j));
        remarks.erase(remarks.begin() + static_cast<std::ptrdiff_t>(j));
      }
      remarks[i].text = fmt::format("{}: {}", causes[i].subject, text);
    }
    print_excerpt(page, *costly.shown, sites.front()->text, remarks, options, gutter);
    std::string context = context_of(costly, options);
    if (lines.size() > 1 || costly.waste < all) {
      if (!context.empty()) context += "; ";
      context += fmt::format("{:.1f} % of what this launch wastes",
                             100 * static_cast<double>(costly.waste) / static_cast<double>(all));
    }
    if (!context.empty()) page.hang(bar, bar, context, gutter + 3, Style::kDim);
    for (const CodeChangeReport* change : changes_of(launch, line))
      page.hang(bar, bar, "ptxas: " + spill_text(*change), gutter + 3, Style::kDim);
  }
}

}  // namespace muscope::report
