// Comparison -> JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "verify/verify_text.h"

namespace muscope::verify {
namespace {

using Json = nlohmann::ordered_json;

/// Whole numbers as such: counters are.
Json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace

std::string to_json(const Comparison& comparison, const report::Report& report, const Capture& capture) {
  Json json{{"schema", kVerifySchema},
            {"good", comparison.good()},
            {"launches",
             {{"report", report.launches.size()},
              {"capture", capture.launches.size()},
              {"compared", comparison.matching.pairs.size()}}},
            {"other_metrics", comparison.other_metrics},
            {"unreadable_lines", capture.unreadable_lines},
            {"unreadable_values", capture.unreadable_values},
            {"unlisted_differences", comparison.unlisted}};
  json["report_only"] = Json::array();
  for (const std::size_t i : comparison.matching.report_only)
    json["report_only"].push_back({{"index", report.launches[i].index}, {"kernel", report.launches[i].kernel}});
  json["capture_only"] = Json::array();
  for (const std::size_t i : comparison.matching.capture_only)
    json["capture_only"].push_back({{"id", capture.launches[i].id}, {"kernel", capture.launches[i].kernel}});
  json["metrics"] = Json::array();
  for (const MetricTally& tally : comparison.metrics) {
    const CounterRule& rule = *tally.rule;
    Json row{{"metric", tally.metric}, {"kind", name_of(rule.kind)}, {"compared", tally.compared},
             {"exact", tally.exact},   {"within", tally.within},     {"different", tally.different}};
    if (rule.kind == CounterKind::kNoisy)
      row["tolerance"] = {{"below", rule.below},
                          {"above", rule.above},
                          {"count", rule.count},
                          {"of", share_metric(rule, tally.metric)},
                          {"source", rule.source}};
    json["metrics"].push_back(std::move(row));
  }
  json["differences"] = Json::array();
  for (const Difference& d : comparison.differences) {
    const report::LaunchReport& here = report.launches[d.report_launch];
    json["differences"].push_back({{"launch", here.index},
                                   {"id", capture.launches[d.capture_launch].id},
                                   {"kernel", here.kernel},
                                   {"metric", d.metric},
                                   {"here", number(d.here)},
                                   {"there", number(d.there)},
                                   {"relative", number(d.relative())},
                                   {"within", d.verdict == Verdict::kWithin},
                                   {"reason", d.reason}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace muscope::verify
