#include "lab/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/diagnostic.h"

namespace muscope::lab {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string number(double value) {
  if (value >= 10000) return fmt::format("{:.0f}", value);
  if (value >= 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}
std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.0f}%", 100 * *share) : ""; }

std::string rate_text(const ResultRow& row) {
  if (!row.rate) return "";
  return number(*row.rate) + (row.raw.work == "op" ? " Gop/s" : " GB/s");
}

/// Left-aligned first column, right-aligned others.
struct Columns {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> remarks;
  std::string text() const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::string line = "  ";
      for (std::size_t i = 0; i < rows[r].size(); ++i)
        line += i == 0 ? fmt::format("{:<{}}", rows[r][i], widths[i]) : fmt::format("  {:>{}}", rows[r][i], widths[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
      if (r < remarks.size() && !remarks[r].empty()) out += "      " + remarks[r] + "\n";
    }
    return out;
  }
};

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

ordered_json counters_json(const std::optional<Counters>& c) {
  if (!c) return nullptr;
  return {{"global_requests", c->global_requests},
          {"global_sectors", c->global_sectors},
          {"shared_wavefronts", c->shared_wavefronts},
          {"local_sectors", c->local_sectors},
          {"instructions", c->instructions}};
}

}  // namespace

std::string counted_text(const std::optional<Counters>& counters) {
  if (!counters) return "";
  std::string text;
  const auto add = [&](double value, const char* what) {
    if (!text.empty()) text += ", ";
    std::string shown = fmt::format("{:.2f}", value);
    shown.erase(shown.find_last_not_of('0') + 1);
    if (shown.ends_with('.')) shown.pop_back();
    text += shown + what;
  };
  if (counters->global_requests > 0) add(counters->global_sectors / counters->global_requests, " sect/req");
  if (counters->shared_wavefronts > 0) add(counters->shared_wavefronts, " sh.wavefr");
  if (counters->local_sectors > 0) add(counters->local_sectors, " local sect");
  return text;
}

std::vector<std::pair<std::string, std::string>> shown_environment(const Results& results) {
  std::vector<std::pair<std::string, std::string>> shown = results.environment;
  for (auto& [key, value] : shown) {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || !(number >= 0 && number < 1e18)) continue;
    if (key.ends_with(" bytes")) {
      key.resize(key.size() - std::string_view(" bytes").size());
      value = number >= 1 << 30 ? fmt::format("{:.1f} GiB", number / (1 << 30))
                                : fmt::format("{:g} MiB", number / (1 << 20));
    } else if (key.ends_with(" kHz")) {
      key.resize(key.size() - std::string_view(" kHz").size());
      value = fmt::format("{:g} MHz", number / 1000);
    } else if (key.starts_with("CUDA ") && number >= 1000 && number < 1e6) {
      value = fmt::format("{}.{}", static_cast<int>(number) / 1000, static_cast<int>(number) % 1000 / 10);
    }
  }
  return shown;
}

std::vector<Group> groups_of(const Results& results) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::map<std::string, int> same;
  for (const ResultRow& row : results.rows) {
    const auto [at, added] = places.emplace(std::make_pair(row.program, row.raw.experiment), groups.size());
    if (added) groups.push_back({row.program, row.raw.experiment, {}, {}}), ++same[row.raw.experiment];
    groups[at->second].rows.push_back(&row);
  }
  for (Group& group : groups)
    group.title = group.experiment + (same[group.experiment] > 1 ? " of " + group.program : std::string());
  return groups;
}

