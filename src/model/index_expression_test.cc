#include "model/index_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace muscope::model {
namespace {

std::int64_t value(std::string_view text, const ThreadPosition& at = {}) {
  return IndexExpression::parse(text).evaluate(at);
}

Diagnostic complaint(std::string_view text) {
  try {
    value(text);
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  return {};
}

#pragma GCC diagnostic ignored "-Wparentheses"  // precedence is what is tested

// Each line is also C++: the compiler says what is right.
#define SAME_AS_CXX(expression) EXPECT_EQ(value(#expression), static_cast<std::int64_t>(expression)) << #expression

TEST(IndexExpression, FollowsTheCompilersPrecedence) {
  SAME_AS_CXX(1 + 2 * 3 - 4 / 2 % 3);
  SAME_AS_CXX((1 + 2) * (3 - 4));
  SAME_AS_CXX(1 << 3 + 1);
  SAME_AS_CXX(256 >> 1 << 2);
  SAME_AS_CXX(7 & 3 ^ 8 | 16);
  SAME_AS_CXX(1 | 2 == 2);
  SAME_AS_CXX(5 & 4 < 3);
  SAME_AS_CXX(-7 / 2);
  SAME_AS_CXX(-7 % 3);
  SAME_AS_CXX(-7 >> 1);
  SAME_AS_CXX(~5 + !0 + !7);
  SAME_AS_CXX(- -5 - -5);
  SAME_AS_CXX(1 < 2 == 1 > 0);
  SAME_AS_CXX(1 ? 2 ? 3 : 4 : 5);
  SAME_AS_CXX(0 ? 1 : 0 ? 2 : 3);
  SAME_AS_CXX(1 && 0 || 1);
  SAME_AS_CXX(0x1F + 010 + 0b101 + 7u + 8ULL);
  SAME_AS_CXX(3 >= 3 != 2 <= 1);
}

TEST(IndexExpression, Variables) {
  ThreadPosition at;
  at.thread = {5, 2, 1};
  at.block = {7, 8, 9};
  at.block_dim = {16, 4, 2};
  at.grid_dim = {10, 11, 12};
  at.tid = 101;
  at.lane = 5;
  at.warp = 3;
  EXPECT_EQ(value("threadIdx.x + 10*threadIdx.y + 100*threadIdx.z", at), 125);
  EXPECT_EQ(value("blockIdx.x + 10*blockIdx.y + 100*blockIdx.z", at), 987);
  EXPECT_EQ(value("blockDim.x*blockDim.y*blockDim.z", at), 128);
  EXPECT_EQ(value("gridDim.z - gridDim.x", at), 2);
  EXPECT_EQ(value("33*tid+1", at), 3334);
  EXPECT_EQ(value("warp*warpSize+lane", at), 101);
  EXPECT_EQ(value("min(tid, 7) + max(lane, 9) + abs(0-4)", at), 20);
}

TEST(IndexExpression, OnlyTheChosenSideIsEvaluated) {
  EXPECT_EQ(value("lane ? 1/lane : 4"), 4);
  EXPECT_EQ(value("lane && 1/lane"), 0);
  EXPECT_EQ(value("!lane || 1/lane"), 1);
}

TEST(IndexExpression, SyntaxErrorsNameTheColumn) {
  EXPECT_EQ(complaint("").code, "D112");
  EXPECT_EQ(complaint("1 +").code, "D112");
  EXPECT_EQ(complaint("1 + * 2").where.column, 5);
  EXPECT_THAT(complaint("tid + foo").text, ::testing::HasSubstr("'foo'"));
  EXPECT_EQ(complaint("tid + foo").where.column, 7);
  EXPECT_THAT(complaint("threadIdx.w").text, ::testing::HasSubstr("threadIdx.w"));
  EXPECT_THAT(complaint("(1").text, ::testing::HasSubstr("')'"));
  EXPECT_THAT(complaint("1 ? 2").text, ::testing::HasSubstr("':'"));
  EXPECT_EQ(complaint("1 = 2").where.column, 3);
  EXPECT_EQ(complaint("08").code, "D112");
  EXPECT_EQ(complaint("0x").code, "D112");
  EXPECT_EQ(complaint("99999999999999999999").code, "D112");
  EXPECT_EQ(complaint("1.5").code, "D112");
  EXPECT_EQ(complaint("min(1)").code, "D112");
  EXPECT_EQ(complaint("tid \xff").code, "D112");
  EXPECT_EQ(complaint(std::string(5000, '1')).code, "D112");
}

TEST(IndexExpression, DeepNestingIsRefusedNotCrashedOn) {
  EXPECT_EQ(value(std::string(90, '(') + "7" + std::string(90, ')')), 7);
  EXPECT_EQ(complaint(std::string(2000, '(') + "7").code, "D112");
  EXPECT_EQ(complaint(std::string(4000, '-') + "7").code, "D112");
  std::string chain = "1";
  for (int i = 0; i < 2000; ++i) chain += "+1";
  EXPECT_EQ(value(chain), 2001) << "long chains are no nesting";
}

TEST(IndexExpression, ArithmeticErrorsAreDiagnosed) {
  EXPECT_EQ(complaint("1 / lane").code, "D113");
  EXPECT_EQ(complaint("1 / lane").where.column, 3);
  EXPECT_THAT(complaint("5 % (lane * 2)").text, ::testing::HasSubstr("divides by zero for lane 0"));
  EXPECT_EQ(complaint("1 << 64").code, "D113");
  EXPECT_EQ(complaint("1 >> (0-1)").code, "D113");
  EXPECT_EQ(complaint("1 << 63").code, "D113") << "overflows";
  EXPECT_EQ(complaint("0x7fffffffffffffff + 1").code, "D113");
  EXPECT_EQ(complaint("0x7fffffffffffffff * 2").code, "D113");
  EXPECT_EQ(complaint("(0-0x7fffffffffffffff-1) / (0-1)").code, "D113");
  EXPECT_EQ(complaint("-(0-0x7fffffffffffffff-1)").code, "D113");
}

}  // namespace
}  // namespace muscope::model
