// In which namespaces and classes a token of C++ source lies, told from tokens alone: for names that a project gives to
// its own members, functions in namespaces and parameters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "port/lexer.h"

namespace muscope::port {

/// Words that stand before a name without making it a declaration.
bool is_no_type(std::string_view word);

/// Follows the braces of one file. The text of the lexer must outlive it.
class Scopes {
 public:
  explicit Scopes(const Lexer& lexer) : lexer_(lexer) {}

  /// Takes the next token that is no comment.
  void step(const Token& token);

  /// What the innermost braces are; kFile outside of all. `extern "C"` counts as kFile, a namespace without a name
  /// as what is around it.
  enum class Kind { kFile, kNamespace, kClass, kBlock };
  Kind kind() const;
  /// Whether a scope of that name is open, or a function that is a member of it: `int Api::f() {`.
  bool inside(std::string_view name) const;
  bool inside_class() const;
  /// The innermost namespace's or class's name, where kind() says that it is one.
  std::string_view name() const { return stack_.empty() ? std::string_view() : stack_.back().name; }
  /// Whether the name between the last token and `next` is declared here as a member of a class or namespace.
  bool declares_member(const Token& next) const;
  /// Whether it is a parameter of a function that is declared here.
  bool declares_parameter(const Token& next) const;
  void add_parameter(std::string_view name) { parameters_.push_back(name); }
  /// A parameter of a function that the last token lies in, or in whose head it lies.
  bool is_parameter(std::string_view name) const;

 private:
  struct Scope {
    Kind kind = Kind::kBlock;
    std::string_view name;
    int parentheses = 0;  ///< those that are open around it
    std::vector<std::string_view> parameters;
  };
  std::string_view raw(const Token& token) const { return lexer_.raw(token); }
  bool is(const Token& token, char c) const { return token.kind == TokenKind::kPunctuation && raw(token)[0] == c; }
  const Token& back(std::size_t n) const { return history_[(at_ + kHistory - n) % kHistory]; }
  bool is_type(const Token& token) const;
  void directive(const Token& token);
  void punctuation(char c);
  void word(std::string_view text);
  void open();
  void end_head();

  static constexpr std::size_t kHistory = 8;
  const Lexer& lexer_;
  std::vector<Scope> stack_;
  std::vector<std::vector<Scope>> conditionals_;  ///< as it was at each #if
  Token history_[kHistory];
  std::size_t at_ = 0;
  // Of the declaration that is being read.
  int parentheses_ = 0;
  Kind head_ = Kind::kBlock;
  std::string_view name_, member_of_;
  bool named_ = false, called_ = false, assigned_ = false;
  bool linkage_ = false;          ///< declares a name of somewhere else: extern "C", friend
  bool named_directive_ = false;  ///< its word was seen
  int beyond_ = 0;                ///< conditions that are nested too deep to be followed
  std::vector<std::string_view> parameters_;
};

}  // namespace muscope::port
