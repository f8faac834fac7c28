#include "model/pattern_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "arch/nearest.h"

namespace muscope::model {
namespace {

constexpr std::string_view kAppended[] = {"requests", "sectors", "wavefronts", "bank_conflicts", "constant_requests"};
/// Offsets beyond this are no device addresses; keeping below it keeps every sum in 64 bits.
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 62;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t end = text.find(separator);
    cells.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return cells;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// A whole number, decimal or 0x hexadecimal, with nothing after it.
std::optional<std::uint64_t> whole(std::string_view text) {
  text = trim(text);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view without_line_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

WarpMask parse_mask(std::string_view text) {
  WarpMask mask;
  std::string_view digits = trim(text);
  if (digits == "all") return WarpMask::of(kAllLanes);
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  const bool valid = !digits.empty() && digits.size() <= 32 && std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  if (!valid)
    fail("D114", fmt::format("'{}' is not a mask of active lanes", arch::printable(text)),
         "give hexadecimal digits, bit l for lane l: ffffffff");
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    mask.words[1] = mask.words[1] << 4 | mask.words[0] >> 60;
    mask.words[0] = mask.words[0] << 4 | digit;
  }
  return mask;
}

std::string mask_text(const WarpMask& mask, unsigned lanes) {
  if (lanes <= 32) return fmt::format("{:08x}", mask.words[0]);
  if (lanes <= 64) return fmt::format("{:016x}", mask.words[0]);
  return fmt::format("{:016x}{:016x}", mask.words[1], mask.words[0]);
}

std::vector<std::uint64_t> parse_offsets(std::string_view text) {
  std::vector<std::uint64_t> offsets;
  const auto bad = [](std::string_view item, std::string_view why) {
    fail("D114", fmt::format("'{}' in the offsets {}", arch::printable(item), why),
         "write 0,4,8 or 0..124:4 (first..last:step) or 64*16 (offset*times)");
  };
  for (const std::string_view item : split(text, ',')) {
    std::uint64_t first = 0, last = 0, step = 1, times = 1;
    std::optional<std::uint64_t> a, b, c;
    if (const std::size_t dots = item.find(".."); dots != std::string_view::npos) {
      std::string_view rest = item.substr(dots + 2);
      const std::size_t colon = rest.find(':');
      a = whole(item.substr(0, dots));
      b = whole(rest.substr(0, colon));
      c = colon == std::string_view::npos ? std::optional<std::uint64_t>(4) : whole(rest.substr(colon + 1));
      if (!a || !b || !c) bad(item, "is not first..last:step");
      first = *a, last = *b, step = *c;
      if (step == 0 || last < first)
        bad(item, "has no members: the step must be positive and the last not before the first");
    } else if (const std::size_t star = item.find('*'); star != std::string_view::npos) {
      a = whole(item.substr(0, star));
      b = whole(item.substr(star + 1));
      if (!a || !b) bad(item, "is not offset*times");
      first = last = *a, times = *b;
    } else {
      a = whole(item);
      if (!a) bad(item, "is not a whole number");
      first = last = *a;
    }
    if (last > kFarthest) bad(item, "is beyond 2^62");
    for (std::uint64_t value = first; value <= last; value += std::min(step, kFarthest))
      for (std::uint64_t i = 0; i < times; ++i) {
        if (offsets.size() == kMaxWarpLanes) bad(item, fmt::format("makes more than {} lanes", kMaxWarpLanes));
        offsets.push_back(value);
      }
  }
  return offsets;
}

PatternFile::PatternFile(std::string_view header, std::string path)
    : header_(without_line_end(header)), path_(std::move(path)) {
  if (header_.starts_with("\xef\xbb\xbf")) header_.erase(0, 3);  // byte order mark
  const std::vector<std::string_view> names = split(header_, '\t');
  columns_ = names.size();
  const auto find = [&](std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const bool commas = columns_ == 1 && header_.find(',') != std::string::npos;
      refuse(1, fmt::format("has no column '{}'{}", name, commas ? "; columns are separated by tabs, not commas" : ""));
    }
    if (std::find(found + 1, names.end(), name) != names.end()) refuse(1, fmt::format("has two columns '{}'", name));
    return static_cast<std::size_t>(found - names.begin());
  };
  space_ = find("space");
  op_ = find("op");
  bytes_ = find("bytes");
  mask_ = find("mask");
  offsets_ = find("offsets");
  for (const std::string_view name : kAppended)
    if (std::find(names.begin(), names.end(), name) != names.end())
      refuse(1, fmt::format("has a column '{}' already, which would be appended", name));
}

void PatternFile::refuse(int line_number, const std::string& what) const {
  fail("D115", "the pattern file " + what, "columns: space, op, bytes, mask, offsets, separated by tabs",
       {path_, line_number, 0});
}

std::string PatternFile::output_header() const {
  std::string out = header_;
  for (const std::string_view name : kAppended) (out += '\t') += name;
  return out;
}

PatternFile::Row PatternFile::parse(std::string_view line, int line_number) const {
  const std::vector<std::string_view> cells = split(without_line_end(line), '\t');
  if (cells.size() != columns_)
    refuse(line_number, fmt::format("has {} columns in this row, {} in its header", cells.size(), columns_));
  Row row;
  Pattern& pattern = row.pattern;
  row.has_offsets = !trim(cells[offsets_]).empty();
  const auto space = space_of(trim(cells[space_]));
  if (!space)
    refuse(line_number,
           fmt::format("has an unknown space '{}': global, shared, const or local", arch::printable(cells[space_])));
  pattern.space = *space;
  if (!row.has_offsets) return row;
  const auto op = op_of(trim(cells[op_]));
  if (!op)
    refuse(line_number,
           fmt::format("has an unknown op '{}': LD, LD_CG, LD_NC, ST, RED or ATOM", arch::printable(cells[op_])));
  pattern.op = *op;
  const auto bytes = whole(cells[bytes_]);
  if (!bytes || *bytes > 32) refuse(line_number, fmt::format("has bytes '{}'", arch::printable(cells[bytes_])));
  pattern.bytes = static_cast<std::uint32_t>(*bytes);
  try {
    pattern.mask = parse_mask(cells[mask_]);
  } catch (const Error&) {
    refuse(line_number, fmt::format("has a bad mask '{}'", arch::printable(cells[mask_])));
  }
  for (const std::string_view item : split(cells[offsets_], ',')) {
    const auto offset = whole(item);
    if (!offset || *offset > kFarthest)
      refuse(line_number, fmt::format("has a bad offset '{}'", arch::printable(item)));
    if (pattern.addresses.size() == kMaxWarpLanes)
      refuse(line_number, fmt::format("has more than {} offsets", kMaxWarpLanes));
    pattern.addresses.push_back(*offset);
  }
  for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane >= pattern.addresses.size())
      refuse(line_number, fmt::format("has {} offsets, but lane {} is active", pattern.addresses.size(), lane));
  });
  if (const std::string why = why_invalid(pattern); !why.empty())
    refuse(line_number, "has a row that cannot be: " + why);
  return row;
}

std::string PatternFile::output_row(std::string_view line, const PatternCounts* counts) {
  std::string out(without_line_end(line));
  const auto add = [&](const std::optional<std::uint32_t>& value) {
    out += '\t';
    if (value) out += std::to_string(*value);
  };
  const PatternCounts none;
  const PatternCounts& c = counts != nullptr ? *counts : none;
  add(c.requests);
  add(c.sectors);
  add(c.wavefronts);
  add(c.bank_conflicts);
  add(c.constant_requests);
  return out;
}

}  // namespace muscope::model
