#include "verify/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/diagnostic.h"

namespace muscope::verify {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kMostCell = 4096;  ///< characters of a name or value that are kept

[[noreturn]] void too_much(const std::string& file, int line, std::string what) {
  fail("D741", std::move(what), "capture fewer launches (ncu --launch-count, --kernel-name) or compare in parts",
       {file, line, 0});
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// "(64, 16, 1)"
std::optional<std::array<std::uint32_t, 3>> parse_extent(std::string_view text) {
  std::array<std::uint32_t, 3> extent{};
  text = trimmed(text);
  if (!text.starts_with('(') || !text.ends_with(')')) return {};
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < extent.size(); ++i) {
    const std::size_t comma = text.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == extent.size())) return {};
    const std::string_view part = trimmed(text.substr(0, comma));
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent[i]);
    if (part.empty() || error != std::errc() || end != part.data() + part.size()) return {};
    text.remove_prefix(std::min(text.size(), comma == std::string_view::npos ? text.size() : comma + 1));
  }
  return extent;
}

/// Where the cells of one header row stand.
struct Header {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t cells = 0;
  std::size_t id = kNone, process = kNone, process_name = kNone, kernel = kNone, grid = kNone, block = kNone,
              cc = kNone, gpu = kNone;
  std::size_t metric_name = kNone, metric_unit = kNone, metric_value = kNone;  ///< a row for each metric
  struct Column {
    std::size_t cell = 0;
    std::uint32_t metric = 0;
    double scale = 1;
  };
  std::vector<Column> columns;  ///< a column for each metric

  bool by_row() const { return metric_name != kNone && metric_value != kNone; }
};

class Reader {
 public:
  Reader(const std::string& name, const std::function<bool(std::string_view)>& wanted) : file_(name), wanted_(wanted) {}

