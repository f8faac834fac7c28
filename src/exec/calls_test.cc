// Calls: direct, nested, recursive, indirect with several targets, structures, registers as parameters, exits inside.
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::vector<u32> run(std::string_view body, std::string_view functions, u32 threads = 64,
                     LaunchResult* result = nullptr) {
  Machine m;
  m.load(per_thread_kernel(body, functions));
  const auto out = m.zeros(4 * threads);
  const LaunchResult r = m.run_ok("k", {1, 1, 1}, {threads, 1, 1}, out);
  if (result) *result = r;
  return m.read<u32>(out, threads);
}

// As deep as the argument says, with an array in local memory and 40 registers in each frame.
TEST(Calls, RecursionHasTheRoomThatTheProgramAsksFor) {
  Machine m;
  m.load(R"(
.func (.param .b32 v) deep(.param .b32 a)
{ .reg .b32 %r<40>; .reg .pred %p; .local .align 4 .b8 mine[64]; ld.param.b32 %r1, [a]; st.local.u32 [mine+60], %r1;
  mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra LEAF; sub.u32 %r3, %r1, 1;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r3; call.uni (y), deep, (x); ld.param.b32 %r2, [y]; }
LEAF: ld.local.u32 %r4, [mine+60]; add.u32 %r2, %r2, %r4; st.param.b32 [v], %r2; ret; }
.visible .entry k(.param .u64 out, .param .u32 n)
{ .reg .b32 %r<4>; .reg .b64 %l; ld.param.u32 %r1, [n]; ld.param.u64 %l, [out];
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), deep, (x); ld.param.b32 %r2, [y]; }
  st.global.u32 [%l], %r2; ret; })");
  const auto out = m.zeros(4);
  const auto outcome = [&](u32 depth, u32 stack) {
    LaunchRequest request = m.request("k", {1, 1, 1}, {1, 1, 1}, out, depth);
    request.stack_bytes = stack;
    return m.run(std::move(request)).outcome;
  };
  EXPECT_EQ(outcome(50, 0), Outcome::kOk);
  EXPECT_EQ(m.read<u32>(out), 50u * 51 / 2);
  EXPECT_EQ(outcome(2000, 1024), Outcome::kIllegalAddress);
  EXPECT_EQ(outcome(2000, 256 << 10), Outcome::kOk);
  EXPECT_EQ(m.read<u32>(out), 2000u * 2001 / 2);
}

TEST(Calls, NestedWithLocals) {
  // Each function keeps an array of its own across a call of another.
  const auto out =
      run("{ .param .b32 a; .param .b32 v; st.param.b32 [a], %i; call.uni (v), outer, (a); ld.param.b32 %r, [v]; }", R"(
.func (.param .b32 v) inner(.param .b32 a)
{ .reg .b32 %r<4>; .local .align 4 .b8 mine[8]; ld.param.b32 %r1, [a]; st.local.u32 [mine], %r1; st.local.u32 [mine+4], 1000; ld.local.u32 %r2, [mine]; mul.lo.u32 %r2, %r2, %r2; st.param.b32 [v], %r2; ret; }
.func (.param .b32 v) outer(.param .b32 a)
{ .reg .b32 %r<8>; .reg .b64 %l<4>; .local .align 4 .b8 mine[8]; ld.param.b32 %r1, [a]; st.local.u32 [mine], %r1; add.u32 %r2, %r1, 1; mov.u64 %l1, mine; st.local.u32 [%l1+4], %r2;
  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), inner, (x); ld.param.b32 %r3, [y]; }
  ld.local.u32 %r4, [mine]; ld.local.u32 %r5, [%l1+4]; add.u32 %r6, %r4, %r5; add.u32 %r6, %r6, %r3; st.param.b32 [v], %r6; ret; })");
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t + (t + 1) + (t + 1) * (t + 1));
}

TEST(Calls, RecursionOfDifferentDepths) {
  const auto out =
      run("{ .param .b32 a; .param .b32 v; and.b32 %x1, %i, 15; st.param.b32 [a], %x1; call.uni (v), fib, (a); "
          "ld.param.b32 %r, [v]; }",
          R"(
.func (.param .b32 v) fib(.param .b32 a)
{ .reg .b32 %r<8>; .reg .pred %p<2>; ld.param.b32 %r1, [a]; setp.lt.u32 %p0, %r1, 2; @%p0 bra SMALL;
  add.u32 %r2, %r1, -1; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call.uni (y), fib, (x); ld.param.b32 %r3, [y]; }
  add.u32 %r4, %r1, -2; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r4; call.uni (y), fib, (x); ld.param.b32 %r5, [y]; }
  add.u32 %r1, %r3, %r5;
SMALL: st.param.b32 [v], %r1; ret; })");
  u32 fib[16] = {0, 1};
  for (int k = 2; k < 16; ++k) fib[k] = fib[k - 1] + fib[k - 2];
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], fib[t & 15]);
}

