#include "port/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace muscope::port {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t tab = line.find('\t');
    fields.emplace_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

int number_of(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

/// How many fields a row has at least.
std::size_t fewest_fields(std::string_view kind) {
  if (kind == "library") return 2;
  if (kind == "guard" || kind == "report" || kind == "missing" || kind == "flag") return 5;
  if (kind == "code") return 4;
  return 3;
}

std::string all_replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

bool before_holds(std::string_view condition, std::string_view name, std::size_t at) {
  if (condition == "any") return true;
  if (at == 0) return true;
  const char c = name[at - 1];
  return condition == "word" && !is_upper(c) && !is_lower(c) && !is_digit(c);
}

bool after_holds(std::string_view condition, std::string_view rest) {
  if (condition == "any") return true;
  if (condition.starts_with('=')) return rest == condition.substr(1);
  if (rest.empty()) return false;
  if (condition == "upper-digit") return is_upper(rest[0]) || is_digit(rest[0]);
  return condition == "under-lower" && (rest[0] == '_' || is_lower(rest[0]));
}

}  // namespace

Condition::Condition(std::string_view text) {
  if (text == "*") return;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part_text = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    Part part;
    const std::size_t op = part_text.find_first_of("<>");
    const std::string_view what = part_text.substr(0, op);
    part.arch = what == "arch";
    if (op == std::string_view::npos || (!part.arch && what != "sdk"))
      fail("D781", fmt::format("condition '{}' is not like sdk<4.2 or arch>=31", part_text));
    const bool at_least = part_text.substr(op).starts_with(">=");
    part.op = at_least ? 'g' : '<';
    const std::string_view value = part_text.substr(op + (at_least ? 2 : 1));
    const std::size_t dot = value.find('.');
    const int major = number_of(value.substr(0, dot));
    const int minor = dot == std::string_view::npos ? 0 : number_of(value.substr(dot + 1));
    if (major < 0 || minor < 0) fail("D781", fmt::format("condition '{}' has no number", part_text));
    part.value = part.arch ? major : major * 100 + minor;
    parts_.push_back(part);
  }
}

bool Condition::holds(const Target& target) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const auto fits = [&](int value) { return part.op == '<' ? value < part.value : value >= part.value; };
    return part.arch ? std::any_of(target.archs.begin(), target.archs.end(), fits) : fits(target.sdk);
  });
}

Rules::Rules(std::span<const RuleText> tables) {
  for (const RuleText& table : tables) read(table);
  // Only now are all replacements known: the order of tables does not matter.
  for (const auto& [fields, library] : regular_headers_) add_header(fields, library);
  std::sort(codes_.begin(), codes_.end(), [](const auto& a, const auto& b) { return a.code < b.code; });
  std::sort(archs_.begin(), archs_.end());
}

void Rules::read(const RuleText& table) {
  std::string library;
  std::string_view rest = table.text;
  SourceLocation where{fmt::format("data/port/{}.tsv", table.name), 0, 0};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++where.line;
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < fewest_fields(fields[0]))
      fail("D781", fmt::format("a row '{}' of the rules has {} fields", fields[0], fields.size()), "", where);
    if (fields[0] == "library") {
      library = fields[1];
      libraries_.push_back(library);
    } else {
      read_row(fields, library, where);
    }
  }
}

void Rules::add_header(const std::vector<std::string>& fields, const std::string& library) {
  const std::string& from = fields[1];
  const bool one_way = fields.size() > 3 && fields[3] == "one-way";
  if (from.ends_with("/*")) {
    header_families_.push_back({from.substr(0, from.size() - 1), fields[2].substr(0, fields[2].size() - 1), library});
    return;
  }
  const std::string to = fields[2] == "=" ? replaced(from, Direction::kToMusa) : fields[2];
  headers_[from] = {to, library, one_way};
  if (!one_way) headers_back_[to] = {from, library, false};
}

void Rules::read_row(const std::vector<std::string>& f, const std::string& library, const SourceLocation& where) {
  const std::string& kind = f[0];
  const bool one_way = f.size() > 3 && f[3] == "one-way";
  const auto pair = [&](Names& there, Names& back) {
    there[f[1]] = {f[2], library, one_way};
    if (!one_way) back[f[2]] = {f[1], library, false};
  };
  if (kind == "gate") {
    gates_.push_back({Pattern(f[1]), Pattern(f[2]), library});
  } else if (kind == "name") {
    pair(names_, names_back_);
  } else if (kind == "word") {
    pair(words_, words_back_);
  } else if (kind == "header") {
    if (f[2] == "=")
      regular_headers_.emplace_back(f, library);
    else
      add_header(f, library);
  } else if (kind == "replace") {
    replacements_.push_back({f[1], f[2], "any", "any"});
  } else if (kind == "guard") {
    replacements_.push_back({f[1], f[2], f[3], f[4]});
  } else if (kind == "report") {
    reports_.push_back({Pattern(f[1]), f[2], f[4], library, Condition(f[3])});
  } else if (kind == "missing") {
    missing_.push_back({Pattern(f[1]), f[2], f[4], library, Condition(f[3])});
  } else if (kind == "suspect") {
    suspects_.emplace_back(Pattern(f[1]), Pattern(f[2]));
  } else if (kind == "seen") {
    seen_.insert(f[1]);
  } else if (kind == "wrong") {
    wrong_[f[1]] = f[2];
  } else if (kind == "flag") {
    flags_.push_back({f[1], f[2], f[3], f[4], library});
  } else if (kind == "arch") {
    archs_.emplace_back(number_of(f[1]), number_of(f[2]));
  } else if (kind == "code") {
    const Severity severity = f[2] == "error"     ? Severity::kError
                              : f[2] == "warning" ? Severity::kWarning
                                                  : Severity::kNote;
    codes_.push_back({f[1], f[3], severity});
  } else {
    fail("D781", fmt::format("unknown row '{}' in the rules", kind), "", where);
  }
}

