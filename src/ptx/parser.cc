// The module: header directives, files, sections, and what can only be resolved at the end of the text.
#include "ptx/parser.h"

#include <algorithm>
#include <charconv>

#include "ptx/parser_impl.h"
#include "ptx/quote.h"

namespace muscope::ptx {
namespace {

/// After so many errors the text is no PTX: reading on would only cost time.
constexpr std::size_t kHopeless = 10'000;

}  // namespace

bool ParseResult::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

ParseResult parse(std::string_view text, std::string_view name) { return Parser(text, name).run(); }

Parser::Parser(std::string_view text, std::string_view name) : text_(text), lexer_(text) { module_.name = name; }

void Parser::report(std::string_view code, std::string text, std::string hint, int line) {
  if (++errors_ == kHopeless) lexer_.stop();
  if (errors_ > kMostErrors) return;
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.text = std::move(text);
  diagnostic.hint = std::move(hint);
  diagnostic.where = {module_.name, line == 0 ? token().line : line, line == 0 ? token().column : 0};
  diagnostics_.push_back(std::move(diagnostic));
}

void Parser::fail_here(std::string_view code, std::string text, std::string hint) {
  report(code, std::move(text), std::move(hint));
  throw SyntaxError{};
}

void Parser::fail_expected(std::string_view what) {
  if (token().kind == TokenKind::kEnd) {
    fail_here("D309", "the PTX text ends where " + std::string(what) + " was expected", "the text is truncated");
  }
  if (token().kind == TokenKind::kBad) fail_here("D321", "unreadable text " + quote(token().text));
  fail_here("D300", "expected " + std::string(what) + ", found " + quote(token().text));
}

bool Parser::accept(char punct) {
  if (!token().is(punct)) return false;
  advance();
  return true;
}

void Parser::expect(char punct) {
  if (!accept(punct)) fail_expected(std::string("'") + punct + "'");
}

std::string_view Parser::expect_word(std::string_view what) {
  if (token().kind != TokenKind::kWord) fail_expected(what);
  const std::string_view text = token().text;
  advance();
  return text;
}

void Parser::skip_statement() {
  std::uint64_t depth = open_braces_;
  open_braces_ = 0;
  while (token().kind != TokenKind::kEnd) {
    if (token().is(';') && depth == 0) {
      advance();
      return;
    }
    if (token().is('{')) ++depth;
    if (token().is('}')) {
      if (depth == 0) return;
      if (--depth == 0 && function_ == kNoIndex) {
        advance();
        accept(';');
        return;
      }
    }
    advance();
  }
}

ParseResult Parser::run() {
  if (!token().is_dot(".version")) {
    report("D310", "the text is no PTX: it does not begin with .version",
           "pass PTX text as nvcc -ptx or clang -S write it");
  }
  while (token().kind != TokenKind::kEnd) {
    try {
      parse_module_item();
    } catch (const SyntaxError&) {
      function_ = kNoIndex;
      scopes_.clear();
      skip_statement();
      if (token().is('}')) advance();
    }
  }
  finish();
  if (errors_ > kMostErrors) {
    Diagnostic more;
    more.severity = Severity::kNote;
    more.code = "D322";
    more.text = std::to_string(errors_ - kMostErrors) + " further errors are not shown";
    more.where.file = module_.name;
    diagnostics_.push_back(std::move(more));
  }
  return {std::move(module_), std::move(diagnostics_)};
}

void Parser::parse_module_item() {
  if (accept(';')) return;
  if (token().is('@')) return lexer_.skip_line();  // "@@DWARF ..." of old compilers
  if (token().kind == TokenKind::kWord && lexer_.label_follows()) {
    advance();
    advance();
    return;
  }
  if (token().kind != TokenKind::kDot) fail_expected("a directive");
  Linkage linkage = Linkage::kInternal;
  for (;;) {
    const std::string_view word = token().text;
    if (word == ".visible") {
      linkage = Linkage::kVisible;
    } else if (word == ".extern") {
      linkage = Linkage::kExtern;
    } else if (word == ".weak") {
      linkage = Linkage::kWeak;
    } else if (word == ".common") {
      linkage = Linkage::kCommon;
    } else {
      break;
    }
    advance();
    if (token().kind != TokenKind::kDot) fail_expected("a directive");
  }
  const std::string_view word = token().text;
  if (word == ".entry" || word == ".func") {
    advance();
    return parse_function(linkage, word == ".entry");
  }
  if (word == ".global" || word == ".const" || word == ".shared" || word == ".local" || word == ".tex") {
    advance();
    return parse_variables(word == ".tex" ? Space::kGlobal : space_of(find_mod(word)), linkage);
  }
  if (word == ".version") return parse_version();
  if (word == ".target") return parse_target();
  if (word == ".file") return parse_file();
  if (word == ".section") return parse_section();
  if (word == ".alias") return parse_alias();
  if (word == ".loc") {
    parse_loc();
    return;
  }
  if (word == ".address_size") {
    advance();
    module_.address_size = static_cast<int>(parse_integer("the address size", 64));
    if (module_.address_size != 64) {
      report("D310", "the module has " + std::to_string(module_.address_size) + "-bit addresses",
             "compile for 64 bits (nvcc -m64)");
    }
    return;
  }
  if (word == ".pragma") {
    advance();
    while (token().kind == TokenKind::kString || token().is(',')) advance();
    return expect(';');
  }
  if (word == ".reg") {
    fail_here("D307", ".reg stands outside a function");
  }
  fail_here("D307", "unknown directive " + quote(word), "see muscope explain D307 for the directives that are known");
}

void Parser::parse_version() {
  advance();
  const std::string_view text = token().text;
  if (token().kind != TokenKind::kFloat && token().kind != TokenKind::kInteger) fail_expected("a version like 8.5");
  const auto read = [](std::string_view digits, int& out) {
    std::from_chars(digits.data(), digits.data() + digits.size(), out);
  };
  const std::size_t dot = std::min(text.find('.'), text.size());
  read(text.substr(0, dot), module_.version_major);
  if (dot < text.size()) read(text.substr(dot + 1), module_.version_minor);
  advance();
}

void Parser::parse_target() {
  advance();
  bool first = true;
  do {
    const std::string_view word = expect_word("a target like sm_90");
    if (first) module_.target = word;
    first = false;
  } while (accept(','));
}

void Parser::parse_file() {
  advance();
  const std::uint64_t number = parse_integer("a file number", ~std::uint64_t{0} >> 1);
  if (token().kind != TokenKind::kString) fail_expected("a file name in quotes");
  debug_.add_file(number, unescape(token().text));
  advance();
  while (accept(',')) parse_integer("a time stamp or size", ~std::uint64_t{0});
}

void Parser::parse_section() {
  advance();
  if (token().kind != TokenKind::kDot && token().kind != TokenKind::kWord) fail_expected("the name of a section");
  const bool strings = token().text == ".debug_str";
  advance();
  if (!token().is('{')) fail_expected("'{'");
  if (strings) return parse_debug_strings();
  if (!lexer_.skip_braces()) fail_expected("'}'");
}

void Parser::parse_debug_strings() {
  advance();
  while (!token().is('}')) {
    if (token().kind == TokenKind::kWord && lexer_.label_follows()) {
      debug_.add_string_label(token().text);
      advance();
      advance();
    } else if (token().is_dot(".b8")) {
      do {
        advance();
        debug_.add_string_byte(static_cast<std::uint8_t>(parse_integer("a byte", 255)));
      } while (token().is(','));
    } else {
      fail_expected("a label or .b8 bytes");
    }
  }
  advance();
}

void Parser::parse_alias() {
  advance();
  const std::string_view alias = expect_word("the name of an alias");
  expect(',');
  const std::string_view target = expect_word("the name of a function");
  expect(';');
  aliases_.emplace_back(alias, target);
}

std::uint32_t Parser::parse_loc() {
  advance();
  DebugInfo::Position position;
  const auto read_position = [&](DebugInfo::Position& out) {
    out.file = parse_integer("a file number", ~std::uint64_t{0} >> 1);
    out.line = static_cast<int>(parse_integer("a line number", 0x7fffffff));
    out.column = static_cast<int>(parse_integer("a column number", 0x7fffffff));
  };
  // The comment that matters stands right behind the column: it is seen while the next token is read.
  read_position(position);
  const std::string_view comment = lexer_.comment_before();
  if (token().is(',')) {
    DebugInfo::Inlined inlined;
    bool has_call_site = false;
    while (accept(',')) {
      const std::string_view word = expect_word("function_name or inlined_at");
      if (word == "function_name") {
        if (token().kind != TokenKind::kWord && token().kind != TokenKind::kDot) fail_expected("a label of .debug_str");
        inlined.label = token().text;
        advance();
        if (accept('+')) inlined.offset = parse_integer("an offset", ~std::uint64_t{0} >> 1);
      } else if (word == "inlined_at") {
        read_position(inlined.at);
        has_call_site = true;
      } else {
        fail_here("D300", "expected function_name or inlined_at, found " + quote(word));
      }
    }
    if (has_call_site) return loc_ = debug_.add(position, inlined);
  }
  // A line of 0 means "no line of its own": the instructions stay with the position before.
  if (position.line == 0) return loc_;
  return loc_ = debug_.add(position, comment);
}

void Parser::finish() {
  for (const auto& [alias, target] : aliases_) {
    const auto from = functions_.find(alias);
    const auto to = functions_.find(target);
    if (from == functions_.end() || to == functions_.end()) {
      report("D304", ".alias names " + quote(from == functions_.end() ? alias : target) +
                         ", which is no function of the module");
    } else if (from->second != to->second && module_.functions[to->second].alias_of == kNoIndex) {
      module_.functions[from->second].alias_of = to->second;
    }
  }
  for (const Reference& reference : references_) resolve_reference(reference);
  for (const PendingRelocation& pending : relocations_) {
    Variable& variable = pending.function == kNoIndex ? module_.variables[pending.variable]
                                                      : module_.functions[pending.function].variables[pending.variable];
    Relocation& relocation = variable.relocations[pending.relocation];
    if (const auto found = variables_.find(pending.name); found != variables_.end()) {
      relocation.symbol_kind = SymbolKind::kModuleVariable;
      relocation.symbol = found->second;
    } else if (const auto function = functions_.find(pending.name); function != functions_.end()) {
      const std::uint32_t alias = module_.functions[function->second].alias_of;
      relocation.symbol_kind = SymbolKind::kFunction;
      relocation.symbol = alias == kNoIndex ? function->second : alias;
    } else {
      report("D304",
             "the initialiser of " + quote(variable.name) + " names " + quote(pending.name) + ", which is not declared",
             {}, pending.line);
    }
  }

  debug_.finish(module_, text_.size());
}

void Parser::resolve_reference(const Reference& reference) {
  Function& owner = module_.functions[reference.function];
  SymbolKind kind = SymbolKind::kNone;
  std::uint32_t index = kNoIndex;
  if (const auto found = variables_.find(reference.name); found != variables_.end()) {
    kind = SymbolKind::kModuleVariable;
    index = found->second;
  } else if (const auto function = functions_.find(reference.name); function != functions_.end()) {
    kind = SymbolKind::kFunction;
    const std::uint32_t alias = module_.functions[function->second].alias_of;
    index = alias == kNoIndex ? function->second : alias;
  }
  if (reference.place == Reference::Place::kCallTarget) {
    if (kind == SymbolKind::kFunction) {
      owner.target_lists[reference.instruction].functions[reference.operand] = index;
    } else {
      report("D304", "the call target " + quote(reference.name) + " is no function of the module", {}, reference.line);
    }
    return;
  }
  Instruction& instruction = owner.body[reference.instruction];
  if (kind == SymbolKind::kNone) {
    report("D304", "the name " + quote(reference.name) + " is not declared", {}, reference.line);
    instruction.opcode = Opcode::kInvalid;
    return;
  }
  Operand& operand = instruction.operands[reference.operand];
  Operand& target = reference.element == kNoIndex ? operand : operand.elements[reference.element];
  target.symbol_kind = kind;
  target.symbol = index;
}

}  // namespace muscope::ptx
