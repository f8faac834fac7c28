// Constant expressions: literals, the operators of C, casts to .s64 and .u64, WARP_SZ.
#include <bit>

#include "ptx/parser_impl.h"

namespace muscope::ptx {
namespace {

/// Deeper nesting of parentheses or unary operators is refused, so that hostile text cannot exhaust the stack.
constexpr int kDeepestConstant = 64;

struct BinaryOperator {
  std::string_view text;
  int level;  ///< binds tighter when larger
};
constexpr std::array<BinaryOperator, 18> kOperators = {{{"||", 0},
                                                        {"&&", 1},
                                                        {"|", 2},
                                                        {"^", 3},
                                                        {"&", 4},
                                                        {"==", 5},
                                                        {"!=", 5},
                                                        {"<", 6},
                                                        {">", 6},
                                                        {"<=", 6},
                                                        {">=", 6},
                                                        {"<<", 7},
                                                        {">>", 7},
                                                        {"+", 8},
                                                        {"-", 8},
                                                        {"*", 9},
                                                        {"/", 9},
                                                        {"%", 9}}};

const BinaryOperator* find_operator(const Token& token) {
  if (token.kind != TokenKind::kPunct || token.is(',') || token.is(';') || token.is(']') || token.is('}'))
    return nullptr;
  for (const BinaryOperator& candidate : kOperators) {
    if (token.text == candidate.text) return &candidate;
  }
  return nullptr;
}

double as_double(const Constant& constant) {
  switch (constant.literal) {
    case Literal::kF64:
      return std::bit_cast<double>(constant.bits);
    case Literal::kF32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits)));
    case Literal::kInteger:
      break;
  }
  return constant.is_unsigned ? static_cast<double>(constant.bits)
                              : static_cast<double>(static_cast<std::int64_t>(constant.bits));
}

Constant integer(std::uint64_t bits, bool is_unsigned) { return {Literal::kInteger, bits, is_unsigned}; }

/// Division by zero gives 0: the caller has reported it.
Constant apply_integers(std::string_view op, Constant a, Constant b) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto sa = static_cast<std::int64_t>(a.bits);
  const auto sb = static_cast<std::int64_t>(b.bits);
  const auto truth = [](bool value) { return integer(value ? 1 : 0, false); };
  if (op == "||") return truth(a.bits != 0 || b.bits != 0);
  if (op == "&&") return truth(a.bits != 0 && b.bits != 0);
  if (op == "|") return integer(a.bits | b.bits, is_unsigned);
  if (op == "^") return integer(a.bits ^ b.bits, is_unsigned);
  if (op == "&") return integer(a.bits & b.bits, is_unsigned);
  if (op == "==") return truth(a.bits == b.bits);
  if (op == "!=") return truth(a.bits != b.bits);
  if (op == "<") return truth(is_unsigned ? a.bits < b.bits : sa < sb);
  if (op == ">") return truth(is_unsigned ? a.bits > b.bits : sa > sb);
  if (op == "<=") return truth(is_unsigned ? a.bits <= b.bits : sa <= sb);
  if (op == ">=") return truth(is_unsigned ? a.bits >= b.bits : sa >= sb);
  if (op == "<<") return integer(b.bits > 63 ? 0 : a.bits << b.bits, a.is_unsigned);
  if (op == ">>") {
    const std::uint64_t amount = b.bits > 63 ? 63 : b.bits;
    if (a.is_unsigned) return integer(b.bits > 63 ? 0 : a.bits >> amount, true);
    return integer(static_cast<std::uint64_t>(sa >> amount), false);
  }
  if (op == "+") return integer(a.bits + b.bits, is_unsigned);
  if (op == "-") return integer(a.bits - b.bits, is_unsigned);
  if (op == "*") return integer(a.bits * b.bits, is_unsigned);
  if (b.bits == 0) return integer(0, is_unsigned);
  if (is_unsigned) return integer(op == "/" ? a.bits / b.bits : a.bits % b.bits, true);
  if (sb == -1) return integer(op == "/" ? 0 - a.bits : 0, false);
  return integer(static_cast<std::uint64_t>(op == "/" ? sa / sb : sa % sb), false);
}

