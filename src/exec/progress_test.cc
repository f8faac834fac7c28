// Forward progress: lanes, warps and blocks that wait for each other, and what ends a wait that never ends.
#include <thread>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr const char* kHeader = R"(.visible .entry k(.param .u64 out, .param .u64 sync)
{ .reg .b32 %i, %t, %b, %n, %r<32>; .reg .b64 %out, %sync, %at, %l<16>; .reg .pred %p<16>;
  ld.param.u64 %out, [out]; ld.param.u64 %sync, [sync]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
  mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %at, %i, 4; add.u64 %at, %out, %at;
)";

struct Outcomes {
  LaunchResult result;
  std::vector<u32> out, sync;
};
Outcomes run(std::string_view body, u32 blocks, u32 threads, EngineOptions options = Machine::one_thread(),
             std::string_view gpu = "h200") {
  Machine m(options, gpu);
  m.load(std::string(kHeader) + std::string(body) + "\n ret; }");
  const u64 out = m.zeros(u64{4} * blocks * threads), sync = m.zeros(4096);
  Outcomes o;
  o.result = m.run("k", {blocks, 1, 1}, {threads, 1, 1}, out, sync);
  o.out = m.read<u32>(out, std::size_t{blocks} * threads);
  o.sync = m.read<u32>(sync, 1024);
  return o;
}

EngineOptions impatient() {
  EngineOptions options = Machine::one_thread();
  options.hang_seconds = 20;
  options.max_steps = 200'000'000;
  return options;
}

/// sync[0] is the lock, sync[1] the counter that it protects.
TEST(Progress, LockPerLaneInOneWarp) {
  const Outcomes o = run(R"(
SPIN: atom.global.cas.b32 %r1, [%sync], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
  ld.volatile.global.u32 %r2, [%sync+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%sync+4], %r2; membar.gl;
  atom.global.exch.b32 %r3, [%sync], 0; st.global.u32 [%at], %r2;)",
                         2, 64, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  EXPECT_EQ(o.sync[1], 128u);
  std::vector<u32> sorted = o.out;
  std::sort(sorted.begin(), sorted.end());
  for (u32 k = 0; k < 128; ++k) EXPECT_EQ(sorted[k], k + 1);
}

TEST(Progress, LockWhoseWaitersStoreMeanwhile) {
  // Each round of waiting stores a statistic, so the waiters never look idle.
  const Outcomes o = run(R"(
  mov.u32 %r5, 0;
SPIN: add.u32 %r5, %r5, 1; st.global.u32 [%at], %r5;
  atom.global.cas.b32 %r1, [%sync], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
  ld.volatile.global.u32 %r2, [%sync+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%sync+4], %r2; membar.gl;
  atom.global.exch.b32 %r3, [%sync], 0;)",
                         1, 32, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  EXPECT_EQ(o.sync[1], 32u);
}

TEST(Progress, LaneWaitsForALaneFurtherOn) {
  // The waiting loop comes first in the text; the store that ends it, after.
  const Outcomes o = run(R"(
  setp.ne.u32 %p0, %t, 3; @%p0 bra WAIT;
  bra SET;
WAIT: ld.volatile.global.u32 %r1, [%sync]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT;
  bra DONE;
SET: st.volatile.global.u32 [%sync], 77; mov.u32 %r1, 78;
DONE: st.global.u32 [%at], %r1;)",
                         1, 32, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  for (u32 t = 0; t < 32; ++t) EXPECT_EQ(o.out[t], t == 3 ? 78u : 77u);
}

TEST(Progress, ValuesOfWaitingLanesSurvive) {
  // While lanes 16 to 31 wait with 32-bit values, the others fill 16-bit registers, whose lanes lie elsewhere in a
  // slot.
  std::string many;
  for (int k = 0; k < 12; ++k) many += " add.u16 %h" + std::to_string(k + 1) + ", %h" + std::to_string(k) + ", 257;";
  const Outcomes o = run(
      R"(
  .reg .b16 %h<16>; .reg .b32 %w<12>;
  setp.ge.u32 %p0, %t, 16; @%p0 bra WAIT;
  cvt.u16.u32 %h0, %t;)" +
          many +
          R"( cvt.u32.u16 %r4, %h12; st.volatile.global.u32 [%sync+4], %r4; st.volatile.global.u32 [%sync], 1; mov.u32 %r9, %r4; bra DONE;
WAIT: mul.lo.u32 %w0, %t, 1000; mul.lo.u32 %w1, %t, 1001; mul.lo.u32 %w2, %t, 1002; mul.lo.u32 %w3, %t, 1003; mul.lo.u32 %w4, %t, 1004;
SPIN: ld.volatile.global.u32 %r1, [%sync]; setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN;
  add.u32 %r9, %w0, %w1; add.u32 %r9, %r9, %w2; add.u32 %r9, %r9, %w3; add.u32 %r9, %r9, %w4;
DONE: st.global.u32 [%at], %r9;)",
      1, 32, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  for (u32 t = 0; t < 32; ++t) EXPECT_EQ(o.out[t], t >= 16 ? t * 5010 : (t + 12 * 257) & 0xffff) << t;
}

