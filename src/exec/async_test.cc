// Asynchronous copies and barriers in shared memory: data, phases, waiting, deadlock, faults, what is counted.
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr const char* kDeclarations = ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 bar[4];";

std::string kernel(std::string_view body) { return per_thread_kernel(body, kDeclarations); }

struct Ran {
  LaunchResult result;
  std::vector<u32> out;
};

/// k(out) of one block; out has `words` words.
Ran run_text(std::string_view text, u32 threads, std::size_t words) {
  Machine m;
  m.load(text);
  const auto out = m.zeros(4 * words);
  Ran ran;
  ran.result = m.run("k", {1, 1, 1}, {threads, 1, 1}, out);
  ran.out = m.read<u32>(out, words);
  return ran;
}

std::vector<u32> values(std::string_view body, u32 threads, LaunchResult* result = nullptr) {
  Ran ran = run_text(kernel(body), threads, threads);
  EXPECT_EQ(ran.result.outcome, Outcome::kOk) << ran.result.record.fault.text;
  if (result) *result = std::move(ran.result);
  return ran.out;
}

/// A kernel k(out, in): thread t copies into tile[16 t] by `copy` (%x1: that address, %l1: in + 16 t, %x0: t), which
/// held 0xeeeeeeee, and the four words are stored to out.
std::string copy_kernel(std::string_view copy) {
  return std::string(kDeclarations) + R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .b32 %x<16>; .reg .b64 %l<8>; .reg .pred %p<4>;
  ld.param.u64 %l0, [in]; mov.u32 %x0, %tid.x; mul.wide.u32 %l1, %x0, 16; ld.param.u64 %l2, [out]; add.s64 %l2, %l2, %l1;
  add.s64 %l1, %l0, %l1; mov.u32 %x1, tile; shl.b32 %x2, %x0, 4; add.u32 %x1, %x1, %x2;
  mov.u32 %x3, 0xeeeeeeee; st.shared.v4.u32 [%x1], {%x3, %x3, %x3, %x3};
)" + std::string(copy) +
         R"(
  cp.async.wait_all; ld.shared.v4.u32 {%x4, %x5, %x6, %x7}, [%x1]; st.global.v4.u32 [%l2], {%x4, %x5, %x6, %x7}; ret; })";
}

struct Copied {
  std::vector<u32> words;
  LaunchResult result;
};

Copied copy(std::string_view text, u32 threads = 32) {
  Machine m;
  m.load(copy_kernel(text));
  std::vector<u32> in(threads * 8);
  for (u32 i = 0; i < in.size(); ++i) in[i] = 1000 + i;
  const auto from = m.upload(in);
  const auto out = m.zeros(u64{16} * threads);
  Copied copied;
  copied.result = m.run("k", {1, 1, 1}, {threads, 1, 1}, out, from);
  copied.words = m.read<u32>(out, std::size_t{4} * threads);
  return copied;
}

constexpr u32 kOld = 0xeeeeeeeeu;

TEST(AsyncCopy, MovesFourEightAndSixteenBytes) {
  const auto four = copy("cp.async.ca.shared.global [%x1+8], [%l1+4], 4;").words;
  const auto eight = copy("cp.async.ca.shared.global.L2::128B [%x1], [%l1+16], 8; cp.async.commit_group;").words;
  const auto sixteen = copy("cp.async.cg.shared.global [%x1], [%l1], 16; cp.async.wait_group 0;").words;
  for (u32 t = 0; t < 32; ++t) {
    const u32 first = 1000 + 4 * t;
    const auto lane = [&](const std::vector<u32>& v) {
      return std::vector<u32>(v.begin() + 4 * t, v.begin() + 4 * t + 4);
    };
    EXPECT_EQ(lane(four), (std::vector<u32>{kOld, kOld, first + 1, kOld})) << t;
    EXPECT_EQ(lane(eight), (std::vector<u32>{first + 4, first + 5, kOld, kOld})) << t;
    EXPECT_EQ(lane(sixteen), (std::vector<u32>{first, first + 1, first + 2, first + 3})) << t;
  }
}

