// Operands, and the names in them.
#include <algorithm>
#include <charconv>

#include "ptx/parser_impl.h"
#include "ptx/quote.h"

namespace muscope::ptx {
namespace {

constexpr std::size_t kMostElements = 256;
/// Of the number at the end of a register's name; parse_registers() allows 2^24 registers.
constexpr std::size_t kMostDigits = 8;

struct SpecialName {
  std::string_view name;
  Special special;
};
/// PTX ISA, "Special Registers". %envreg<n> and %pm<n> are numbered and read apart.
constexpr std::array kSpecials = {
    SpecialName{"%laneid", Special::kLaneid},
    SpecialName{"%warpid", Special::kWarpid},
    SpecialName{"%nwarpid", Special::kNwarpid},
    SpecialName{"%smid", Special::kSmid},
    SpecialName{"%nsmid", Special::kNsmid},
    SpecialName{"%gridid", Special::kGridid},
    SpecialName{"WARP_SZ", Special::kWarpSize},
    SpecialName{"%lanemask_eq", Special::kLanemaskEq},
    SpecialName{"%lanemask_le", Special::kLanemaskLe},
    SpecialName{"%lanemask_lt", Special::kLanemaskLt},
    SpecialName{"%lanemask_ge", Special::kLanemaskGe},
    SpecialName{"%lanemask_gt", Special::kLanemaskGt},
    SpecialName{"%clock", Special::kClock},
    SpecialName{"%clock_hi", Special::kClockHi},
    SpecialName{"%clock64", Special::kClock64},
    SpecialName{"%globaltimer", Special::kGlobaltimer},
    SpecialName{"%globaltimer_lo", Special::kGlobaltimerLo},
    SpecialName{"%globaltimer_hi", Special::kGlobaltimerHi},
    SpecialName{"%total_smem_size", Special::kTotalSmemSize},
    SpecialName{"%dynamic_smem_size", Special::kDynamicSmemSize},
    SpecialName{"%aggr_smem_size", Special::kAggrSmemSize},
    SpecialName{"%reserved_smem_offset_begin", Special::kReservedSmemBegin},
    SpecialName{"%reserved_smem_offset_end", Special::kReservedSmemEnd},
    SpecialName{"%reserved_smem_offset_cap", Special::kReservedSmemCap},
    SpecialName{"%reserved_smem_offset_0", Special::kReservedSmemBegin},
    SpecialName{"%reserved_smem_offset_1", Special::kReservedSmemBegin},
    SpecialName{"%cluster_ctarank", Special::kClusterCtarank},
    SpecialName{"%cluster_nctarank", Special::kClusterNctarank},
    SpecialName{"%is_explicit_cluster", Special::kIsExplicitCluster},
    SpecialName{"%current_graph_exec", Special::kCurrentGraphExec},
    SpecialName{"%tid", Special::kTidX},
    SpecialName{"%ntid", Special::kNtidX},
    SpecialName{"%ctaid", Special::kCtaidX},
    SpecialName{"%nctaid", Special::kNctaidX},
    SpecialName{"%clusterid", Special::kClusteridX},
    SpecialName{"%nclusterid", Special::kNclusteridX},
    SpecialName{"%cluster_ctaid", Special::kClusterCtaidX},
    SpecialName{"%cluster_nctaid", Special::kClusterNctaidX},
};

/// Special registers with .x, .y, .z: the three enumerators follow one another.
bool has_components(Special special) {
  switch (special) {
    case Special::kTidX:
    case Special::kNtidX:
    case Special::kCtaidX:
    case Special::kNctaidX:
    case Special::kClusteridX:
    case Special::kNclusteridX:
    case Special::kClusterCtaidX:
    case Special::kClusterNctaidX:
      return true;
    default:
      return false;
  }
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return value;
}

/// Wraps around, as addresses do.
std::int64_t add_offsets(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

std::optional<Special> Parser::find_special(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, Special> map;
    for (const SpecialName& special : kSpecials) map.emplace(special.name, special.special);
    return map;
  }();
  const auto found = index.find(name);
  if (found == index.end()) return std::nullopt;
  return found->second;
}

std::uint32_t Parser::add_register(std::string_view name, Type type) {
  const auto index = static_cast<std::uint32_t>(function().registers.size());
  function().registers.push_back({std::string(name), type});
  return index;
}

std::optional<Symbol> Parser::find_symbol(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) return found->second;
    if (digits == name.size() || scope->ranges.empty()) continue;
    // %r17 of %r<100>; a prefix may itself end in digits ("%r1<20>").
    for (std::size_t cut = std::max(digits, name.size() - std::min(name.size(), kMostDigits)); cut < name.size();
         ++cut) {
      const auto range = scope->ranges.find(name.substr(0, cut));
      if (range == scope->ranges.end()) continue;
      const auto number = number_after(name, name.substr(0, cut));
      if (!number || *number >= range->second.count || range->second.width != 1) continue;
      const Symbol symbol{Symbol::Kind::kRegister, add_register(name, range->second.type)};
      scope->names.emplace(name, symbol);
      return symbol;
    }
  }
  return std::nullopt;
}