TEST(Progress, WarpsThroughASharedFlag) {
  const Outcomes o = run(R"(
  .shared .align 4 .b8 flag[8]; mov.u32 %r8, flag; setp.lt.u32 %p0, %t, 32; @!%p0 bra SET;
WAIT: ld.volatile.shared.u32 %r1, [%r8]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT; bra DONE;
SET: mov.u32 %r1, 9; st.volatile.shared.u32 [%r8], %r1;
DONE: st.global.u32 [%at], %r1;)",
                         2, 64, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  for (u32 v : o.out) EXPECT_EQ(v, 9u);
}

TEST(Progress, LookBack) {
  // Block b adds 3 to what block b - 1 left; blocks pick their number in any order.
  const Outcomes o = run(R"(
  setp.ne.u32 %p0, %t, 0; @%p0 bra DONE; mul.wide.u32 %l1, %b, 4; add.u64 %l2, %sync, %l1;
  setp.eq.u32 %p1, %b, 0; mov.u32 %r1, 0; @%p1 bra GO;
WAIT: ld.acquire.gpu.u32 %r1, [%l2+-4]; setp.eq.u32 %p2, %r1, 0; @!%p2 bra GO; nanosleep.u32 100; bra WAIT;
GO: add.u32 %r1, %r1, 3; st.release.gpu.u32 [%l2], %r1; st.global.u32 [%at], %r1;
DONE:)",
                         500, 32, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  for (u32 b = 0; b < 500; ++b) EXPECT_EQ(o.out[b * 32], 3 * (b + 1));
}

// Every block waits for the last one, as a grid barrier does; all are resident, also where nothing says how many fit.
TEST(Progress, EarlierBlocksWaitForLaterOnes) {
  for (const char* gpu : {"h200", "s4000"}) {
    const Outcomes o = run(R"(  setp.ne.u32 %p0, %t, 0; @%p0 bra DONE; atom.global.add.u32 %r1, [%sync], 1;
WAIT: ld.volatile.global.u32 %r2, [%sync]; setp.lt.u32 %p1, %r2, 200; @%p1 bra WAIT;
  st.global.u32 [%at], %r2;
DONE: bar.sync 0;)",
                           200, 64, impatient(), gpu);
    EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
    for (u32 b = 0; b < 200; ++b) EXPECT_EQ(o.out[b * 64], 200u);
  }
}

TEST(Progress, TicketLockOverBlocks) {
  const Outcomes o = run(R"(
  atom.global.add.u32 %r1, [%sync], 1;
WAIT: ld.volatile.global.u32 %r2, [%sync+4]; setp.ne.u32 %p1, %r1, %r2; @%p1 bra WAIT;
  ld.volatile.global.u32 %r3, [%sync+8]; add.u32 %r3, %r3, %r2; st.volatile.global.u32 [%sync+8], %r3; membar.gl;
  add.u32 %r2, %r2, 1; st.volatile.global.u32 [%sync+4], %r2; st.global.u32 [%at], %r1;)",
                         6, 40, impatient());
  EXPECT_EQ(o.result.outcome, Outcome::kOk) << o.result.record.fault.text;
  EXPECT_EQ(o.sync[1], 240u);
  EXPECT_EQ(o.sync[2], 239u * 240 / 2);
}

constexpr const char* kWaitForever =
    "WAIT: ld.volatile.global.u32 %r1, [%sync]; setp.eq.u32 %p1, %r1, 0; @%p1 bra WAIT; st.global.u32 [%at], %r1;";

TEST(Progress, AHangIsFoundAndPlaced) {
  EngineOptions options = Machine::one_thread();
  options.hang_seconds = 0.1;
  const Outcomes o = run(kWaitForever, 2, 32, options);
  EXPECT_EQ(o.result.outcome, Outcome::kHang);
  EXPECT_EQ(o.result.record.fault.code, "D603");
  EXPECT_FALSE(o.result.record.fault.instruction.empty());
}

