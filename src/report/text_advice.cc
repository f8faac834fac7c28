// The advice of a launch: what was seen and where, what to change, what that would bring.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/number_format.h"
#include "report/text_parts.h"

namespace muscope::report {
namespace {

std::string number_text(double value) {
  const bool whole = std::fabs(value - std::round(value)) < 0.05;
  return grouped(value, whole ? 0 : 1);
}

void print_one(Page& page, const AdviceReport& advice, const TextOptions& options) {
  const std::string first = fmt::format("    [{}] ", advice.code);
  std::string place;
  if (advice.at.line > 0) place = position_text(advice.at, options) + ": ";
  page.paragraph(page.styled(first, Style::kBlue), place + advice.text, first.size());
  const std::string indent(first.size(), ' ');
  if (!advice.change.empty()) page.paragraph(indent, advice.change, first.size(), Style::kGreen);
  std::string gain;
  if (!advice.unit.empty() && advice.after != advice.before) {
    gain = fmt::format("{} -> {} {} [{}", number_text(advice.before), number_text(advice.after), advice.unit,
                       name_of(advice.grade));
    gain += advice.reason.empty() ? "]" : fmt::format(": {}]", advice.reason);
  }
  if (!advice.bound.empty()) gain += (gain.empty() ? "" : "; ") + advice.bound;
  if (!gain.empty()) page.paragraph(indent, gain, first.size(), Style::kDim);
}

}  // namespace

void print_advice(Page& page, const LaunchReport& launch, const TextOptions& options) {
  if (launch.advice.empty() || options.advice == 0) return;
  const std::size_t shown = std::min(launch.advice.size(), static_cast<std::size_t>(std::max(0, options.advice)));
  page.line("  " + page.styled("advice", Style::kBold));
  for (std::size_t i = 0; i < shown; ++i) print_one(page, launch.advice[i], options);
  if (shown < launch.advice.size())
    page.line("    " + page.styled(fmt::format("{} more: --advice all", launch.advice.size() - shown), Style::kDim));
}

}  // namespace muscope::report
