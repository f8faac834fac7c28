// Barriers of a block: bar.sync, named barriers, arrival, reductions, exits, deadlock.
#include <numeric>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;

std::string with_shared(std::string_view body) { return per_thread_kernel(body, ".shared .align 4 .b8 data[4096];"); }

std::vector<u32> run_block_of(u32 threads, std::string_view text, LaunchResult* result = nullptr, u32 blocks = 1) {
  Machine m;
  m.load(text);
  const auto out = m.zeros(std::uint64_t{4} * threads * blocks);
  const LaunchResult r = m.run_ok("k", {blocks, 1, 1}, {threads, 1, 1}, out);
  if (result) *result = r;
  return m.read<u32>(out, std::size_t{threads} * blocks);
}

TEST(Barrier, MakesStoresOfOtherWarpsVisible) {
  // Each thread reads what the thread 37 places on has stored.
  const auto out = run_block_of(96, with_shared(R"(
    mov.u32 %x0, %tid.x; mov.u32 %x1, data; shl.b32 %x2, %x0, 2; add.u32 %x2, %x1, %x2;
    mul.lo.u32 %x3, %x0, 7; st.shared.u32 [%x2], %x3; bar.sync 0;
    add.u32 %x4, %x0, 37; rem.u32 %x4, %x4, 96; shl.b32 %x4, %x4, 2; add.u32 %x4, %x1, %x4; ld.shared.u32 %r, [%x4];)"));
  for (u32 t = 0; t < 96; ++t) EXPECT_EQ(out[t], (t + 37) % 96 * 7) << t;
}

TEST(Barrier, RepeatsInALoop) {
  // A sum that travels around the block, one step per barrier pair.
  const auto out = run_block_of(64, with_shared(R"(
    mov.u32 %x0, %tid.x; mov.u32 %x1, data; shl.b32 %x2, %x0, 2; add.u32 %x2, %x1, %x2; st.shared.u32 [%x2], %x0;
    mov.u32 %x5, 0; add.u32 %x4, %x0, 1; and.b32 %x4, %x4, 63; shl.b32 %x4, %x4, 2; add.u32 %x4, %x1, %x4;
LOOP: bar.sync 0; ld.shared.u32 %x6, [%x4]; bar.sync 0; add.u32 %x6, %x6, 1; st.shared.u32 [%x2], %x6;
    add.u32 %x5, %x5, 1; setp.lt.u32 %p1, %x5, 10; @%p1 bra LOOP; mov.u32 %r, %x6;)"));
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], (t + 10) % 64 + 10) << t;
}

TEST(Barrier, NamedBarriersCountThreads) {
  // Warp 0 produces for warp 1 through barrier 3; warps 2 and 3 use barrier 4 of their own.
  LaunchResult result;
  const auto out = run_block_of(128, with_shared(R"(
    mov.u32 %x0, %tid.x; shr.u32 %x7, %x0, 5; mov.u32 %x1, data; mov.u32 %r, 0;
    setp.eq.u32 %p0, %x7, 0; setp.eq.u32 %p1, %x7, 1;
    @%p0 bra PRODUCE; @%p1 bra CONSUME;
    bar.sync 4, 64; mov.u32 %r, 4; bra DONE;
PRODUCE: shl.b32 %x2, %x0, 2; add.u32 %x2, %x1, %x2; st.shared.u32 [%x2], %x0; bar.arrive 3, 64; mov.u32 %r, 1000; bra DONE;
CONSUME: bar.sync 3, 64; xor.b32 %x2, %x0, 63; shl.b32 %x2, %x2, 2; add.u32 %x2, %x1, %x2; ld.shared.u32 %r, [%x2];
DONE:)"),
                                &result);
  for (u32 t = 0; t < 128; ++t) EXPECT_EQ(out[t], t < 32 ? 1000 : t < 64 ? t ^ 63u : 4) << t;
  EXPECT_TRUE(result.record.findings.empty());
}