TEST(Progress, TheHostMayEndAWait) {
  Machine m(impatient());
  m.load(std::string(kHeader) + kWaitForever + " ret; }");
  const u64 out = m.zeros(128), sync = m.zeros(16);
  const auto handle = m.engine().start(m.request("k", {1, 1, 1}, {32, 1, 1}, out, sync));
  EXPECT_FALSE(handle->wait_ended_or_polling());
  EXPECT_FALSE(handle->ended());
  *static_cast<volatile u32*>(m.memory().host_pointer(sync)) = 5;
  handle->wait_ended();
  EXPECT_TRUE(handle->ended());
  EXPECT_EQ(handle->result().outcome, Outcome::kOk);
  EXPECT_EQ(m.read<u32>(out), 5u);
}

TEST(Progress, StopFlagEndsLoopsAndWaits) {
  for (const char* body : {kWaitForever, "LOOP: add.u32 %r1, %r1, 1; bra LOOP;"}) {
    volatile u32 stop = 0;
    EngineOptions options = Machine::one_thread();
    options.stop = &stop;
    Machine m(options);
    m.load(std::string(kHeader) + body + " ret; }");
    const auto handle = m.engine().start(m.request("k", {1, 1, 1}, {32, 1, 1}, m.zeros(128), m.zeros(16)));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(handle->ended());
    stop = 1;
    handle->wait_ended();
    EXPECT_EQ(handle->result().outcome, Outcome::kStopped);
    EXPECT_EQ(handle->result().record.fault.code, "D604");
    EXPECT_EQ(handle->result().record.state, views::LaunchState::kStopped);
  }
}

// A run that is stopped waits for 2 seconds: instructions of tensor cores may take that long together.
TEST(Progress, StopFlagIsSeenAfterFewInstructions) {
  const std::string count = "add.u32 %r1, %r1, 1; st.global.u32 [%at], %r1; bra LOOP;";
  for (const auto& [barrier, most] : {std::pair{"", 10'000u}, std::pair{"bar.sync 0;", 500u}}) {
    volatile u32 stop = 1;
    EngineOptions options = Machine::one_thread();
    options.stop = &stop;
    Machine m(options);
    m.load(std::string(kHeader) + "mov.u32 %r1, 0; LOOP: " + barrier + count + " ret; }");
    const u64 out = m.zeros(512);
    const auto handle = m.engine().start(m.request("k", {1, 1, 1}, {128, 1, 1}, out, m.zeros(16)));
    handle->wait_ended();
    EXPECT_EQ(handle->result().record.fault.code, "D604");
    EXPECT_LT(m.read<u32>(out), most) << barrier;
  }
}

TEST(Progress, BudgetEndsAnEndlessLoop) {
  EngineOptions options = Machine::one_thread();
  options.max_steps = 10'000;
  const Outcomes o = run("mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; bra LOOP;", 1, 32, options);
  EXPECT_EQ(o.result.outcome, Outcome::kHang);
  EXPECT_EQ(o.result.record.fault.code, "D603");
  EXPECT_GT(o.result.record.fault.ptx_line, 0);
}

TEST(Progress, BudgetCountsManySmallBlocks) {
  // About 13 instructions in each of 1,000 warps.
  EngineOptions options = Machine::one_thread();
  options.max_steps = 5'000;
  EXPECT_EQ(run("st.global.u32 [%at], 1;", 1000, 32, options).result.outcome, Outcome::kHang);
  options.max_steps = 50'000;
  EXPECT_EQ(run("st.global.u32 [%at], 1;", 1000, 32, options).result.outcome, Outcome::kOk);
}

TEST(Progress, LongComputationIsNoWait) {
  // 90 million instructions without a store: neither a hang nor something that the host should go on for.
  EngineOptions options = Machine::one_thread();
  options.hang_seconds = 0.01;
  Machine m(options);
  m.load(std::string(kHeader) +
         "mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 30000000; @%p1 bra LOOP; st.global.u32 "
         "[%at], %r1; ret; }");
  const u64 out = m.zeros(128);
  const auto handle = m.engine().start(m.request("k", {1, 1, 1}, {32, 1, 1}, out, m.zeros(16)));
  EXPECT_TRUE(handle->wait_ended_or_polling());
  EXPECT_EQ(handle->result().outcome, Outcome::kOk);
  EXPECT_EQ(m.read<u32>(out), 30000000u);
}

}  // namespace
}  // namespace muscope::exec::testing
