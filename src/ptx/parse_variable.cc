// Declarations of variables, registers and parameters, and initialisers.
#include <algorithm>
#include <bit>
#include <span>

#include "ptx/parser_impl.h"
#include "ptx/quote.h"

namespace muscope::ptx {
namespace {

/// Larger variables are refused: no GPU has so much memory (bytes).
constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 40;
constexpr std::uint64_t kLargestAlignment = 4096;
constexpr std::uint64_t kMostRegisters = std::uint64_t{1} << 24;
constexpr std::size_t kMostDimensions = 16;

std::uint64_t element_size(Type type) { return static_cast<std::uint64_t>(size_of(type)); }

bool is_opaque(Type type) { return type == Type::kTexref || type == Type::kSamplerref || type == Type::kSurfref; }

/// The bits of `constant` as a value of `type`: literals of .f64 are converted to .f32 variables as C would.
std::uint64_t convert(const Constant& constant, Type type) {
  if (type == Type::kF64 && constant.literal == Literal::kF32) {
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits))));
  }
  if (type == Type::kF64 && constant.literal == Literal::kInteger) {
    return std::bit_cast<std::uint64_t>(constant.is_unsigned
                                            ? static_cast<double>(constant.bits)
                                            : static_cast<double>(static_cast<std::int64_t>(constant.bits)));
  }
  if (type == Type::kF32 && constant.literal == Literal::kF64) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(constant.bits)));
  }
  if (type == Type::kF32 && constant.literal == Literal::kInteger) {
    return std::bit_cast<std::uint32_t>(constant.is_unsigned
                                            ? static_cast<float>(constant.bits)
                                            : static_cast<float>(static_cast<std::int64_t>(constant.bits)));
  }
  return constant.bits;
}

}  // namespace

void Parser::skip_parentheses() {
  expect('(');
  std::uint64_t depth = 1;
  while (depth > 0) {
    if (token().kind == TokenKind::kEnd) fail_expected("')'");
    if (token().is('(')) ++depth;
    if (token().is(')')) --depth;
    advance();
  }
}

void Parser::parse_attribute(Declarator& declarator) {
  expect('(');
  while (!token().is(')')) {
    if (token().kind == TokenKind::kEnd) fail_expected("')'");
    declarator.managed |= token().is_dot(".managed");
    advance();
    if (token().is('(')) skip_parentheses();
  }
  advance();
}

Parser::Declarator Parser::parse_declarator() {
  Declarator out;
  while (token().kind == TokenKind::kDot) {
    const std::string_view word = token().text;
    if (word == ".align") {
      advance();
      const std::uint64_t alignment = parse_integer("an alignment", kLargestAlignment);
      if (!std::has_single_bit(alignment)) fail_here("D306", "an alignment must be a power of two");
      out.alignment = static_cast<int>(alignment);
      continue;
    }
    advance();
    if (word == ".attribute") {
      parse_attribute(out);
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      out.lanes = word[2] - '0';
    } else if (word == ".ptr") {
      // .ptr{.space}{.align N}: what a pointer parameter points to; of no consequence for running it.
      while (token().kind == TokenKind::kDot && find_type(token().text.substr(1)) == Type::kNone) {
        const bool align = token().text == ".align";
        advance();
        if (align) parse_integer("an alignment", kLargestAlignment);
      }
    } else if (const Type type = find_type(word.substr(1)); type != Type::kNone) {
      if (out.type != Type::kNone) fail_here("D300", "a declaration has two types");
      out.type = type;
    } else {
      fail_here("D307", quote(word) + " is no part of a declaration");
    }
  }
  if (out.type == Type::kNone) fail_expected("a type");
  if (size_of(out.type) == 0 && out.type != Type::kPred) fail_here("D300", "a variable cannot have this type");
  if (out.alignment == 0) out.alignment = std::max(1, size_of(out.type) * out.lanes);
  return out;
}

std::vector<std::uint64_t> Parser::parse_dimensions() {
  std::vector<std::uint64_t> out;
  while (accept('[')) {
    if (out.size() == kMostDimensions) fail_here("D308", "an array has too many dimensions");
    if (token().is(']')) {
      if (!out.empty()) fail_here("D300", "only the first dimension of an array may be left out");
      out.push_back(0);
    } else {
      out.push_back(parse_integer("the size of an array", kLargestVariable));
    }
    expect(']');
  }
  return out;
}