TEST(Barrier, ReductionsSeeAllThreads) {
  const auto out = run_block_of(80, per_thread_kernel(R"(
    mov.u32 %x0, %tid.x; rem.u32 %x1, %x0, 3; setp.eq.u32 %p0, %x1, 0; setp.lt.u32 %p1, %x0, 80; setp.eq.u32 %p2, %x0, 79;
    bar.red.popc.u32 %x2, 0, %p0; bar.red.popc.u32 %x3, 0, !%p0; bar.red.and.pred %p3, 0, %p1; bar.red.and.pred %p4, 0, %p0;
    bar.red.or.pred %p5, 0, %p2; bar.red.or.pred %p6, 1, !%p1;
    selp.u32 %x4, 1, 0, %p3; selp.u32 %x5, 2, 0, %p4; selp.u32 %x6, 4, 0, %p5; selp.u32 %x7, 8, 0, %p6;
    or.b32 %r, %x4, %x5; or.b32 %r, %r, %x6; or.b32 %r, %r, %x7; shl.b32 %x2, %x2, 8; shl.b32 %x3, %x3, 16; or.b32 %r, %r, %x2; or.b32 %r, %r, %x3;)"));
  for (u32 t = 0; t < 80; ++t) EXPECT_EQ(out[t], (1u | 4u) | 27u << 8 | 53u << 16) << t;
}

TEST(Barrier, ReductionsCountThreadsOfPartsOfAWarp) {
  // Lanes come in three parts, one of them by another instruction.
  const auto out = run_block_of(32, per_thread_kernel(R"(
    mov.u32 %x0, %tid.x; setp.lt.u32 %p0, %x0, 7; setp.lt.u32 %p1, %x0, 20; setp.ge.u32 %p2, %x0, 0;
    @%p0 bra A; @%p1 bra B; barrier.red.popc.u32 %r, 0, %p2; bra DONE;
A:  barrier.red.popc.u32 %r, 0, !%p2; add.u32 %r, %r, 100; bra DONE;
B:  barrier.red.popc.u32 %r, 0, %p2; add.u32 %r, %r, 200;
DONE:)"));
  for (u32 t = 0; t < 32; ++t) EXPECT_EQ(out[t], 25u + (t < 7 ? 100 : t < 20 ? 200 : 0)) << t;
}

TEST(Barrier, ExitedThreadsAreNotWaitedFor) {
  LaunchResult result;
  const auto out = run_block_of(100, per_thread_kernel(R"(
    mov.u32 %x0, %tid.x; mov.u32 %r, 5; and.b32 %x1, %x0, 1; setp.eq.u32 %p0, %x1, 1; setp.ge.u32 %p1, %x0, 64;
    @%p0 ret; bar.sync 0; @%p1 bra LATE; bar.sync 0; mov.u32 %r, 6; bra DONE;
LATE: st.global.u32 [%to], %x0; ret;
DONE:)"),
                                &result);
  for (u32 t = 0; t < 100; ++t) EXPECT_EQ(out[t], t % 2 ? 0 : t >= 64 ? t : 6) << t;
}

TEST(Barrier, ExitCompletesABarrierThatOthersWaitAt) {
  // Warp 0 waits; warp 1 spends time, then exits without coming.
  const auto out = run_block_of(64, per_thread_kernel(R"(
    mov.u32 %x0, %tid.x; setp.ge.u32 %p0, %x0, 32; mov.u32 %x1, 0; @%p0 bra WORK; bar.sync 0; mov.u32 %r, 3; bra DONE;
WORK: add.u32 %x1, %x1, 1; setp.lt.u32 %p1, %x1, 100; @%p1 bra WORK; mov.u32 %r, %x1;
DONE:)"));
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 32 ? 3 : 100) << t;
}

TEST(Barrier, PartOfAWarpAtAnAlignedBarrierIsAFinding) {
  LaunchResult result;
  run_block_of(32, per_thread_kernel(R"(
    mov.u32 %r, 1; mov.u32 %x0, %tid.x; setp.lt.u32 %p0, %x0, 10; @%p0 bra A; bar.sync 0; bra DONE;
A:  bar.sync 0;
DONE:)"),
               &result);
  const views::Finding* f = find_finding(result, "D614");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->count, 1u);  // the part that came later finds the others waiting, too
  EXPECT_GT(f->ptx_line, 0);
}

TEST(Barrier, GuardedBarrierIsSkippedByLanesThatAreOff) {
  const auto out = run_block_of(64, per_thread_kernel(R"(
    mov.u32 %x0, %tid.x; mov.u32 %r, 1; setp.ge.u32 %p0, %x0, 32; @%p0 bar.sync 1, 32; @%p0 mov.u32 %r, 2;)"));
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 32 ? 1 : 2) << t;
}

TEST(Barrier, DeadlockIsAFault) {
  Machine m;
  m.load(per_thread_kernel(R"(
    mov.u32 %r, 1; mov.u32 %x0, %tid.x; setp.ge.u32 %p0, %x0, 32; @%p0 bra A; bar.sync 0; bra DONE;
A:  bar.sync 1;
DONE:)"));
  const auto out = m.zeros(256);
  const LaunchResult r = m.run("k", {3, 1, 1}, {64, 1, 1}, out);
  EXPECT_EQ(r.outcome, Outcome::kHang);
  EXPECT_EQ(r.record.fault.code, "D612");
  EXPECT_EQ(r.record.state, views::LaunchState::kFaulted);
  EXPECT_EQ(r.record.fault.block, (std::array<u32, 3>{0, 0, 0}));
  EXPECT_EQ(r.record.fault.instruction, "bar.sync");
  EXPECT_TRUE(r.record.sites.empty());
  EXPECT_TRUE(r.record.frames.empty());
}

TEST(Barrier, NumbersEndAt15) {
  Machine m;
  m.load(per_thread_kernel("mov.u32 %r, 1; mov.u32 %x0, %tid.x; add.u32 %x0, %x0, 16; bar.sync %x0;"));
  const LaunchResult r = m.run("k", {1, 1, 1}, {1, 1, 1}, m.zeros(4));
  EXPECT_EQ(r.outcome, Outcome::kIllegalInstruction);
  EXPECT_EQ(r.record.fault.code, "D613");
}

TEST(Barrier, NumberMayBeAConstantRegister) {
  // The register holds a constant for good, so it has no slot: the barrier must still be executed.
  const auto out = run_block_of(64, with_shared(R"(
    mov.u32 %x9, 2; mov.u32 %x0, %tid.x; mov.u32 %x1, data; shl.b32 %x2, %x0, 2; add.u32 %x2, %x1, %x2; st.shared.u32 [%x2], %x0;
    bar.sync %x9; xor.b32 %x3, %x0, 32; shl.b32 %x3, %x3, 2; add.u32 %x3, %x1, %x3; ld.shared.u32 %r, [%x3];)"));
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t ^ 32u) << t;
}

}  // namespace
}  // namespace muscope::exec::testing
