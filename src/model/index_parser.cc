// The parser of IndexExpression: recursive descent with a depth limit.
#include <fmt/format.h>

#include <cctype>
#include <limits>
#include <optional>

#include "base/diagnostic.h"
#include "model/index_expression.h"

namespace muscope::model {
namespace {

constexpr std::size_t kLongest = 4096;
constexpr int kDeepest = 400;

struct VariableName {
  std::string_view name;
  std::int64_t id;
};
constexpr VariableName kVariables[] = {
    {"threadIdx.x", 0}, {"threadIdx.y", 1}, {"threadIdx.z", 2}, {"blockIdx.x", 3}, {"blockIdx.y", 4}, {"blockIdx.z", 5},
    {"blockDim.x", 6},  {"blockDim.y", 7},  {"blockDim.z", 8},  {"gridDim.x", 9},  {"gridDim.y", 10}, {"gridDim.z", 11},
    {"tid", 12},        {"lane", 13},       {"warp", 14},       {"warpSize", 15},
};

struct BinaryOperator {
  std::string_view text;
  int precedence;  ///< higher binds tighter
  IndexExpression::Op op;
};
using Op = IndexExpression::Op;
// Longer spellings first.
constexpr BinaryOperator kBinary[] = {
    {"||", 1, Op::kLogicalOr}, {"&&", 2, Op::kLogicalAnd}, {"==", 6, Op::kEqual},     {"!=", 6, Op::kNotEqual},
    {"<<", 8, Op::kShiftLeft}, {">>", 8, Op::kShiftRight}, {"<=", 7, Op::kLessEqual}, {">=", 7, Op::kGreaterEqual},
    {"<", 7, Op::kLess},       {">", 7, Op::kGreater},     {"|", 3, Op::kOr},         {"^", 4, Op::kXor},
    {"&", 5, Op::kAnd},        {"+", 9, Op::kAdd},         {"-", 9, Op::kSubtract},   {"*", 10, Op::kMultiply},
    {"/", 10, Op::kDivide},    {"%", 10, Op::kRemainder},
};

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

class IndexParser {
 public:
  explicit IndexParser(std::string_view text) { result_.text_ = std::string(text); }

  IndexExpression run() {
    if (text().size() > kLongest) refuse(0, fmt::format("is longer than {} characters", kLongest));
    skip_space();
    if (at_end()) refuse(position_, "is empty");
    result_.root_ = choice(0);
    skip_space();
    if (!at_end()) refuse(position_, fmt::format("has an unexpected {}", seen()));
    return std::move(result_);
  }

 private:
  using Node = IndexExpression::Node;

  const std::string& text() const { return result_.text_; }
  bool at_end() const { return position_ >= text().size(); }
  char peek() const { return at_end() ? '\0' : text()[position_]; }
  void skip_space() {
    while (!at_end() && std::isspace(static_cast<unsigned char>(peek())) != 0) ++position_;
  }

  /// What stands at the present position, for messages.
  std::string seen() const {
    if (at_end()) return "end";
    const char c = peek();
    if (continues_name(c)) {
      std::size_t end = position_;
      while (end < text().size() && end - position_ < 40 && (continues_name(text()[end]) || text()[end] == '.')) ++end;
      return fmt::format("'{}'", std::string_view(text()).substr(position_, end - position_));
    }
    return c >= 0x20 && c < 0x7f ? fmt::format("'{}'", c) : std::string("character that is not ASCII");
  }

  [[noreturn]] void refuse(std::size_t position, const std::string& what) const {
    std::string hint =
        "C integer expressions over threadIdx.x/.y/.z, blockIdx, blockDim, gridDim, tid, lane, warp, warpSize";
    fail("D112", "the index expression " + what, hint, {"--index", 1, static_cast<int>(position) + 1});
  }

  bool take(std::string_view token) {
    skip_space();
    if (text().compare(position_, token.size(), token) != 0) return false;
    position_ += token.size();
    return true;
  }

  std::uint32_t add(Op op, std::size_t position, std::array<std::uint32_t, 3> operands, std::int64_t value = 0) {
    result_.nodes_.push_back(Node{op, static_cast<int>(position) + 1, value, operands});
    return static_cast<std::uint32_t>(result_.nodes_.size() - 1);
  }

  void check_depth(int depth) const {
    if (depth > kDeepest) refuse(position_, "nests too deeply");
  }