TEST(Calls, IndirectWithSeveralTargets) {
  LaunchResult result;
  const auto out = run(R"(
    mov.u64 %l1, one; mov.u64 %l2, two; mov.u64 %l3, three; rem.u32 %x1, %i, 3; setp.eq.u32 %p1, %x1, 0; setp.eq.u32 %p2, %x1, 1; selp.u64 %l4, %l1, %l3, %p1; selp.u64 %l4, %l2, %l4, %p2;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    { .param .b32 a; .param .b32 v; st.param.b32 [a], %i; call (v), %l4, (a), P; ld.param.b32 %r, [v]; }
    activemask.b32 %x2; setp.ne.u32 %p3, %x2, -1; @%p3 mov.u32 %r, 0;)",
                       R"(
.func (.param .b32 v) one(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 100; st.param.b32 [v], %r1; ret; }
.func (.param .b32 v) two(.param .b32 a) { .reg .b32 %r<4>; .reg .b64 %l<4>; ld.param.b32 %r1, [a]; cvt.u64.u32 %l1, %r1; mul.lo.u64 %l2, %l1, 3; cvt.u32.u64 %r2, %l2; st.param.b32 [v], %r2; ret; }
.func (.param .b32 v) three(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a]; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), two, (x); ld.param.b32 %r2, [y]; } add.u32 %r2, %r2, 7; st.param.b32 [v], %r2; ret; })",
                       64, &result);
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 3 == 0 ? t + 100 : t % 3 == 1 ? 3 * t : 3 * t + 7) << t;
}

TEST(Calls, FunctionTablesInMemory) {
  const auto out = run(R"(
    and.b32 %x1, %i, 1; mul.wide.u32 %l1, %x1, 8; mov.u64 %l2, table; add.u64 %l2, %l2, %l1; ld.global.u64 %l3, [%l2];
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    { .param .b32 a; .param .b32 v; st.param.b32 [a], %i; call (v), %l3, (a), P; ld.param.b32 %r, [v]; })",
                       R"(
.func (.param .b32 v) up(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 1; st.param.b32 [v], %r1; ret; }
.func (.param .b32 v) down(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a]; sub.u32 %r1, 1000, %r1; st.param.b32 [v], %r1; ret; }
.global .align 8 .u64 table[2] = {up, down};)");
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t & 1 ? 1000 - t : t + 1);
}

TEST(Calls, StructuresAndArraysAsParameters) {
  const auto out = run(R"(
    { .param .align 8 .b8 s[16]; .param .align 4 .b8 v[12]; st.param.b32 [s], %i; cvt.u64.u32 %l1, %i; mul.lo.u64 %l1, %l1, 0x100000001; st.param.b64 [s+8], %l1; call.uni (v), work, (s); ld.param.b32 %x1, [v]; ld.param.b32 %x2, [v+4]; ld.param.b32 %x3, [v+8]; }
    mad.lo.u32 %r, %x2, 1000, %x1; add.u32 %r, %r, %x3;)",
                       R"(
.func (.param .align 4 .b8 v[12]) work(.param .align 8 .b8 s[16])
{ .reg .b32 %r<8>; .reg .b64 %l<4>; ld.param.b32 %r1, [s]; ld.param.b64 %l1, [s+8]; mov.b64 {%r2, %r3}, %l1; st.param.b32 [v], %r1; add.u32 %r4, %r2, 1; st.param.b32 [v+4], %r4;
  mov.b64 %l2, s; ld.param.b32 %r5, [%l2+12]; st.param.b32 [v+8], %r5; ret; })");
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], (t + 1) * 1000 + t + t);
}

TEST(Calls, RegistersAsParametersAndResults) {
  // The result is computed before a long stretch that needs registers of its own, and one result is a constant.
  const auto out =
      run("call (%x1, %x2), work, (%i, 5); mad.lo.u32 %r, %x2, 10000, %x1; call (%h1), small, (); cvt.u32.u16 %x3, "
          "%h1; add.u32 %r, %r, %x3;",
          R"(
.func (.reg .b32 %u, .reg .b32 %v) work(.reg .b32 %a, .reg .b32 %b)
{ .reg .b32 %r<12>; mul.lo.u32 %u, %a, %b; mov.u32 %v, 3; add.u32 %r1, %a, 1; add.u32 %r2, %r1, %b; mul.lo.u32 %r3, %r2, %r1; xor.b32 %r4, %r3, %r2; st.shared.u32 [scratch], %r4; ret; }
.func (.reg .b16 %v) small() { mov.u16 %v, 900; ret; }
.shared .align 4 .b8 scratch[4];)");
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], 30000 + 5 * t + 900);
}

