#include "lab/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>

namespace muscope::lab {
namespace {

double reads_and_writes_per_byte(const std::string& mix) { return mix == "copy" ? 2 : mix == "triad" ? 3 : 1; }

std::optional<double> rate_of(const RawRow& raw, const Summary& time) {
  if (raw.unit != "us" || !(raw.amount > 0) || !(time.median > 0)) return std::nullopt;
  const double rate = raw.amount / time.median / 1e3;
  if (!std::isfinite(rate)) return std::nullopt;
  return rate;
}

/// By mix and size: the fastest.
using Ceilings = std::map<std::string, std::map<double, double>>;

/// The ceiling of that mix at the size nearest to the row's; the larger of two that are equally near.
std::optional<double> ceiling_for(const Ceilings& ceilings, const RawRow& raw) {
  const auto mix = raw.mix.empty() || !(raw.amount > 0) ? ceilings.end() : ceilings.find(raw.mix);
  if (mix == ceilings.end()) return std::nullopt;
  const double size = raw.amount / reads_and_writes_per_byte(raw.mix);
  const auto above = mix->second.lower_bound(size);
  if (above == mix->second.begin()) return above->second;
  const auto below = std::prev(above);
  if (above == mix->second.end()) return below->second;
  return std::log(size / below->first) < std::log(above->first / size) - 1e-9 ? below->second : above->second;
}

double number_in(const std::vector<std::pair<std::string, std::string>>& environment, std::string_view key) {
  for (const auto& [name, value] : environment) {
    if (name != key) continue;
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && std::isfinite(number) ? number : 0;
  }
  return 0;
}

/// What an empty kernel's time reads; each program measures it.
constexpr std::string_view kFloor = "launch floor us";

bool is_noisy(const ResultRow& row, double sentinel) {
  if (row.time->high - row.time->low > kNoisyInterval * row.time->median) return true;
  // What rows measure in their own way (cycles within a kernel, the host's clock) does not follow the memory's speed.
  if (row.raw.flush == "own") return false;
  const std::optional<Summary> own = summarise(row.raw.sentinel_us);
  return own && sentinel > 0 && std::fabs(own->median - sentinel) > kSentinelDrift * sentinel;
}

void judge(ResultRow& row, double sentinel) {
  if (row.raw.verified == "NO") {
    row.verdict = "wrong";
  } else if (!row.time) {
    row.verdict = "not timed";
  } else if (row.of_pins && *row.of_pins > kBeyondPins) {
    row.verdict = "beyond the pins";
  } else if (is_noisy(row, sentinel)) {
    row.verdict = "noisy";
  } else if (row.of_ceiling) {
    row.verdict = *row.of_ceiling >= 0.95 ? "at the ceiling" : *row.of_ceiling >= 0.8 ? "near" : "below";
  } else {
    row.verdict = "ok";
  }
}

/// A name without the size that ends it: "naive transpose" of "naive transpose, 8192 x 8192".
std::string without_size(const std::string& name) { return name.substr(0, name.rfind(", ")); }

/// Where the rows of the mode `count` stand.
class CountedRows {
 public:
  explicit CountedRows(const std::vector<RawRow>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Rows& all = by_experiment_[rows[i].experiment];
      all.by_name.emplace(rows[i].name, i);
      all.by_short_name.emplace(without_size(rows[i].name), i);
      all.in_order.push_back(i);
    }
  }
  /// Of the row that stands at `index` among its experiment's `count` rows.
  std::optional<std::size_t> of(const RawRow& raw, std::size_t index, std::size_t count) const {
    const auto found = by_experiment_.find(raw.experiment);
    if (found == by_experiment_.end()) return std::nullopt;
    const Rows& all = found->second;
    if (const auto at = all.by_name.find(raw.name); at != all.by_name.end()) return at->second;
    if (const auto at = all.by_short_name.find(without_size(raw.name)); at != all.by_short_name.end())
      return at->second;
    if (all.in_order.size() == count) return all.in_order[index];
    return std::nullopt;
  }