TEST(AsyncCopy, FillsWithZerosWhatTheSourceDoesNotGive) {
  // 0, 4, 8, 12, 16 and 20 bytes by lane; more than the copy's size is its size.
  const auto sized =
      copy("rem.u32 %x8, %x0, 6; shl.b32 %x8, %x8, 2; cp.async.cg.shared.global [%x1], [%l1], 16, %x8;").words;
  const auto ignored = copy("setp.ge.u32 %p0, %x0, 20; cp.async.ca.shared.global [%x1], [%l1], 8, %p0;").words;
  const auto guarded = copy("setp.ge.u32 %p0, %x0, 20; @%p0 cp.async.ca.shared.global [%x1], [%l1], 4;").words;
  for (u32 t = 0; t < 32; ++t)
    for (u32 w = 0; w < 4; ++w) {
      const u32 source = 1000 + 4 * t + w;
      EXPECT_EQ(sized[4 * t + w], w < t % 6 ? source : 0) << t << ' ' << w;
      EXPECT_EQ(ignored[4 * t + w], w >= 2 ? kOld : t >= 20 ? 0 : source) << t << ' ' << w;
      EXPECT_EQ(guarded[4 * t + w], w == 0 && t >= 20 ? source : kOld) << t << ' ' << w;
    }
}

TEST(AsyncCopy, ReadsNothingWhereNothingIsAskedFor) {
  // The addresses of lanes that copy no byte lie nowhere.
  const Copied copied = copy(
      "setp.eq.u32 %p0, %x0, 3; selp.u32 %x8, 16, 0, %p0; selp.b64 %l3, %l1, 0, %p0; "
      "cp.async.ca.shared.global [%x1], [%l3], 16, %x8;");
  ASSERT_EQ(copied.result.outcome, Outcome::kOk) << copied.result.record.fault.text;
  for (u32 t = 0; t < 32; ++t) EXPECT_EQ(copied.words[4 * t + 1], t == 3 ? 1013u : 0u) << t;
}

const views::SiteCounts* row_of(const LaunchResult& r, trace::Space space, trace::Kind kind) {
  for (const views::SiteCounts& s : r.record.sites)
    if (s.space == space && s.kind == kind) return &s;
  return nullptr;
}

TEST(AsyncCopy, CountsAsALoadAndAStore) {
  const Copied copied = copy(
      "setp.lt.u32 %p0, %x0, 8; selp.u32 %x8, 4, 0, %p0; mul.wide.u32 %l3, %x0, 4; add.s64 %l3, %l0, %l3; "
      "cp.async.ca.shared.global [%x1], [%l3], 4, %x8; setp.gt.u32 %p1, %x0, 99; "
      "@%p1 cp.async.cg.shared.global [%x1], [%l1], 16;");
  const auto* global = row_of(copied.result, trace::Space::kGlobal, trace::Kind::kCopy);
  const auto* shared = row_of(copied.result, trace::Space::kShared, trace::Kind::kCopy);
  const auto* off = row_of(copied.result, trace::Space::kGlobal, trace::Kind::kCopyAround);
  ASSERT_TRUE(global && shared && off);
  // 8 lanes read 32 bytes in a row; all write words 16 bytes apart: 4 lanes share each of 8 banks.
  EXPECT_EQ(global->executed, 1u);
  EXPECT_EQ(global->requests, 1u);
  EXPECT_EQ(global->sectors, 1u);
  EXPECT_EQ(global->lanes, 8u);
  EXPECT_EQ(shared->requests, 1u);
  EXPECT_EQ(shared->wavefronts, 4u);
  EXPECT_EQ(shared->lanes, 32u);
  EXPECT_EQ(off->executed, 1u);
  EXPECT_EQ(off->requests, 0u);
}

TEST(AsyncCopy, Faults) {
  EXPECT_EQ(copy("cp.async.ca.shared.global [%x1], [%l1+4], 8;").result.record.fault.code, "D602");
  EXPECT_EQ(copy("cp.async.ca.shared.global [%x1+4], [%l1], 8;").result.record.fault.code, "D602");
  EXPECT_EQ(copy("cp.async.ca.shared.global [%x1+8192], [%l1], 8;").result.record.fault.code, "D601");
  const Copied far = copy("cp.async.cg.shared.global [%x1], [%l1+1073741824], 16;");
  EXPECT_EQ(far.result.record.fault.code, "D601");
  EXPECT_NE(far.result.record.fault.text.find("global copy of 16 bytes"), std::string::npos)
      << far.result.record.fault.text;
}

