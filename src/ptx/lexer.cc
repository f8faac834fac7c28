#include "ptx/lexer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

namespace muscope::ptx {
namespace {

enum Class : std::uint8_t { kOther = 0, kWordStart = 1, kWordPart = 2, kDigit = 4, kSpace = 8 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = kWordStart | kWordPart;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = kWordStart | kWordPart;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kWordPart | kDigit;
  classes['_'] = classes['$'] = kWordStart | kWordPart;
  classes['%'] = kWordStart;
  for (char c : {' ', '\t', '\r', '\v', '\f', '\0'}) classes[static_cast<unsigned char>(c)] = kSpace;
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool has_class(char c, std::uint8_t wanted) { return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0; }

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

constexpr std::array<std::string_view, 9> kTwoCharacter = {"<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "::"};

}  // namespace

void Lexer::skip_space() {
  comment_ = {};
  bool same_line = true;
  for (;;) {
    const char c = at(position_);
    if (position_ >= text_.size()) return;
    if (has_class(c, kSpace)) {
      ++position_;
    } else if (c == '\n') {
      ++position_;
      ++line_;
      line_begin_ = position_;
      same_line = false;
    } else if (c == '/' && at(position_ + 1) == '/') {
      const std::size_t end = std::min(text_.find('\n', position_), text_.size());
      if (same_line && comment_.empty()) comment_ = text_.substr(position_ + 2, end - position_ - 2);
      position_ = end;
    } else if (c == '/' && at(position_ + 1) == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
      for (; position_ < stop; ++position_) {
        if (text_[position_] != '\n') continue;
        ++line_;
        line_begin_ = position_ + 1;
        same_line = false;
      }
    } else {
      return;
    }
  }
}

void Lexer::finish(TokenKind kind, std::size_t begin, std::size_t end) {
  token_.kind = kind;
  token_.text = text_.substr(begin, end - begin);
  position_ = end;
}

void Lexer::advance() {
  skip_space();
  token_ = Token{};
  token_.line = line_;
  token_.column = static_cast<int>(std::min<std::size_t>(position_ - line_begin_, 1'000'000'000)) + 1;
  const std::size_t begin = position_;
  if (begin >= text_.size()) return;
  const char c = text_[begin];
  if (c == '%' && !has_class(at(begin + 1), kWordPart)) return finish(TokenKind::kPunct, begin, begin + 1);
  if (has_class(c, kWordStart)) {
    std::size_t end = begin + 1;
    while (has_class(at(end), kWordPart)) ++end;
    return finish(TokenKind::kWord, begin, end);
  }
  if (has_class(c, kDigit)) return read_number();
  if (c == '.') {
    std::size_t end = begin + 1;
    while (has_class(at(end), kWordPart) ||
           (at(end) == ':' && at(end + 1) == ':' && has_class(at(end + 2), kWordPart))) {
      end += at(end) == ':' ? 2 : 1;
    }
    if (end == begin + 1) return finish(TokenKind::kPunct, begin, end);
    if (has_class(text_[begin + 1], kDigit)) {  // ".5" rather than ".2d"
      double number = 0;
      const auto result = std::from_chars(text_.data() + begin, text_.data() + end, number);
      if (result.ec == std::errc{} && result.ptr == text_.data() + end) {
        token_.value = std::bit_cast<std::uint64_t>(number);
        token_.literal = Literal::kF64;
        return finish(TokenKind::kFloat, begin, end);
      }
    }
    return finish(TokenKind::kDot, begin, end);
  }
  if (c == '"') {
    std::size_t end = begin + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (at(end) != '"') return finish(TokenKind::kBad, begin, std::min(end, text_.size()));
    finish(TokenKind::kString, begin + 1, end);
    position_ = end + 1;
    return;
  }
  const std::string_view two = text_.substr(begin, 2);
  for (std::string_view known : kTwoCharacter) {
    if (two == known) return finish(TokenKind::kPunct, begin, begin + 2);
  }
  constexpr std::string_view kSingle = "{}[]()<>,;:@!+-*/&|^~?=";
  finish(kSingle.find(c) == std::string_view::npos ? TokenKind::kBad : TokenKind::kPunct, begin, begin + 1);
}

void Lexer::read_hex_float(Literal literal, std::size_t digits) {
  const std::size_t begin = position_;
  std::size_t end = begin + 2;
  std::uint64_t bits = 0;
  while (has_class(at(end), kWordPart)) {
    const int digit = digit_value(at(end));
    if (digit > 15 || end - begin - 2 >= digits) {
      while (has_class(at(end), kWordPart)) ++end;
      return finish(TokenKind::kBad, begin, end);
    }
    bits = bits << 4 | static_cast<std::uint64_t>(digit);
    ++end;
  }
  const bool complete = end - begin - 2 == digits;
  token_.value = bits;
  token_.literal = literal;
  finish(complete ? TokenKind::kFloat : TokenKind::kBad, begin, end);
}

void Lexer::read_number() {
  const std::size_t begin = position_;
  const char second = at(begin + 1);
  if (at(begin) == '0') {
    if (second == 'f' || second == 'F') return read_hex_float(Literal::kF32, 8);
    if (second == 'd' || second == 'D') return read_hex_float(Literal::kF64, 16);
  }
  std::size_t end = begin;
  while (has_class(at(end), kDigit)) ++end;
  const bool has_exponent = (at(end) == 'e' || at(end) == 'E') && second != 'x' && second != 'X';
  if ((at(end) == '.' && !has_class(at(end + 1), kWordStart)) || has_exponent) {
    if (at(end) == '.') ++end;
    while (has_class(at(end), kDigit)) ++end;
    if (at(end) == 'e' || at(end) == 'E') {
      ++end;
      if (at(end) == '+' || at(end) == '-') ++end;
      while (has_class(at(end), kDigit)) ++end;
    }
    double number = 0;
    const auto result = std::from_chars(text_.data() + begin, text_.data() + end, number);
    if (result.ec == std::errc::result_out_of_range) number = std::numeric_limits<double>::infinity();
    const bool good = result.ec != std::errc::invalid_argument && result.ptr == text_.data() + end;
    token_.value = std::bit_cast<std::uint64_t>(number);
    token_.literal = Literal::kF64;
    return finish(good && !has_class(at(end), kWordPart) ? TokenKind::kFloat : TokenKind::kBad, begin, end);
  }
  int base = 10;
  std::size_t digit = begin;
  if (at(begin) == '0' && (second == 'x' || second == 'X')) {
    base = 16;
    digit += 2;
  } else if (at(begin) == '0' && (second == 'b' || second == 'B')) {
    base = 2;
    digit += 2;
  } else if (at(begin) == '0') {
    base = 8;
  }
  const std::size_t first_digit = digit;
  std::uint64_t value = 0;
  bool overflow = false;
  for (; digit_value(at(digit)) < base; ++digit) {
    const auto wide = static_cast<unsigned __int128>(value) * static_cast<unsigned>(base) +
                      static_cast<unsigned>(digit_value(at(digit)));
    overflow |= wide > std::numeric_limits<std::uint64_t>::max();
    value = static_cast<std::uint64_t>(wide);
  }
  const bool any_digit = digit > first_digit;
  if (at(digit) == 'U' || at(digit) == 'u') {
    token_.is_unsigned = true;
    ++digit;
  }
  const bool bad_tail = has_class(at(digit), kWordPart);
  while (has_class(at(digit), kWordPart)) ++digit;
  token_.value = value;
  finish(any_digit && !overflow && !bad_tail ? TokenKind::kInteger : TokenKind::kBad, begin, digit);
}

std::string_view Lexer::glued_modifiers() {
  const std::size_t begin = position_;
  std::size_t end = begin;
  while (at(end) == '.' && has_class(at(end + 1), kWordPart)) {
    ++end;
    while (has_class(at(end), kWordPart) ||
           (at(end) == ':' && at(end + 1) == ':' && has_class(at(end + 2), kWordPart))) {
      end += at(end) == ':' ? 2 : 1;
    }
  }
  position_ = end;
  return text_.substr(begin, end - begin);
}

bool Lexer::label_follows() const {
  std::size_t next = position_;
  while (at(next) == ' ' || at(next) == '\t') ++next;
  return at(next) == ':' && at(next + 1) != ':';
}

bool Lexer::word_follows() const {
  std::size_t next = position_;
  while (at(next) == ' ' || at(next) == '\t') ++next;
  return has_class(at(next), kWordStart) && text_.substr(next, 7) != "WARP_SZ";
}

bool Lexer::skip_braces() {
  std::uint64_t depth = 1;
  while (depth > 0) {
    advance();
    if (token_.kind == TokenKind::kEnd) return false;
    if (token_.is('{')) ++depth;
    if (token_.is('}')) --depth;
  }
  advance();
  return true;
}

void Lexer::skip_line() {
  position_ = std::min(text_.find('\n', position_), text_.size());
  advance();
}

void Lexer::stop() {
  position_ = text_.size();
  advance();
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    constexpr std::string_view kNames = "abfnrtv";
    constexpr std::string_view kValues = "\a\b\f\n\r\t\v";
    if (const std::size_t found = kNames.find(c); found != std::string_view::npos) {
      out += kValues[found];
    } else if (c == 'x' || (c >= '0' && c <= '7')) {
      const int base = c == 'x' ? 16 : 8;
      const std::size_t most = c == 'x' ? 2 : 3;
      std::size_t digit = c == 'x' ? i + 1 : i;
      int value = 0;
      for (std::size_t n = 0; n < most && digit < text.size() && digit_value(text[digit]) < base; ++n, ++digit) {
        value = value * base + digit_value(text[digit]);
      }
      out += static_cast<char>(value);
      i = digit - 1;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace muscope::ptx
