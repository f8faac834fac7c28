#include "port/pattern.h"

#include <algorithm>

namespace muscope::port {
namespace {

/// The class at the start of `pattern`, "[...]": its length, and whether it takes `c`. Length 0: it does not end.
struct ClassMatch {
  std::size_t length = 0;
  bool takes = false;
};

ClassMatch match_class(std::string_view pattern, char c) {
  ClassMatch match;
  std::size_t i = 1;
  const bool inverse = i < pattern.size() && (pattern[i] == '^' || pattern[i] == '!');
  if (inverse) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    const char low = pattern[i];
    char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      high = pattern[i + 2];
      i += 2;
    }
    found |= low <= c && c <= high;
    ++i;
  }
  if (i >= pattern.size()) return match;
  match.length = i + 1;
  match.takes = found != inverse;
  return match;
}

/// With one point of return for the last *, which is enough as a later * can always take over: linear times the length.
bool match_name(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = std::string_view::npos, star_name = 0;
  while (true) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      star_name = n;
      continue;
    }
    if (n < name.size() && p < pattern.size()) {
      std::size_t length = 1;
      bool takes = pattern[p] == name[n];
      if (pattern[p] == '[') {
        const ClassMatch match = match_class(pattern.substr(p), name[n]);
        if (match.length != 0) length = match.length, takes = match.takes;
      }
      if (takes) {
        p += length;
        ++n;
        continue;
      }
    } else if (n == name.size() && p == pattern.size()) {
      return true;
    }
    if (star == std::string_view::npos || star_name >= name.size()) return false;
    p = star;
    n = ++star_name;
  }
}

}  // namespace

Pattern::Pattern(std::string_view text) : text_(text), literal_(std::min(text.find_first_of("[*"), text.size())) {}

bool Pattern::matches(std::string_view name) const {
  if (!name.starts_with(literal_start())) return false;
  return is_literal() ? name.size() == text_.size()
                      : match_name(std::string_view(text_).substr(literal_), name.substr(literal_));
}

bool glob_matches(std::string_view pattern, std::string_view path) {
  // Points of return: the last * (not over '/') and the last ** (over '/').
  std::size_t p = 0, n = 0;
  std::size_t one = std::string_view::npos, one_at = 0, two = std::string_view::npos, two_at = 0;
  while (true) {
    if (p < pattern.size() && pattern[p] == '*') {
      if (p + 1 < pattern.size() && pattern[p + 1] == '*') {
        p += 2;
        // "**/" also takes no folder at all.
        if (p < pattern.size() && pattern[p] == '/' && (n == 0 || path[n - 1] == '/')) ++p;
        two = p;
        two_at = n;
        one = std::string_view::npos;
      } else {
        one = ++p;
        one_at = n;
      }
      continue;
    }
    if (n == path.size() && p == pattern.size()) return true;
    if (n < path.size() && p < pattern.size()) {
      std::size_t length = 1;
      bool takes = pattern[p] == path[n] || (pattern[p] == '?' && path[n] != '/');
      if (pattern[p] == '[') {
        const ClassMatch match = match_class(pattern.substr(p), path[n]);
        if (match.length != 0) length = match.length, takes = match.takes && path[n] != '/';
      } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
        length = 2;
        takes = pattern[p + 1] == path[n];
      }
      if (takes) {
        p += length;
        ++n;
        continue;
      }
    }
    if (one != std::string_view::npos && one_at < path.size() && path[one_at] != '/') {
      p = one;
      n = ++one_at;
    } else if (two != std::string_view::npos && two_at < path.size()) {
      p = two;
      n = ++two_at;
      one = std::string_view::npos;
    } else {
      return false;
    }
  }
}

}  // namespace muscope::port