std::optional<double> apply_doubles(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  return std::nullopt;
}

}  // namespace

bool Parser::at_constant() const {
  const Token& t = token();
  return t.kind == TokenKind::kInteger || t.kind == TokenKind::kFloat || t.is('-') || t.is('+') || t.is('~') ||
         t.is('!') || t.is('(') || (t.kind == TokenKind::kWord && t.text == "WARP_SZ");
}

Constant Parser::parse_constant() {
  constant_depth_ = 0;
  return parse_ternary();
}

Constant Parser::parse_ternary() {
  if (++constant_depth_ > kDeepestConstant) fail_here("D308", "a constant expression is nested too deeply");
  Constant value = parse_binary(0);
  if (accept('?')) {
    const Constant yes = parse_ternary();
    expect(':');
    const Constant no = parse_ternary();
    value = value.bits != 0 ? yes : no;
  }
  --constant_depth_;
  return value;
}

Constant Parser::parse_binary(int level) {
  Constant left = parse_unary();
  for (;;) {
    const BinaryOperator* found = find_operator(token());
    if (found == nullptr || found->level < level) return left;
    advance();
    const Constant right = parse_binary(found->level + 1);
    if (left.literal == Literal::kInteger && right.literal == Literal::kInteger) {
      const bool divides = found->text == "/" || found->text == "%";
      if (divides && right.bits == 0) fail_here("D306", "a constant expression divides by zero");
      left = apply_integers(found->text, left, right);
      continue;
    }
    const auto value = apply_doubles(found->text, as_double(left), as_double(right));
    if (!value)
      fail_here("D300", "operator '" + std::string(found->text) + "' is not defined for floating-point constants");
    left = {Literal::kF64, std::bit_cast<std::uint64_t>(*value), false};
  }
}

Constant Parser::parse_unary() {
  const Token first = token();
  if (first.kind == TokenKind::kInteger || first.kind == TokenKind::kFloat) {
    advance();
    // Without a suffix a literal is signed unless it does not fit (PTX ISA, "Integer Constants").
    return {first.literal, first.value,
            first.is_unsigned || (first.kind == TokenKind::kInteger && first.value >> 63 != 0)};
  }
  if (first.kind == TokenKind::kWord && first.text == "WARP_SZ") {
    advance();
    return integer(32, false);
  }
  if (++constant_depth_ > kDeepestConstant) fail_here("D308", "a constant expression is nested too deeply");
  Constant value;
  if (accept('(')) {
    if (token().kind == TokenKind::kDot) {
      const bool is_unsigned = token().text == ".u64";
      if (!is_unsigned && token().text != ".s64") fail_expected("a cast to .s64 or .u64");
      advance();
      expect(')');
      value = parse_unary();
      if (value.literal != Literal::kInteger) fail_here("D300", "a floating-point constant cannot be cast");
      value.is_unsigned = is_unsigned;
    } else {
      value = parse_ternary();
      expect(')');
    }
  } else if (first.is('-') || first.is('+') || first.is('~') || first.is('!')) {
    advance();
    value = parse_unary();
    if (first.is('-')) {
      if (value.literal == Literal::kInteger) {
        value.bits = 0 - value.bits;
      } else {
        value.bits ^= value.literal == Literal::kF32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
      }
    } else if (!first.is('+')) {
      if (value.literal != Literal::kInteger)
        fail_here("D300", "this operator is not defined for floating-point constants");
      value = first.is('~') ? integer(~value.bits, value.is_unsigned) : integer(value.bits == 0 ? 1 : 0, false);
    }
  } else {
    fail_expected("a constant");
  }
  --constant_depth_;
  return value;
}

std::uint64_t Parser::parse_integer(std::string_view what, std::uint64_t most) {
  if (!at_constant()) fail_expected(what);
  const Constant value = parse_constant();
  if (value.literal != Literal::kInteger) fail_here("D300", std::string(what) + " must be an integer");
  const bool negative = !value.is_unsigned && static_cast<std::int64_t>(value.bits) < 0;
  if (negative || value.bits > most) fail_here("D306", std::string(what) + " is out of range");
  return value.bits;
}

}  // namespace muscope::ptx