TEST(Calls, GuardedCallsAtALabel) {
  // The loop's head is the guarded call itself: lanes must reach its guard, not its inside.
  const auto out = run(R"(
    mov.u32 %r, 0; mov.u32 %x1, 0; and.b32 %x2, %i, 3; setp.eq.u32 %p0, %x2, 0;
LOOP: @%p0 call bump, ();
    add.u32 %x1, %x1, 1; setp.lt.u32 %p1, %x1, 3; @%p1 bra LOOP; mov.u32 %x3, tile; shl.b32 %x4, %i, 2; add.u32 %x3, %x3, %x4; ld.shared.u32 %r, [%x3];)",
                       R"(
.shared .align 4 .b8 tile[256];
.func bump() { .reg .b32 %r<8>; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; ld.shared.u32 %r4, [%r3]; add.u32 %r4, %r4, 1; st.shared.u32 [%r3], %r4; ret; })");
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 4 == 0 ? 3u : 0u);
}

TEST(Calls, LanesReturnAtDifferentTimesAndJoinAfterTheCall) {
  const auto out = run("{ .param .b32 a; st.param.b32 [a], %i; call.uni work, (a); } activemask.b32 %r;", R"(
.func work(.param .b32 a)
{ .reg .b32 %r<8>; .reg .pred %p<4>; ld.param.b32 %r1, [a]; and.b32 %r2, %r1, 3; setp.eq.u32 %p0, %r2, 0; @%p0 ret; mov.u32 %r3, 0;
LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra LOOP; setp.eq.u32 %p2, %r2, 2; @%p2 ret; add.u32 %r3, %r3, 1; ret; })");
  for (u32 v : out) EXPECT_EQ(v, 0xffffffffu);
}

TEST(Calls, ExitInsideAFunctionEndsTheThread) {
  const auto out =
      run("st.global.u32 [%to], 5; { .param .b32 a; st.param.b32 [a], %i; call.uni work, (a); } mov.u32 %r, 6;", R"(
.func work(.param .b32 a) { .reg .b32 %r<4>; .reg .pred %p<2>; ld.param.b32 %r1, [a]; and.b32 %r1, %r1, 1; setp.eq.u32 %p0, %r1, 1; @%p0 exit; ret; })");
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(out[t], t & 1 ? 5u : 6u);
}

TEST(Calls, WaitingInsideDifferentFunctionsKeepsRegisters) {
  // Half of a warp waits inside one function for a flag that the other half sets inside another, which uses registers
  // of another width at the same depth.
  std::string many;
  for (int k = 0; k < 10; ++k)
    many += "mul.lo.u64 %l" + std::to_string(k + 2) + ", %l" + std::to_string(k + 1) + ", 0x100000003; ";
  const auto out =
      run(R"(
    setp.ge.u32 %p0, %i, 16; @%p0 bra B;
    { .param .b32 a; .param .b32 v; st.param.b32 [a], %i; call.uni (v), wait, (a); ld.param.b32 %r, [v]; } bra DONE;
B:  { .param .b32 a; .param .b32 v; st.param.b32 [a], %i; call.uni (v), work, (a); ld.param.b32 %r, [v]; }
DONE:)",
          R"(
.shared .align 4 .b8 flag[4];
.func (.param .b32 v) wait(.param .b32 a)
{ .reg .b32 %r<12>; .reg .pred %p<2>; ld.param.b32 %r1, [a]; mul.lo.u32 %r2, %r1, 3; mul.lo.u32 %r3, %r1, 5; mul.lo.u32 %r4, %r1, 7; mul.lo.u32 %r5, %r1, 9;
SPIN: ld.volatile.shared.u32 %r6, [flag]; setp.eq.u32 %p0, %r6, 0; @%p0 bra SPIN; add.u32 %r7, %r2, %r3; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r5; st.param.b32 [v], %r7; ret; }
.func (.param .b32 v) work(.param .b32 a)
{ .reg .b32 %r<4>; .reg .b64 %l<16>; ld.param.b32 %r1, [a]; cvt.u64.u32 %l1, %r1; )" +
              many + R"( cvt.u32.u64 %r2, %l11; st.volatile.shared.u32 [flag], 1; st.param.b32 [v], %r2; ret; })",
          32);
  for (u32 t = 0; t < 32; ++t) {
    u64 l = t;
    for (int k = 0; k < 10; ++k) l *= 0x100000003ull;
    EXPECT_EQ(out[t], t < 16 ? 24 * t : static_cast<u32>(l)) << t;
  }
}

}  // namespace
}  // namespace muscope::exec::testing
