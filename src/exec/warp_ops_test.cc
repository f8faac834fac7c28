// shfl, vote, match, redux, activemask, elect: all modes, partial warps, lanes that come by different ways.
#include <bit>
#include <functional>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::vector<u32> run_warp(std::string_view body, u32 threads = 32, LaunchResult* result = nullptr) {
  Machine m;
  m.load(per_thread_kernel(body));
  const auto out = m.zeros(256);
  const LaunchResult r = m.run_ok("k", {1, 1, 1}, {threads, 1, 1}, out);
  if (result) *result = r;
  return m.read<u32>(out, threads);
}

/// PTX ISA, "shfl.sync": source lane and predicate.
std::pair<u32, bool> shuffle_source(const std::string& mode, u32 lane, u32 b, u32 c) {
  const u32 bval = b & 31, cval = c & 31, mask = (c >> 8) & 31;
  const u32 max_lane = (lane & mask) | (cval & ~mask & 31), min_lane = lane & mask;
  int j = 0;
  bool p = false;
  if (mode == "up")
    j = static_cast<int>(lane) - static_cast<int>(bval), p = j >= static_cast<int>(max_lane);
  else if (mode == "down")
    j = static_cast<int>(lane + bval), p = j <= static_cast<int>(max_lane);
  else if (mode == "bfly")
    j = static_cast<int>(lane ^ bval), p = j <= static_cast<int>(max_lane);
  else
    j = static_cast<int>(min_lane | (bval & ~mask & 31)), p = j <= static_cast<int>(max_lane);
  return {p ? static_cast<u32>(j) : lane, p};
}

TEST(Shuffle, AllModesAndWidths) {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const u32 width : {32u, 16u, 8u, 4u, 2u})
      for (const u32 amount : {0u, 1u, 2u, 3u, 7u, 8u, 15u, 16u, 31u, 33u}) {
        const u32 c = (32 - width) << 8 | (mode == "up" ? 0 : 31);
        const auto out = run_warp("mov.u32 %x0, %tid.x; mul.lo.u32 %x1, %x0, 3; shfl.sync." + mode +
                                  ".b32 %x2|%p1, %x1, " + std::to_string(amount) + ", " + std::to_string(c) +
                                  ", 0xffffffff; selp.u32 %x3, 1000, 0, %p1; add.u32 %r, %x2, %x3;");
        for (u32 lane = 0; lane < 32; ++lane) {
          const auto [from, ok] = shuffle_source(mode, lane, amount, c);
          ASSERT_EQ(out[lane], from * 3 + (ok ? 1000 : 0))
              << mode << " width " << width << " amount " << amount << " lane " << lane;
        }
      }
}

TEST(Shuffle, AmountAndClampMayDifferByLane) {
  const auto out = run_warp(
      "mov.u32 %x0, %tid.x; mul.lo.u32 %x4, %x0, 11; xor.b32 %x5, %x0, 0x1f; shfl.sync.idx.b32 %r, %x0, %x4, 0x1f, -1; "
      "shfl.sync.down.b32 %x6, %x0, 1, %x5, -1; mad.lo.u32 %r, %x6, 100, %r;");
  for (u32 lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane],
              shuffle_source("idx", lane, lane * 11, 31).first + 100 * shuffle_source("down", lane, 1, lane ^ 31).first)
        << lane;
}

TEST(Shuffle, InPlaceAndWithoutPredicate) {
  const auto out = run_warp("mov.u32 %x0, %tid.x; add.u32 %r, %x0, 0; shfl.sync.bfly.b32 %r, %r, 5, 0x1f, -1;");
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane ^ 5);
}

TEST(Shuffle, LanesThatAreOffKeepTheirRegisters) {
  const auto out = run_warp(
      "mov.u32 %x0, %tid.x; mov.u32 %r, 500; and.b32 %x1, %x0, 3; setp.eq.u32 %p0, %x1, 2; @%p0 shfl.sync.idx.b32 %r, "
      "%x0, 6, 0x1f, 0x44444444;");
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane % 4 == 2 ? 6 : 500);
}

TEST(Shuffle, WaitsForLanesThatComeLater) {
  // The first half reaches the shuffle before the second half has its value.
  const auto out = run_warp(R"(
    mov.u32 %x0, %tid.x; mov.u32 %x1, 1; setp.lt.u32 %p0, %x0, 16; @%p0 bra MEET;
    mov.u32 %x3, 0;
LOOP: add.u32 %x3, %x3, 1; add.u32 %x1, %x1, %x0; setp.lt.u32 %p1, %x3, %x0; @%p1 bra LOOP;
MEET: shfl.sync.bfly.b32 %r, %x1, 31, 0x1f, -1;)");
  const auto value = [](u32 t) { return t < 16 ? 1 : 1 + t * t; };
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], value(lane ^ 31)) << lane;
}

