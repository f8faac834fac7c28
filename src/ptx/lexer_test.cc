#include "ptx/lexer.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace muscope::ptx {
namespace {

std::vector<Token> tokens_of(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> out;
  for (; lexer.current().kind != TokenKind::kEnd; lexer.advance()) out.push_back(lexer.current());
  return out;
}

Token only(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  EXPECT_EQ(tokens.size(), 1u) << text;
  return tokens.empty() ? Token{} : tokens[0];
}

TEST(Lexer, ReadsWordsAndDottedWords) {
  const auto tokens = tokens_of("$L__BB0_1 %rd12 _ .L2::128B .2d __local_depot0");
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens[0].text, "$L__BB0_1");
  EXPECT_EQ(tokens[1].text, "%rd12");
  EXPECT_EQ(tokens[2].text, "_");
  EXPECT_EQ(tokens[3].kind, TokenKind::kDot);
  EXPECT_EQ(tokens[3].text, ".L2::128B");
  EXPECT_EQ(tokens[4].text, ".2d");
  EXPECT_EQ(tokens[5].kind, TokenKind::kWord);
}

TEST(Lexer, ReadsIntegersOfAllBases) {
  EXPECT_EQ(only("42").value, 42u);
  EXPECT_EQ(only("0x1F").value, 31u);
  EXPECT_EQ(only("0b101").value, 5u);
  EXPECT_EQ(only("017").value, 15u);
  EXPECT_EQ(only("0").value, 0u);
  EXPECT_EQ(only("0xFFFFFFFFFFFFFFFFU").value, ~std::uint64_t{0});
  EXPECT_TRUE(only("7U").is_unsigned);
  EXPECT_FALSE(only("7").is_unsigned);
}

TEST(Lexer, ReadsFloatingPointLiterals) {
  EXPECT_EQ(only("0f3F800000").literal, Literal::kF32);
  EXPECT_EQ(only("0f3F800000").value, 0x3F800000u);
  EXPECT_EQ(only("0d3FF0000000000000").literal, Literal::kF64);
  EXPECT_EQ(only("0D400921FB54442D18").value, 0x400921FB54442D18u);
  EXPECT_EQ(only("1.5").value, std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(only("25e-1").value, std::bit_cast<std::uint64_t>(2.5));
  EXPECT_EQ(only("3.").literal, Literal::kF64);
  EXPECT_EQ(only(".5").value, std::bit_cast<std::uint64_t>(0.5));
}

TEST(Lexer, RefusesWhatIsNoLiteral) {
  for (std::string_view text :
       {"0f3F80", "0f3F8000000", "0dG", "0x", "0b2", "12ab", "18446744073709551616", "\"open", "`"}) {
    EXPECT_EQ(tokens_of(text).at(0).kind, TokenKind::kBad) << text;
  }
}

TEST(Lexer, CountsLinesThroughComments) {
  const auto tokens = tokens_of("a // b\n/* c\nd */ e\n  f");
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1].text, "e");
  EXPECT_EQ(tokens[1].line, 3);
  EXPECT_EQ(tokens[2].line, 4);
  EXPECT_EQ(tokens[2].column, 3);
}

TEST(Lexer, GivesTheCommentOfTheLineBefore) {
  Lexer lexer("1 // a.cu:3:5 @[ b.cu:1:2 ]\n// other\n2");
  lexer.advance();
  EXPECT_EQ(lexer.current().value, 2u);
  EXPECT_EQ(lexer.comment_before(), " a.cu:3:5 @[ b.cu:1:2 ]");
  Lexer next_line("1\n// other\n2");
  next_line.advance();
  EXPECT_EQ(next_line.comment_before(), "");
}

TEST(Lexer, SeparatesMnemonicsFromLabels) {
  Lexer lexer("ld.global.L2::128B.u32 x: y::z");
  EXPECT_EQ(lexer.glued_modifiers(), ".global.L2::128B.u32");
  lexer.advance();
  EXPECT_TRUE(lexer.label_follows());
  lexer.advance();
  lexer.advance();
  EXPECT_EQ(lexer.current().text, "y");
  EXPECT_FALSE(lexer.label_follows());
}

TEST(Lexer, ReadsTwoCharacterOperators) {
  const auto tokens = tokens_of("<<>>==!=<=>=&&||");
  ASSERT_EQ(tokens.size(), 8u);
  EXPECT_EQ(tokens[7].text, "||");
}

TEST(Lexer, SkipsNestedBraces) {
  Lexer lexer("{ a { b } \"}\" } c");
  EXPECT_TRUE(lexer.skip_braces());
  EXPECT_EQ(lexer.current().text, "c");
  Lexer open("{ a { b }");
  EXPECT_FALSE(open.skip_braces());
}

TEST(Unescape, ReplacesEscapes) {
  EXPECT_EQ(unescape(R"(a\n\"\\\x41\102)"), "a\n\"\\AB");
  EXPECT_EQ(unescape("plain"), "plain");
  EXPECT_EQ(unescape("end\\"), "end\\");
}

}  // namespace
}  // namespace muscope::ptx
