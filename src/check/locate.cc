#include "check/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/cause.h"
#include "report/metric_formulas.h"
#include "report/user_place.h"

namespace muscope::check {
namespace {

/// What a metric is about; no kinds: it is none of memory accesses.
report::AccessClass accesses_of(const report::MetricRow* metric) {
  namespace formulas = report::formulas;
  using report::MetricGroup;
  using trace::Kind;
  using trace::Space;
  if (metric == nullptr) return {formulas::kEverySpace, formulas::kEveryKind};
  report::AccessClass about{0, 0};
  switch (metric->group) {
    case MetricGroup::kGlobal:
    case MetricGroup::kCopies:
      about.spaces = formulas::bit(Space::kGlobal);
      break;
    case MetricGroup::kLocal:
      about.spaces = formulas::bit(Space::kLocal);
      break;
    case MetricGroup::kShared:
      about.spaces = formulas::bit(Space::kShared);
      break;
    case MetricGroup::kConstant:
      about.spaces = formulas::bit(Space::kConst);
      break;
    case MetricGroup::kTexture:
      about.spaces = formulas::bit(Space::kTexture) | formulas::bit(Space::kSurface);
      break;
    default:
      return about;
  }
  constexpr std::pair<std::string_view, std::uint16_t> kWords[] = {
      {"ld", formulas::bit(Kind::kLoad)},         {"st", formulas::bit(Kind::kStore)},
      {"red", formulas::bit(Kind::kRed)},         {"atom", formulas::kAtomics},
      {"ldsm", formulas::bit(Kind::kLoadMatrix)}, {"stsm", formulas::bit(Kind::kStoreMatrix)},
  };
  for (std::size_t from = 0; from < metric->name.size();) {
    const std::size_t to = std::min(metric->name.find_first_of("_.", from), metric->name.size());
    for (const auto& [word, kinds] : kWords)
      if (metric->name.substr(from, to - from) == word) about.kinds |= kinds;
    from = to + 1;
  }
  if (about.kinds == 0) about.kinds = formulas::kEveryKind;
  return about;
}

bool is_in(const report::AccessClass& about, const report::SiteReport& site) {
  return (about.spaces & report::formulas::bit(site.space)) != 0 &&
         (about.kinds & report::formulas::bit(site.kind)) != 0;
}

struct Weight {
  double cost = 0;
  int column = 0;
  const report::SiteReport* worst = nullptr;
};

double weight_of(const report::LineReport& line, const report::MetricRow* metric, const report::AccessClass& about) {
  if (metric == nullptr || metric->aggregation == report::Aggregation::kPerLaunch) return 0;
  const auto found = line.metrics.find(metric->name);
  if (found == line.metrics.end()) return 0;
  if (metric->aggregation == report::Aggregation::kAdditive) return found->second.as_double();
  double waste = 1;  // it has the quotient: more than a line that has not
  for (const report::SiteReport& site : line.sites)
    if (is_in(about, site)) waste += static_cast<double>(report::waste_of(site));
  return waste;
}

}  // namespace

Culprit culprit_of(const report::Report& report, const diff::KernelGroup& group, const report::MetricRow* metric) {
  const report::AccessClass accesses = accesses_of(metric);
  std::map<std::tuple<std::string_view, int>, Weight> lines;
  for (const report::LaunchReport* launch : group.launches) {
    for (const report::LineReport& line : launch->lines) {
      const report::SourcePosition& at = *report::user_place(line.at, line.inlined_at).at;
      if (at.file.empty() || at.line <= 0) continue;
      const double cost = weight_of(line, metric, accesses);
      Weight& weight = lines[{at.file, at.line}];
      weight.cost += cost;
      if (cost <= 0) continue;
      for (const report::SiteReport& site : line.sites)
        if (is_in(accesses, site) &&
            report::waste_of(site) > (weight.worst == nullptr ? 0 : report::waste_of(*weight.worst))) {
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
    std::set<std::uint32_t> sites;    // an advice may be about several lines and stand with one of them
    std::set<std::uint32_t> counted;  // those that the metric counts, wherever they are
    for (const report::LineReport& line : launch->lines) {
      for (const report::SiteReport& site : line.sites)
        if (is_in(accesses, site)) counted.insert(site.site);
      const report::SourcePosition& at = *report::user_place(line.at, line.inlined_at).at;
      if (at.file != culprit.at.file || at.line != culprit.at.line) continue;
      for (const report::SiteReport& site : line.sites) sites.insert(site.site);
    }
    const auto any_in = [](const report::AdviceReport& a, const std::set<std::uint32_t>& known) {
      return std::any_of(a.sites.begin(), a.sites.end(), [&](std::uint32_t site) { return known.contains(site); });
    };
    const auto about = std::find_if(launch->advice.begin(), launch->advice.end(), [&](const report::AdviceReport& a) {
      if (a.change.empty()) return false;
      if (accesses.kinds == 0)
        return (metric->group == report::MetricGroup::kLaunch || metric->group == report::MetricGroup::kOccupancy) &&
               a.unit.find("occupancy") != std::string::npos;
      const bool here = (a.at.file == culprit.at.file && a.at.line == culprit.at.line) || any_in(a, sites);
      return here && (metric == nullptr || any_in(a, counted));
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
