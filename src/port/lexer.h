// C++ and CUDA source as tokens, for `muscope port`: where identifiers are, and where text only looks like one.
//
// Comments, strings with their prefixes, raw strings, character and number literals, header names and splices are told
// apart as the C++ standard does it ([lex.phases], [lex.pptoken]); trigraphs and alternative tokens are not. Any bytes
// are taken: what is no UTF-8 counts as part of an identifier, what is not ended runs to the end of its line or file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muscope::port {

enum class TokenKind : std::uint8_t {
  kIdentifier,
  kNumber,
  kString,     ///< with prefix and quotes
  kRawString,  ///< R"d(...)d", with prefix
  kCharacter,
  kComment,     ///< with its marks
  kHeaderName,  ///< <...> or "..." behind #include, with its marks
  kPunctuation,
  kHash,          ///< the # that begins a directive
  kDirectiveEnd,  ///< the end of a directive's line; empty
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool spliced = false;       ///< a backslash and a newline lie within
  bool unterminated = false;  ///< string, comment or raw string that does not end
  bool in_directive = false;
  std::size_t begin = 0, end = 0;  ///< bytes of the text

  std::size_t size() const { return end - begin; }
};

/// The tokens of a text, one after another. The text must outlive it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The next token; kEnd for ever after the last.
  Token next();
  /// The bytes of a token without its splices.
  std::string spelling(const Token& token) const;
  std::string_view raw(const Token& token) const { return text_.substr(token.begin, token.size()); }

 private:
  unsigned char at(std::size_t i) const { return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0; }
  /// Bytes of the splice at i; 0 when there is none.
  std::size_t splice(std::size_t i) const;
  std::size_t skip_splices(std::size_t i) const;
  bool skip_blanks();  ///< true at the end of a directive
  Token quoted(TokenKind kind, std::size_t begin, std::size_t quote);
  Token raw_string(std::size_t begin, std::size_t quote);
  Token comment();
  Token word();
  Token number();
  Token header_name();
  Token finish(Token token);

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_start_ = true;
  bool in_directive_ = false;
  bool header_may_follow_ = false;
  int directive_words_ = 0;  ///< identifiers seen since #
  bool has_include_ = false;
};

/// Letters, digits, _, $ and every byte of a multi-byte character.
bool is_word_byte(unsigned char c);

}  // namespace muscope::port
