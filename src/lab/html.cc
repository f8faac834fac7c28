// The lab's page: one file, nothing loaded, pictures drawn as SVG here.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/output.h"

namespace muscope::lab {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:84em;padding:0 1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;width:100%;margin:.5em 0 1.5em}td,th{padding:.2em .6em;border-bottom:1px solid "
    "#ddd;text-align:right;vertical-align:top;white-space:nowrap}td:first-child,th:first-child{text-align:left;"
    "white-space:normal}table.facts{width:auto}.facts td{text-align:left}small{color:#666}nav a{margin-right:1em;"
    "white-space:nowrap}section{overflow-x:auto}"
    ".wrong{color:#b00020;font-weight:bold}.noisy{color:#9a6700}.ceiling{color:#116329}svg{max-width:100%}a{color:"
    "#0969da}@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}td,th{border-color:#333}small{color:"
    "#999}a{color:#4c9aff}.wrong{color:#ff7b86}.noisy{color:#d9a441}.ceiling{color:#5fbf72}}";

constexpr const char* kLegend =
    "<p>Medians and their 95 % intervals; 1 GB = 10<sup>9</sup> bytes, read and written, each useful byte once. <b>in "
    "a "
    "graph</b>, <b>in a stream</b>: one of 33 calls back to back, for short rows. <b>bus</b>: of collectives, bytes "
    "per link and direction. <b>of ceiling</b>: against the fastest plain kernel with the same mix of accesses, "
    "measured "
    "in the same process. <b>of pins</b>: against what the memory's pins move at its clock. <b>predicted</b>: what "
    "muscope counted without a GPU; <b>measured</b>: what the GPU counted. <b>L2</b>: what its cache holds when a call "
    "begins: other data unmodified (clean) or modified (dirty), or this row's (warm). Time that muscope predicts: not "
    "modelled yet.</p>\n";

struct Dot {
  double x, y;
};

/// A place on a sweep: sizes in bytes as people write them.
std::string place_text(double x, const std::string& unit) {
  if (unit != "B" || x < 1024) return fmt::format("{:g} {}", x, unit);
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  for (x /= 1024; x >= 1024 && i + 1 < std::size(kUnits); ++i) x /= 1024;
  return fmt::format("{:g} {}", x, kUnits[i]);
}

/// The rate over the place on the sweep, or the time where there is no rate; the abscissa is logarithmic.
std::string picture(const std::vector<Dot>& dots, const std::string& x_unit, const std::string& y_unit) {
  constexpr double kWidth = 640, kHeight = 200, kLeft = 76, kBottom = 30;
  double x_low = dots.front().x, x_high = x_low, y_high = 0;
  for (const Dot& d : dots)
    x_low = std::min(x_low, d.x), x_high = std::max(x_high, d.x), y_high = std::max(y_high, d.y);
  if (!(x_low > 0) || !(x_high > x_low) || !(y_high > 0)) return {};
  const auto place = [&](const Dot& d) {
    return Dot{kLeft + (kWidth - kLeft - 10) * std::log(d.x / x_low) / std::log(x_high / x_low),
               kHeight - kBottom - (kHeight - kBottom - 10) * d.y / y_high};
  };
  std::string points, marks;
  for (const Dot& d : dots) {
    const Dot p = place(d);
    points += fmt::format("{:.1f},{:.1f} ", p.x, p.y);
    marks += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3'><title>{}: {:.4g} {}</title></circle>", p.x, p.y,
                         escaped(place_text(d.x, x_unit)), d.y, escaped(y_unit));
  }
  return fmt::format(
      "<svg viewBox='0 0 {0} {1}' width='{0}' role='img' aria-label='{6} over {5}'><g fill='none' "
      "stroke='currentColor'>"
      "<path d='M{2},10V{3}H{4}'/><polyline stroke='#0969da' stroke-width='2' points='{7}'/></g><g "
      "fill='#0969da'>{8}</g>"
      "<g font-size='11' fill='currentColor'><text x='{2}' y='{9}'>{10}</text><text x='{4}' y='{9}' "
      "text-anchor='end'>"
      "{11}</text><text x='2' y='18'>{12:.4g} {6}</text></g></svg>",
      kWidth, kHeight, kLeft, kHeight - kBottom, kWidth - 10, escaped(x_unit), escaped(y_unit), points, marks,
      kHeight - 10, escaped(place_text(x_low, x_unit)), escaped(place_text(x_high, x_unit)), y_high);
}

