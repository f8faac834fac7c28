#include "counters.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "toolchain/process.h"

namespace muscope::counters {
namespace {

using nlohmann::json;

/// "void copyAs<float2>(float2 const*, float2*)" -> "copyAs": ncu and muscope spell arguments in different ways.
std::string bare_name(std::string name) {
  if (const auto open = name.find_first_of("(<"); open != name.npos) name.resize(open);
  if (const auto blank = name.find_last_of(' '); blank != name.npos) name.erase(0, blank + 1);
  return name;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == '\t') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

bool is_percentage(std::string_view metric) { return metric.ends_with(".pct") || metric.ends_with("_pct"); }

std::string row(const Difference& d) {
  return d.group + "\t" + d.launch + "\t" + d.metric + "\t" + number(d.ours) + "\t" + number(d.hardware);
}

}  // namespace

std::string number(double value) {
  if (std::floor(value) == value && std::fabs(value) < 1e15) return std::to_string(static_cast<long long>(value));
  std::string text = std::to_string(std::round(value * 100) / 100);
  text.resize(text.find('.') + 3);
  return text;
}

double value_of(const Values& values, const std::string& metric) {
  const auto found = values.find(metric);
  return found == values.end() ? 0 : found->second;
}

std::vector<std::string> csv_cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<Launch> read_csv(const std::string& path, const std::string& label, const std::string& kernel) {
  const std::vector<std::string> lines = read_lines(path);
  if (lines.empty()) throw std::runtime_error(path + " is empty");
  const std::vector<std::string> header = csv_cells(lines.front());
  const auto column = [&](const std::string& name) {
    for (std::size_t i = 0; i < header.size(); ++i)
      if (header[i] == name) return i;
    throw std::runtime_error(path + " has no column " + name);
  };
  const std::size_t label_at = column(label), kernel_at = column(kernel);
  std::vector<Launch> launches;
  for (std::size_t line = 1; line < lines.size(); ++line) {
    const std::vector<std::string> cells = csv_cells(lines[line]);
    if (cells.size() != header.size()) throw std::runtime_error(path + ":" + std::to_string(line + 1) + ": cells");
    if (cells[kernel_at].empty()) continue;  // the row of units
    Launch launch{cells[label_at], bare_name(cells[kernel_at]), {}};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string text = cells[i];
      std::erase(text, ',');
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      if (!text.empty() && *end == '\0' && std::isfinite(value)) launch.values[header[i]] = value;
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

Reported run_program(const std::vector<std::string>& options, const std::string& program,
                     const std::vector<std::string>& args, const std::string& directory, bool lines) {
  const std::string file = directory + "/report.json";
  std::vector<std::string> argv = {MUSCOPE_PROGRAM, "run", "--quiet", "--json", file};
  // The listed differences are those of PTX. Which ptxas the machine has does not matter then.
  if (std::find(options.begin(), options.end(), "--count-from") == options.end())
    argv.insert(argv.end(), {"--count-from", "ptx"});
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back(program);
  argv.insert(argv.end(), args.begin(), args.end());
  toolchain::ProcessOptions process;
  process.directory = directory;
  const toolchain::ProcessResult result = toolchain::run_process(argv, process);
  Reported reported;
  reported.exit_code = result.exit_code;
  reported.out = result.out;
  reported.err = result.err;
  std::ifstream in(file);
  const auto keep = [lines](int, json::parse_event_t event, json& parsed) {
    return lines || event != json::parse_event_t::key || parsed != "lines";
  };
  reported.report = in ? json::parse(in, keep, false) : json();
  if (!reported.report.is_object()) return reported;
  for (const json& launch : reported.report.value("launches", json::array())) {
    Launch& ours = reported.launches.emplace_back();
    reported.indices.push_back(launch.value("index", -1));
    reported.states.push_back(launch.value("state", ""));
    ours.label = std::to_string(reported.indices.back());
    ours.kernel = bare_name(launch.value("kernel", ""));
    for (const auto& [name, metric] : launch["metrics"].items())
      if (metric["value"].is_number()) ours.values[name] = metric["value"].get<double>();  // else a ratio without base
  }
  return reported;
}

void Comparison::compare(const Values& ours, const Launch& hardware, std::span<const std::string_view> metrics) {
  for (const std::string_view metric : metrics) {
    const std::string name(metric);
    const auto measured = hardware.values.find(name);
    if (measured == hardware.values.end()) continue;
    const double counted = value_of(ours, name);
    Tally& tally = tallies_[name];
    ++tally.compared;
    if (counted == 0 && measured->second == 0) continue;
    ++tally.used;
    const double tolerance = is_percentage(name) ? 0.0051 : 0;
    if (std::fabs(counted - measured->second) <= tolerance) {
      ++tally.equal;
    } else {
      differences_.push_back({group_, hardware.label, name, counted, measured->second});
    }
  }
}

KnownDifferences KnownDifferences::read(const std::string& folder) {
  KnownDifferences known;
  const std::string list = folder + "/differences.tsv", texts = folder + "/reasons.tsv";
  const std::vector<std::string> reasons = read_lines(texts), rows = read_lines(list);
  for (std::size_t i = 1; i < reasons.size(); ++i) {
    const auto cells = split_tabs(reasons[i]);
    if (cells.size() != 2) throw std::runtime_error(texts + ":" + std::to_string(i + 1) + ": 2 cells are needed");
    known.reasons.emplace_back(cells[0], cells[1]);
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto cells = split_tabs(rows[i]);
    const std::string where = list + ":" + std::to_string(i + 1) + ": ";
    if (cells.size() != 7) throw std::runtime_error(where + "7 cells are needed");
    bool explained = false;
    for (const auto& [key, text] : known.reasons) explained |= key == cells[5];
    if (!explained) throw std::runtime_error(where + "no reason is called " + cells[5]);
    if (cells[6].empty()) throw std::runtime_error(where + "which instructions differ?");
    known.rows.push_back(
        {{cells[0], cells[1], cells[2], std::stod(cells[3]), std::stod(cells[4])}, cells[5], cells[6]});
  }
  return known;
}

const KnownDifference* KnownDifferences::find(const Difference& difference) const {
  for (const KnownDifference& known : rows)
    if (known.difference.key() == difference.key()) return &known;
  return nullptr;
}

std::string deviations(const KnownDifferences& known, const Comparison& found) {
  std::string text;
  for (const Difference& d : found.differences()) {
    const KnownDifference* listed = known.find(d);
    if (!listed) {
      text += "new: " + row(d) + "\n";
    } else if (number(listed->difference.ours) != number(d.ours) ||
               number(listed->difference.hardware) != number(d.hardware)) {
      text += "changed: " + row(d) + " (listed: " + number(listed->difference.ours) + ")\n";
    }
  }
  for (const KnownDifference& listed : known.rows) {
    if (listed.difference.group != found.group()) continue;
    bool still = false;
    for (const Difference& d : found.differences()) still |= d.key() == listed.difference.key();
    if (!still) text += "no longer a difference, take it off the list: " + row(listed.difference) + "\n";
  }
  return text;
}

}  // namespace muscope::counters
