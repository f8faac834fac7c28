#include "check/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/cause.h"
#include "report/user_place.h"

namespace muscope::check {
namespace {

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
      const report::SourcePosition& at = *report::user_place(line.at, line.inlined_at).at;
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
    std::set<std::uint32_t> sites;  // an advice may be about several lines and stand with one of them
    for (const report::LineReport& line : launch->lines) {
      const report::SourcePosition& at = *report::user_place(line.at, line.inlined_at).at;
      if (at.file != culprit.at.file || at.line != culprit.at.line) continue;
      for (const report::SiteReport& site : line.sites) sites.insert(site.site);
    }
    const auto about = std::find_if(launch->advice.begin(), launch->advice.end(), [&](const report::AdviceReport& a) {
      return !a.change.empty() &&
             ((a.at.file == culprit.at.file && a.at.line == culprit.at.line) ||
              std::any_of(a.sites.begin(), a.sites.end(), [&](std::uint32_t site) { return sites.contains(site); }));
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
