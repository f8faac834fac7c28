// Evaluation of IndexExpression.
#include "model/index_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/diagnostic.h"

namespace muscope::model {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

std::int64_t variable(std::int64_t id, const ThreadPosition& at) {
  const auto axis = static_cast<std::size_t>(id % 3);
  switch (id / 3) {
    case 0:
      return at.thread[axis];
    case 1:
      return at.block[axis];
    case 2:
      return at.block_dim[axis];
    case 3:
      return at.grid_dim[axis];
    default:
      break;
  }
  return id == 12 ? at.tid : id == 13 ? at.lane : id == 14 ? at.warp : at.warp_size;
}

}  // namespace

void IndexExpression::refuse(const Node& node, const ThreadPosition& at, std::string_view what) const {
  fail("D113", fmt::format("the index expression {} for lane {}", what, at.lane),
       "a guard such as `x ? a / x : 0` is evaluated as in C: only the chosen side", {"--index", 1, node.column});
}

std::int64_t IndexExpression::evaluate(const ThreadPosition& at) const { return evaluate(root_, at); }

std::int64_t IndexExpression::evaluate(std::uint32_t index, const ThreadPosition& at) const {
  const Node& node = nodes_[index];
  const auto operand = [&](std::size_t i) { return evaluate(node.operands[i], at); };
  // Operators that do not evaluate all their operands.
  switch (node.op) {
    case Op::kNumber:
      return node.value;
    case Op::kVariable:
      return variable(node.value, at);
    case Op::kLogicalAnd:
      return operand(0) != 0 && operand(1) != 0;
    case Op::kLogicalOr:
      return operand(0) != 0 || operand(1) != 0;
    case Op::kChoose:
      return operand(0) != 0 ? operand(1) : operand(2);
    default:
      break;
  }
  const std::int64_t a = operand(0);
  if (node.op == Op::kNegate || node.op == Op::kAbs) {
    if (a == kLowest) refuse(node, at, "overflows 64 bits");
    return node.op == Op::kNegate || a < 0 ? -a : a;
  }
  if (node.op == Op::kInvert) return ~a;
  if (node.op == Op::kNot) return a == 0;
  const std::int64_t b = operand(1);
  std::int64_t result = 0;
  bool overflow = false;
  switch (node.op) {
    case Op::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Op::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Op::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Op::kDivide:
    case Op::kRemainder:
      if (b == 0) refuse(node, at, "divides by zero");
      if (a == kLowest && b == -1) refuse(node, at, "overflows 64 bits");
      return node.op == Op::kDivide ? a / b : a % b;
    case Op::kShiftLeft:
    case Op::kShiftRight:
      if (b < 0 || b > 63) refuse(node, at, fmt::format("shifts by {}", b));
      if (node.op == Op::kShiftRight) return a >> b;
      result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
      overflow = result >> b != a;
      break;
    case Op::kLess:
      return a < b;
    case Op::kGreater:
      return a > b;
    case Op::kLessEqual:
      return a <= b;
    case Op::kGreaterEqual:
      return a >= b;
    case Op::kEqual:
      return a == b;
    case Op::kNotEqual:
      return a != b;
    case Op::kAnd:
      return a & b;
    case Op::kXor:
      return a ^ b;
    case Op::kOr:
      return a | b;
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    default:
      MUSCOPE_CHECK(false);
  }
  if (overflow) refuse(node, at, "overflows 64 bits");
  return result;
}

}  // namespace muscope::model