const char* class_of(const std::string& verdict) {
  return verdict == "wrong" ? "wrong" : verdict == "noisy" ? "noisy" : verdict == "at the ceiling" ? "ceiling" : "";
}

std::string table_of(const Group& group) {
  const std::vector<std::vector<std::string>> cells = cells_of(group);
  std::string out = "<table><tr>";
  for (const std::string& heading : cells.front()) out += "<th>" + escaped(heading);
  out += "</tr>\n";
  std::vector<std::pair<std::string, std::vector<Dot>>> sweeps;
  std::string x_unit, y_unit, last_why;
  for (std::size_t line = 1; line < cells.size(); ++line) {
    const std::vector<std::string>& cell = cells[line];
    const ResultRow& row = *group.rows[line - 1];
    out += "<tr><td>" + escaped(cell.front());
    if (row.raw.why != last_why) out += "<br><small>" + escaped(row.raw.why) + "</small>";
    last_why = row.raw.why;
    for (std::size_t i = 1; i < cell.size(); ++i)
      out += fmt::format("<td{}>{}", i + 1 == cell.size() ? fmt::format(" class='{}'", class_of(row.verdict)) : "",
                         escaped(cell[i]));
    out += "</tr>\n";
    if (!row.time || !(row.raw.x > 0)) continue;
    auto at = std::find_if(sweeps.begin(), sweeps.end(), [&](const auto& s) { return s.first == row.raw.series; });
    if (at == sweeps.end()) at = sweeps.insert(sweeps.end(), {row.raw.series, {}});
    at->second.push_back({row.raw.x, row.rate ? *row.rate : row.time->median});
    x_unit = row.raw.x_unit, y_unit = !row.rate ? row.raw.unit : row.raw.work == "op" ? "Gop/s" : "GB/s";
  }
  out += "</table>\n";
  for (auto& [series, dots] : sweeps) {
    // Only what is one line: a row per place.
    std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; });
    const bool once = std::adjacent_find(dots.begin(), dots.end(),
                                         [](const Dot& a, const Dot& b) { return a.x == b.x; }) == dots.end();
    if (dots.size() >= 4 && once) out += "<p>" + escaped(series) + "</p>" + picture(dots, x_unit, y_unit) + "\n";
  }
  return out;
}

}  // namespace

std::string to_html(const Results& results, const std::string& version, const std::string& comparison) {
  std::string out = fmt::format(
      "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>muscope "
      "lab</title><style>{}</style>\n<h1>muscope lab</h1>\n<table class='facts'>",
      kStyle);
  for (const auto& [key, value] : shown_environment(results))
    out += "<tr><td>" + escaped(key) + "<td>" + escaped(value) + "</tr>\n";
  out += fmt::format("<tr><td>muscope<td>{}</tr></table>\n{}", escaped(version), kLegend);
  if (!comparison.empty()) out += "<h2>Comparison</h2>\n<pre>" + escaped(comparison) + "</pre>\n";
  out += "<nav>";
  const std::vector<Group> groups = groups_of(results);
  for (const Group& group : groups)
    out += fmt::format("<a href='#{0}-{1}'>{2}</a> ", escaped(group.program), escaped(group.experiment),
                       escaped(group.title));
  out += "</nav>\n";
  for (const Group& group : groups) {
    out += fmt::format("<section><h2 id='{}-{}'>{}</h2>\n{}", escaped(group.program), escaped(group.experiment),
                       escaped(group.title), table_of(group));
    for (const SeriesFit& f : results.fits) {
      if (f.experiment == group.experiment)
        out += fmt::format("<p>{}: {:.2f} µs + bytes / {:.2f} GB/s</p>\n", escaped(f.series), f.fit.overhead_us,
                           f.fit.gb_per_s);
    }
    out += "</section>\n";
  }
  for (const auto& [experiment, reason] : results.skipped)
    out += "<p>" + escaped(experiment) + ": not measured: " + escaped(reason) + "</p>\n";
  return out + "</html>\n";
}

}  // namespace muscope::lab