TEST(Shuffle, WaitsWhereBlockOrderAloneWouldNotJoin) {
  // Both sides branch to the shuffle from different depths of a loop nest.
  const auto out = run_warp(R"(
    mov.u32 %x0, %tid.x; mov.u32 %x2, 0; mov.u32 %x4, 0;
OUTER: add.u32 %x2, %x2, 1; and.b32 %x3, %x0, 7; setp.gt.u32 %p1, %x2, %x3; @%p1 bra MEET;
    add.u32 %x4, %x4, %x2; bra OUTER;
MEET: shfl.sync.idx.b32 %r, %x4, 7, 0x1f, -1; shfl.sync.up.b32 %x5, %x4, 1, 0, -1; mad.lo.u32 %r, %x5, 1000, %r;)");
  const auto value = [](u32 t) { return (t & 7) * ((t & 7) + 1) / 2; };
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], value(7) + 1000 * value(lane ? lane - 1 : 0)) << lane;
}

TEST(Shuffle, NamedLanesThatNeverComeAreAFinding) {
  LaunchResult result;
  const auto out = run_warp(
      "mov.u32 %x0, %tid.x; mov.u32 %r, 9; setp.lt.u32 %p0, %x0, 16; @!%p0 bra DONE; shfl.sync.idx.b32 %r, %x0, 3, "
      "0x1f, -1;\nDONE: bar.warp.sync 0xffffffff;",
      32, &result);
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 16 ? 3 : 9);
  ASSERT_NE(find_finding(result, "D611"), nullptr);
  // Not so where they have exited.
  run_warp(
      "mov.u32 %x0, %tid.x; mov.u32 %r, 9; setp.ge.u32 %p0, %x0, 16; @%p0 ret; shfl.sync.idx.b32 %r, %x0, 3, 0x1f, -1;",
      32, &result);
  EXPECT_EQ(find_finding(result, "D611"), nullptr);
}

TEST(WarpBarrier, OneMaskAtSeveralInstructions) {
  // __syncwarp() in both branches: each side sees what the other stored before.
  LaunchResult result;
  Machine m;
  m.load(per_thread_kernel(R"(
    mov.u32 %x0, %tid.x; mov.u32 %x1, data; shl.b32 %x2, %x0, 2; add.u32 %x2, %x1, %x2; xor.b32 %x3, %x2, 64; setp.lt.u32 %p0, %x0, 16; @%p0 bra LOW;
    st.shared.u32 [%x2], %x0; bar.warp.sync 0xffffffff; ld.shared.u32 %r, [%x3]; add.u32 %r, %r, 100; bra DONE;
LOW: st.shared.u32 [%x2], %x0; bar.warp.sync 0xffffffff; ld.shared.u32 %r, [%x3];
DONE:)",
                           ".shared .align 128 .b8 data[128];"));
  const auto out = m.zeros(128);
  const LaunchResult r = m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out);
  EXPECT_TRUE(r.record.findings.empty());
  const auto v = m.read<u32>(out, 32);
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(v[lane], (lane ^ 16) + (lane < 16 ? 0 : 100));
}

TEST(WarpBarrier, MaskMayBeAConstantRegister) {
  const auto out = run_warp(R"(
    mov.u32 %x9, 0xffffffff; mov.u32 %x0, %tid.x; setp.lt.u32 %p0, %x0, 16; mov.u32 %x4, 0; @%p0 bra SKIP;
LOOP: add.u32 %x4, %x4, 1; setp.lt.u32 %p1, %x4, 3; @%p1 bra LOOP;
SKIP: bar.warp.sync %x9; activemask.b32 %r;)");
  for (u32 v : out) EXPECT_EQ(v, 0xffffffffu);
}

TEST(Vote, AllModes) {
  const auto out = run_warp(R"(
    mov.u32 %x0, %tid.x; and.b32 %x1, %x0, 5; setp.eq.u32 %p0, %x1, 4; setp.lt.u32 %p1, %x0, 32; setp.gt.u32 %p2, %x0, 40;
    vote.sync.ballot.b32 %x2, %p0, -1; vote.sync.ballot.b32 %x3, !%p0, 0x0000ffff; vote.sync.all.pred %p3, %p1, -1; vote.sync.all.pred %p4, %p0, -1;
    vote.sync.any.pred %p5, %p0, -1; vote.sync.any.pred %p6, %p2, -1; vote.sync.uni.pred %p7, %p2, -1; vote.sync.uni.pred %p8, %p0, -1;
    selp.u32 %x4, 1, 0, %p3; selp.u32 %x5, 2, 0, %p4; selp.u32 %x6, 4, 0, %p5; selp.u32 %x7, 8, 0, %p6; selp.u32 %x8, 16, 0, %p7; selp.u32 %x9, 32, 0, %p8;
    or.b32 %r, %x4, %x5; or.b32 %r, %r, %x6; or.b32 %r, %r, %x7; or.b32 %r, %r, %x8; or.b32 %r, %r, %x9; xor.b32 %x2, %x2, %x3; xor.b32 %r, %r, %x2;)");
  u32 ballot = 0;
  for (u32 lane = 0; lane < 32; ++lane) ballot |= u32{(lane & 5) == 4} << lane;
  for (u32 v : out) EXPECT_EQ(v, (1u | 4u | 16u) ^ ballot ^ (~ballot & 0xffff));
}