TEST(Mbarrier, PhasesEndWhenAllHaveArrived) {
  // Bits of each thread's result: over before its arrival, after its own, after all (of 32, one by one).
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %x0, %tid.x; setp.eq.u32 %p0, %x0, 0; @%p0 mbarrier.init.shared.b64 [%x1], 32; bar.sync 0;
    mbarrier.test_wait.parity.shared.b64 %p1, [%x1], 1; mbarrier.arrive.shared.b64 %l1, [%x1];
    mbarrier.pending_count.b64 %x2, %l1; bar.sync 0; mbarrier.test_wait.shared.b64 %p2, [%x1], %l1;
    mbarrier.test_wait.parity.shared.b64 %p3, [%x1], 0; mbarrier.arrive.shared.b64 %l2, [%x1], 1;
    selp.u32 %x4, 1, 0, %p1; selp.u32 %x5, 2, 0, %p2; selp.u32 %x6, 4, 0, %p3; or.b32 %r, %x4, %x5; or.b32 %r, %r, %x6;
    shl.b32 %x2, %x2, 8; or.b32 %r, %r, %x2;)",
                          32);
  for (u32 t = 0; t < 32; ++t) EXPECT_EQ(out[t], 7u | (32 - t) << 8) << t;
}

TEST(Mbarrier, ItsWordIsTheOneThatPtxasExpects) {
  // mbarrier.init of 5, as ptxas writes it: (2^20 - 5) << 1 and << 11. Two arrivals, then three that end the phase.
  const auto ran = run_text(kernel(R"(
    mov.u32 %x1, bar; mbarrier.init.shared.b64 [%x1], 5; ld.shared.v2.u32 {%x2, %x3}, [%x1];
    mbarrier.arrive.shared.b64 %l1, [%x1], 2; ld.shared.v2.u32 {%x4, %x5}, [%x1];
    mbarrier.arrive.shared.b64 %l1, [%x1], 3; ld.shared.v2.u32 {%x6, %x7}, [%x1];
    st.global.v4.u32 [%out], {%x2, %x3, %x4, %x5}; st.global.v2.u32 [%out+16], {%x6, %x7}; ret;)"),
                            1, 6);
  constexpr u32 kFive = (1u << 20) - 5;
  EXPECT_EQ(ran.out, (std::vector<u32>{kFive << 1, kFive << 11, kFive << 1, (kFive + 2) << 11, kFive << 1,
                                       (kFive << 11) | 0x80000000u}));
}

TEST(Mbarrier, TransactionsHoldAPhaseOpen) {
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %r, 0; mbarrier.init.shared.b64 [%x1], 1;
    mbarrier.arrive.expect_tx.shared.b64 %l1, [%x1], 48; mbarrier.test_wait.shared.b64 %p0, [%x1], %l1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x1], 32; mbarrier.test_wait.shared.b64 %p1, [%x1], %l1;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%x1], 8; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x1], 24;
    mbarrier.test_wait.shared.b64 %p2, [%x1], %l1; mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%x1], 0;
    @%p0 or.b32 %r, %r, 1; @%p1 or.b32 %r, %r, 2; @%p2 or.b32 %r, %r, 4;)",
                          1);
  EXPECT_EQ(out[0], 4u);
}

TEST(Mbarrier, DroppedThreadsAreNotExpectedAgain) {
  // 3 expected; one drops: the first phase needs 3, the next 2.
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %r, 0; mbarrier.init.shared.b64 [%x1], 3;
    mbarrier.arrive_drop.shared.b64 %l1, [%x1]; mbarrier.arrive.shared.b64 %l2, [%x1], 2;
    mbarrier.test_wait.shared.b64 %p0, [%x1], %l1; mbarrier.arrive.shared.b64 %l3, [%x1]; mbarrier.pending_count.b64 %x2, %l3;
    mbarrier.arrive.shared.b64 %l3, [%x1]; mbarrier.test_wait.shared.b64 %p1, [%x1], %l3;
    @%p0 or.b32 %r, %r, 1; @%p1 or.b32 %r, %r, 2; shl.b32 %x2, %x2, 4; or.b32 %r, %r, %x2;)",
                          1);
  EXPECT_EQ(out[0], 3u | 2u << 4);
}

