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
      default:
        out += c;
    }
  }
  return out;
}

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;width:100%;margin:.5em 0 1.5em}td,th{padding:.25em .6em;border-bottom:1px solid "
    "#ddd;"
    "text-align:right;vertical-align:top}td:first-child,th:first-child{text-align:left}small{color:#666}"
    ".wrong{color:#b00020;font-weight:bold}.noisy{color:#9a6700}.ceiling{color:#116329}svg{max-width:100%}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}td,th{border-color:#333}small{color:#999}}";

struct Dot {
  double x, y;
};

/// The rate over the place on the sweep, or the time where there is no rate; the abscissa is logarithmic.
std::string picture(const std::vector<Dot>& dots, const std::string& x_unit, const std::string& y_unit) {
  constexpr double kWidth = 640, kHeight = 200, kLeft = 60, kBottom = 30;
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
    marks += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3'><title>{:g} {}: {:.4g} {}</title></circle>", p.x, p.y,
                         d.x, escaped(x_unit), d.y, escaped(y_unit));
  }
  return fmt::format(
      "<svg viewBox='0 0 {0} {1}' width='{0}' role='img' aria-label='{6} over {5}'><g fill='none' "
      "stroke='currentColor'>"
      "<path d='M{2},10V{3}H{4}'/><polyline stroke='#0969da' stroke-width='2' points='{7}'/></g><g "
      "fill='#0969da'>{8}</g>"
      "<g font-size='11' fill='currentColor'><text x='{2}' y='{9}'>{10:g} {5}</text><text x='{4}' y='{9}' "
      "text-anchor='end'>"
      "{11:g} {5}</text><text x='2' y='18'>{12:.4g} {6}</text></g></svg>",
      kWidth, kHeight, kLeft, kHeight - kBottom, kWidth - 10, escaped(x_unit), escaped(y_unit), points, marks,
      kHeight - 10, x_low, x_high, y_high);
}

const char* class_of(const std::string& verdict) {
  return verdict == "wrong" ? "wrong" : verdict == "noisy" ? "noisy" : verdict == "at the ceiling" ? "ceiling" : "";
}

std::string table_of(const Results& results, const std::string& experiment) {
  std::string out =
      "<table><tr><th>row<th>median<th>95 %<th>rate<th>of ceiling<th>of pins<th>muscope predicts<th>GPU "
      "counted<th>verdict</tr>\n";
  std::vector<std::pair<std::string, std::vector<Dot>>> sweeps;
  std::string x_unit, y_unit;
  for (const ResultRow& row : results.rows) {
    if (row.raw.experiment != experiment) continue;
    const auto cell = [&](const std::string& text) { out += "<td>" + escaped(text); };
    const auto share = [](const std::optional<double>& s) {
      return s ? fmt::format("{:.0f} %", 100 * *s) : std::string();
    };
    out += "<tr><td>" + escaped(row.raw.name) + "<br><small>" + escaped(row.raw.why) + "</small>";
    cell(row.time ? fmt::format("{:.2f} {}", row.time->median, row.raw.unit) : "");
    cell(row.time ? fmt::format("{:.2f} to {:.2f}", row.time->low, row.time->high) : "");
    cell(row.rate ? fmt::format("{:.1f} {}", *row.rate, row.raw.work == "op" ? "Gop/s" : "GB/s") : "");
    cell(share(row.of_ceiling)), cell(share(row.of_pins));
    cell(counted_text(row.predicted)), cell(counted_text(row.measured));
    out += fmt::format("<td class='{}'>{}</tr>\n", class_of(row.verdict), escaped(row.verdict));
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

std::string to_html(const Results& results, const std::string& version) {
  std::string out = fmt::format(
      "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>muscope "
      "lab</title><style>{}</style>\n<h1>muscope lab</h1>\n<table>",
      kStyle);
  for (const auto& [key, value] : results.environment)
    out += "<tr><td>" + escaped(key) + "<td>" + escaped(value) + "</tr>\n";
  out += fmt::format("<tr><td>muscope<td>{}</tr></table>\n", escaped(version));
  std::vector<std::string> done;
  for (const ResultRow& row : results.rows) {
    const std::string& name = row.raw.experiment;
    if (std::find(done.begin(), done.end(), name) != done.end()) continue;
    done.push_back(name);
    out += "<h2 id='" + escaped(name) + "'>" + escaped(name) + "</h2>\n" + table_of(results, name);
    for (const SeriesFit& f : results.fits) {
      if (f.experiment == name)
        out += fmt::format("<p>{}: {:.2f} µs + bytes / {:.2f} GB/s</p>\n", escaped(f.series), f.fit.overhead_us,
                           f.fit.gb_per_s);
    }
  }
  for (const auto& [experiment, reason] : results.skipped)
    out += "<p>" + escaped(experiment) + ": not measured: " + escaped(reason) + "</p>\n";
  return out + "<p>Time that muscope predicts: not modelled yet.</p></html>\n";
}

}  // namespace muscope::lab