TEST(Vote, SeesActiveLanesOnly) {
  const auto out = run_warp(R"(
    mov.u32 %x0, %tid.x; setp.ge.u32 %p0, %x0, 0; and.b32 %x1, %x0, 1; setp.eq.u32 %p1, %x1, 1; @%p1 bra ODD;
    vote.sync.ballot.b32 %r, %p0, 0x55555555; bra DONE;
ODD: vote.sync.ballot.b32 %r, !%p0, 0xaaaaaaaa; activemask.b32 %x2; add.u32 %r, %r, %x2;
DONE: activemask.b32 %x3; setp.eq.u32 %p2, %x3, 0xfffffff; @%p2 mov.u32 %r, 0;)",
                            28);
  // 28 threads: the last four lanes never were.
  for (u32 lane = 0; lane < 28; ++lane) EXPECT_EQ(out[lane], 0u) << "converged again";
  const auto parts = run_warp(R"(
    mov.u32 %x0, %tid.x; setp.ge.u32 %p0, %x0, 0; and.b32 %x1, %x0, 1; setp.eq.u32 %p1, %x1, 1; @%p1 bra ODD;
    vote.sync.ballot.b32 %r, %p0, 0x55555555; bra DONE;
ODD: activemask.b32 %r;
DONE:)",
                              28);
  for (u32 lane = 0; lane < 28; ++lane) EXPECT_EQ(parts[lane], lane & 1 ? 0xaaaaaaau : 0x5555555u);
}

TEST(Match, AnyAndAll) {
  const auto out = run_warp("mov.u32 %x0, %tid.x; rem.u32 %x1, %x0, 5; match.any.sync.b32 %r, %x1, -1;");
  for (u32 lane = 0; lane < 32; ++lane) {
    u32 want = 0;
    for (u32 k = 0; k < 32; ++k) want |= u32{k % 5 == lane % 5} << k;
    EXPECT_EQ(out[lane], want);
  }
  const auto wide = run_warp(
      "mov.u32 %x0, %tid.x; and.b32 %x1, %x0, 1; mov.b64 %l0, {%x0, %x1}; mov.b64 %l1, {%x1, 7}; match.any.sync.b64 "
      "%x2, %l0, -1; match.any.sync.b64 %x3, %l1, -1; xor.b32 %r, %x2, %x3;");
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(wide[lane], (1u << lane) ^ (lane & 1 ? 0xaaaaaaaau : 0x55555555u));
  const auto all = run_warp(
      "mov.u32 %x0, %tid.x; mov.u32 %x1, 6; match.all.sync.b32 %x2|%p1, %x1, -1; match.all.sync.b32 %x3|%p2, %x0, -1; "
      "selp.u32 %x4, 1, 0, %p1; selp.u32 %x5, 2, 0, %p2; add.u32 %r, %x2, %x3; add.u32 %r, %r, %x4; add.u32 %r, %r, "
      "%x5;");
  for (u32 v : all) EXPECT_EQ(v, 0u);  // all ones, plus 0, plus 1
}

TEST(Redux, EveryOperation) {
  struct Case {
    const char* form;
    std::function<u32(u32, u32)> f;
  };
  const Case cases[] = {
      {"add.u32", [](u32 a, u32 b) { return a + b; }},
      {"add.s32", [](u32 a, u32 b) { return a + b; }},
      {"min.u32", [](u32 a, u32 b) { return std::min(a, b); }},
      {"max.u32", [](u32 a, u32 b) { return std::max(a, b); }},
      {"min.s32", [](u32 a, u32 b) { return static_cast<u32>(std::min(static_cast<int>(a), static_cast<int>(b))); }},
      {"max.s32", [](u32 a, u32 b) { return static_cast<u32>(std::max(static_cast<int>(a), static_cast<int>(b))); }},
      {"and.b32", [](u32 a, u32 b) { return a & b; }},
      {"or.b32", [](u32 a, u32 b) { return a | b; }},
      {"xor.b32", [](u32 a, u32 b) { return a ^ b; }}};
  for (const Case& c : cases) {
    const auto out = run_warp(std::string("mov.u32 %x0, %tid.x; mad.lo.u32 %x1, %x0, 0x9e3779b1, 0x12345; mov.u32 %r, "
                                          "7; setp.lt.u32 %p0, %x0, 20; @%p0 redux.sync.") +
                              c.form + " %r, %x1, 0xfffff;");
    u32 want = 0x12345;
    for (u32 k = 1; k < 20; ++k) want = c.f(want, k * 0x9e3779b1u + 0x12345);
    for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 20 ? want : 7) << c.form;
  }
}

