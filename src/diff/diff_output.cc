#include "diff/diff_output.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "diff/verdict.h"
#include "report/kernel_name.h"
#include "report/number_format.h"
#include "report/source_text.h"

namespace muscope::diff {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<report::MetricValue>& value) {
  if (!value) return nullptr;
  return std::visit([](auto number) { return Json(number); }, *value);
}

Json json_of(const Change& c) {
  Json json{{"label", c.label},
            {"unit", c.unit},
            {"before", json_of(c.before)},
            {"after", json_of(c.after)},
            {"change", name_of(c.direction)},
            {"grade", report::name_of(c.grade)}};
  if (!c.missing.empty()) json["missing"] = c.missing;
  return json;
}

Json json_of(const std::vector<Change>& changes) {
  Json json = Json::array();
  for (const Change& c : changes) json.push_back(json_of(c));
  return json;
}

Json json_of(const std::vector<AccessChange>& changes) {
  Json json = Json::array();
  for (const AccessChange& c : changes) json.push_back({{"access", c.label}, {"changes", json_of(c.changes)}});
  return json;
}

Json json_of(const LineSums* line) {
  if (line == nullptr) return nullptr;
  Json json{{"file", line->file}, {"line", line->line}};
  if (line->text) json["text"] = *line->text;
  return json;
}

Json json_of(const KernelGroup* group) {
  if (group == nullptr) return nullptr;
  return {{"kernel", group->kernel}, {"launches", group->launches.size()}, {"counted_from", counted_from(*group)}};
}

std::string_view word_of(MatchedBy by) {
  switch (by) {
    case MatchedBy::kName:
      return "name";
    case MatchedBy::kParameters:
      return "name without parameters";
    case MatchedBy::kTemplate:
      return "name without template arguments";
    case MatchedBy::kSimilarity:
      return "similarity";
    case MatchedBy::kNothing:
      break;
  }
  return "nothing";
}

Json side(const report::Report& report, const std::string& name) {
  return {{"name", name},
          {"gpu", report.gpu.name},
          {"toolchain", report.toolchain},
          {"argv", report.argv},
          {"launches", report.launches.size()}};
}

}  // namespace

std::string pair_text(const KernelPair& pair, std::size_t width) {
  if (pair.before == nullptr) return report::shorten_kernel_name(pair.after->kernel, width);
  if (pair.after == nullptr || pair.before->kernel == pair.after->kernel)
    return report::shorten_kernel_name(pair.before->kernel, width);
  const std::size_t half = width > 20 ? (width - 4) / 2 : 8;
  return fmt::format("{} -> {}", report::shorten_kernel_name(pair.before->kernel, half),
                     report::shorten_kernel_name(pair.after->kernel, half));
}

std::string place_text(const LinePair& lines, const std::string& directory) {
  const LineSums* line = lines.after != nullptr ? lines.after : lines.before;
  const auto text = [&](const LineSums& l) {
    return l.file.empty() ? (l.line > 0 ? fmt::format("PTX line {}", l.line) : std::string("no line"))
                          : fmt::format("{}:{}", report::relative_path(l.file, directory), l.line);
  };
  if (lines.before == nullptr || lines.after == nullptr) return text(*line);
  if (lines.before->file == lines.after->file)
    return lines.before->line == lines.after->line ? text(*line)
                                                   : fmt::format("{} -> {}", text(*lines.before), lines.after->line);
  return fmt::format("{} -> {}", text(*lines.before), text(*lines.after));
}

std::string side_text(const std::optional<report::MetricValue>& value, const std::string& unit) {
  return value ? value_text(*value, unit) : "-";
}

std::string moved_text(const Change& c) {
  if (!c.moved()) return "";
  if (!c.before) return "new";
  if (!c.after) return "gone";
  const double before = as_double(*c.before), after = as_double(*c.after);
  if (c.unit == "%") return fmt::format("{:+.1f} points", after - before);
  if (before == 0) return "from 0";
  const double percent = 100 * (after - before) / before;
  if (std::fabs(percent) >= 1000) return fmt::format("x{:.1f}", after / before);
  return fmt::format("{:+.1f} %", percent);
}

std::string to_json(const Difference& difference, const report::Report& before, const report::Report& after,
                    const DiffTextOptions& options) {
  Json kernels = Json::array();
  for (const KernelChange& kernel : difference.kernels) {
    Json lines = Json::array();
    for (const LineChange& line : kernel.lines) {
      Json json{{"before", json_of(line.lines.before)},
                {"after", json_of(line.lines.after)},
                {"accesses", json_of(line.accesses)}};
      if (!line.cause_before.empty()) json["cause_before"] = line.cause_before;
      if (!line.cause_after.empty()) json["cause_after"] = line.cause_after;
      lines.push_back(std::move(json));
    }
    kernels.push_back({{"before", json_of(kernel.kernels.before)},
                       {"after", json_of(kernel.kernels.after)},
                       {"matched_by", word_of(kernel.kernels.by)},
                       {"moved", kernel.moved()},
                       {"verdict", verdict_text(kernel)},
                       {"accesses", json_of(kernel.accesses)},
                       {"launch", json_of(kernel.launch)},
                       {"hardware", json_of(kernel.hardware)},
                       {"reasons", kernel.reasons},
                       {"lines", std::move(lines)}});
  }
  const Json json{{"schema", "muscope.diff/1"},
                  {"before", side(before, options.before_name)},
                  {"after", side(after, options.after_name)},
                  {"warnings", difference.warnings},
                  {"kernels", std::move(kernels)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muscope::diff