bool Parser::declare_variable(Variable variable, std::uint32_t known) {
  if (function_ != kNoIndex) {
    function().variables.push_back(std::move(variable));
    return true;
  }
  if (known == kNoIndex) {
    module_.variables.push_back(std::move(variable));
    return true;
  }
  // A later declaration with storage replaces an extern one (of a header, or of another module before linking).
  Variable& before = module_.variables[known];
  if (before.linkage == Linkage::kExtern) {
    before = std::move(variable);
    return true;
  }
  const bool may_repeat = variable.linkage == Linkage::kExtern || variable.linkage == Linkage::kWeak ||
                          variable.linkage == Linkage::kCommon;
  if (!may_repeat) report("D305", "the variable " + quote(variable.name) + " is declared twice", {}, variable.ptx_line);
  return false;
}

void Parser::parse_variables(Space space, Linkage linkage) {
  if (space == Space::kConst && accept('[')) {  // .const[bank] of PTX 1.x and 2.x
    parse_integer("a bank of constant memory", 10);
    expect(']');
  }
  const Declarator declarator = parse_declarator();
  if (declarator.type == Type::kPred) fail_here("D300", "a variable in memory cannot be a predicate");
  do {
    Variable variable;
    variable.ptx_line = token().line;
    const std::string_view name = expect_word("the name of a variable");
    variable.name = name;
    variable.space = space;
    variable.type = declarator.type;
    variable.lanes = declarator.lanes;
    variable.alignment = declarator.alignment;
    variable.linkage = linkage;
    variable.managed = declarator.managed;
    std::uint64_t count = 1;
    if (accept('<')) {  // a parametrised set of names, `a<4>`: only registers have use for it
      fail_here("D300", "a variable in memory cannot be declared as a range of names");
    }
    const std::vector<std::uint64_t> dimensions = parse_dimensions();
    for (std::uint64_t dimension : dimensions) {
      if (dimension != 0 && count > kLargestVariable / dimension)
        fail_here("D306", "the variable is larger than 2^40 bytes");
      count *= dimension;
    }
    const std::uint64_t unit = element_size(declarator.type) * static_cast<std::uint64_t>(declarator.lanes);
    if (count > kLargestVariable / unit) fail_here("D306", "the variable is larger than 2^40 bytes");
    variable.size = count * unit;
    const bool in_function = function_ != kNoIndex;
    const auto next = static_cast<std::uint32_t>(in_function ? function().variables.size() : module_.variables.size());
    std::uint32_t known = kNoIndex;
    if (in_function) {
      if (!scopes_.back().names.emplace(name, Symbol{Symbol::Kind::kVariable, next}).second) {
        fail_here("D305", "the name " + quote(name) + " is declared twice in one block");
      }
    } else if (const auto found = variables_.find(name); found != variables_.end()) {
      known = found->second;
    }
    const std::size_t relocations = relocations_.size();
    try {
      if (accept('=')) parse_initialiser(variable, declarator, dimensions, known == kNoIndex ? next : known);
    } catch (const SyntaxError&) {
      relocations_.resize(relocations);
      if (in_function) scopes_.back().names.erase(name);
      throw;
    }
    if (!declare_variable(std::move(variable), known)) {
      relocations_.resize(relocations);
    } else if (!in_function && known == kNoIndex) {
      variables_.emplace(name, next);
    }
  } while (accept(','));
  expect(';');
}

