#include "lab/raw.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"

namespace muscope::lab {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 100000, kMostSamples = 100000, kMostText = 1000;

/// One line, and where it stands for messages.
struct Line {
  const json& object;
  const std::string& file;
  int number;

  [[noreturn]] void bad(const std::string& what) const {
    fail("D791", what, "this is not what a program of muscope lab writes: measure again", {file, number, 0});
  }
  const json& field(const char* key) const {
    const auto at = object.find(key);
    if (at == object.end()) bad(fmt::format("'{}' is missing", key));
    return *at;
  }
  std::string text(const char* key) const {
    const json& value = field(key);
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kMostText)
      bad(fmt::format("'{}' is no text of at most {} bytes", key, kMostText));
    return without_controls(value.get<std::string>());
  }
  double number_of(const json& value, const char* key) const {
    if (!value.is_number()) bad(fmt::format("'{}' is no number", key));
    const double d = value.get<double>();
    if (!std::isfinite(d)) bad(fmt::format("'{}' is not finite", key));
    return d;
  }
  double real(const char* key) const { return number_of(field(key), key); }
  std::vector<double> list(const char* key) const {
    const json& value = field(key);
    if (!value.is_array() || value.size() > kMostSamples) bad(fmt::format("'{}' is no list of numbers", key));
    std::vector<double> all;
    for (const json& each : value) all.push_back(number_of(each, key));
    return all;
  }
};

RawRow read_row(const Line& line) {
  RawRow row;
  row.experiment = line.text("experiment"), row.name = line.text("name"), row.x_unit = line.text("x_unit");
  row.work = line.text("work"), row.mix = line.text("mix"), row.series = line.text("series");
  row.flush = line.text("flush"), row.unit = line.text("unit"), row.verified = line.text("verified");
  row.why = line.text("why");
  row.x = line.real("x"), row.amount = line.real("amount");
  if (line.object.contains("bus")) row.bus = line.real("bus");
  const double launches = line.real("launches");
  if (launches < 0 || launches > 1e6 || launches != std::floor(launches)) line.bad("'launches' is no count");
  row.launches = static_cast<int>(launches);
  const std::vector<double> clocks = line.list("clock_mhz");
  if (clocks.size() != 2) line.bad("'clock_mhz' is no pair");
  row.clock_mhz = {clocks[0], clocks[1]};
  row.samples = line.list("samples");
  for (const double sample : row.samples)
    if (!(sample > 0) || !std::isnormal(sample)) line.bad("a sample is no time");
  row.sentinel_us = line.list("sentinel_us");
  if (line.object.contains("graph_us")) row.graph_us = line.list("graph_us"), row.stream_us = line.list("stream_us");
  return row;
}

}  // namespace

std::string without_controls(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool second = c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (second) ++i;
    out += second || c < 32 || c == 127 ? ' ' : text[i];
  }
  return out;
}

RawRun read_raw(std::string_view text, const std::string& name) {
  RawRun run;
  int number = 0;
  bool begun = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (part.empty()) continue;
    const json object = json::parse(part, nullptr, false);
    const Line line{object, name, number};
    if (object.is_discarded() || !object.is_object()) line.bad("not a JSON object on one line");
    const std::string type = line.text("type");
    if (!begun) {
      if (type != "begin" || line.text("format") != "muscope.lab.raw/1")
        line.bad("does not begin as a measurement does");
      begun = true;
      run.program = line.text("program"), run.mode = line.text("mode");
    } else if (type == "environment") {
      if (run.environment.size() < kMostText) run.environment.emplace_back(line.text("key"), line.text("value"));
    } else if (type == "row") {
      if (run.rows.size() >= kMostRows) line.bad("more rows than any program writes");
      run.rows.push_back(read_row(line));
    } else if (type == "skipped") {
      if (run.skipped.size() < kMostRows) run.skipped.emplace_back(line.text("experiment"), line.text("reason"));
    } else if (type == "end") {
      run.ended = true;
    }
  }
  if (!begun) fail("D791", "an empty measurement", "measure again", {name, 0, 0});
  return run;
}

}  // namespace muscope::lab
