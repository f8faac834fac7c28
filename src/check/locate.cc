#include "check/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/cause.h"
#include "report/source_text.h"

namespace muscope::check {
namespace {

/// Where people see the line: at the call in their own code, for code of system headers.
const report::SourcePosition& shown_at(const report::LineReport& line) {
  for (std::size_t i = 0; i <= line.inlined_at.size(); ++i) {
    const report::SourcePosition& at = i == 0 ? line.at : line.inlined_at[i - 1];
    if (!report::is_system_header(at.file)) return at;
  }
  return line.at;
}

struct Weight {
  double cost = 0;
  int column = 0;
  const report::SiteReport* worst = nullptr;
};

double weight_of(const report::LineReport& line, const report::MetricRow* metric) {
  if (metric == nullptr || metric->aggregation == report::Aggregation::kPerLaunch) return 0;
  const auto found = line.metrics.find(metric->name);
  if (found == line.metrics.end()) return 0;
  if (metric->aggregation == report::Aggregation::kAdditive) return found->second.as_double();
  double waste = 1;  // it has the quotient: more than a line that has not
  for (const report::SiteReport& site : line.sites) waste += static_cast<double>(report::waste_of(site));
  return waste;
}

}  // namespace

Culprit culprit_of(const report::Report& report, const diff::KernelGroup& group, const report::MetricRow* metric) {
  std::map<std::tuple<std::string_view, int>, Weight> lines;
  for (const report::LaunchReport* launch : group.launches) {
    for (const report::LineReport& line : launch->lines) {
      const report::SourcePosition& at = shown_at(line);
      if (at.file.empty() || at.line <= 0) continue;
      const double cost = weight_of(line, metric);
      Weight& weight = lines[{at.file, at.line}];
      weight.cost += cost;
      if (cost <= 0) continue;
      for (const report::SiteReport& site : line.sites)
        if (report::waste_of(site) > (weight.worst == nullptr ? 0 : report::waste_of(*weight.worst))) {
          weight.worst = &site;
          weight.column = &at == &line.at ? site.column : at.column;
        }
    }
  }
  const auto most = std::max_element(lines.begin(), lines.end(),
                                     [](const auto& a, const auto& b) { return a.second.cost < b.second.cost; });
  Culprit culprit;
  if (most == lines.end()) return culprit;
  const auto& [place, weight] = *most;
  culprit.at = {std::string(std::get<0>(place)), std::get<1>(place), weight.column};
  for (const report::LaunchReport* launch : group.launches) {
    const auto about = std::find_if(launch->advice.begin(), launch->advice.end(), [&](const report::AdviceReport& a) {
      return a.at.file == culprit.at.file && a.at.line == culprit.at.line && !a.change.empty();
    });
    if (about == launch->advice.end()) continue;
    culprit.advice = fmt::format("[{}] {}", about->code, about->change);
    break;
  }
  if (weight.worst == nullptr) return culprit;
  if (const auto cause = report::cause_of(*weight.worst, report.gpu))
    culprit.cause = cause->subject + ": " + cause->text();
  return culprit;
}

}  // namespace muscope::check
