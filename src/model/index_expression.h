// Index expressions: what a kernel writes between the brackets, for one warp at a time.
//
//   IndexExpression e = IndexExpression::parse("(threadIdx.y * 33 + threadIdx.x) ^ (lane >> 3)");
//   e.evaluate(position of lane 5);
//
// C's integer expressions: ?:  ||  &&  |  ^  &  == !=  < > <= >=  << >>  + -  * / %  unary + - ~ !, parentheses,
// decimal, octal, hexadecimal and binary numbers with suffixes, min(a, b), max(a, b), abs(a). Variables: threadIdx,
// blockIdx, blockDim, gridDim with .x .y .z; tid (linear thread in the block), lane, warp, warpSize. Arithmetic is
// 64-bit and signed; an overflow, a division by zero or a shift by less than 0 or more than 63 is an error, not a
// wrapped number.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::model {

/// Values of the variables for one thread.
struct ThreadPosition {
  std::array<std::int64_t, 3> thread{0, 0, 0};
  std::array<std::int64_t, 3> block{0, 0, 0};
  std::array<std::int64_t, 3> block_dim{32, 1, 1};
  std::array<std::int64_t, 3> grid_dim{1, 1, 1};
  std::int64_t tid = 0;
  std::int64_t lane = 0;
  std::int64_t warp = 0;
  std::int64_t warp_size = 32;
};

class IndexExpression {
 public:
  /// Throws Error D112 with the column of what is not understood. Text of more than 4096 characters and more than
  /// about 100 nested parentheses are refused.
  static IndexExpression parse(std::string_view text);

  /// Throws Error D113 on division by zero, overflow, or a shift out of range, naming the operator's column and the
  /// lane.
  std::int64_t evaluate(const ThreadPosition& at) const;

  const std::string& text() const { return text_; }

  enum class Op : std::uint8_t {
    kNumber,
    kVariable,
    kNegate,
    kInvert,
    kNot,
    kMultiply,
    kDivide,
    kRemainder,
    kAdd,
    kSubtract,
    kShiftLeft,
    kShiftRight,
    kLess,
    kGreater,
    kLessEqual,
    kGreaterEqual,
    kEqual,
    kNotEqual,
    kAnd,
    kXor,
    kOr,
    kLogicalAnd,
    kLogicalOr,
    kChoose,
    kMin,
    kMax,
    kAbs,
  };

 private:
  friend class IndexParser;
  struct Node {
    Op op = Op::kNumber;
    int column = 0;          ///< from 1
    std::int64_t value = 0;  ///< kNumber: the number; kVariable: which
    std::array<std::uint32_t, 3> operands{};
  };

  std::int64_t evaluate(std::uint32_t node, const ThreadPosition& at) const;
  [[noreturn]] void refuse(const Node& node, const ThreadPosition& at, std::string_view what) const;

  std::string text_;
  std::vector<Node> nodes_;  ///< operands before their operators
  std::uint32_t root_ = 0;
};

}  // namespace muscope::model
