// Which launches of a process are counted: the value of --launches.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muscope::runtime {

/// Launches [first, last] of a process, counted from 0.
struct LaunchRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0xffffffffu;

  bool contains(std::uint32_t index) const { return index >= first && index <= last; }
};

/// The whole of `text` as a decimal number. False, and `out` unchanged, when it is none or too large.
template <typename T>
bool parse_number(std::string_view text, T& out) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  out = value;
  return true;
}

/// "3", "3-7", "3-" and "-7". False when the text is none of these, or when the range is empty.
inline bool parse_launch_range(std::string_view text, LaunchRange& out) {
  LaunchRange range;
  const std::size_t dash = text.find('-');
  if (dash == text.npos) {
    if (!parse_number(text, range.first)) return false;
    range.last = range.first;
  } else {
    const std::string_view first = text.substr(0, dash);
    const std::string_view last = text.substr(dash + 1);
    if (first.empty() && last.empty()) return false;
    if (!first.empty() && !parse_number(first, range.first)) return false;
    if (!last.empty() && !parse_number(last, range.last)) return false;
  }
  if (range.first > range.last) return false;
  out = range;
  return true;
}

}  // namespace muscope::runtime
