#include "check/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#define TOML_ENABLE_FORMATTERS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "arch/nearest.h"
#include "report/kernel_name.h"
#include "report/names.h"

namespace muscope::check {
namespace {

constexpr std::size_t kMostBudgets = 10'000;
constexpr std::size_t kLongestPattern = 100'000;

const std::vector<std::string> kTopKeys = {"version", "gpu", "baseline", "command", "budget"};
const std::vector<std::string> kBudgetKeys = {"kernel", "metric", "min",   "max",      "ratchet", "slack",
                                              "over",   "grade",  "level", "optional", "why"};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  SourceLocation at(const toml::source_region& region) const {
    return {file_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }
  SourceLocation at(const toml::node& node) const { return at(node.source()); }
  [[noreturn]] void wrong(const toml::node& node, std::string text, std::string hint) const {
    fail("D762", std::move(text), std::move(hint), at(node));
  }

  void check_keys(const toml::table& table, const std::vector<std::string>& known, std::string_view where) const {
    for (const auto& [key, value] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      const auto near = arch::nearest(std::string(key.str()), known, 1);
      fail("D762", fmt::format("{} has no key '{}'", where, arch::printable(key.str())),
           near.empty() ? fmt::format("it has {}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", near[0]),
           at(key.source()));
    }
  }

  std::string text(const toml::node& node, std::string_view key) const {
    const auto* value = node.as_string();
    if (value == nullptr) wrong(node, fmt::format("'{}' is not text", key), fmt::format("{} = \"...\"", key));
    if (value->get().size() > kLongestPattern) wrong(node, fmt::format("'{}' is too long", key), "use * for the rest");
    return value->get();
  }

  std::vector<std::string> texts(const toml::node& node, std::string_view key) const {
    const auto* list = node.as_array();
    if (list == nullptr) return {text(node, key)};
    std::vector<std::string> all;
    for (const toml::node& item : *list) all.push_back(text(item, key));
    if (all.empty()) wrong(node, fmt::format("'{}' is an empty list", key), "name at least one");
    return all;
  }

  bool flag(const toml::node& node, std::string_view key) const {
    const auto* value = node.as_boolean();
    if (value == nullptr) wrong(node, fmt::format("'{}' is neither true nor false", key), "without quotes");
    return value->get();
  }

  report::MetricValue number(const toml::node& node, std::string_view key) const {
    if (const auto* whole = node.as_integer()) {
      if (whole->get() >= 0) return static_cast<std::uint64_t>(whole->get());
    } else if (const auto* real = node.as_floating_point()) {
      if (std::isfinite(real->get()) && real->get() >= 0) return real->get();
    }
    wrong(node, fmt::format("'{}' is not a number of at least 0", key), "counts are whole numbers: 131072 or 131_072");
  }

  template <typename Value>
  Value word(const toml::node& node, std::string_view key,
             std::initializer_list<std::pair<std::string_view, Value>> words) const {
    const std::string given = text(node, key);
    std::vector<std::string_view> names;
    for (const auto& [name, value] : words) {
      if (name == given) return value;
      names.push_back(name);
    }
    wrong(node, fmt::format("'{}' does not know '{}'", key, arch::printable(given)),
          fmt::format("it knows {}", fmt::join(names, ", ")));
  }

  std::vector<const report::MetricRow*> metrics(const toml::node& node) const {
    std::vector<const report::MetricRow*> rows;
    const auto take = [&](const toml::node& item) {
      try {
        report::MetricSelection selection = report::select_metrics(text(item, "metric"));
        if (!selection.diagnostics.empty())
          wrong(item, selection.diagnostics.front().text, "a budget needs a number; muscope explain --all lists them");
        rows.insert(rows.end(), selection.rows.begin(), selection.rows.end());
      } catch (const Error& e) {
        const Diagnostic& first = e.diagnostics().front();
        if (first.code == "D762") throw;
        wrong(item, first.text, first.hint);
      }
    };
    if (const auto* list = node.as_array()) {
      for (const toml::node& item : *list) take(item);
    } else {
      take(node);
    }
    if (rows.empty()) wrong(node, "'metric' names none", "muscope explain --all lists them");
    return rows;
  }

  void slack(const toml::node& node, Budget& budget) const {
    if (!node.is_string()) {
      budget.slack = number(node, "slack");
      return;
    }
    const std::string given = text(node, "slack");
    const char* end = given.c_str();
    char* stop = nullptr;
    const double percent = std::strtod(end, &stop);
    std::string_view rest(stop);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (stop == end || rest != "%" || !std::isfinite(percent) || percent < 0)
      wrong(node, fmt::format("'slack' does not understand '{}'", arch::printable(given)),
            "a number, or percent of the baseline: \"2 %\"");
    budget.slack = percent;
    budget.slack_percent = true;
  }

  Budget budget(const toml::table& table) const {
    check_keys(table, kBudgetKeys, "a budget");
    Budget b;
    b.where = at(table);
    const auto* metric = table.get("metric");
    if (metric == nullptr) wrong(table, "a budget without 'metric'", "metric = \"gst_efficiency\"");
    b.metrics = metrics(*metric);
    // Lines of outputs point to the metric: the header of a table stands before comments.
    b.where = at(*metric);
    if (const auto* node = table.get("kernel")) b.kernels = texts(*node, "kernel");
    if (const auto* node = table.get("min")) b.min = number(*node, "min");
    if (const auto* node = table.get("max")) b.max = number(*node, "max");
    if (const auto* node = table.get("ratchet"))
      b.ratchet = word<Ratchet>(*node, "ratchet", {{"down", Ratchet::kDown}, {"up", Ratchet::kUp}});
    if (const auto* node = table.get("slack")) {
      if (b.ratchet == Ratchet::kNone) wrong(*node, "'slack' without 'ratchet'", "limits are given by min and max");
      slack(*node, b);
    }
    if (const auto* node = table.get("grade"))
      b.grade = word<report::Grade>(*node, "grade",
                                    {{"counted", report::Grade::kCounted},
                                     {"modelled", report::Grade::kModelled},
                                     {"estimated", report::Grade::kEstimated}});
    const bool counts = std::all_of(b.metrics.begin(), b.metrics.end(), [](const report::MetricRow* row) {
      return row->aggregation == report::Aggregation::kAdditive;
    });
    b.per_launch = !counts;
    if (const auto* node = table.get("over")) {
      b.per_launch = word<bool>(*node, "over", {{"launch", true}, {"run", false}});
      if (!b.per_launch && !counts)
        wrong(*node, "'over = \"run\"' sums launches, and a metric of this budget is not a count", "over = \"launch\"");
    }
    if (const auto* node = table.get("level"))
      b.level =
          word<Level>(*node, "level", {{"error", Level::kError}, {"warning", Level::kWarning}, {"note", Level::kNote}});
    if (const auto* node = table.get("optional")) b.optional = flag(*node, "optional");
    if (const auto* node = table.get("why")) b.why = text(*node, "why");
    if (!b.min && !b.max && b.ratchet == Ratchet::kNone && !b.grade)
      wrong(table, "a budget that limits nothing", "give min, max, ratchet or grade");
    if (b.min && b.max && as_number(*b.max) < as_number(*b.min))
      wrong(*table.get("max"), "'max' is less than 'min'", "no value is between them");
    return b;
  }

 private:
  static double as_number(const report::MetricValue& value) {
    return std::visit([](auto number) { return static_cast<double>(number); }, value);
  }
  const std::string& file_;
};

}  // namespace

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      break;
  }
  return "error";
}