std::vector<std::vector<std::string>> cells_of(const Group& group) {
  std::vector<std::vector<std::string>> all = {{"row", "median", "95 %", "in a graph", "in a stream", "rate", "bus",
                                                "of ceiling", "of pins", "predicted", "measured", "L2", "verdict"}};
  const auto each = [](const std::optional<Summary>& s) { return s ? number(s->median) + " us" : ""; };
  for (const ResultRow* const each_row : group.rows) {
    const ResultRow& row = *each_row;
    all.push_back({row.raw.name, row.time ? number(row.time->median) + " " + row.raw.unit : "",
                   row.time ? number(row.time->low) + " to " + number(row.time->high) : "", each(row.in_graph),
                   each(row.in_stream), rate_text(row), row.bus_rate ? number(*row.bus_rate) + " GB/s" : "",
                   percent(row.of_ceiling), percent(row.of_pins), counted_text(row.predicted),
                   counted_text(row.measured), row.raw.flush == "own" ? "" : row.raw.flush, row.verdict});
  }
  for (std::size_t column = all.front().size(); column-- > 0;) {
    if (std::any_of(all.begin() + 1, all.end(), [&](const auto& row) { return !row[column].empty(); })) continue;
    for (auto& row : all) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return all;
}

std::string to_text(const Results& results, const TextOptions& options) {
  std::string out;
  for (const auto& [key, value] : shown_environment(results)) out += fmt::format("{}: {}\n", key, value);
  if (results.pins_gb_per_s > 0) out += fmt::format("memory pins: {:.0f} GB/s\n", results.pins_gb_per_s);
  for (const Group& group : groups_of(results)) {
    Columns table{cells_of(group), {{}}};
    table.rows.front().front() = group.title;
    std::string last_why;
    for (const ResultRow* const row : group.rows) {
      table.remarks.push_back(options.why && row->raw.why != last_why ? row->raw.why : std::string());
      last_why = row->raw.why;
    }
    out += "\n" + table.text();
    for (const SeriesFit& fit : results.fits) {
      if (fit.experiment == group.experiment)
        out += fmt::format("  {}: {:.2f} us + bytes / {:.2f} GB/s (worst {:.0f} % off)\n", fit.series,
                           fit.fit.overhead_us, fit.fit.gb_per_s, 100 * fit.fit.worst_error);
    }
  }
  for (const auto& [experiment, reason] : results.skipped)
    out += fmt::format("\n{}: not measured: {}\n", experiment, reason);
  out += fmt::format(
      "\n{} rows, {} wrong, {} noisy. Times are measured; muscope's own prediction of time: not modelled yet.\n",
      results.rows.size(), results.wrong, results.noisy);
  return out;
}

std::string to_csv(const Results& results) {
  std::string out =
      "experiment,name,x,x_unit,work,amount,mix,flush,unit,samples,median,low,high,min,p95,deviation,rate,of_ceiling,"
      "of_pins,verified,verdict,predicted_requests,predicted_sectors,predicted_shared_wavefronts,measured_requests,"
      "measured_sectors,measured_shared_wavefronts,predicted_time,graph_us,stream_us,bus,why\n";
  for (const ResultRow& row : results.rows) {
    const RawRow& r = row.raw;
    const auto counters = [](const std::optional<Counters>& c) {
      return c ? fmt::format("{},{},{}", c->global_requests, c->global_sectors, c->shared_wavefronts)
               : std::string(",,");
    };
    const auto share = [](const std::optional<double>& s, int digits) {
      return s ? fmt::format("{:.{}f}", *s, digits) : "";
    };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},", csv_field(r.experiment), csv_field(r.name), r.x,
                       csv_field(r.x_unit), csv_field(r.work), r.amount, csv_field(r.mix), csv_field(r.flush),
                       csv_field(r.unit), r.samples.size());
    if (row.time) {
      const Summary& t = *row.time;
      out +=
          fmt::format("{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},", t.median, t.low, t.high, t.min, t.p95, t.deviation);
    } else {
      out += ",,,,,,";
    }
    const auto each = [](const std::optional<Summary>& s) { return s ? fmt::format("{:.6g}", s->median) : ""; };
    out += fmt::format("{},{},{},{},{},{},{},not modelled yet,{},{},{},{}\n", share(row.rate, 2),
                       share(row.of_ceiling, 4), share(row.of_pins, 4), csv_field(r.verified), row.verdict,
                       counters(row.predicted), counters(row.measured), each(row.in_graph), each(row.in_stream),
                       share(row.bus_rate, 2), csv_field(r.why));
  }
  return out;
}