std::string Rules::replaced(std::string_view name, Direction direction) const {
  const bool there = direction == Direction::kToMusa;
  std::string out(name);
  for (const Replacement& r : replacements_)
    if (r.after == "any") out = all_replaced(std::move(out), there ? r.from : r.to, there ? r.to : r.from);
  for (const Replacement& r : replacements_) {
    if (r.after == "any") continue;
    const std::string& from = there ? r.from : r.to;
    const std::string& to = there ? r.to : r.from;
    for (std::size_t at = 0; (at = out.find(from, at)) != std::string::npos;) {
      const bool start = r.before != "start" || at == 0;
      if (start && before_holds(r.before, out, at) &&
          after_holds(r.after, std::string_view(out).substr(at + from.size()))) {
        out.replace(at, from.size(), to);
        at += to.size();
      } else {
        ++at;
      }
    }
  }
  return out;
}

NameInfo Rules::name(std::string_view name, Direction direction) const {
  const bool there = direction == Direction::kToMusa;
  NameInfo info;
  const std::string key(name);
  const Names& entries = there ? names_ : names_back_;
  const Names& others = there ? names_back_ : names_;
  std::string cuda_name = key;  // what reports are kept under
  if (const auto entry = entries.find(key); entry != entries.end()) {
    info.renamed = entry->second.to != key;
    info.to = entry->second.to;
    info.one_way = entry->second.one_way;
    info.library = entry->second.library;
    info.seen = true;
  } else if (others.contains(key)) {
    info.foreign = true;
    if (there) cuda_name = others.find(key)->second.to;
  } else {
    for (const Gate& gate : gates_) {
      if (!(there ? gate.from : gate.back).matches(name)) {
        if (!info.foreign && (there ? gate.back : gate.from).matches(name)) {
          info.foreign = true;
          if (there) cuda_name = replaced(name, Direction::kToCuda);
        }
        continue;
      }
      std::string to = replaced(name, direction);
      if (to == name) continue;
      info.one_way = replaced(to, there ? Direction::kToCuda : Direction::kToMusa) != name;
      info.renamed = info.by_rule = true;
      info.foreign = false;
      info.to = std::move(to);
      info.library = gate.library;
      info.seen = seen_.contains(there ? info.to : key);
      cuda_name = key;
      break;
    }
  }
  if (const auto wrong = wrong_.find(key); there && wrong != wrong_.end()) {
    info = {};
    info.doubtful = true;
    info.wrong = wrong->second;
    return info;
  }
  for (const Report& report : reports_)
    if (report.pattern.matches(cuda_name)) info.reports.push_back(&report);
  if (!info.reports.empty() && info.library.empty()) info.library = info.reports.front()->library;
  if (!info.renamed && !info.foreign)
    info.suspect = std::any_of(suspects_.begin(), suspects_.end(),
                               [&](const auto& s) { return (there ? s.first : s.second).matches(name); });
  if (there && info.plain())
    info.doubtful =
        std::any_of(suspects_.begin(), suspects_.end(), [&](const auto& s) { return s.second.matches(name); });
  return info;
}

HeaderInfo Rules::header(std::string_view path, Direction direction) const {
  const bool there = direction == Direction::kToMusa;
  HeaderInfo info;
  const std::string key(path);
  const Names& entries = there ? headers_ : headers_back_;
  if (const auto entry = entries.find(key); entry != entries.end()) {
    info.renamed = entry->second.to != key;
    info.one_way = entry->second.one_way;
    info.to = entry->second.to;
    info.library = entry->second.library;
  } else if ((there ? headers_back_ : headers_).contains(key)) {
    info.foreign = true;
  } else {
    for (const HeaderFamily& family : header_families_) {
      const std::string& from = there ? family.from : family.to;
      const std::string& to = there ? family.to : family.from;
      if (path.starts_with(from)) {
        info.renamed = true;
        info.to = to + key.substr(from.size());
        info.library = family.library;
        break;
      }
      info.foreign |= path.starts_with(to);
    }
  }
  if (there)
    for (const Report& report : missing_)
      if (report.pattern.matches(path)) info.reports.push_back(&report);
  if (!info.reports.empty() && info.library.empty()) info.library = info.reports.front()->library;
  return info;
}

std::string Rules::word(std::string_view word, Direction direction) const {
  const Names& entries = direction == Direction::kToMusa ? words_ : words_back_;
  const auto entry = entries.find(std::string(word));
  return entry == entries.end() ? std::string() : entry->second.to;
}

int Rules::arch_value(int value, Direction direction, bool at_least) const {
  if (direction == Direction::kToCuda) {
    for (const auto& [cuda, musa] : archs_)
      if (musa == value) return cuda;
    return 0;
  }
  if (at_least) {
    for (const auto& [cuda, musa] : archs_)
      if (value <= cuda) return musa;
    return 0;
  }
  // Below every card, so that none is older or equal.
  int found = archs_.empty() ? 0 : archs_.front().second - 10;
  for (const auto& [cuda, musa] : archs_)
    if (value >= cuda) found = musa;
  return value >= 1000 ? 0 : found;
}

const CodeInfo& Rules::code(std::string_view code) const {
  const auto found = std::find_if(codes_.begin(), codes_.end(), [&](const CodeInfo& c) { return c.code == code; });
  if (found == codes_.end()) fail("D781", fmt::format("the rules do not know the code {}", code));
  return *found;
}

}  // namespace muscope::port