TEST(Elect, OneLeader) {
  const auto out = run_warp(
      "mov.u32 %x0, %tid.x; mov.u32 %r, 0; setp.lt.u32 %p0, %x0, 5; @%p0 bra DONE; elect.sync %x1|%p1, 0xffffffe0; "
      "selp.u32 %x2, 100, 0, %p1; add.u32 %r, %x1, %x2;\nDONE:");
  for (u32 lane = 0; lane < 32; ++lane) EXPECT_EQ(out[lane], lane < 5 ? 0 : lane == 5 ? 105 : 5);
}

TEST(SpecialRegisters, OfLanesAndWarps) {
  Machine m;
  m.load(per_thread_kernel(R"(
    mov.u32 %x0, %laneid; mov.u32 %x1, %warpid; mov.u32 %x2, %lanemask_eq; mov.u32 %x3, %lanemask_lt; mov.u32 %x4, %lanemask_le; mov.u32 %x5, %lanemask_gt; mov.u32 %x6, %lanemask_ge;
    add.u32 %x7, %x2, %x3; setp.ne.u32 %p0, %x7, %x4; not.b32 %x8, %x4; setp.ne.or.u32 %p0, %x8, %x5, %p0; not.b32 %x8, %x3; setp.ne.or.u32 %p0, %x8, %x6, %p0; shl.b32 %x9, 1, %x0; setp.ne.or.u32 %p0, %x9, %x2, %p0;
    mov.u32 %x10, WARP_SZ; mov.u32 %x11, %nwarpid; mad.lo.u32 %r, %x1, %x10, %x0; mad.lo.u32 %r, %x11, 1000, %r; @%p0 mov.u32 %r, 0;)"));
  const auto out = m.zeros(400);
  m.run_ok("k", {1, 1, 1}, {70, 1, 1}, out);
  const auto v = m.read<u32>(out, 70);
  for (u32 t = 0; t < 70; ++t) EXPECT_EQ(v[t], 3000 + t);
}

TEST(SpecialRegisters, GridAndBlockIndices) {
  Machine m;
  m.load(R"(.visible .entry k(.param .u64 out)
{ .reg .b32 %r<32>; .reg .b64 %l<4>; .reg .b16 %h<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %nctaid.y; mov.u32 %r5, %tid.x; mov.u32 %r6, %tid.y; mov.u32 %r7, %tid.z; mov.u32 %r8, %ntid.x; mov.u32 %r9, %ntid.y; mov.u32 %r10, %ntid.z;
  mad.lo.u32 %r11, %r2, %r4, %r1; mad.lo.u32 %r11, %r11, %r3, %r0; mad.lo.u32 %r11, %r11, %r10, %r7; mad.lo.u32 %r11, %r11, %r9, %r6; mad.lo.u32 %r11, %r11, %r8, %r5;
  cvt.u16.u32 %h0, %tid.x; cvt.u32.u16 %r12, %h0; shl.b32 %r13, %r2, 8; or.b32 %r12, %r12, %r13; cvt.u64.u32 %l2, %tid.y; cvt.u32.u64 %r14, %l2; shl.b32 %r14, %r14, 16; or.b32 %r12, %r12, %r14;
  ld.param.u64 %l0, [out]; mul.wide.u32 %l1, %r11, 4; add.u64 %l0, %l0, %l1; st.global.u32 [%l0], %r12; ret; })");
  const Dim3 grid{2, 3, 4}, block{5, 4, 2};
  const auto out = m.zeros(4 * 24 * 40);
  m.run_ok("k", grid, block, out);
  const auto v = m.read<u32>(out, 24 * 40);
  std::size_t i = 0;
  for (u32 z = 0; z < 4; ++z)
    for (u32 b = 0; b < 6; ++b)
      for (u32 tz = 0; tz < 2; ++tz)
        for (u32 ty = 0; ty < 4; ++ty)
          for (u32 tx = 0; tx < 5; ++tx) ASSERT_EQ(v[i++], tx | z << 8 | ty << 16);
}

}  // namespace
}  // namespace muscope::exec::testing
