#include "toolchains.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace muscope::counters {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const std::string kSource = MUSCOPE_SOURCE_DIR;

/// The innermost position in the example's own file: what was inlined from a header belongs to the line that calls it.
std::string own_line(const std::string& file, const json& line) {
  const auto position = [&](const json& at) {
    const std::string name = fs::path(at.value("file", "")).filename().string();
    return std::pair(name == file, name + ":" + std::to_string(at.value("line", 0)));
  };
  auto [own, text] = position(line);
  for (const json& site : line.value("inlined_at", json::array())) {
    if (own) break;
    std::tie(own, text) = position(site);
  }
  return text;
}

std::map<std::string, std::string> read_reasons(const std::string& example) {
  std::map<std::string, std::string> reasons;
  std::ifstream in(kSource + "/tests/counters/toolchain_differences.tsv");
  std::string text;
  std::getline(in, text);
  while (std::getline(in, text)) {
    std::stringstream cut(text);
    std::string name, line, what, reason;
    std::getline(cut, name, '\t');
    std::getline(cut, line, '\t');
    std::getline(cut, what, '\t');
    std::getline(cut, reason);
    if (name == example) reasons[line + " " + what] = reason;
  }
  return reasons;
}

}  // namespace

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kSource + "/examples"))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string cost_unit(const std::string& what) {
  if (what.starts_with("shared")) return "wavefronts";
  return what.starts_with("const") || what.starts_with("texture") ? "requests" : "sectors";
}

std::vector<LineTraffic> line_traffic(const std::string& example, const Reported& reported) {
  std::map<std::pair<std::string, std::string>, LineTraffic> sums;
  if (!reported.report.is_object()) return {};
  for (const json& launch : reported.report["launches"]) {
    for (const json& line : launch["lines"]) {
      const std::string at = own_line(example + ".cu", line);
      for (const json& site : line["sites"]) {
        LineTraffic traffic{at, site.value("space", "") + " " + site.value("kind", ""), 0, 0};
        const std::string unit = cost_unit(traffic.what);
        LineTraffic& sum = sums.try_emplace(traffic.key(), traffic).first->second;
        sum.requests += site.value("requests", 0.0);
        sum.cost += site.value(unit, 0.0);
      }
    }
  }
  std::vector<LineTraffic> lines;
  for (const auto& [key, sum] : sums) lines.push_back(sum);
  return lines;
}

ToolchainComparison compare_toolchains(const std::string& example, const std::string& work) {
  ToolchainComparison result;
  result.nvcc = run_program({}, kSource + "/tests/counters/examples/programs/" + example, {}, work, true);
  result.clang = run_program({"--toolchain", "clang"}, kSource + "/examples/" + example + "/" + example + ".cu", {}, work,
                             true);
  std::map<std::pair<std::string, std::string>, ToolchainDifference> both;
  const auto side = [&](const LineTraffic& traffic) -> ToolchainDifference& {
    const LineTraffic none{traffic.line, traffic.what, 0, 0};
    return both.try_emplace(traffic.key(), ToolchainDifference{none, none, {}}).first->second;
  };
  for (const LineTraffic& traffic : line_traffic(example, result.nvcc)) side(traffic).nvcc = traffic;
  for (const LineTraffic& traffic : line_traffic(example, result.clang)) side(traffic).clang = traffic;
  result.lines = both.size();
  const auto reasons = read_reasons(example);
  for (auto& [key, d] : both) {
    if (d.nvcc.cost == d.clang.cost && d.nvcc.requests == d.clang.requests) continue;
    if (const auto found = reasons.find(key.first + " " + key.second); found != reasons.end()) d.reason = found->second;
    result.differences.push_back(d);
  }
  return result;
}

}  // namespace muscope::counters