TEST(Mbarrier, CopiesArrive) {
  // .noinc counts as the thread's arrival, without it nothing changes.
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %x0, %tid.x; mov.u32 %r, 0; mbarrier.init.shared.b64 [%x1], 64; bar.sync 0;
    mov.u32 %x2, tile; shl.b32 %x3, %x0, 2; add.u32 %x2, %x2, %x3; cp.async.ca.shared.global [%x2], [%to], 4;
    cp.async.mbarrier.arrive.shared.b64 [%x1]; cp.async.mbarrier.arrive.noinc.shared.b64 [%x1]; bar.sync 0;
    mbarrier.test_wait.parity.shared.b64 %p0, [%x1], 0; selp.u32 %r, 1, 0, %p0;)",
                          64);
  for (const u32 over : out) EXPECT_EQ(over, 1u);
}

/// Warp 0 waits for `phase` of a barrier that warp 1 arrives at after `work` steps; both then read what warp 1 stored.
constexpr const char* kWaitForWarp = R"(
    mov.u32 %x1, bar; mov.u32 %x2, tile; mov.u32 %x0, %tid.x; setp.eq.u32 %p0, %x0, 0; setp.ge.u32 %p1, %x0, 32;
    @%p0 mbarrier.init.shared.b64 [%x1], 32; bar.sync 0; mov.u32 %x3, 0; @%p1 bra WORK;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%x1], 0; @!%p2 bra WAIT; bra READ;
WORK: add.u32 %x3, %x3, 1; setp.lt.u32 %p3, %x3, 50000; @%p3 bra WORK;
    sub.u32 %x4, %x0, 32; shl.b32 %x4, %x4, 2; add.u32 %x4, %x2, %x4; st.shared.u32 [%x4], %x0;
    mbarrier.arrive.shared.b64 %l1, [%x1];
READ: and.b32 %x5, %x0, 31; shl.b32 %x5, %x5, 2; add.u32 %x5, %x2, %x5; ld.shared.u32 %r, [%x5];)";

TEST(Mbarrier, AWaitingWarpSleepsUntilThePhaseEnds) {
  LaunchResult result;
  const auto out = values(kWaitForWarp, 64, &result);
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 32 + 32) << t;
  // 50,000 rounds of 3 instructions by one warp, and no rounds of the other.
  u64 instructions = 0;
  for (const views::FrameCounts& f : result.record.frames) instructions += f.warp_instructions;
  EXPECT_GT(instructions, 150'000u);
  EXPECT_LT(instructions, 150'080u);
}

TEST(Mbarrier, LanesOfOneWarpWaitForEachOther) {
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %x0, %tid.x; mbarrier.init.shared.b64 [%x1], 16; bar.warp.sync 0xffffffff;
    setp.ge.u32 %p1, %x0, 16; mov.u32 %r, 1; @%p1 bra ARRIVE;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%x1], 0; @!%p2 bra WAIT; mov.u32 %r, 2; bra DONE;
ARRIVE: mbarrier.arrive.shared.b64 %l1, [%x1];
DONE:)",
                          32);
  for (u32 t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? 2u : 1u) << t;
}

TEST(Mbarrier, AWaitIsOverOnceItsPhaseWasWhateverFollows) {
  // Thread 0 ends the phase that warp 1 waits for (the last at bar.sync, it goes on first) and makes another barrier of
  // the word at once.
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %x0, %tid.x; setp.eq.u32 %p0, %x0, 0; setp.ge.u32 %p1, %x0, 32; mov.u32 %r, 3;
    @%p0 mbarrier.init.shared.b64 [%x1], 1; bar.sync 0; @!%p1 bra END;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%x1], 0; @!%p2 bra WAIT; bra DONE;
END: @!%p0 bra DONE; mbarrier.arrive.shared.b64 %l1, [%x1]; mbarrier.init.shared.b64 [%x1], 7;
DONE:)",
                          64);
  for (const u32 value : out) EXPECT_EQ(value, 3u);
}

TEST(Mbarrier, AWaitThatGivesUpGoesOn) {
  // 100 looks at a barrier that nobody completes, then something else.
  const auto out = values(R"(
    mov.u32 %x1, bar; mov.u32 %x3, 0; mbarrier.init.shared.b64 [%x1], 99;
WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%x1], 0; add.u32 %x3, %x3, 1; setp.lt.u32 %p3, %x3, 100;
    @%p2 bra DONE; @%p3 bra WAIT;
DONE: mov.u32 %r, %x3;)",
                          64);
  for (const u32 looks : out) EXPECT_EQ(looks, 100u);
}

