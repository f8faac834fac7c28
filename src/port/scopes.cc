#include "port/scopes.h"

#include <algorithm>
#include <initializer_list>

namespace muscope::port {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What may have parentheses between `struct` and the name.
bool is_attribute(std::string_view word) {
  return one_of(word, {"__align__", "alignas", "__attribute__", "__declspec", "__launch_bounds__"});
}

}  // namespace

Scopes::Kind Scopes::kind() const { return stack_.empty() ? Kind::kFile : stack_.back().kind; }

bool Scopes::inside(std::string_view name) const {
  return std::any_of(
             stack_.begin(), stack_.end(),
             [&](const Scope& scope) { return scope.name == name && (!name.empty() || scope.kind == Kind::kClass); }) ||
         (kind() != Kind::kBlock && !member_of_.empty() && member_of_ == name);
}

bool Scopes::inside_class() const {
  return std::any_of(stack_.begin(), stack_.end(), [](const Scope& scope) {
    return scope.kind == Kind::kClass || (scope.kind == Kind::kBlock && !scope.name.empty());
  });
}

bool Scopes::is_parameter(std::string_view name) const {
  const auto has = [&](const std::vector<std::string_view>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return has(parameters_) ||
         std::any_of(stack_.begin(), stack_.end(), [&](const Scope& s) { return has(s.parameters); });
}

bool Scopes::is_type(const Token& token) const {
  return token.kind == TokenKind::kIdentifier && !is_no_type(raw(token));
}

bool Scopes::declares_member(const Token& next) const {
  if ((kind() != Kind::kNamespace && kind() != Kind::kClass) || next.kind != TokenKind::kPunctuation || assigned_ ||
      linkage_)
    return false;
  const char c = raw(next)[0];
  const Token& last = back(0);
  // "int (*name)(int);" of a table of functions.
  if (parentheses_ == 1)
    return kind() == Kind::kClass && is(last, '*') && is(back(1), '(') && is_type(back(2)) && c == ')';
  if (parentheses_ != 0) return false;
  if (last.kind == TokenKind::kIdentifier) {
    const std::string_view before = raw(last);
    if (one_of(before, {"struct", "class", "union", "enum"})) return c == '{' || c == ':';
    if (before == "using") return c == '=';
    return !is_no_type(before) && std::string_view("=;,([{:").find(c) != std::string_view::npos;
  }
  if (is(last, '*') || is(last, '&'))
    return is_type(back(1)) && std::string_view("=;,([").find(c) != std::string_view::npos;
  return is(last, '>') && !is(back(1), '-') && std::string_view("=;,([{").find(c) != std::string_view::npos;
}

bool Scopes::declares_parameter(const Token& next) const {
  if (kind() == Kind::kBlock || parentheses_ == 0 || assigned_ || next.kind != TokenKind::kPunctuation) return false;
  if (std::string_view(",)=[").find(raw(next)[0]) == std::string_view::npos) return false;
  const Token& last = back(0);
  if (last.kind == TokenKind::kIdentifier) return !is_no_type(raw(last));
  // "(a & name)" may be a value as well: only of types that are words of the language or end like one.
  if (!is(last, '*') && !is(last, '&')) return false;
  std::size_t at = 1;
  while (at < 4 && (is(back(at), '*') || is(back(at), '&'))) ++at;
  const std::string_view type = back(at).kind == TokenKind::kIdentifier ? raw(back(at)) : std::string_view();
  return type.ends_with("_t") ||
         one_of(type, {"void", "bool", "char", "short", "int", "long", "unsigned", "float", "double", "auto"});
}

void Scopes::step(const Token& token) {
  if (token.in_directive || token.kind == TokenKind::kHash || token.kind == TokenKind::kDirectiveEnd) {
    directive(token);
    return;
  }
  if (token.kind == TokenKind::kIdentifier) word(raw(token));
  if (token.kind == TokenKind::kString && back(0).kind == TokenKind::kIdentifier && raw(back(0)) == "extern")
    linkage_ = true;
  if (token.kind == TokenKind::kPunctuation) punctuation(raw(token)[0]);
  at_ = (at_ + 1) % kHistory;
  history_[at_] = token;
}

/// The branches of a condition begin with the same braces open.
void Scopes::directive(const Token& token) {
  constexpr std::size_t kDeepest = 256;
  if (token.kind == TokenKind::kHash) {
    named_directive_ = false;
    return;
  }
  if (token.kind != TokenKind::kIdentifier || named_directive_) return;
  named_directive_ = true;
  const std::string_view text = raw(token);
  if (text == "if" || text == "ifdef" || text == "ifndef") {
    if (conditionals_.size() < kDeepest)
      conditionals_.push_back(stack_);
    else
      ++beyond_;
  } else if (text.starts_with("el")) {
    if (beyond_ == 0 && !conditionals_.empty() && conditionals_.back().size() != stack_.size())
      stack_ = conditionals_.back();
  } else if (text == "endif") {
    if (beyond_ > 0)
      --beyond_;
    else if (!conditionals_.empty())
      conditionals_.pop_back();
  }
}

void Scopes::word(std::string_view text) {
  if (parentheses_ > 0) return;
  const bool listed = is(back(0), '<') || is(back(0), ',');  // template <class T>
  if (text == "namespace" && !(back(0).kind == TokenKind::kIdentifier && raw(back(0)) == "using")) {
    head_ = Kind::kNamespace;
  } else if (!listed && head_ == Kind::kBlock && one_of(text, {"struct", "class", "union"})) {
    // "enum class" has enumerators and no members.
    if (!(back(0).kind == TokenKind::kIdentifier && raw(back(0)) == "enum")) {
      head_ = Kind::kClass;
      assigned_ = called_ = false;  // of what stands before in template <...>
    }
  } else if (text == "friend") {
    linkage_ = true;
  } else if (head_ != Kind::kBlock && !named_ && text != "final" && !is_attribute(text)) {
    // The last word before a base clause or the brace: macros may stand before it.
    name_ = text;
  }
}

void Scopes::punctuation(char c) {
  switch (c) {
    case '(':
    case '[':
      if (c == '(' && parentheses_ == 0 && back(0).kind == TokenKind::kIdentifier && !is_attribute(raw(back(0)))) {
        if (!called_ && is(back(1), ':') && is(back(2), ':') && back(3).kind == TokenKind::kIdentifier)
          member_of_ = raw(back(3));
        called_ = true;
      }
      ++parentheses_;
      break;
    case ')':
    case ']':
      parentheses_ = std::max(0, parentheses_ - 1);
      break;
    case ':':
      if (parentheses_ == 0 && head_ == Kind::kClass && !name_.empty()) named_ = true;
      break;
    case '=':
      if (parentheses_ == 0) assigned_ = true;
      break;
    case ',':
      if (parentheses_ == 0) assigned_ = false;
      break;
    case '{':
      open();
      break;
    case '}':
      if (!stack_.empty()) {
        const int around = stack_.back().parentheses;
        stack_.pop_back();
        end_head();
        parentheses_ = around;
      }
      break;
    case ';':
      end_head();
      break;
    default:
      break;
  }
}

void Scopes::open() {
  constexpr std::size_t kDeepest = 1000;
  Scope scope;
  scope.parentheses = parentheses_;
  scope.parameters = std::move(parameters_);
  const Kind around = kind();
  if (parentheses_ == 0 && head_ == Kind::kNamespace && !name_.empty()) {
    scope.kind = Kind::kNamespace;
    scope.name = name_;
  } else if (parentheses_ == 0 && head_ == Kind::kClass && !called_ && !assigned_) {
    scope.kind = Kind::kClass;
    scope.name = name_;
  } else if (parentheses_ == 0 && head_ == Kind::kNamespace) {
    scope.kind = around;
    scope.name = name();
  } else if (parentheses_ == 0 && linkage_ && !called_) {
    scope.kind = Kind::kFile;  // C's names, wherever they are declared
  } else if (around != Kind::kBlock) {
    scope.name = member_of_;
  }
  if (stack_.size() < kDeepest) stack_.push_back(std::move(scope));
  end_head();
}

void Scopes::end_head() {
  parentheses_ = 0;
  head_ = Kind::kBlock;
  name_ = member_of_ = {};
  named_ = called_ = assigned_ = linkage_ = false;
  parameters_.clear();
}

}  // namespace muscope::port