void Parser::parse_initialiser(Variable& variable, const Declarator& declarator,
                               const std::vector<std::uint64_t>& dimensions, std::uint32_t index) {
  if (is_opaque(declarator.type)) {  // { addr_mode_0 = wrap, filter_mode = linear }
    if (!token().is('{')) fail_expected("'{'");
    if (!lexer_.skip_braces()) fail_expected("'}'");
    return;
  }
  std::vector<std::uint64_t> shape = dimensions;
  if (declarator.lanes > 1) shape.push_back(static_cast<std::uint64_t>(declarator.lanes));
  std::uint64_t end = 0;
  if (token().is('{')) {
    if (shape.empty()) shape.push_back(1);
    parse_initialiser_list(variable, declarator, shape, 0, end, index, 0);
  } else if (token().kind == TokenKind::kString && element_size(declarator.type) == 1) {
    const std::string bytes = unescape(token().text);
    advance();
    for (char byte : bytes) write_bytes(variable, end++, static_cast<unsigned char>(byte), 1);
  } else {
    parse_initialiser_value(variable, declarator.type, 0, index);
    end = element_size(declarator.type);
  }
  if (!dimensions.empty() && dimensions[0] == 0) {
    std::uint64_t row = element_size(declarator.type) * static_cast<std::uint64_t>(declarator.lanes);
    for (std::size_t i = 1; i < dimensions.size(); ++i) row *= dimensions[i];
    if (row != 0) variable.size = (end + row - 1) / row * row;
  }
  if (end > variable.size) {
    report("D320", "the initialiser of " + quote(variable.name) + " has more elements than the variable");
    variable.bytes.resize(std::min<std::size_t>(variable.bytes.size(), static_cast<std::size_t>(variable.size)));
    relocations_.resize(relocations_.size() - variable.relocations.size());
    variable.relocations.clear();
  }
}

void Parser::parse_initialiser_list(Variable& variable, const Declarator& declarator,
                                    std::span<const std::uint64_t> dimensions, std::uint64_t base, std::uint64_t& end,
                                    std::uint32_t index, int depth) {
  expect('{');
  ++open_braces_;
  const std::uint64_t unit = element_size(declarator.type);
  std::uint64_t row = unit;
  for (std::uint64_t dimension : dimensions.subspan(1)) {
    if (dimension != 0 && row > kLargestVariable / dimension)
      fail_here("D306", "the variable is larger than 2^40 bytes");
    row *= dimension;
  }
  std::uint64_t offset = base;
  while (!token().is('}')) {
    if (token().is('{')) {
      if (dimensions.size() < 2) fail_here("D320", "an initialiser is nested deeper than its array");
      parse_initialiser_list(variable, declarator, dimensions.subspan(1), offset, end, index, depth + 1);
      offset += row;
    } else {
      // Without inner braces the elements follow one another, as in C.
      parse_initialiser_value(variable, declarator.type, offset, index);
      offset += unit;
    }
    end = std::max(end, offset);
    if (!accept(',') && !token().is('}')) fail_expected("',' or '}'");
  }
  --open_braces_;
  advance();
}

void Parser::write_bytes(Variable& variable, std::uint64_t offset, std::uint64_t bits, int size) {
  const std::uint64_t end = offset + static_cast<std::uint64_t>(size);
  if (end > variable.bytes.size()) {
    // Rows left short are filled with zeros; keep that in proportion to the text.
    initialised_bytes_ += end - variable.bytes.size();
    if (initialised_bytes_ > 64 * text_.size() + (std::size_t{1} << 20)) {
      fail_here("D306", "the initialisers of the module are out of proportion to its text");
    }
    variable.bytes.resize(static_cast<std::size_t>(end));
  }
  for (int i = 0; i < std::min(size, 8); ++i) {
    variable.bytes[static_cast<std::size_t>(offset) + static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(bits >> (8 * i));
  }
}

void Parser::parse_initialiser_value(Variable& variable, Type type, std::uint64_t offset, std::uint32_t index) {
  const int size = size_of(type);
  Relocation relocation;
  relocation.offset = offset;
  relocation.size = size;
  bool masked = false;
  if (at_constant()) {
    const bool plain = token().kind == TokenKind::kInteger;
    const Constant value = parse_constant();
    if (!plain || !token().is('(')) {
      write_bytes(variable, offset, convert(value, type), size);
      return;
    }
    // 0xFF00(name): one byte of an address.
    advance();
    masked = true;
    const int shift = value.bits == 0 ? 64 : std::countr_zero(value.bits) / 8 * 8;
    if (shift > 56 || value.bits != std::uint64_t{0xff} << shift || size != 1) {
      fail_here("D320", "a mask in an initialiser must select one byte of an address for a .b8, .u8 or .s8 element");
    }
    relocation.shift = shift;
  }
  if (token().kind != TokenKind::kWord) fail_expected("a constant or a name");
  if (!masked && size < 4)
    fail_here("D320", "an address does not fit an element of " + std::to_string(size) + " bytes");
  PendingRelocation pending;
  pending.line = token().line;
  pending.name = token().text;
  advance();
  if (pending.name == "generic" && accept('(')) {
    relocation.generic = true;
    pending.name = expect_word("the name of a variable");
    if (token().is('+') || token().is('-')) relocation.addend = parse_offset();
    expect(')');
  }
  if (token().is('+') || token().is('-')) {
    const auto more = static_cast<std::uint64_t>(parse_offset());
    relocation.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(relocation.addend) + more);
  }
  if (masked) expect(')');
  write_bytes(variable, offset, 0, size);
  pending.function = function_;
  pending.variable = index;
  pending.relocation = static_cast<std::uint32_t>(variable.relocations.size());
  variable.relocations.push_back(relocation);
  relocations_.push_back(pending);
}