bool Budgets::has_ratchets() const {
  return std::any_of(budgets.begin(), budgets.end(), [](const Budget& b) { return b.ratchet != Ratchet::kNone; });
}

namespace {

/// Bytes of the character that `text` begins with; 0 where it is not UTF-8 (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = at(0);
  const auto follows = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) > 0x9f)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) > 0x8f)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// TOML is UTF-8 without control characters but tabs and ends of lines (TOML 1.0, "Spec"); toml++ 3.3 has assertions
/// that fail for other texts.
void check_characters(std::string_view text, const std::string& file) {
  int line = 1, column = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++column;
    const auto code = static_cast<unsigned char>(text[at]);
    const std::size_t length = utf8_length(text.substr(at));
    const bool control = (code < 32 && code != '\n' && code != '\r' && code != '\t') || code == 127;
    if (control || length == 0)
      fail("D761",
           fmt::format("the budget file is not TOML: {}, {:#04x}",
                       control ? "a control character" : "a byte that is not UTF-8", code),
           "see muscope explain D761 for its form", {file, line, column});
    if (code == '\n') ++line, column = 0;
    at += length;
  }
}

}  // namespace

Budgets read_budgets(std::string_view text, const std::string& file) {
  check_characters(text, file);
  toml::table document;
  try {
    document = toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    std::string what(e.description());
    for (char& c : what)
      if (static_cast<unsigned char>(c) < 32) c = ' ';
    fail("D761", fmt::format("the budget file is not TOML: {}", what), "see muscope explain D761 for its form",
         Reader(file).at(e.source()));
  }
  const Reader reader(file);
  reader.check_keys(document, kTopKeys, "the budget file");
  Budgets out;
  out.file = file;
  if (const auto* node = document.get("version")) {
    if (const auto* version = node->as_integer(); version == nullptr || version->get() != 1)
      reader.wrong(*node, "this muscope reads budget files of version 1", "version = 1");
  }
  if (const auto* node = document.get("gpu")) out.gpu = reader.text(*node, "gpu");
  if (const auto* node = document.get("baseline")) out.baseline = reader.text(*node, "baseline");
  if (const auto* node = document.get("command")) {
    if (!node->is_array()) reader.wrong(*node, "'command' is not a list", "command = [\"./app\", \"1024\"]");
    out.command = reader.texts(*node, "command");
  }
  if (const auto* node = document.get("budget")) {
    const auto* list = node->as_array();
    if (list == nullptr) reader.wrong(*node, "'budget' is not a list of tables", "[[budget]] with two brackets");
    if (list->size() > kMostBudgets) reader.wrong(*node, "too many budgets", "use patterns: kernel = \"*\"");
    for (const toml::node& item : *list) {
      const auto* table = item.as_table();
      if (table == nullptr) reader.wrong(item, "a budget is not a table", "[[budget]] with two brackets");
      out.budgets.push_back(reader.budget(*table));
    }
  }
  return out;
}

bool matches(const Budget& budget, const std::string& kernel) {
  const std::string base = report::kernel_base_name(kernel);
  return std::any_of(budget.kernels.begin(), budget.kernels.end(), [&](const std::string& pattern) {
    return report::glob_matches(pattern, kernel) || report::glob_matches(pattern, base);
  });
}

}  // namespace muscope::check
