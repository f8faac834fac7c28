#include "port/lexer.h"

#include <algorithm>
#include <array>

namespace muscope::port {
namespace {

constexpr std::array<bool, 256> word_bytes() {
  std::array<bool, 256> is{};
  for (unsigned c = 0; c < 256; ++c)
    is[c] =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c >= 0x80;
  return is;
}
constexpr std::array<bool, 256> kWord = word_bytes();

bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

bool is_string_prefix(std::string_view word) {
  return word == "L" || word == "u" || word == "U" || word == "u8" || word == "R" || word == "LR" || word == "uR" ||
         word == "UR" || word == "u8R";
}

}  // namespace

bool is_word_byte(unsigned char c) { return kWord[c]; }

std::size_t Lexer::splice(std::size_t i) const {
  if (at(i) != '\\') return 0;
  std::size_t k = i + 1;
  // Compilers take blanks between the backslash and the newline, with a warning.
  while (at(k) == ' ' || at(k) == '\t') ++k;
  if (at(k) == '\n') return k + 1 - i;
  if (at(k) == '\r' && at(k + 1) == '\n') return k + 2 - i;
  return 0;
}

std::size_t Lexer::skip_splices(std::size_t i) const {
  while (const std::size_t n = splice(i)) i += n;
  return i;
}

bool Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const unsigned char c = at(at_);
    if (c == '\n') {
      if (in_directive_) return true;
      line_start_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at_;
    } else if (const std::size_t n = splice(at_)) {
      at_ += n;
    } else {
      return false;
    }
  }
  return in_directive_;
}

Token Lexer::finish(Token token) {
  token.end = at_ = std::min(token.end, text_.size());
  token.in_directive = in_directive_;
  if (token.kind != TokenKind::kComment) {
    line_start_ = false;
    header_may_follow_ = false;
  }
  return token;
}

Token Lexer::next() {
  if (skip_blanks()) {
    Token token;
    token.kind = TokenKind::kDirectiveEnd;
    token.begin = token.end = at_;
    token.in_directive = true;
    in_directive_ = header_may_follow_ = has_include_ = false;
    line_start_ = true;
    if (at_ < text_.size()) ++at_;
    return token;
  }
  if (at_ >= text_.size()) {
    Token token;
    token.begin = token.end = text_.size();
    return token;
  }
  const unsigned char c = at(at_);
  const std::size_t second = c == '/' || c == '.' ? skip_splices(at_ + 1) : at_ + 1;
  if (c == '/' && (at(second) == '/' || at(second) == '*')) return comment();
  if (header_may_follow_ && (c == '<' || c == '"')) return header_name();
  if (c == '"') return quoted(TokenKind::kString, at_, at_);
  if (c == '\'') return quoted(TokenKind::kCharacter, at_, at_);
  if (is_digit(c) || (c == '.' && is_digit(at(second)))) return number();
  if (kWord[c]) return word();
  Token token;
  token.begin = at_;
  token.end = at_ + 1;
  token.kind = TokenKind::kPunctuation;
  if (c == '#' && line_start_ && !in_directive_) {
    token.kind = TokenKind::kHash;
    in_directive_ = true;
    directive_words_ = 0;
  }
  const bool opens_include = c == '(' && has_include_;
  token = finish(token);
  header_may_follow_ = opens_include;
  has_include_ = false;
  return token;
}

Token Lexer::word() {
  Token token;
  token.kind = TokenKind::kIdentifier;
  token.begin = at_;
  std::size_t i = at_;
  while (true) {
    while (kWord[at(i)] && i < text_.size()) ++i;
    const std::size_t behind = skip_splices(i);
    if (behind == i || !kWord[at(behind)]) break;
    token.spliced = true;
    i = behind;
  }
  token.end = i;
  const std::size_t quote = skip_splices(i);
  if ((at(quote) == '"' || at(quote) == '\'') && token.size() < 16) {
    const std::string prefix = spelling(token);
    if (is_string_prefix(prefix)) {
      if (at(quote) == '"' && prefix.back() == 'R') return raw_string(token.begin, quote);
      if (prefix.back() != 'R')
        return quoted(at(quote) == '"' ? TokenKind::kString : TokenKind::kCharacter, token.begin, quote);
    }
  }
  token = finish(token);
  if (in_directive_) {
    const std::string_view name = raw(token);
    ++directive_words_;
    if (directive_words_ == 1 && (name == "include" || name == "include_next" || name == "import"))
      header_may_follow_ = true;
    has_include_ = name == "__has_include" || name == "__has_include_next";
  }
  return token;
}

