// The check in the formats of CI systems: SARIF, JUnit, GitLab, GitHub.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/sarif.h"
#include "check/output.h"
#include "diff/kernel_group.h"

namespace muscope::check {
namespace {

using Json = nlohmann::ordered_json;
constexpr auto kReplace = Json::error_handler_t::replace;

std::string dumped(const Json& json) { return json.dump(1, ' ', false, kReplace) + "\n"; }

/// Numbers of equal findings, so that each has a fingerprint of its own.
class Fingerprints {
 public:
  explicit Fingerprints(const CheckContext& context) : context_(context) {}
  std::string of(const Judgement& j) { return fingerprint(context_, j, seen_[fingerprint(context_, j, 0)]++); }

 private:
  const CheckContext& context_;
  std::map<std::string, std::uint64_t> seen_;
};

Json number_of(const report::MetricValue& value) {
  return std::visit([](auto n) { return Json(n); }, value);
}

Json sarif_location(const CheckContext& context, const Judgement& j) {
  const SourceLocation at = shown_at(j);
  const std::string path = path_text(context, at.file);
  Json location = sarif::location(path, at.line, at.column);
  if (!j.kernel.empty())
    location["logicalLocations"] = Json::array({{{"fullyQualifiedName", j.kernel}, {"kind", "function"}}});
  return location;
}

Json sarif_rules() {
  Json rules = Json::array();
  for (const Rule rule : kRules) {
    const std::string text(description_of(rule));
    rules.push_back({{"id", fmt::format("muscope/{}", id_of(rule))},
                     {"shortDescription", {{"text", text}}},
                     {"help",
                      {{"text", text + " The budget file says which values are allowed; muscope explain METRIC "
                                       "says what a metric means."}}},
                     {"defaultConfiguration", {{"level", rule == Rule::kNew ? "warning" : "error"}}}});
  }
  return rules;
}

/// XML 1.0: control characters may not stand in it at all.
std::string xml_text(std::string_view text) {
  std::string out;
  // Through JSON, which replaces what is not UTF-8.
  const std::string clean = Json::parse(Json(text).dump(-1, ' ', false, kReplace)).get<std::string>();
  for (const char c : clean) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string case_name(const Judgement& j) {
  return fmt::format("{} ({}:{})", budget_text(j), j.budget->where.file, j.budget->where.line);
}

/// As actions/toolkit escapes it: data of a command, and properties.
std::string command_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string to_sarif(const CheckContext& context) {
  const CheckResult& result = *context.result;
  Fingerprints fingerprints(context);
  Json results = Json::array();
  for (const Judgement* j : findings_of(result)) {
    const auto index = std::find(std::begin(kRules), std::end(kRules), j->rule) - std::begin(kRules);
    Json properties{{"budget", fmt::format("{}:{}", path_text(context, j->budget->where.file), j->budget->where.line)}};
    if (j->metric != nullptr) properties["metric"] = j->metric->name;
    if (j->measured) properties["measured"] = number_of(*j->measured);
    if (j->allowed) properties["allowed"] = number_of(*j->allowed);
    if (j->before) properties["baseline"] = number_of(*j->before);
    if (!j->advice.empty()) properties["advice"] = j->advice;
    if (j->measured) properties["grade"] = report::name_of(j->grade);
    results.push_back({{"ruleId", fmt::format("muscope/{}", id_of(j->rule))},
                       {"ruleIndex", index},
                       {"level", name_of(j->level)},
                       {"message", {{"text", message_of(*j)}}},
                       {"locations", Json::array({sarif_location(context, *j)})},
                       {"partialFingerprints", {{"muscopeFinding/v1", fingerprints.of(*j)}}},
                       {"properties", std::move(properties)}});
  }
  sarif::Document document;
  document.tool_version = context.report->tool_version;
  document.rules = sarif_rules();
  document.results = std::move(results);
  document.exit_code = context.exit_code;
  if (!context.problem.empty()) document.notifications.push_back(sarif::notification(context.problem));
  for (const std::string& why : result.incomparable)
    document.notifications.push_back(sarif::notification("the baseline does not hold for this run: " + why));
  return sarif::text_of(std::move(document));
}

std::string to_junit(const CheckContext& context) {
  const CheckResult& result = *context.result;
  const bool stopped = !context.problem.empty() || !result.incomparable.empty();
  std::uint64_t failures = 0, skipped = 0;
  std::string cases;
  for (const Judgement& j : result.judgements) {
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                         xml_text(j.kernel.empty() ? "muscope" : j.kernel), xml_text(case_name(j)));
    if (j.verdict == Verdict::kCrossed && j.level == Level::kError) {
      ++failures;
      const SourceLocation at = shown_at(j);
      cases += fmt::format(
          " file=\"{}\" line=\"{}\">\n      <failure type=\"muscope/{}\" message=\"{}\">{}:{}: {}</failure>\n"
          "    </testcase>\n",
          xml_text(path_text(context, at.file)), at.line, id_of(j.rule), xml_text(j.text),
          xml_text(path_text(context, at.file)), at.line, xml_text(message_and_advice(j)));
    } else if (j.verdict == Verdict::kCrossed) {
      cases += fmt::format(">\n      <system-out>{}: {}</system-out>\n    </testcase>\n", name_of(j.level),
                           xml_text(message_of(j)));
    } else if (j.verdict == Verdict::kNoValue) {
      ++skipped;
      cases += ">\n      <skipped message=\"nothing of that kind was executed\"/>\n    </testcase>\n";
    } else {
      cases += "/>\n";
    }
  }
  std::uint64_t tests = result.judgements.size();
  if (stopped) {
    ++tests;
    std::string why = context.problem;
    for (const std::string& reason : result.incomparable) why += (why.empty() ? "" : "; ") + reason;
    cases += fmt::format(
        "    <testcase classname=\"muscope\" name=\"the run can be judged\">\n"
        "      <error type=\"muscope\" message=\"{}\"/>\n    </testcase>\n",
        xml_text(why));
  }
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures,
                                         stopped ? 1 : 0, skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"muscope\" {}>\n"
      "  <testsuite name=\"muscope check\" {}>\n{}  </testsuite>\n</testsuites>\n",
      counts.substr(0, counts.find(" skipped")), counts, cases);
}

std::string to_gitlab(const CheckContext& context) {
  Fingerprints fingerprints(context);
  Json issues = Json::array();
  for (const Judgement* j : findings_of(*context.result)) {
    const SourceLocation at = shown_at(*j);
    const char* severity = j->level == Level::kError ? "major" : j->level == Level::kWarning ? "minor" : "info";
    issues.push_back(
        {{"description", message_and_advice(*j)},
         {"check_name", fmt::format("muscope/{}", id_of(j->rule))},
         {"fingerprint", fingerprints.of(*j)},
         {"severity", severity},
         {"location", {{"path", path_text(context, at.file)}, {"lines", {{"begin", std::max(1, at.line)}}}}}});
  }
  return dumped(issues);
}

std::string to_github(const CheckContext& context) {
  std::string out;
  for (const Judgement* j : findings_of(*context.result)) {
    const SourceLocation at = shown_at(*j);
    const char* level = j->level == Level::kError ? "error" : j->level == Level::kWarning ? "warning" : "notice";
    out += fmt::format("::{} file={}", level, command_text(path_text(context, at.file), true));
    if (at.line > 0) out += fmt::format(",line={}", at.line);
    if (at.column > 0) out += fmt::format(",col={}", at.column);
    out += fmt::format(",title={}::{}\n", command_text(fmt::format("muscope {}", id_of(j->rule)), true),
                       command_text(message_and_advice(*j), false));
  }
  std::string why = context.problem;
  for (const std::string& reason : context.result->incomparable) why += (why.empty() ? "" : "; ") + reason;
  if (!why.empty()) out += fmt::format("::error title=muscope check::{}\n", command_text(why, false));
  return out;
}

}  // namespace muscope::check
