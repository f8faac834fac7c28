// Which names a project declares itself, told from its tokens alone: macros, types, functions, variables. A miss means
// that such a name is changed everywhere in the project, which is a nuisance and no mistake; taking an API's name for
// the project's own would be one, so names that MUSA programs are known to use never count as declared.
#include <array>

#include "port/lexer.h"
#include "port/project.h"
#include "port/scopes.h"

namespace muscope::port {

bool is_no_type(std::string_view word) {
  static const std::unordered_set<std::string_view> kWords = {
      "return",     "else",         "case",       "do",           "throw",
      "goto",       "new",          "delete",     "sizeof",       "alignof",
      "typename",   "class",        "struct",     "enum",         "union",
      "operator",   "co_return",    "not",        "and",          "or",
      "using",      "namespace",    "const",      "volatile",     "static",
      "inline",     "extern",       "constexpr",  "register",     "mutable",
      "friend",     "virtual",      "explicit",   "typedef",      "defined",
      "if",         "elif",         "ifdef",      "ifndef",       "undef",
      "__host__",   "template",     "__device__", "__global__",   "__forceinline__",
      "__inline__", "__constant__", "__shared__", "__restrict__", "co_await",
      "co_yield",   "decltype",     "noexcept",   "override",     "final",
      "public",     "private",      "protected",  "thread_local", "consteval",
      "constinit",  "default"};
  return kWords.contains(word);
}

namespace {

class Collector {
 public:
  Collector(std::string_view text, NameCache& names, Project& project)
      : lexer_(text), names_(names), project_(project), scopes_(lexer_) {}

  void run() {
    Token next = significant();
    while (next.kind != TokenKind::kEnd) {
      const Token token = next;
      next = significant();
      step(token, next);
      scopes_.step(token);
      before_last_ = last_;
      last_ = token;
    }
    keep_declared();
  }

  bool foreign() const { return foreign_; }

 private:
  Token significant() {
    Token token = lexer_.next();
    while (token.kind == TokenKind::kComment) token = lexer_.next();
    return token;
  }
  std::string_view raw(const Token& token) const { return lexer_.raw(token); }
  bool is(const Token& token, char c) const {
    return token.kind == TokenKind::kPunctuation && raw(token) == std::string_view(&c, 1);
  }

  void declare(std::string_view name) {
    const NameInfo& info = names_.of(name);
    if (info.renamed && info.by_rule && !info.seen) renamed_.emplace(name);
    if ((!info.plain() && !info.seen) || name == "cuda" || name == "musa") declared_.emplace(name);
  }

  /// A project may carry a copy of CUDA's own headers, or load all functions of the driver by name: what is declared
  /// there is CUDA's.
  void keep_declared() {
    constexpr std::size_t kCopyOfHeader = 30;
    const bool copy = renamed_.size() >= kCopyOfHeader;
    for (const std::string& name : declared_)
      if (!copy || !renamed_.contains(name)) project_.declared.insert(name);
  }

  void step(const Token& token, const Token& next) {
    if (token.kind == TokenKind::kIdentifier && names_.of(raw(token)).foreign) foreign_ = true;
    if (token.in_directive) return directive(token, next);
    if (token.kind == TokenKind::kPunctuation) {
      const char c = raw(token)[0];
      if (c == '(' || c == '[') ++depth_;
      if (c == ')' || c == ']') --depth_;
      if (c == ';' || c == '{' || c == '}' || depth_ < list_depth_) list_depth_ = -1;
      if (c == ';' || c == '{' || c == '}') depth_ = 0;
      return;
    }
    if (token.kind != TokenKind::kIdentifier || token.spliced) return;
    const std::string_view name = raw(token);
    own(name, next);
    if (!declares(next)) return;
    declare(name);
    list_depth_ = depth_;
  }

  /// Members, names of namespaces and parameters: what MUSA programs are known to use is not left out here, for scopes
  /// tell such a name from the API's.
  void own(std::string_view name, const Token& next) {
    if (scopes_.declares_member(next)) {
      // "MACRO cudaError_t (*f)(int)" declares f.
      if (names_.of(name).plain() || (is(next, '(') && name.ends_with("_t"))) return;
      Project::Owners& owners = project_.members[std::string(name)];
      owners.scopes.emplace(scopes_.name());
      owners.in_namespace |= scopes_.kind() == Scopes::Kind::kNamespace;
    } else if (scopes_.declares_parameter(next) && !names_.of(name).plain()) {
      project_.parameters.emplace(name);
    }
  }

  /// Whether the name between last_ and `next` is being declared.
  bool declares(const Token& next) const {
    const auto next_is = [&](std::string_view set) {
      return next.kind == TokenKind::kPunctuation && set.find(raw(next)[0]) != std::string_view::npos;
    };
    if (last_.kind == TokenKind::kIdentifier) {
      const std::string_view before = raw(last_);
      if (before == "struct" || before == "class" || before == "union" || before == "enum") return next_is("{:");
      if (before == "namespace") return next_is("{:");
      if (before == "using") return next_is("=");
      if (before == "typename") return next_is(",>=");
      return !is_no_type(before) && next_is("=;,)([{:");
    }
    if (last_.kind != TokenKind::kPunctuation) return false;
    const char c = raw(last_)[0];
    if (c == '}') return next_is(";,");
    if (c == '>') return next_is("=;,)[{");
    if (c == '*' || c == '&') {
      // "T* name = ": a product or a test of bits would have no such neighbours.
      if (list_depth_ >= 0 && list_depth_ == depth_) return next_is("=;,[");
      const bool type = before_last_.kind == TokenKind::kIdentifier && !is_no_type(raw(before_last_));
      return type && (c == '*' ? next_is("=;,)[") : next_is("="));
    }
    return c == ',' && list_depth_ >= 0 && list_depth_ == depth_ && next_is("=;,[");
  }

  void directive(const Token& token, const Token& next) {
    if (token.kind != TokenKind::kIdentifier || last_.kind != TokenKind::kIdentifier) return;
    if (raw(last_) != "define" || before_last_.kind != TokenKind::kHash) return;
    const std::string_view name = raw(token);
    declare(name);
    if (next.kind == TokenKind::kIdentifier && (raw(next) == "__CUDA_ARCH__" || raw(next) == "__MUSA_ARCH__"))
      project_.arch_aliases.insert(std::string(name));
  }

  Lexer lexer_;
  NameCache& names_;
  Project& project_;
  Scopes scopes_;
  Token last_, before_last_;
  std::unordered_set<std::string> declared_, renamed_;
  bool foreign_ = false;
  int depth_ = 0, list_depth_ = -1;
};

}  // namespace

const NameInfo& NameCache::of(std::string_view name) {
  if (name.size() > 256) return plain_;
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  return known_.emplace(std::string(name), rules_.name(name, direction_)).first->second;
}

bool collect_declarations(std::string_view text, NameCache& names, Project& project) {
  Collector collector(text, names, project);
  collector.run();
  return collector.foreign();
}

}  // namespace muscope::port
