// Results read back from what to_json wrote.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "lab/results.h"

namespace muscope::lab {
namespace {

using json = nlohmann::ordered_json;  // the environment keeps its order

constexpr const char* kHint = "give what muscope lab --json wrote";

double real(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : 0;
}

std::optional<Counters> counters_of(const json& row, const char* key) {
  const auto at = row.find(key);
  if (at == row.end() || !at->is_object()) return std::nullopt;
  Counters c;
  c.global_requests = real(*at, "global_requests"), c.global_sectors = real(*at, "global_sectors");
  c.shared_wavefronts = real(*at, "shared_wavefronts"), c.local_sectors = real(*at, "local_sectors");
  c.instructions = real(*at, "instructions");
  return c;
}

std::string text_of(const json& value) {
  return value.is_string() ? without_controls(value.get<std::string>()) : std::string();
}

}  // namespace

std::vector<ProgramResults> read_results(std::string_view text, const std::string& name) {
  const auto bad = [&](const std::string& what) { fail("D791", what, kHint, {name, 0, 0}); };
  json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object() || root.value("schema", json()) != json("muscope.lab/1"))
    bad("not a result of muscope lab (schema muscope.lab/1)");
  const auto rows = root.find("rows");
  if (rows == root.end() || !rows->is_array()) bad("'rows' is missing");
  // As the lines that the programs write, which are read with suspicion.
  std::vector<std::string> order, lines;
  std::vector<std::vector<const json*>> of_program;
  for (json& row : *rows) {
    if (!row.is_object() || !row.contains("program") || !row.at("program").is_string() || !row.contains("samples"))
      bad("a row has no 'program' or no 'samples'");
    const std::string program = row.at("program").get<std::string>();
    auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), program) - order.begin());
    if (at == order.size()) {
      if (order.size() == 1000) bad("more programs than any lab has");
      order.push_back(program), of_program.emplace_back();
      lines.push_back(
          json{{"type", "begin"}, {"format", "muscope.lab.raw/1"}, {"program", program}, {"mode", "full"}}.dump() +
          "\n");
    }
    row["type"] = "row";
    for (const auto& [key, otherwise] : {std::pair<const char*, json>{"series", ""}, {"launches", 0}})
      if (!row.contains(key)) row[key] = otherwise;
    lines[at] += row.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    of_program[at].push_back(&row);
  }
  std::vector<ProgramResults> all;
  for (std::size_t p = 0; p < order.size(); ++p) {
    ProgramResults results;
    results.run = read_raw(lines[p], name);
    results.counted.rows = results.run.rows;
    for (std::size_t i = 0; i < of_program[p].size(); ++i) {
      const json& row = *of_program[p][i];
      results.predicted.push_back(counters_of(row, "predicted"));
      results.measured.push_back(counters_of(row, "measured"));
      results.counted.rows[i].amount = real(row, "counted_bytes");
    }
    all.push_back(std::move(results));
  }
  if (all.empty()) return all;
  if (const auto environment = root.find("environment"); environment != root.end() && environment->is_object())
    for (const auto& [key, value] : environment->items())
      all.front().run.environment.emplace_back(without_controls(key), text_of(value));
  if (const auto skipped = root.find("skipped"); skipped != root.end() && skipped->is_array())
    for (const json& each : *skipped)
      if (each.is_object())
        all.front().run.skipped.emplace_back(text_of(each.value("experiment", json())),
                                             text_of(each.value("reason", json())));
  return all;
}

}  // namespace muscope::lab
