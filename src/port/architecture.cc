// Numbers that __CUDA_ARCH__ is compared with, translated by meaning.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "port/porter.h"

namespace muscope::port {
namespace {

/// A decimal or hexadecimal literal with its suffix; -1: none.
int literal_value(std::string_view text) {
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  std::string digits;
  for (const char c : text)
    if (c != '\'') digits += c;
  int value = -1;
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  const char* begin = digits.data() + (hex ? 2 : 0);
  const auto [end, error] = std::from_chars(begin, digits.data() + digits.size(), value, hex ? 16 : 10);
  return error == std::errc() && end == digits.data() + digits.size() && end != begin ? value : -1;
}

}  // namespace

/// `number` beside the macro, in a comparison: translated by meaning.
bool Porter::compared(const Token& number, const Token& arch_token, const std::string& name, bool at_least) {
  const int value = literal_value(raw(number));
  if (value < 0) return false;
  if (value == 0) return true;  // "__CUDA_ARCH__ > 0": device code
  const bool alias = project_.arch_aliases.contains(name);
  const bool from = alias || name == kArchMacros[to_musa_ ? 0 : 1];
  if (!from) return true;
  const int to = rules_.arch_value(value, options_.target.direction, at_least);
  if (!to_musa_) {
    // The CUDA value that the way there left beside it.
    const std::string_view rest = text_.substr(number.end, 64);
    constexpr std::string_view kMark = " /* CUDA: ";
    Token place = number;
    std::string text = fmt::format("{}", to);
    if (rest.starts_with(kMark)) {
      const std::size_t end = rest.find(" */");
      if (end == std::string_view::npos) return true;
      text = rest.substr(kMark.size(), end - kMark.size());
      place.end = number.end + end + 3;
    } else if (to == 0) {
      find("P003", arch_token, name, fmt::format("{} has no counterpart among CUDA's compute capabilities", value));
      return true;
    }
    add_edit(place, std::move(text), EditKind::kArch);
    return true;
  }
  if (to == 0) {
    find("P002", arch_token, name,
         fmt::format(
             "'{}' is compared with {}: no MUSA GPU corresponds, so the number stays and the condition holds for none",
             name, value));
    return true;
  }
  const bool canonical = rules_.arch_value(to, Direction::kToCuda, at_least) == value;
  const std::string text = canonical ? fmt::format("{}", to) : fmt::format("{} /* CUDA: {} */", to, raw(number));
  add_edit(number, text, EditKind::kArch);
  find("P002", arch_token, name,
       fmt::format("'{}' is compared with {}, which becomes {} (mp_{}): see whether the branch means that", name, value,
                   to, to / 10));
  return true;
}

void Porter::architecture(const Token& token, const std::string& name) {
  const auto op_length = [&](const Token& a, const Token& b) -> int {
    const std::string_view c = raw(a);
    if (a.kind != TokenKind::kPunctuation || c.empty()) return 0;
    const bool equal = is(b, "=") && a.end == b.begin;
    if (c == "<" || c == ">") return equal ? 2 : 1;
    return (c == "=" || c == "!") && equal ? 2 : 0;
  };
  // Behind: OP NUMBER.
  Lexer ahead = lexer_;
  const Token a = ahead.next();
  const Token b = ahead.next();
  const int behind = op_length(a, b);
  if (behind > 0) {
    // MACRO >= N and MACRO < N ask where a card begins; > and <= (and ==) where it ends.
    const bool at_least = (raw(a) == ">" && behind == 2) || (raw(a) == "<" && behind == 1);
    const Token number = behind == 2 ? ahead.next() : b;
    if (number.kind == TokenKind::kNumber && compared(number, token, name, at_least)) return;
    return find("P003", token, name,
                fmt::format("'{}' is compared with something that is no number: translate it by hand", name));
  }
  // Before: NUMBER OP.
  const bool two = is(back(0), "=") && back(1).kind == TokenKind::kPunctuation && back(1).end == back(0).begin;
  const bool one = is(back(0), "<") || is(back(0), ">");
  const Token& number = two ? back(2) : back(1);
  const bool at_least = (two && is(back(1), "<")) || (one && is(back(0), ">"));
  if ((two || one) && number.kind == TokenKind::kNumber && compared(number, token, name, at_least)) {
    return;
  }
  if (project_.arch_aliases.contains(name)) return;
  // Alone in a condition or in defined(): whether it is device code.
  const auto word = [&](const Token& t) { return t.kind == TokenKind::kIdentifier ? raw(t) : std::string_view(); };
  const std::string_view w0 = word(back(0)), w1 = word(back(1));
  if (w0 == "ifdef" || w0 == "ifndef" || w0 == "defined" || (is(back(0), "(") && w1 == "defined") || w0 == "undef" ||
      w0 == "define" || w0 == "elifdef" || w0 == "elifndef")
    return;
  const auto bound = [&](const Token& t) {
    return t.kind == TokenKind::kDirectiveEnd || t.kind == TokenKind::kComment || is(t, "&") || is(t, "|") ||
           is(t, ")") || is(t, "(") || is(t, "!");
  };
  const bool condition = token.in_directive && bound(a) && (w0 == "if" || w0 == "elif" || bound(back(0)));
  if (condition) return;
  find("P003", token, name,
       fmt::format("the value of '{}' is used: on MUSA it is 210, 220 or 310, not 500 to 1200", name));
}

}  // namespace muscope::port
