// Function headers, bodies, blocks, labels, branch and call target lists.
#include <algorithm>

#include "ptx/parser_impl.h"
#include "ptx/quote.h"

namespace muscope::ptx {
namespace {

/// Deeper nesting of blocks is refused; compilers write two or three levels.
constexpr std::size_t kDeepestBlock = 64;
constexpr std::uint64_t kMost = 0xffffffffu;

}  // namespace

void Parser::parse_function(Linkage linkage, bool is_entry) {
  Function parsed;
  parsed.linkage = linkage;
  parsed.is_entry = is_entry;
  if (token().is_dot(".attribute")) {
    Declarator ignored;
    advance();
    parse_attribute(ignored);
  }
  if (token().is('(')) parsed.returns = parse_parameter_list(false);
  parsed.ptx_line = token().line;
  const std::string_view name = expect_word("the name of a function");
  parsed.name = name;
  if (token().is('(')) parsed.params = parse_parameter_list(false);
  parse_performance_directives(parsed);
  parsed.has_body = token().is('{');
  if (!parsed.has_body && !token().is(';')) fail_expected("'{' or ';'");

  const auto [entry, fresh] = functions_.emplace(name, static_cast<std::uint32_t>(module_.functions.size()));
  const std::uint32_t index = entry->second;
  if (fresh) {
    module_.functions.push_back(std::move(parsed));
  } else if (parsed.has_body) {
    Function& before = module_.functions[index];
    if (before.has_body) {
      report("D305", "the function " + quote(name) + " is defined twice");
      if (!lexer_.skip_braces()) fail_expected("'}'");
      return;
    }
    if (parsed.linkage == Linkage::kInternal && before.linkage != Linkage::kExtern) parsed.linkage = before.linkage;
    parsed.noreturn |= before.noreturn;
    before = std::move(parsed);
  }
  if (!module_.functions[index].has_body || !token().is('{')) {
    expect(';');
    return;
  }
  function_ = index;
  scopes_.clear();
  lists_.clear();
  vector_registers_.clear();
  names_.clear();
  loc_ = kNoIndex;
  debug_.begin_function();
  scopes_.emplace_back();
  declare_parameters(function());
  parse_body();
}

void Parser::parse_performance_directives(Function& out) {
  const auto dimensions = [&](std::uint32_t(&list)[3]) {
    list[0] = list[1] = list[2] = 1;
    std::size_t i = 0;
    do {
      if (i == 3) fail_here("D300", "a block has three dimensions at most");
      list[i++] = static_cast<std::uint32_t>(parse_integer("a dimension", kMost));
    } while (accept(','));
  };
  while (token().kind == TokenKind::kDot) {
    const std::string_view word = token().text;
    advance();
    if (word == ".maxntid") {
      dimensions(out.maxntid);
    } else if (word == ".reqntid") {
      dimensions(out.reqntid);
    } else if (word == ".reqnctapercluster") {
      dimensions(out.reqnctapercluster);
    } else if (word == ".minnctapersm") {
      out.minnctapersm = static_cast<std::uint32_t>(parse_integer("a number of blocks", kMost));
    } else if (word == ".maxnreg") {
      out.maxnreg = static_cast<std::uint32_t>(parse_integer("a number of registers", kMost));
    } else if (word == ".maxnctapersm" || word == ".maxclusterrank" || word == ".abi_preserve" ||
               word == ".abi_preserve_control" || word == ".local_maxnreg") {
      parse_integer("a number", kMost);
    } else if (word == ".noreturn") {
      out.noreturn = true;
    } else if (word == ".explicitcluster" || word == ".blocksareclusters") {
      // The launch says the cluster's size.
    } else if (word == ".pragma") {
      while (token().kind == TokenKind::kString || token().is(',')) advance();
      accept(';');
    } else if (word == ".attribute") {
      Declarator ignored;
      parse_attribute(ignored);
    } else {
      fail_here("D307", "unknown directive " + quote(word) + " before the body of a function");
    }
  }
}

void Parser::declare_parameters(Function& owner) {
  const auto declare = [&](Parameter& parameter, Symbol symbol) {
    if (parameter.is_register) {
      // Registers need a name in the text to be found by; parameters keep theirs in the module.
      parameter.reg = static_cast<std::uint32_t>(owner.registers.size());
      owner.registers.push_back({parameter.name, parameter.type});
      symbol = {Symbol::Kind::kRegister, parameter.reg};
    }
    if (parameter.name.empty() || parameter.name == "_") return;
    if (!scopes_.back().names.emplace(parameter.name, symbol).second) {
      report("D305", "the parameter " + quote(parameter.name) + " is declared twice");
    }
  };
  for (std::size_t i = 0; i < owner.returns.size(); ++i) {
    declare(owner.returns[i], {Symbol::Kind::kReturnParameter, static_cast<std::uint32_t>(i)});
  }
  for (std::size_t i = 0; i < owner.params.size(); ++i) {
    declare(owner.params[i], {Symbol::Kind::kParameter, static_cast<std::uint32_t>(i)});
  }
}

void Parser::parse_body() {
  const int first_line = token().line;
  expect('{');
  while (!scopes_.empty()) {
    if (token().kind == TokenKind::kEnd) {
      report("D309",
             "the PTX text ends inside the function " + quote(function().name) + ", which begins on line " +
                 std::to_string(first_line),
             "the text is truncated");
      while (!scopes_.empty()) close_scope();
      break;
    }
    try {
      parse_statement();
    } catch (const SyntaxError&) {
      pending_.clear();
      skip_statement();
    }
  }
  function_ = kNoIndex;
  loc_ = kNoIndex;
}

void Parser::parse_statement() {
  if (token().is('{')) {
    advance();
    return open_scope();
  }
  if (token().is('}')) {
    advance();
    return close_scope();
  }
  if (accept(';')) return;
  if (token().is('@')) return parse_instruction();
  if (token().kind == TokenKind::kDot) return parse_body_directive({});
  if (token().kind != TokenKind::kWord) fail_expected("an instruction");
  if (!lexer_.label_follows()) return parse_instruction();
  const std::string_view label = token().text;
  advance();
  advance();
  if (token().is_dot(".branchtargets") || token().is_dot(".calltargets") || token().is_dot(".callprototype")) {
    return parse_body_directive(label);
  }
  define_label(label);
}

void Parser::parse_body_directive(std::string_view label) {
  const std::string_view word = token().text;
  if (word == ".loc") {
    parse_loc();
    return;
  }
  if (word == ".file") return parse_file();
  if (word == ".section") return parse_section();
  advance();
  Linkage linkage = Linkage::kInternal;
  std::string_view directive = word;
  if (word == ".extern" || word == ".visible" || word == ".weak" || word == ".common") {
    linkage = word == ".extern"   ? Linkage::kExtern
              : word == ".weak"   ? Linkage::kWeak
              : word == ".common" ? Linkage::kCommon
                                  : Linkage::kVisible;
    if (token().kind != TokenKind::kDot) fail_expected("a state space");
    directive = token().text;
    advance();
  }
  if (directive == ".reg") return parse_registers();
  if (directive == ".local" || directive == ".shared" || directive == ".param" || directive == ".global" ||
      directive == ".const") {
    return parse_variables(space_of(find_mod(directive)), linkage);
  }
  if (directive == ".pragma") {
    while (token().kind == TokenKind::kString || token().is(',')) advance();
    return expect(';');
  }
  if (directive == ".branchtargets") return parse_target_list(label, true);
  if (directive == ".calltargets") return parse_target_list(label, false);
  if (directive == ".callprototype") return parse_prototype(label);
  fail_here("D307", "unknown directive " + quote(directive) + " in a function");
}

void Parser::parse_target_list(std::string_view label, bool branches) {
  if (label.empty()) fail_here("D300", "a list of targets needs a label before it");
  const auto index = static_cast<std::uint32_t>(function().target_lists.size());
  const SymbolKind kind = branches ? SymbolKind::kBranchTargets : SymbolKind::kCallTargets;
  if (!lists_.emplace(label, std::pair{kind, index}).second)
    fail_here("D305", "the label " + quote(label) + " is defined twice");
  function().target_lists.push_back({std::string(label), {}, {}});
  std::uint32_t count = 0;
  do {
    Reference reference;
    reference.place = branches ? Reference::Place::kBranchTarget : Reference::Place::kCallTarget;
    reference.line = token().line;
    reference.name = expect_word(branches ? "a label" : "a function");
    reference.function = function_;
    reference.instruction = index;
    reference.operand = count++;
    TargetList& list = function().target_lists.back();
    (branches ? list.labels : list.functions).push_back(kNoIndex);
    (branches ? scopes_.back().branches : references_).push_back(reference);
  } while (accept(','));
  expect(';');
}

void Parser::parse_prototype(std::string_view label) {
  if (label.empty()) fail_here("D300", "a prototype needs a label before it");
  Prototype prototype;
  prototype.name = label;
  if (token().is('(')) prototype.returns = parse_parameter_list(false);
  expect_word("'_' or a name");
  if (token().is('(')) prototype.params = parse_parameter_list(false);
  Function ignored;
  parse_performance_directives(ignored);
  expect(';');
  const auto index = static_cast<std::uint32_t>(function().prototypes.size());
  if (!lists_.emplace(label, std::pair{SymbolKind::kPrototype, index}).second) {
    fail_here("D305", "the label " + quote(label) + " is defined twice");
  }
  function().prototypes.push_back(std::move(prototype));
}

void Parser::open_scope() {
  if (scopes_.size() >= kDeepestBlock) {
    report("D308", "blocks are nested more than " + std::to_string(kDeepestBlock) + " deep");
    // The position is inside the block: read on to its end.
    std::uint64_t depth = 1;
    while (depth > 0 && token().kind != TokenKind::kEnd) {
      if (token().is('{')) ++depth;
      if (token().is('}')) --depth;
      advance();
    }
    return;
  }
  scopes_.emplace_back();
}

void Parser::define_label(std::string_view name) {
  const auto index = static_cast<std::uint32_t>(function().labels.size());
  if (!scopes_.back().labels.emplace(name, index).second) {
    report("D305", "the label " + quote(name) + " is defined twice");
    return;
  }
  function().labels.push_back({std::string(name), static_cast<std::uint32_t>(function().body.size())});
}

void Parser::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const Reference& branch : scope.branches) {
    const auto found = scope.labels.find(branch.name);
    if (found == scope.labels.end()) {
      if (!scopes_.empty()) {
        scopes_.back().branches.push_back(branch);
        continue;
      }
      report("D304", "the label " + quote(branch.name) + " is not defined in the function", {}, branch.line);
      if (branch.place == Reference::Place::kOperand) function().body[branch.instruction].opcode = Opcode::kInvalid;
      continue;
    }
    if (branch.place == Reference::Place::kBranchTarget) {
      function().target_lists[branch.instruction].labels[branch.operand] = found->second;
    } else {
      function().body[branch.instruction].operands[branch.operand].label = found->second;
    }
  }
  if (scopes_.empty()) close_function();
}

void Parser::close_function() {
  for (const Reference& reference : names_) {
    const auto found = lists_.find(reference.name);
    if (found == lists_.end()) {
      references_.push_back(reference);
      continue;
    }
    Operand& operand = function().body[reference.instruction].operands[reference.operand];
    Operand& target = reference.element == kNoIndex ? operand : operand.elements[reference.element];
    target.symbol_kind = found->second.first;
    target.symbol = found->second.second;
  }
  names_.clear();
}

}  // namespace muscope::ptx