std::uint32_t Parser::find_register(std::string_view name) {
  const auto symbol = find_symbol(name);
  return symbol && symbol->kind == Symbol::Kind::kRegister ? symbol->index : kNoIndex;
}

void Parser::refer(Operand& operand, std::string_view name) {
  if (const auto variable = variables_.find(name); variable != variables_.end()) {
    operand.symbol_kind = SymbolKind::kModuleVariable;
    operand.symbol = variable->second;
    return;
  }
  Reference reference;
  reference.name = name;
  reference.operand = operand_index_;
  reference.element = element_index_;
  reference.line = token().line;
  pending_.push_back(reference);
}

std::int64_t Parser::parse_offset() {
  const Constant value = parse_constant();
  if (value.literal != Literal::kInteger) fail_here("D300", "an offset must be an integer");
  return static_cast<std::int64_t>(value.bits);
}

Operand Parser::constant_operand() {
  const Constant value = parse_constant();
  Operand out;
  out.kind = OperandKind::kImmediate;
  out.literal = value.literal;
  out.immediate = value.bits;
  return out;
}

Operand Parser::parse_label_operand() {
  Operand out;
  out.kind = OperandKind::kLabel;
  Reference reference;
  reference.line = token().line;
  reference.operand = operand_index_;
  reference.name = expect_word("a label");
  pending_.push_back(reference);
  return out;
}

Operand Parser::parse_word() {
  const std::string_view name = token().text;
  Operand out;
  if (name == "_") {
    advance();
    return out;
  }
  const auto symbol = find_symbol(name);
  if (!symbol) {
    if (const auto special = find_special(name)) {
      advance();
      out.kind = OperandKind::kSpecial;
      out.special = *special;
      if (!has_components(*special)) return out;
      const std::string_view component = token().kind == TokenKind::kDot ? token().text : std::string_view{};
      if (component != ".x" && component != ".y" && component != ".z") fail_expected(".x, .y or .z");
      out.special = static_cast<Special>(static_cast<int>(*special) + (component[1] - 'x'));
      advance();
      return out;
    }
    if (const auto number = number_after(name, "%envreg")) {
      advance();
      out.kind = OperandKind::kSpecial;
      out.special = Special::kEnvreg;
      out.immediate = *number;
      return out;
    }
    std::string_view counter = name;
    if (counter.ends_with("_64")) counter.remove_suffix(3);
    if (const auto number = number_after(counter, "%pm"); number && *number < 8) {
      advance();
      out.kind = OperandKind::kSpecial;
      out.special = Special::kPm;
      out.immediate = *number;
      return out;
    }
    if (name.starts_with("%")) fail_here("D304", "the register " + quote(name) + " is not declared");
  }
  if (symbol && symbol->kind == Symbol::Kind::kRegister) {
    advance();
    out.kind = OperandKind::kRegister;
    out.reg = symbol->index;
    if (token().kind == TokenKind::kDot) {  // %r1.b0 of video instructions
      out.selector = find_mod(token().text);
      switch (out.selector) {
        case Mod::k_b0:
        case Mod::k_b1:
        case Mod::k_b2:
        case Mod::k_b3:
        case Mod::k_h0:
        case Mod::k_h1:
          break;
        default:
          fail_here("D302", quote(token().text) + " selects no part of a register that muscope knows");
      }
      advance();
    }
    return out;
  }
  if (symbol && symbol->kind == Symbol::Kind::kVectorRegister) {
    advance();
    const auto& [lanes, elements] = vector_registers_[symbol->index];
    constexpr std::array<std::string_view, 8> kComponents = {".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"};
    if (token().kind == TokenKind::kDot) {
      const auto component = std::find(kComponents.begin(), kComponents.end(), token().text);
      const auto lane = static_cast<std::size_t>(component - kComponents.begin()) % 4;
      if (component == kComponents.end() || lane >= lanes) fail_expected("an element of the vector");
      advance();
      out.kind = OperandKind::kRegister;
      out.reg = elements[lane];
      return out;
    }
    out.kind = OperandKind::kVector;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, lanes); ++i) {
      Operand element;
      element.kind = OperandKind::kRegister;
      element.reg = elements[i];
      out.elements.push_back(element);
    }
    return out;
  }
  out.kind = OperandKind::kSymbol;
  if (symbol) {
    out.symbol = symbol->index;
    out.symbol_kind = symbol->kind == Symbol::Kind::kVariable    ? SymbolKind::kLocalVariable
                      : symbol->kind == Symbol::Kind::kParameter ? SymbolKind::kParameter
                                                                 : SymbolKind::kReturnParameter;
  } else {
    refer(out, name);
  }
  advance();
  if (token().is('[')) parse_index(out);
  if (token().is('+') || token().is('-')) out.offset = add_offsets(out.offset, parse_offset());
  return out;
}