TEST(Mbarrier, APhaseThatNobodyEndsIsADeadlock) {
  const Ran ran = run_text(kernel(R"(
    mov.u32 %x1, bar; mov.u32 %x0, %tid.x; setp.eq.u32 %p0, %x0, 0; @%p0 mbarrier.init.shared.b64 [%x1], 65; bar.sync 0;
    mov.u32 %r, 0; mbarrier.arrive.expect_tx.shared.b64 %l1, [%x1], 4;
WAIT: mbarrier.try_wait.shared.b64 %p2, [%x1], %l1; @!%p2 bra WAIT;)"),
                           64, 64);
  EXPECT_EQ(ran.result.outcome, Outcome::kHang);
  EXPECT_EQ(ran.result.record.fault.code, "D619");
  EXPECT_NE(ran.result.record.fault.text.find("1 of 65 arrivals and 256 bytes of copies"), std::string::npos)
      << ran.result.record.fault.text;
  EXPECT_NE(ran.result.record.fault.instruction.find("try_wait"), std::string::npos);
}

TEST(Mbarrier, MoreArrivalsThanExpectedAreAFinding) {
  LaunchResult result;
  values(
      "mov.u32 %x1, bar; mov.u32 %r, 0; mbarrier.init.shared.b64 [%x1], 2; mbarrier.arrive.shared.b64 %l1, [%x1], 3;",
      1, &result);
  EXPECT_NE(find_finding(result, "D618"), nullptr);
}

TEST(Mbarrier, Faults) {
  const auto code = [](std::string_view body) { return run_text(kernel(body), 32, 32).result.record.fault.code; };
  EXPECT_EQ(code("mov.u32 %x1, bar; mbarrier.arrive.shared.b64 %l1, [%x1+4]; mov.u32 %r, 0;"), "D602");
  EXPECT_EQ(code("mov.u32 %x1, bar; mbarrier.arrive.shared.b64 %l1, [%x1+65536]; mov.u32 %r, 0;"), "D601");
  EXPECT_EQ(code("mbarrier.init.b64 [%to], 3; mov.u32 %r, 0;"), "D601");  // generic, but not shared
}

TEST(BulkCopy, MovesBytesBothWaysAndCompletesItsBarrier) {
  Machine m;
  m.load(std::string(kDeclarations) + R"(
.visible .entry k(.param .u64 out, .param .u64 in) {
  .reg .b32 %x<16>; .reg .b64 %l<8>; .reg .pred %p<4>;
  ld.param.u64 %l0, [in]; ld.param.u64 %l2, [out]; mov.u32 %x0, %tid.x; mov.u32 %x1, bar; mov.u32 %x2, tile;
  setp.ne.u32 %p0, %x0, 0; @%p0 bra WAIT;
  mbarrier.init.shared.b64 [%x1], 1; fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 %l1, [%x1], 512;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%x2], [%l0], 496, [%x1];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%x2+496], [%l0+16], 16, [%x1];
WAIT: bar.sync 0;
AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [%x1], 0; @!%p1 bra AGAIN;
  @%p0 bra DONE;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%x2+512], [%x2], 512, [%x1];
  cp.async.bulk.global.shared::cta.bulk_group [%l2], [%x2+512], 512; cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
DONE: ret; })");
  std::vector<u32> in(124);
  for (u32 i = 0; i < in.size(); ++i) in[i] = 77 * i;
  const auto from = m.upload(in);
  const auto out = m.zeros(512);
  m.run_ok("k", {1, 1, 1}, {64, 1, 1}, out, from);
  const auto got = m.read<u32>(out, 128);
  for (u32 i = 0; i < 128; ++i) EXPECT_EQ(got[i], i < 124 ? 77 * i : 77 * (i - 120)) << i;
}

TEST(BulkCopy, WholeUnitsOnly) {
  const auto code = [](std::string_view copy) {
    const std::string body =
        "mov.u32 %r, 0; mov.u32 %x1, bar; mov.u32 %x2, tile; mbarrier.init.shared.b64 [%x1], 1; "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes " +
        std::string(copy) + ", [%x1];";
    return run_text(kernel(body), 1, 64).result.record.fault.code;
  };
  EXPECT_EQ(code("[%x2], [%out], 24"), "D602");
  EXPECT_EQ(code("[%x2+8], [%out], 16"), "D602");
  EXPECT_EQ(code("[%x2], [%out+4], 16"), "D602");
  EXPECT_EQ(code("[%x2+4080], [%out], 1048576"), "D601");
}

}  // namespace
}  // namespace muscope::exec::testing