Token Lexer::number() {
  Token token;
  token.kind = TokenKind::kNumber;
  token.begin = at_;
  std::size_t i = at_;
  unsigned char last = 0;
  while (i < text_.size()) {
    const unsigned char c = at(i);
    const bool exponent = last == 'e' || last == 'E' || last == 'p' || last == 'P';
    if (kWord[c] || c == '.' || ((c == '+' || c == '-') && exponent)) {
      last = c;
      ++i;
    } else if (c == '\'' && kWord[at(i + 1)]) {
      last = c;
      ++i;
    } else if (const std::size_t n = splice(i)) {
      if (!kWord[at(i + n)]) break;
      token.spliced = true;
      i += n;
    } else {
      break;
    }
  }
  token.end = i;
  return finish(token);
}

Token Lexer::quoted(TokenKind kind, std::size_t begin, std::size_t quote) {
  Token token;
  token.kind = kind;
  token.begin = begin;
  const unsigned char mark = at(quote);
  std::size_t i = quote + 1;
  while (i < text_.size()) {
    const unsigned char c = at(i);
    if (c == mark) {
      token.end = i + 1;
      return finish(token);
    }
    if (c == '\n') break;
    if (c == '\\') {
      const std::size_t n = splice(i);
      token.spliced |= n != 0;
      i += n != 0 ? n : at(i + 1) == '\n' || i + 1 >= text_.size() ? 1 : 2;
    } else {
      ++i;
    }
  }
  token.end = i;
  // An apostrophe in an #error line or in text that #if 0 leaves out is no error.
  token.unterminated = kind == TokenKind::kString && !in_directive_;
  return finish(token);
}

Token Lexer::raw_string(std::size_t begin, std::size_t quote) {
  Token token;
  token.kind = TokenKind::kRawString;
  token.begin = begin;
  const std::size_t open = text_.find('(', quote);
  const std::string_view delimiter =
      open == std::string_view::npos ? std::string_view() : text_.substr(quote + 1, open - quote - 1);
  if (open == std::string_view::npos || delimiter.size() > 16 ||
      delimiter.find_first_of(" \n\t\\)\"") != std::string_view::npos)
    return quoted(TokenKind::kString, begin, quote);
  const std::string close = ")" + std::string(delimiter) + "\"";
  const std::size_t end = text_.find(close, open + 1);
  token.unterminated = end == std::string_view::npos;
  token.end = token.unterminated ? text_.size() : end + close.size();
  return finish(token);
}

Token Lexer::comment() {
  Token token;
  token.kind = TokenKind::kComment;
  token.begin = at_;
  const std::size_t mark = skip_splices(at_ + 1);
  if (at(mark) == '*') {
    const std::size_t end = text_.find("*/", mark + 1);
    token.unterminated = end == std::string_view::npos;
    token.end = token.unterminated ? text_.size() : end + 2;
    return finish(token);
  }
  std::size_t i = mark + 1;
  while (true) {
    i = text_.find('\n', i);
    if (i == std::string_view::npos) {
      i = text_.size();
      break;
    }
    std::size_t back = i;
    while (back > mark && (at(back - 1) == '\r' || at(back - 1) == ' ' || at(back - 1) == '\t')) --back;
    if (back <= mark || at(back - 1) != '\\') break;
    token.spliced = true;
    ++i;
  }
  token.end = i;
  return finish(token);
}

Token Lexer::header_name() {
  Token token;
  token.kind = TokenKind::kHeaderName;
  token.begin = at_;
  const char close = at(at_) == '<' ? '>' : '"';
  std::size_t i = at_ + 1;
  while (i < text_.size() && text_[i] != close && text_[i] != '\n') ++i;
  if (at(i) != static_cast<unsigned char>(close)) {
    // "#include < " with no end: no header name.
    token.kind = TokenKind::kPunctuation;
    token.end = at_ + 1;
    return finish(token);
  }
  token.end = i + 1;
  return finish(token);
}

std::string Lexer::spelling(const Token& token) const {
  std::string out;
  out.reserve(token.size());
  for (std::size_t i = token.begin; i < token.end;) {
    if (const std::size_t n = token.spliced ? splice(i) : 0) {
      i += n;
    } else {
      out += text_[i++];
    }
  }
  return out;
}

}  // namespace muscope::port