std::string to_json(const Results& results, const std::string& version) {
  ordered_json root = {{"schema", "muscope.lab/1"}, {"tool", {{"name", "muscope"}, {"version", version}}}};
  ordered_json& environment = root["environment"] = ordered_json::object();
  for (const auto& [key, value] : results.environment) environment[key] = value;
  root["pins_gb_per_s"] = results.pins_gb_per_s;
  ordered_json& fits = root["fits"] = ordered_json::array();
  for (const SeriesFit& f : results.fits)
    fits.push_back({{"experiment", f.experiment},
                    {"series", f.series},
                    {"overhead_us", f.fit.overhead_us},
                    {"gb_per_s", f.fit.gb_per_s},
                    {"worst_error", f.fit.worst_error}});
  ordered_json& skipped = root["skipped"] = ordered_json::array();
  for (const auto& [experiment, reason] : results.skipped)
    skipped.push_back({{"experiment", experiment}, {"reason", reason}});
  ordered_json& rows = root["rows"] = ordered_json::array();
  const auto share = [](const std::optional<double>& s) { return s ? ordered_json(*s) : ordered_json(nullptr); };
  for (const ResultRow& row : results.rows) {
    const RawRow& r = row.raw;
    ordered_json j = {{"program", row.program}, {"experiment", r.experiment},
                      {"name", r.name},         {"x", r.x},
                      {"x_unit", r.x_unit},     {"work", r.work},
                      {"amount", r.amount},     {"mix", r.mix},
                      {"flush", r.flush},       {"unit", r.unit},
                      {"series", r.series},     {"launches", r.launches}};
    if (r.bus > 0) j["bus"] = r.bus;
    const auto summary = [](const Summary& s) {
      return ordered_json{{"median", s.median}, {"low", s.low}, {"high", s.high},
                          {"min", s.min},       {"p95", s.p95}, {"deviation", s.deviation}};
    };
    if (row.time) j["time"] = summary(*row.time);
    if (row.in_graph) j["in_graph"] = summary(*row.in_graph);
    if (row.in_stream) j["in_stream"] = summary(*row.in_stream);
    if (row.bus_rate) j["bus_rate"] = *row.bus_rate;
    j["rate"] = share(row.rate), j["of_ceiling"] = share(row.of_ceiling), j["of_pins"] = share(row.of_pins);
    j["verified"] = r.verified, j["verdict"] = row.verdict, j["why"] = r.why;
    j["predicted"] = counters_json(row.predicted), j["measured"] = counters_json(row.measured);
    if (row.counted_bytes > 0) j["counted_bytes"] = row.counted_bytes;
    j["predicted_time"] = "not modelled yet";
    j["clock_mhz"] = r.clock_mhz, j["samples"] = r.samples, j["sentinel_us"] = r.sentinel_us;
    if (row.in_graph) j["graph_us"] = r.graph_us, j["stream_us"] = r.stream_us;
    rows.push_back(std::move(j));
  }
  // One row per line: such files are read and compared by people too.
  std::string text = root.dump(1, ' ', false, json::error_handler_t::replace);
  return text + "\n";
}

std::vector<KnownRow> read_known(std::string_view text, const std::string& name) {
  const auto bad = [&](const std::string& what) {
    fail("D791", what, "give what muscope lab --json wrote", {name, 0, 0});
  };
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object() || root.value("schema", json()) != json("muscope.lab/1"))
    bad("not a result of muscope lab (schema muscope.lab/1)");
  const auto rows = root.find("rows");
  if (rows == root.end() || !rows->is_array()) bad("'rows' is missing");
  std::vector<KnownRow> known;
  for (const json& row : *rows) {
    const auto text_of = [&](const char* key) {
      if (!row.is_object() || !row.contains(key) || !row.at(key).is_string())
        bad(fmt::format("a row has no '{}'", key));
      return row.at(key).get<std::string>();
    };
    KnownRow k{text_of("program"), text_of("experiment"), text_of("name"), text_of("unit"), 0, 0, 0};
    const auto time = row.find("time");
    if (time == row.end()) continue;
    const auto real = [&](const char* key) {
      if (!time->is_object() || !time->contains(key) || !time->at(key).is_number())
        bad(fmt::format("a time has no '{}'", key));
      return time->at(key).get<double>();
    };
    k.median = real("median"), k.low = real("low"), k.high = real("high");
    known.push_back(std::move(k));
  }
  return known;
}

Comparison compare(const std::vector<KnownRow>& before, const Results& after) {
  Comparison result;
  std::map<std::array<std::string, 3>, const KnownRow*> by_name;
  for (const KnownRow& row : before) by_name[{row.program, row.experiment, row.name}] = &row;
  Columns table;
  table.rows.push_back({"row", "before", "now", "change", ""});
  std::set<std::array<std::string, 3>> seen;
  for (const ResultRow& row : after.rows) {
    if (!row.time) continue;
    const auto at = by_name.find({row.program, row.raw.experiment, row.raw.name});
    if (at != by_name.end()) seen.insert(at->first);
    if (at == by_name.end() || at->second->unit != row.raw.unit || !(at->second->median > 0)) {
      ++result.unmatched;
      continue;
    }
    const KnownRow& old = *at->second;
    const double change = row.time->median / old.median - 1;
    const bool apart = row.time->low > old.high || row.time->high < old.low;
    if (!apart || (change < 0.01 && change > -0.01)) {
      ++result.same;
      continue;
    }
    ++(change > 0 ? result.slower : result.faster);
    table.rows.push_back({row.raw.experiment + ": " + row.raw.name, number(old.median) + " " + old.unit,
                          number(row.time->median) + " " + row.raw.unit, fmt::format("{:+.1f} %", 100 * change),
                          change > 0 ? "slower" : "faster"});
  }
  if (table.rows.size() > 1) result.text = table.text() + "\n";
  result.missing = static_cast<int>(by_name.size() - seen.size());
  result.text += fmt::format("{} slower, {} faster, {} the same; {} only now, {} only before\n", result.slower,
                             result.faster, result.same, result.unmatched, result.missing);
  return result;
}

}  // namespace muscope::lab