  Capture read(std::string_view text) {
    if (text.size() > kMostCaptureBytes)
      too_much(file_, 0,
               fmt::format("the capture has {} MiB; {} are read", text.size() >> 20, kMostCaptureBytes >> 20));
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_;
      take(line);
    }
    if (!have_header_)
      fail("D740", "the file is no capture of Nsight Compute: no row of column names with \"ID\" and \"Kernel Name\"",
           "write one with: ncu --csv --page raw --print-units base --log-file capture.csv ./program", {file_, 0, 0});
    if (capture_.launches.empty())
      fail("D742", "the capture holds no launch",
           "ncu says in its own output why it profiled nothing (no kernel of that name, no permission for counters)",
           {file_, 0, 0});
    return std::move(capture_);
  }

 private:
  void take(std::string_view line) {
    if (line.empty() || line.starts_with("==")) return;  // ncu's own messages
    if (line.find("Kernel Name") != std::string_view::npos && read_header(line)) return;
    if (!have_header_) return;  // what the program printed before
    std::vector<std::string> cells;
    // Where names are quoted, rows are: other lines are the program's.
    if (!quoted_ || line.front() == '"') cells = split_csv_line(line, separator_);
    if (cells.size() != header_.cells) {
      skip();
    } else if (cells[header_.id].empty()) {
      units_may_follow_ ? read_units(cells) : skip();
    } else {
      read_row(cells);
    }
    units_may_follow_ = false;
  }

  void skip() {
    if (capture_.unreadable_lines++ == 0) capture_.first_unreadable_line = line_;
  }

  bool read_header(std::string_view line) {
    for (const char separator : {',', ';', '\t'}) {
      const std::vector<std::string> cells = split_csv_line(line, separator);
      const auto place = [&](std::string_view name) {
        const auto found = std::find(cells.begin(), cells.end(), name);
        return found == cells.end() ? Header::kNone : static_cast<std::size_t>(found - cells.begin());
      };
      Header header;
      header.id = place("ID");
      header.kernel = place("Kernel Name");
      if (header.id == Header::kNone || header.kernel == Header::kNone) continue;
      header.cells = cells.size();
      header.process = place("Process ID");
      header.process_name = place("Process Name");
      header.grid = place("Grid Size");
      header.block = place("Block Size");
      header.cc = place("CC");
      header.gpu = place("device__attribute_display_name");
      header.metric_name = place("Metric Name");
      header.metric_unit = place("Metric Unit");
      header.metric_value = place("Metric Value");
      if (!header.by_row()) {
        for (std::size_t cell = 0; cell < cells.size(); ++cell)
          if (const auto metric = metric_of(cells[cell])) header.columns.push_back({cell, *metric, 1});
        std::sort(header.columns.begin(), header.columns.end(), [](const auto& a, const auto& b) {
          return std::pair(a.metric, a.cell) < std::pair(b.metric, b.cell);
        });
        const auto same = [](const auto& a, const auto& b) { return a.metric == b.metric; };
        header.columns.erase(std::unique(header.columns.begin(), header.columns.end(), same), header.columns.end());
      }
      header_ = std::move(header);
      separator_ = separator;
      quoted_ = line.front() == '"';
      have_header_ = units_may_follow_ = true;
      ++section_;
      return true;
    }
    return false;
  }

  /// Names of metrics have two underscores; other columns are ncu's own.
  std::optional<std::uint32_t> metric_of(const std::string& name) {
    if (const auto known = places_.find(name); known != places_.end()) return known->second;
    if (name.size() > kMostCell || name.find('_') == std::string::npos) return {};
    std::optional<std::uint32_t> place;
    if (wanted_(name)) {
      if (capture_.metrics.size() == kMostMetrics)
        too_much(file_, line_, fmt::format("the capture has more than {} metrics to compare", kMostMetrics));
      place = static_cast<std::uint32_t>(capture_.metrics.size());
      capture_.metrics.push_back(name);
    } else {
      ++capture_.other_metrics;
    }
    if (places_.size() < kMostColumns) places_.emplace(name, place);
    return place;
  }

  void read_units(const std::vector<std::string>& cells) {
    for (Header::Column& column : header_.columns) column.scale = scale_of_unit(cells[column.cell]);
  }

  const std::string& cell(const std::vector<std::string>& cells, std::size_t place) const {
    static const std::string none;
    return place == Header::kNone ? none : cells[place];
  }

  void read_row(const std::vector<std::string>& cells) {
    const std::optional<CaptureValue> id = parse_number(cells[header_.id]);
    if (!id || id->resolution != 0 || id->value < 0 || id->value > 9e15 || cells[header_.kernel].empty()) return skip();
    const auto number = static_cast<std::uint64_t>(id->value);
    const std::uint32_t process = process_of(cells);
    CaptureLaunch* launch = capture_.launches.empty() ? nullptr : &capture_.launches.back();
    const bool same = header_.by_row() && launch != nullptr && last_section_ == section_ && launch->id == number &&
                      launch->process == process && launch->kernel == cells[header_.kernel].substr(0, kMostCell);
    if (!same) {
      if (capture_.launches.size() == kMostLaunches)
        too_much(file_, line_, fmt::format("the capture has more than {} launches", kMostLaunches));
      launch = &capture_.launches.emplace_back();
      launch->id = number;
      launch->process = process;
      launch->kernel = cells[header_.kernel].substr(0, kMostCell);
      launch->grid = parse_extent(cell(cells, header_.grid));
      launch->block = parse_extent(cell(cells, header_.block));
      launch->cc = cell(cells, header_.cc).substr(0, 16);
      if (capture_.gpu.empty()) capture_.gpu = cell(cells, header_.gpu).substr(0, 100);
      last_section_ = section_;
    }
    if (header_.by_row()) {
      if (const auto metric = metric_of(cells[header_.metric_name]))
        add(*launch, *metric, cells[header_.metric_value], scale_of_unit(cell(cells, header_.metric_unit)));
    } else {
      launch->values.reserve(header_.columns.size());
      for (const Header::Column& column : header_.columns)
        add(*launch, column.metric, cells[column.cell], column.scale);
    }
  }

  void add(CaptureLaunch& launch, std::uint32_t metric, const std::string& text, double scale) {
    if (text.empty()) return;
    std::optional<CaptureValue> value = parse_number(text);
    if (!value) {
      ++capture_.unreadable_values;
      return;
    }
    // Pages repeat some metrics; the first stands. Columns come in the order of their metrics.
    if (header_.by_row() && std::any_of(launch.values.begin(), launch.values.end(),
                                        [&](const CaptureValue& v) { return v.metric == metric; }))
      return;
    value->metric = metric;
    if (scale != 1 && value->resolution == 0) value->resolution = 0.5;
    value->value *= scale;
    value->resolution *= scale;
    launch.values.push_back(*value);
  }

  std::uint32_t process_of(const std::vector<std::string>& cells) {
    const std::string id = cell(cells, header_.process).substr(0, 64);
    const std::string name = cell(cells, header_.process_name).substr(0, kMostCell);
    const std::string key = fmt::format("{}\n{}\n{}", section_, id, name);
    const auto [place, fresh] = process_places_.emplace(key, static_cast<std::uint32_t>(capture_.processes.size()));
    if (fresh) capture_.processes.push_back({id, name});
    return place->second;
  }

  const std::string& file_;
  const std::function<bool(std::string_view)>& wanted_;
  Capture capture_;
  Header header_;
  bool have_header_ = false, units_may_follow_ = false, quoted_ = false;
  char separator_ = ',';
  int line_ = 0, section_ = 0, last_section_ = 0;
  std::unordered_map<std::string, std::optional<std::uint32_t>> places_;
  std::unordered_map<std::string, std::uint32_t> process_places_;
};

}  // namespace