 private:
  struct Rows {
    std::map<std::string, std::size_t> by_name, by_short_name;
    std::vector<std::size_t> in_order;
  };
  std::map<std::string, Rows> by_experiment_;
};

void add_fits(Results& results) {
  std::map<std::pair<std::string, std::string>, std::vector<Point>> points;
  std::vector<std::pair<std::string, std::string>> order;
  for (const ResultRow& row : results.rows) {
    if (row.raw.series.empty()) continue;
    const auto key = std::make_pair(row.raw.experiment, row.raw.series);
    if (points.find(key) == points.end()) order.push_back(key);
    std::vector<Point>& all = points[key];
    if (row.time && row.raw.unit == "us") all.push_back({row.raw.amount, row.time->median});
  }
  for (const auto& key : order)
    if (const std::optional<Fit> line = fit(points[key])) results.fits.push_back({key.first, key.second, *line});
}

}  // namespace

Results combine(const std::vector<ProgramResults>& programs) {
  Results results;
  std::vector<double> floors;
  for (const ProgramResults& program : programs) {
    for (const auto& fact : program.run.environment) {
      if (fact.first == kFloor) {
        floors.push_back(number_in({fact}, kFloor));
        continue;
      }
      if (std::find(results.environment.begin(), results.environment.end(), fact) == results.environment.end())
        results.environment.push_back(fact);
    }
    results.skipped.insert(results.skipped.end(), program.run.skipped.begin(), program.run.skipped.end());
  }
  if (const std::optional<Summary> floor = summarise(floors))
    results.environment.emplace_back(kFloor, fmt::format("{:.2f}", floor->median));
  results.pins_gb_per_s =
      number_in(results.environment, "memory clock kHz") * number_in(results.environment, "memory bus bits") * 2 / 8e6;
  for (const ProgramResults& program : programs) {
    std::vector<double> sentinels;
    std::map<std::string, std::size_t> counts, seen;
    for (const RawRow& raw : program.run.rows) {
      ++counts[raw.experiment];
      sentinels.insert(sentinels.end(), raw.sentinel_us.begin(), raw.sentinel_us.end());
    }
    const std::optional<Summary> sentinel = summarise(sentinels);
    const std::size_t first = results.rows.size();
    const CountedRows counted(program.counted.rows);
    Ceilings ceilings;
    for (const RawRow& raw : program.run.rows) {
      ResultRow row;
      row.program = program.run.program;
      row.raw = raw;
      row.time = summarise(raw.samples);
      row.in_graph = summarise(raw.graph_us), row.in_stream = summarise(raw.stream_us);
      if (row.time) row.rate = rate_of(raw, *row.time);
      if (row.rate && raw.bus > 0) row.bus_rate = *row.rate * raw.bus;
      const std::size_t index = seen[raw.experiment]++;
      if (const auto at = counted.of(raw, index, counts[raw.experiment])) {
        const std::size_t rows = program.counted.rows.size();
        if (program.predicted.size() == rows) row.predicted = program.predicted[*at];
        if (program.measured.size() == rows) row.measured = program.measured[*at];
        if (program.counted.rows[*at].work == "byte") row.counted_bytes = program.counted.rows[*at].amount;
      }
      if (raw.experiment == "ceilings" && row.rate && raw.x > 0) {
        double& best = ceilings[raw.mix][raw.x];
        best = std::max(best, *row.rate);
      }
      results.rows.push_back(std::move(row));
    }
    for (std::size_t i = first; i < results.rows.size(); ++i) {
      ResultRow& row = results.rows[i];
      if (row.rate && row.raw.work == "byte" && !row.raw.mix.empty()) {
        if (const auto ceiling = ceiling_for(ceilings, row.raw)) row.of_ceiling = *row.rate / *ceiling;
        if (results.pins_gb_per_s > 0) row.of_pins = *row.rate / results.pins_gb_per_s;
      }
      judge(row, sentinel ? sentinel->median : 0);
      results.wrong += row.verdict == "wrong", results.noisy += row.verdict == "noisy";
    }
  }
  add_fits(results);
  return results;
}

}  // namespace muscope::lab
