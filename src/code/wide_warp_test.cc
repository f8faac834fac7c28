// Kernels that take 32 lanes for granted, and such that do not.
#include "code/wide_warp.h"

#include <gmock/gmock.h>

#include "code/test_module.h"

namespace muscope::code {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> codes(const std::string& body, const std::string& line = {}) {
  memory::AddressSpace memory(1 << 28);
  const std::string text =
      ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n.shared .align 4 .b8 "
      "s[512];\n" +
      body + "\nret;\n}\n";
  LoadedModule module(testing::parse(text), memory);
  std::vector<std::string> found;
  for (const views::Finding& f : wide_warp_findings(*module.kernel("k"), [&](const std::string&, int) { return line; }))
    found.push_back(f.code);
  return found;
}

TEST(WideWarp, Shuffles) {
  const std::string shuffle = "shfl.sync.down.b32 %r1, %r2, 16, 31, -1;";
  EXPECT_THAT(codes(shuffle), ElementsAre("D630"));
  EXPECT_THAT(codes("shfl.sync.up.b32 %r1, %r2, 1, 0, -1;"), ElementsAre("D630"));
  EXPECT_THAT(codes("mov.b32 %r5, 31;\nshfl.sync.down.b32 %r1|%p1, %r2, 16, %r5, -1;"), ElementsAre("D630"));
  // A width of 16 was given.
  EXPECT_THAT(codes("shfl.sync.down.b32 %r1, %r2, 8, 4127, -1;"), IsEmpty());
  EXPECT_TRUE(gives_shuffle_width("  v += __shfl_down_sync(0xffffffff, f(a, b), 16, 32);"));
  EXPECT_FALSE(gives_shuffle_width("  v += __shfl_down_sync(0xffffffff, f(a, b), 16);"));
  EXPECT_FALSE(gives_shuffle_width("  v += a[i];"));
}

TEST(WideWarp, MasksOf32Bits) {
  EXPECT_THAT(codes("vote.sync.ballot.b32 %r1, %p1, -1;"), ElementsAre("D631"));
  EXPECT_THAT(codes("activemask.b32 %r1;"), ElementsAre("D631"));
  EXPECT_THAT(codes("match.any.sync.b32 %r1, %r2, -1;"), ElementsAre("D631"));
  EXPECT_THAT(codes("redux.sync.add.s32 %r1, %r2, -1;"), ElementsAre("D631"));
}

TEST(WideWarp, Constants) {
  EXPECT_THAT(codes("mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 31;"), ElementsAre("D632"));
  EXPECT_THAT(codes("mov.u32 %r1, %tid.x;\nshr.u32 %r2, %r1, 5;"), ElementsAre("D632"));
  EXPECT_THAT(codes("mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;"), ElementsAre("D632"));
  // Of an unrolled loop: the line has no such number.
  const std::string compare = ".file 1 \"a.cu\"\n.loc 1 1 1\nmov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 31;";
  EXPECT_THAT(codes(compare, "if (t < distance) s[t] += s[t + distance];"), IsEmpty());
  EXPECT_THAT(codes(compare, "if (t < kWarp) s[t] = 0;"), ElementsAre("D632"));
  EXPECT_THAT(codes("mov.u32 %r1, %laneid;\nadd.u32 %r2, %r1, 1;"), ElementsAre("D632"));
  EXPECT_THAT(codes("mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 15;\nshr.u32 %r3, %r1, 7;"), IsEmpty());
  EXPECT_THAT(codes("mov.u32 %r1, %ctaid.x;\nand.b32 %r2, %r1, 31;"), IsEmpty());
}

TEST(WideWarp, LanesInStep) {
  const std::string store = "st.volatile.shared.u32 [s], %r1;", load = "ld.volatile.shared.u32 %r2, [s+64];";
  EXPECT_THAT(codes(store + load), ElementsAre("D633"));
  EXPECT_THAT(codes(load + store), IsEmpty());
  EXPECT_THAT(codes(store + "bar.sync 0;" + load), IsEmpty());
  EXPECT_THAT(codes(store + "bar.warp.sync -1;" + load), IsEmpty());
  EXPECT_THAT(codes("st.shared.u32 [s], %r1; ld.shared.u32 %r2, [s+64];"), IsEmpty());
}

TEST(WideWarp, Launches) {
  const arch::GpuSpec s4000 = arch::find_gpu("s4000"), s80 = arch::find_gpu("s80"), s5000 = arch::find_gpu("s5000");
  EXPECT_THAT(wide_launch_findings(s4000, 256, 0, 28672), IsEmpty());
  const auto narrow = wide_launch_findings(s4000, 160, 0, 0);
  ASSERT_EQ(narrow.size(), 1u);
  EXPECT_EQ(narrow[0].code, "D634");
  EXPECT_THAT(narrow[0].text, HasSubstr("160 threads leave 96 of 128 lanes"));
  EXPECT_THAT(wide_launch_findings(s5000, 160, 0, 0), IsEmpty());
  const auto large = wide_launch_findings(s4000, 128, 0, 28673);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].code, "D635");
  EXPECT_THAT(large[0].hint, HasSubstr("72 KiB"));
  EXPECT_EQ(wide_launch_findings(s80, 128, 32768, 0).at(0).code, "D635");
  EXPECT_EQ(wide_launch_findings(s5000, 128, 196609, 0).at(0).code, "D635");
  EXPECT_THAT(wide_launch_findings(s5000, 128, 196608, 0), IsEmpty());
}

}  // namespace
}  // namespace muscope::code