  std::uint32_t choice(int depth) {
    check_depth(depth);
    const std::uint32_t condition = binary(1, depth + 1);
    skip_space();
    const std::size_t position = position_;
    if (!take("?")) return condition;
    const std::uint32_t yes = choice(depth + 1);
    if (!take(":")) refuse(position_, fmt::format("lacks the ':' of its '?', there is {}", seen()));
    const std::uint32_t no = choice(depth + 1);
    return add(Op::kChoose, position, {condition, yes, no});
  }

  const BinaryOperator* binary_operator() {
    skip_space();
    for (const BinaryOperator& candidate : kBinary)
      if (text().compare(position_, candidate.text.size(), candidate.text) == 0) return &candidate;
    return nullptr;
  }

  std::uint32_t binary(int least, int depth) {
    check_depth(depth);
    std::uint32_t left = unary(depth + 1);
    for (;;) {
      const BinaryOperator* found = binary_operator();
      if (found == nullptr || found->precedence < least) return left;
      const std::size_t position = position_;
      position_ += found->text.size();
      const std::uint32_t right = binary(found->precedence + 1, depth + 1);
      left = add(found->op, position, {left, right, 0});
    }
  }

  std::uint32_t unary(int depth) {
    check_depth(depth);
    skip_space();
    const std::size_t position = position_;
    if (take("-")) return add(Op::kNegate, position, {unary(depth + 1), 0, 0});
    if (take("+")) return unary(depth + 1);
    if (take("~")) return add(Op::kInvert, position, {unary(depth + 1), 0, 0});
    if (take("!")) return add(Op::kNot, position, {unary(depth + 1), 0, 0});
    return primary(depth);
  }

  std::uint32_t primary(int depth) {
    skip_space();
    if (at_end()) refuse(position_, "ends where a number, a variable or '(' should follow");
    if (take("(")) {
      const std::uint32_t inner = choice(depth + 1);
      if (!take(")")) refuse(position_, fmt::format("lacks a ')', there is {}", seen()));
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(peek())) != 0) return number();
    if (begins_name(peek())) return name(depth);
    refuse(position_, fmt::format("has an unexpected {}", seen()));
  }

  std::uint32_t number() {
    const std::size_t start = position_;
    unsigned base = 10;
    if (peek() == '0' && position_ + 1 < text().size()) {
      const char next = text()[position_ + 1];
      if (next == 'x' || next == 'X') {
        base = 16;
        position_ += 2;
      } else if (next == 'b' || next == 'B') {
        base = 2;
        position_ += 2;
      } else if (std::isdigit(static_cast<unsigned char>(next)) != 0) {
        base = 8;
        ++position_;
      }
    }
    std::uint64_t value = 0;
    const std::size_t digits = position_;
    for (; !at_end(); ++position_) {
      const char c = peek();
      unsigned digit = 99;
      if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
      if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
      if (digit >= base) break;
      if (value > (static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - digit) / base)
        refuse(start, "has a number that does not fit in 63 bits");
      value = value * base + digit;
    }
    if (position_ == digits) refuse(start, "has a number without digits");
    while (peek() == 'u' || peek() == 'U' || peek() == 'l' || peek() == 'L') ++position_;
    if (continues_name(peek()) || peek() == '.')
      refuse(position_, fmt::format("has an unexpected {} after a number", seen()));
    return add(Op::kNumber, start, {}, static_cast<std::int64_t>(value));
  }

  std::uint32_t name(int depth) {
    const std::size_t start = position_;
    while (continues_name(peek()) || peek() == '.') ++position_;
    const std::string word = text().substr(start, position_ - start);
    if (word == "min") return call(Op::kMin, 2, start, depth);
    if (word == "max") return call(Op::kMax, 2, start, depth);
    if (word == "abs") return call(Op::kAbs, 1, start, depth);
    for (const VariableName& variable : kVariables)
      if (word == variable.name) return add(Op::kVariable, start, {}, variable.id);
    position_ = start;
    refuse(start, fmt::format("names {}, which is not known", seen()));
  }

  std::uint32_t call(Op op, int operands, std::size_t start, int depth) {
    std::array<std::uint32_t, 3> values{};
    if (!take("(")) refuse(position_, "lacks the '(' of a function");
    values[0] = choice(depth + 1);
    if (operands == 2) {
      if (!take(",")) refuse(position_, fmt::format("lacks the second operand of a function, there is {}", seen()));
      values[1] = choice(depth + 1);
    }
    if (!take(")")) refuse(position_, fmt::format("lacks a ')', there is {}", seen()));
    return add(op, start, values);
  }

  IndexExpression result_;
  std::size_t position_ = 0;
};

IndexExpression IndexExpression::parse(std::string_view text) { return IndexParser(text).run(); }

}  // namespace muscope::model