Capture read_capture(std::string_view text, const std::string& name,
                     const std::function<bool(std::string_view)>& wanted) {
  return Reader(name, wanted).read(text);
}

std::vector<std::string> split_csv_line(std::string_view line, char separator) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  for (;;) {
    if (cells.size() == kMostColumns) return {};
    std::string cell;
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size()) return {};
        if (line[at] == '"') {
          if (at + 1 >= line.size() || line[at + 1] != '"') break;
          ++at;
        }
        cell += line[at];
      }
      ++at;
    } else {
      const std::size_t end = std::min(line.find(separator, at), line.size());
      cell = trimmed(line.substr(at, end - at));
      at = end;
    }
    cells.push_back(std::move(cell));
    if (at == line.size()) return cells;
    if (line[at] != separator) return {};
    ++at;
  }
}

std::optional<CaptureValue> parse_number(std::string_view text) {
  text = trimmed(text);
  if (const std::size_t instances = text.find(" ("); instances != std::string_view::npos && text.ends_with(')'))
    text = text.substr(0, instances);
  std::string plain;
  std::size_t at = 0, decimals = 0, group = 0;
  bool grouped = false, digits = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
    if (text[at] == '-') plain += '-';
    ++at;
  }
  // Thousands come in threes after a first group of one to three.
  for (; at < text.size() && (is_digit(text[at]) || text[at] == ','); ++at) {
    if (text[at] == ',') {
      if (group == 0 || group > 3 || (grouped && group != 3)) return {};
      grouped = true;
      group = 0;
      continue;
    }
    plain += text[at];
    digits = true;
    ++group;
  }
  if (grouped && group != 3) return {};
  if (at < text.size() && text[at] == '.') {
    plain += text[at++];
    for (; at < text.size() && is_digit(text[at]); ++at, ++decimals) plain += text[at], digits = true;
  }
  int exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::string_view power = text.substr(at + 1);
    const std::string_view digits_of = power.starts_with('+') ? power.substr(1) : power;
    const auto [end, error] = std::from_chars(digits_of.data(), digits_of.data() + digits_of.size(), exponent);
    if (error != std::errc() || end != digits_of.data() + digits_of.size() || std::abs(exponent) > 300) return {};
    at = text.size();
    plain += fmt::format("e{}", exponent);
  }
  if (!digits || at != text.size() || plain.size() > 64) return {};
  CaptureValue number;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number.value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(number.value)) return {};
  if (decimals > 0 || exponent != 0) number.resolution = 0.5 * std::pow(10.0, exponent - static_cast<int>(decimals));
  return number;
}

double scale_of_unit(std::string_view unit) {
  // Only bytes are scaled among the metrics that can be compared.
  if (unit.size() < 5 || unit.substr(1, 4) != "byte") return 1;
  switch (unit.front()) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 1;
  }
}

}  // namespace muscope::verify
