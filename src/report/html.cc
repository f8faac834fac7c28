#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "report/html_parts.h"
#include "report/json.h"
#include "report/metrics.h"

namespace muscope::report {
namespace {

std::string script_element(std::string_view id, const std::string& text) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, text);
}

/// All of the report but its launches, as the JSON report has it.
PageJson frame_of(const Report& report) {
  Report frame;
  frame.tool_version = report.tool_version;
  frame.argv = report.argv;
  frame.exit_code = report.exit_code;
  frame.exit_text = report.exit_text;
  frame.gpu = report.gpu;
  frame.toolchain = report.toolchain;
  frame.processes = report.processes;
  frame.notes = report.notes;
  frame.diagnostics = report.diagnostics;
  PageJson json = PageJson::parse(to_json(frame));
  json["gpu"]["limits"] = limits_of(report.gpu);
  return json;
}

PageJson metric_names_of(const PageTables& tables) {
  PageJson json = PageJson::array();
  for (const auto& [name, unit] : tables.metrics.keys()) {
    const MetricRow* row = find_metric(name);
    json.push_back({name, unit, row != nullptr ? row->description : std::string_view{}});
  }
  return json;
}

PageJson grades_of(const PageTables& tables) {
  PageJson json = PageJson::array();
  for (const auto& [grade, reason] : tables.grades.keys()) json.push_back({grade, reason});
  return json;
}

/// Adds the launches of the report to `json`, and their bodies to `bodies`.
void add_launches(const Report& report, std::size_t number, PageTables& tables, PageJson& json, std::string& bodies,
                  const HtmlOptions& options) {
  Interned<std::string> kinds;
  PageJson heads = PageJson::array();
  json["launches"] = PageJson::array();
  SourceUse used;
  for (const LaunchReport& launch : report.launches) {
    LaunchParts parts = parts_of(launch, report.gpu, tables, used);
    std::string body = script_text(parts.body);
    const std::size_t known = kinds.keys().size();
    const std::size_t kind = kinds.number_of(script_text(parts.head) + body);
    if (kind == known) {
      bodies += script_element(fmt::format("muscope-{}-{}", number, kind), body);
      heads.push_back(std::move(parts.head));
    }
    json["launches"].push_back({launch.index, launch.process, launch.stream, launch.device, kind});
  }
  json["kinds"] = std::move(heads);
  HtmlOptions own = options;
  if (number < options.sources.size() && options.sources[number]) own.source = options.sources[number];
  json["sources"] = sources_of(used, own);
}

}  // namespace

std::string to_html(std::span<const Report* const> reports, std::string_view page, const HtmlOptions& options) {
  const std::size_t mark = page.find(kPageMark);
  MUSCOPE_CHECK(mark != std::string_view::npos);
  PageTables tables;
  PageJson data{{"format", "muscope.page/1"}, {"reports", PageJson::array()}};
  std::string bodies;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    PageJson json = frame_of(*reports[i]);
    add_launches(*reports[i], i, tables, json, bodies, options);
    data["reports"].push_back(std::move(json));
  }
  data["metrics"] = metric_names_of(tables);
  data["grades"] = grades_of(tables);
  if (reports.size() == 2) {
    data["verdicts"] = PageJson::array();
    for (const PageVerdict& v : options.verdicts) data["verdicts"].push_back({v.before, v.after, v.text});
  }
  std::string out(page.substr(0, mark));
  out += script_element("muscope-data", script_text(data));
  out += bodies;
  out += page.substr(mark + kPageMark.size());
  return out;
}

}  // namespace muscope::report