void Parser::parse_registers() {
  const Declarator declarator = parse_declarator();
  if (declarator.lanes > 4) fail_here("D300", "a vector register has four elements at most");
  do {
    const std::string_view name = expect_word("the name of a register");
    RegisterRange range{declarator.type, static_cast<std::uint8_t>(declarator.lanes), 0};
    if (accept('<')) {
      // A plain number: in an expression the bracket behind it would be an operator.
      if (token().kind != TokenKind::kInteger) fail_expected("the number of registers");
      range.count = token().value;
      if (range.count > kMostRegisters) fail_here("D306", "the number of registers is out of range");
      advance();
      expect('>');
      if (!scopes_.back().ranges.emplace(name, range).second) {
        fail_here("D305", "the registers " + quote(name) + " with numbers are declared twice in one block");
      }
      continue;
    }
    const std::uint32_t first = add_register(name, declarator.type);
    Symbol symbol{Symbol::Kind::kRegister, first};
    if (declarator.lanes > 1) {
      symbol = {Symbol::Kind::kVectorRegister, static_cast<std::uint32_t>(vector_registers_.size())};
      std::array<std::uint32_t, 4> elements{first, kNoIndex, kNoIndex, kNoIndex};
      for (std::size_t i = 1; i < std::min<std::size_t>(4, static_cast<std::size_t>(declarator.lanes)); ++i) {
        elements[i] = add_register(name, declarator.type);
      }
      vector_registers_.emplace_back(static_cast<std::uint32_t>(declarator.lanes), elements);
    }
    if (!scopes_.back().names.emplace(name, symbol).second) {
      fail_here("D305", "the name " + quote(name) + " is declared twice in one block");
    }
  } while (accept(','));
  expect(';');
}

Parameter Parser::parse_parameter(bool needs_name) {
  Parameter out;
  if (token().is_dot(".reg")) {
    out.is_register = true;
  } else if (!token().is_dot(".param")) {
    fail_expected(".param or .reg");
  }
  advance();
  const Declarator declarator = parse_declarator();
  out.type = declarator.type;
  out.alignment = declarator.alignment;
  if (token().kind == TokenKind::kWord) {
    out.name = token().text;
    advance();
  } else if (needs_name) {
    fail_expected("the name of a parameter");
  }
  const bool is_array = token().is('[');
  std::uint64_t count = 1;
  for (std::uint64_t dimension : parse_dimensions()) {
    if (dimension != 0 && count > kLargestVariable / dimension)
      fail_here("D306", "the parameter is larger than 2^40 bytes");
    count *= dimension;
  }
  const std::uint64_t unit =
      std::max<std::uint64_t>(1, element_size(declarator.type)) * static_cast<std::uint64_t>(declarator.lanes);
  if (count > kLargestVariable / unit) fail_here("D306", "the parameter is larger than 2^40 bytes");
  if (out.is_register && (is_array || declarator.lanes > 1))
    fail_here("D300", "a .reg parameter must be a single register");
  if (!out.is_register && declarator.type == Type::kPred) fail_here("D300", "a .param parameter cannot be a predicate");
  out.size = count * unit;
  return out;
}

std::vector<Parameter> Parser::parse_parameter_list(bool needs_name) {
  std::vector<Parameter> out;
  expect('(');
  while (!token().is(')')) {
    out.push_back(parse_parameter(needs_name));
    if (!accept(',') && !token().is(')')) fail_expected("',' or ')'");
  }
  advance();
  return out;
}

}  // namespace muscope::ptx
