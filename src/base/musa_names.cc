#include "base/musa_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace muscope {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_upper(c) || is_lower(c) || is_digit(c) || c == '_'; }

/// How a whole name begins, and what must follow.
struct Beginning {
  std::string_view from, to;
  bool (*next)(char);
};

constexpr std::array<Beginning, 6> kBeginnings = {{{"cuda", "musa", is_upper},
                                                   {"CUDA_SUCCESS", "MUSA_SUCCESS", [](char c) { return c == 0; }},
                                                   {"CUDA_ERROR_", "MUSA_ERROR_", is_upper},
                                                   {"CU_", "MU_", is_upper},
                                                   {"CU", "MU", is_lower},
                                                   {"cu", "mu", is_upper}}};

/// The name in MUSA; the same when it is none of CUDA's.
std::string musa_name(std::string_view name) {
  for (const Beginning& b : kBeginnings) {
    if (!name.starts_with(b.from)) continue;
    const char next = name.size() > b.from.size() ? name[b.from.size()] : '\0';
    if (b.next(next)) return std::string(b.to).append(name.substr(b.from.size()));
  }
  return std::string(name);
}

bool quotes_source(std::string_view line) {
  std::size_t i = 0;
  while (i < line.size() && line[i] == ' ') ++i;
  const std::size_t digits = i;
  while (i < line.size() && is_digit(line[i])) ++i;
  return i > digits && line.substr(i).starts_with(" | ");
}

}  // namespace

std::string with_musa_names(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    // A path's or a file's part is no name.
    const bool in_path = (i > 0 && text[i - 1] == '/') || (end < text.size() && text[end] == '/') ||
                         (end + 1 < text.size() && text[end] == '.' && is_word(text[end + 1]));
    const std::string_view name = text.substr(i, end - i);
    out += in_path ? std::string(name) : musa_name(name);
    i = end;
  }
  return out;
}

std::string messages_with_musa_names(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    out += quotes_source(line) ? std::string(line) : with_musa_names(line);
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace muscope