void Parser::parse_index(Operand& operand) {
  const Variable* variable = nullptr;
  if (operand.symbol_kind == SymbolKind::kModuleVariable) variable = &module_.variables[operand.symbol];
  if (operand.symbol_kind == SymbolKind::kLocalVariable) variable = &function().variables[operand.symbol];
  if (variable == nullptr) fail_here("D303", "only a variable declared before can be indexed; write [name+offset]");
  const std::int64_t size = size_of(variable->type) * variable->lanes;
  expect('[');
  if (!at_constant()) fail_expected("a constant index");
  const auto index = static_cast<std::uint64_t>(parse_offset());
  expect(']');
  operand.offset = static_cast<std::int64_t>(index * static_cast<std::uint64_t>(size));
  operand.indexed = true;
}

Operand Parser::parse_bracket() {
  expect('[');
  Operand out;
  out.kind = OperandKind::kAddress;
  Operand base;
  if (at_constant()) {
    out.offset = parse_offset();
  } else {
    // Of a texture the first handle is element 0; of an address the operand itself holds the name.
    const std::size_t pending = pending_.size();
    base = parse_word();
    if (base.kind == OperandKind::kRegister && base.selector == Mod::kInvalid) {
      out.reg = base.reg;
      if (token().is('+') || token().is('-')) out.offset = parse_offset();
    } else if (base.kind == OperandKind::kSymbol) {
      out.symbol = base.symbol;
      out.symbol_kind = base.symbol_kind;
      out.offset = base.offset;
    } else {
      fail_here("D303", "an address must be a register, a name or a constant, with an offset");
    }
    if (token().is(',')) {
      for (std::size_t i = pending; i < pending_.size(); ++i) pending_[i].element = 0;
    }
  }
  if (accept(']')) return out;
  if (!token().is(',') || base.kind == OperandKind::kSink || out.offset != 0) fail_expected("']'");
  Operand texture;
  texture.kind = OperandKind::kTexture;
  texture.elements.push_back(base);
  while (accept(',')) {
    if (texture.elements.size() == 4) fail_here("D303", "a texture operand has too many parts");
    element_index_ = static_cast<std::uint32_t>(texture.elements.size());
    texture.elements.push_back(token().is('{') ? parse_vector(false) : parse_single_operand());
  }
  element_index_ = kNoIndex;
  expect(']');
  Operand& coordinates = texture.elements.back();
  if (coordinates.kind != OperandKind::kVector) {
    if (coordinates.kind == OperandKind::kSymbol)
      fail_here("D303", "texture coordinates must be registers or constants");
    Operand wrapped;
    wrapped.kind = OperandKind::kVector;
    wrapped.elements.push_back(std::move(coordinates));
    texture.elements.back() = std::move(wrapped);
  }
  return texture;
}

Operand Parser::parse_vector(bool names_allowed) {
  expect('{');
  ++open_braces_;
  Operand out;
  out.kind = OperandKind::kVector;
  do {
    if (out.elements.size() == kMostElements) fail_here("D303", "a vector operand has too many elements");
    if (names_allowed) element_index_ = static_cast<std::uint32_t>(out.elements.size());
    Operand element = parse_single_operand();
    if (element.kind == OperandKind::kVector) fail_here("D303", "a vector operand cannot hold another");
    if (!names_allowed && element.kind == OperandKind::kSymbol) {
      fail_here("D303", "texture coordinates must be registers or constants");
    }
    out.elements.push_back(std::move(element));
  } while (accept(','));
  expect('}');
  --open_braces_;
  if (names_allowed) element_index_ = kNoIndex;
  return out;
}

Operand Parser::parse_single_operand() {
  if (token().is('!') || token().is('-')) {
    // A sign before a register; before a constant it belongs to the expression.
    const bool is_not = token().is('!');
    if (lexer_.word_follows()) {
      advance();
      if (token().kind != TokenKind::kWord) fail_expected("a register");
      Operand out = parse_word();
      if (out.kind != OperandKind::kRegister) fail_here("D303", "only a register can be negated here");
      if (is_not && function().registers[out.reg].type != Type::kPred) {
        fail_here("D303", "'!' stands before a register that is no predicate");
      }
      out.negated = true;
      return out;
    }
  }
  if (at_constant() && token().kind != TokenKind::kWord) return constant_operand();
  if (token().kind == TokenKind::kWord) return parse_word();
  fail_expected("an operand");
}

Operand Parser::parse_operand() {
  Operand first;
  if (token().is('[')) {
    first = parse_bracket();
  } else if (token().is('{')) {
    first = parse_vector(true);
  } else {
    first = parse_single_operand();
  }
  if (!token().is('|')) return first;
  advance();
  if (first.kind != OperandKind::kRegister && first.kind != OperandKind::kSink && first.kind != OperandKind::kVector) {
    fail_here("D303", "a pair a|b must be of registers");
  }
  Operand out;
  out.kind = OperandKind::kPair;
  out.elements.push_back(std::move(first));
  Operand second = parse_single_operand();
  if (second.kind != OperandKind::kRegister && second.kind != OperandKind::kSink) {
    fail_here("D303", "a pair a|b must be of registers");
  }
  out.elements.push_back(std::move(second));
  return out;
}

}  // namespace muscope::ptx
