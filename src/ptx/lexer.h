// PTX text -> tokens, one at a time. Knows comments, literals and where a mnemonic with its modifiers ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/module.h"

namespace muscope::ptx {

enum class TokenKind : std::uint8_t {
  kEnd,      ///< end of the text
  kWord,     ///< identifier: [A-Za-z_$%][A-Za-z0-9_$]*
  kDot,      ///< a dotted word, `text` with its dot: ".global", ".L2::128B"
  kInteger,  ///< `value`
  kFloat,    ///< `value` holds the bits, `literal` says of which format
  kString,   ///< `text` without the quotes, escapes not yet replaced
  kPunct,    ///< one or two characters: `text`
  kBad,      ///< unreadable; `text` is what could not be read
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Literal literal = Literal::kInteger;
  bool is_unsigned = false;  ///< integer with the suffix U
  int line = 0;              ///< counts from 1
  int column = 0;            ///< counts from 1
  std::uint64_t value = 0;
  std::string_view text;

  bool is(char c) const { return kind == TokenKind::kPunct && text.size() == 1 && text[0] == c; }
  bool is(std::string_view punct) const { return kind == TokenKind::kPunct && text == punct; }
  bool is_dot(std::string_view word) const { return kind == TokenKind::kDot && text == word; }
};

/// Reads forward only; current() is the token that the last advance() found.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& current() const { return token_; }
  void advance();

  /// With a kWord as current token: the modifiers glued to it (".global.L2::128B.v4.u32"), read past; may be empty.
  std::string_view glued_modifiers();

  /// With a kWord as current token: whether it is a label, that is, a single colon follows.
  bool label_follows() const;

  /// Whether the next character after the current token begins a word other than WARP_SZ.
  bool word_follows() const;

  /// The first comment between the previous token and the current one if it stands on the previous token's line and
  /// begins with `//`; without the slashes. Empty otherwise. clang writes source positions there.
  std::string_view comment_before() const { return comment_; }

  /// With `{` as current token: reads on to the token after the matching brace without looking at what is inside.
  /// False when the text ends first.
  bool skip_braces();

  /// Reads on to the first token of the next line.
  void skip_line();

  /// Makes the rest of the text vanish: the current token becomes the end.
  void stop();

 private:
  char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }
  void skip_space();
  void read_number();
  void read_hex_float(Literal literal, std::size_t digits);
  void finish(TokenKind kind, std::size_t begin, std::size_t end);

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
  std::string_view comment_;
  Token token_;
};

/// The text of a string token with its escapes (\n, \", \\, \x41, \101 ...) replaced.
std::string unescape(std::string_view text);

}  // namespace muscope::ptx
