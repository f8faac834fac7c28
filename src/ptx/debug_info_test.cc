// Source positions and chains of call sites, as nvcc and clang write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/parser.h"
#include "ptx/verify.h"

namespace muscope::ptx {
namespace {

using testing::ElementsAre;

Module parse_good(std::string_view text) {
  const ParseResult result = parse(text, "x");
  for (const Diagnostic& diagnostic : result.diagnostics) ADD_FAILURE() << to_text(diagnostic);
  EXPECT_EQ(find_inconsistency(result.module), "");
  return result.module;
}

/// "file:line:column function" of a position and its call sites, innermost first.
std::vector<std::string> chain(const Module& module, const Instruction& instruction) {
  std::vector<std::string> out;
  for (std::uint32_t i = instruction.loc; i != kNoIndex; i = module.locs[i].inlined_at) {
    const Loc& loc = module.locs[i];
    out.push_back(module.files[loc.file] + ":" + std::to_string(loc.line) + ":" + std::to_string(loc.column) +
                  (loc.function.empty() ? "" : " " + loc.function));
  }
  return out;
}

TEST(DebugInfo, FollowsInlinedAt) {
  const Module m = parse_good(R"(.version 7.8
.target sm_90
.address_size 64
.entry k() {
  .loc 1 10 3
  exit;
  .loc 2 5 7, function_name $L__info_string0, inlined_at 1 10 3
  exit;
  .loc 3 8 1, function_name $L__info_string0+4, inlined_at 2 5 7
  exit;
  .loc 2 99 7, function_name $L__info_string1, inlined_at 1 44 3
  exit;
  .loc 1 11 3
  exit;
}
.entry other() {
  exit;
  .loc 3 1 1, function_name $L__info_string1, inlined_at 2 5 7
  exit;
}
.file 1 "/a/main.cu"
.file 2 "/a/helper.h", 123, 456
.file 3 "inner.h"
.section .debug_str {
$L__info_string0:
.b8 95,90,78,49
.b8 102,0
$L__info_string1:
.b8 103
.b8 0
}
)");
  const auto& body = m.functions[0].body;
  EXPECT_THAT(chain(m, body[0]), ElementsAre("/a/main.cu:10:3"));
  EXPECT_THAT(chain(m, body[1]), ElementsAre("/a/helper.h:5:7 _ZN1f", "/a/main.cu:10:3"));
  EXPECT_THAT(chain(m, body[2]), ElementsAre("inner.h:8:1 f", "/a/helper.h:5:7 _ZN1f", "/a/main.cu:10:3"));
  EXPECT_THAT(chain(m, body[3]), ElementsAre("/a/helper.h:99:7 g", "/a/main.cu:44:3"));
  EXPECT_THAT(chain(m, body[4]), ElementsAre("/a/main.cu:11:3"));
  EXPECT_EQ(m.functions[1].body[0].loc, kNoIndex) << "positions end with their function";
  EXPECT_THAT(chain(m, m.functions[1].body[1]), ElementsAre("inner.h:1:1 g", "/a/helper.h:5:7"))
      << "chains stay in their function";
}

TEST(DebugInfo, ReadsTheCommentsOfClang) {
  const Module m = parse_good(R"(.version 8.8
.target sm_75
.address_size 64
.entry k() {
	.loc	2 6 43                          // ./inc/leaf.h:6:43 @[ c.cu:8:10 @[ c.cu:14:9 ] ]
	exit;
	.loc	1 8 19                          // c.cu:8:19 @[ c.cu:14 ]
	exit;
	.loc	1 9 1                           // c.cu:9:1
	exit;
	.loc	1 0 1                           // c.cu:0:1
	exit;
	.loc	1 7 1                           // c.cu:7:1 @[ far/away.h:3:4 ]
	exit;
}
	.file	1 "/src/c.cu"
	.file	2 "/src/inc/leaf.h"
)");
  const auto& body = m.functions[0].body;
  EXPECT_THAT(chain(m, body[0]), ElementsAre("/src/inc/leaf.h:6:43", "/src/c.cu:8:10", "/src/c.cu:14:9"));
  EXPECT_THAT(chain(m, body[1]), ElementsAre("/src/c.cu:8:19", "/src/c.cu:14:0"));
  EXPECT_THAT(chain(m, body[2]), ElementsAre("/src/c.cu:9:1"));
  EXPECT_THAT(chain(m, body[3]), ElementsAre("/src/c.cu:9:1")) << "line 0 stays with the line before";
  EXPECT_THAT(chain(m, body[4]), ElementsAre("/src/c.cu:7:1", "far/away.h:3:4"));
}

TEST(DebugInfo, IgnoresCommentsThatAreNoPositions) {
  const Module m = parse_good(
      ".version 8.8\n.target sm_75\n.address_size 64\n.entry k() {\n.loc 1 5 2 // see @[ the note ]\nexit; }\n.file 1 "
      "\"a.cu\"");
  EXPECT_THAT(chain(m, m.functions[0].body[0]), ElementsAre("a.cu:5:2"));
}

TEST(DebugInfo, KeepsOnePositionOnce) {
  const Module m = parse_good(
      ".version 8.8\n.target sm_75\n.address_size 64\n.entry k() {\n.loc 1 5 2\nexit;\n.loc 1 6 2\nexit;\n.loc 1 5 "
      "2\nexit; }\n.file 1 \"a.cu\"");
  EXPECT_EQ(m.locs.size(), 2u);
  EXPECT_EQ(m.functions[0].body[0].loc, m.functions[0].body[2].loc);
}

TEST(DebugInfo, CutsEndlessChains) {
  std::string text = ".version 8.8\n.target sm_75\n.address_size 64\n.entry k() {\n";
  for (int i = 0; i < 5000; ++i) text += ".loc 1 5 2, function_name f, inlined_at 1 5 2\nexit;\n";
  const Module m = parse_good(text + "}\n");
  for (const Instruction& instruction : m.functions[0].body) EXPECT_LE(chain(m, instruction).size(), 300u);
}

}  // namespace
}  // namespace muscope::ptx
