// What ends a launch early: bad addresses, misalignment, traps, unsupported instructions; and what is told about it.
#include <sys/resource.h>

#include <fstream>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// k(a): %i global thread, %t thread; the body may use %a and registers.
std::string kernel(std::string_view body, std::string_view declarations = "") {
  return std::string(declarations) + R"(
.visible .entry k(.param .u64 a)
{ .reg .b32 %t, %i, %r<16>; .reg .b64 %a, %l<16>; .reg .pred %p<8>; .reg .b16 %h<4>;
  ld.param.u64 %a, [a]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %r0, %r1, %t; mul.wide.u32 %l0, %i, 4; add.u64 %l0, %a, %l0;
)" + std::string(body) +
         "\n ret; }\n";
}

struct Faulted {
  LaunchResult result;
  const views::FaultRecord& fault() const { return result.record.fault; }
};
Faulted run(std::string_view body, u64 bytes = 4096, Dim3 grid = {2, 1, 1}, Dim3 block = {64, 1, 1},
            std::string_view declarations = "") {
  Machine m;
  m.load(kernel(body, declarations));
  return {m.run("k", grid, block, m.zeros(bytes))};
}

void expect_no_counts(const LaunchResult& r) {
  EXPECT_TRUE(r.record.sites.empty());
  EXPECT_TRUE(r.record.frames.empty());
  EXPECT_EQ(r.record.state, views::LaunchState::kFaulted);
}

TEST(Fault, FarOutOfBoundsNamesThreadAndInstruction) {
  // Thread 33 of block 1 goes far away.
  const Faulted f =
      run("setp.eq.u32 %p0, %i, 97; mov.u64 %l1, 0x100000000; @%p0 add.u64 %l0, %l0, %l1; ld.global.u32 %r2, [%l0]; "
          "st.global.u32 [%l0], %r2;");
  EXPECT_EQ(f.result.outcome, Outcome::kIllegalAddress);
  EXPECT_EQ(f.fault().code, "D601");
  EXPECT_EQ(f.fault().block, (std::array<u32, 3>{1, 0, 0}));
  EXPECT_EQ(f.fault().thread, (std::array<u32, 3>{33, 0, 0}));
  EXPECT_EQ(f.fault().instruction, "ld.global.u32");
  EXPECT_GT(f.fault().ptx_line, 0);
  EXPECT_NE(f.fault().text.find("global load of 4 bytes"), std::string::npos) << f.fault().text;
  expect_no_counts(f.result);
}

TEST(Fault, ThreadIndexIsThreeDimensional) {
  const Faulted f = run(
      "mov.u32 %r2, %tid.z; mov.u32 %r3, %tid.y; mov.u32 %r5, %ctaid.y; setp.eq.u32 %p0, %r2, 1; setp.eq.and.u32 %p0, "
      "%r3, 2, %p0; setp.eq.and.u32 %p0, %t, 3, %p0; setp.eq.and.u32 %p0, %r5, 1, %p0; @%p0 st.global.u32 [0], %r2;",
      4096, {3, 2, 1}, {4, 4, 2});
  EXPECT_EQ(f.fault().code, "D601");
  EXPECT_EQ(f.fault().block, (std::array<u32, 3>{0, 1, 0}));
  EXPECT_EQ(f.fault().thread, (std::array<u32, 3>{3, 2, 1}));
  EXPECT_NE(f.fault().text.find("null"), std::string::npos) << f.fault().text;
}

TEST(Fault, AddressesNearTheEndsDoNotWrap) {
  // p[-1] of a null pointer, and its like with wider accesses; alone and after an access that was good.
  for (const char* access :
       {"ld.global.u32 %r2, [%l1];", "st.global.u32 [%l1], %r2;", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%l1];",
        "ld.global.u8 %r2, [%l1];", "ld.u64 %l2, [%l1];", "atom.global.add.u32 %r2, [%l1], 1;",
        "red.global.add.u64 [%l1], %l2;", "ld.const.u32 %r2, [%l1];"})
    for (const char* address : {"mov.u64 %l1, -4;", "mov.u64 %l1, -16;", "mov.u64 %l1, -1;", "mov.u64 %l1, -8;",
                                "setp.eq.u32 %p0, %t, 5; selp.u64 %l1, -16, %l0, %p0;"}) {
      const Faulted f = run(std::string("ld.global.u32 %r2, [%l0]; ") + address + access, 4096, {1, 1, 1}, {32, 1, 1},
                            ".const .u32 c[4];");
      EXPECT_TRUE(f.result.outcome == Outcome::kIllegalAddress || f.result.outcome == Outcome::kMisaligned)
          << access << address << f.fault().text;
      EXPECT_TRUE(f.fault().code == "D601" || f.fault().code == "D602") << f.fault().code;
    }
}

TEST(Fault, Misaligned) {
  struct Case {
    const char* access;
    const char* space;
    u32 bytes;
  };
  for (const Case& c : {Case{"ld.global.u32 %r2, [%l0+2];", "global", 4},
                        {"st.global.u64 [%l0], %l1;", "global", 8},
                        {"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%l0+4];", "global", 16},
                        {"ld.shared.u32 %r2, [%t];", "shared", 4},
                        {"st.local.u16 [%l3], %h1;", "local", 2},
                        {"atom.global.add.u64 %l2, [%l0], 1;", "global", 8},
                        {"atom.shared.cas.b32 %r2, [%t], 0, 1;", "shared", 4},
                        {"ld.u32 %r2, [%l0+1];", "global", 4}}) {
    const Faulted f =
        run(std::string(".local .align 8 .b8 mine[16]; mov.u64 %l3, mine; add.u64 %l3, %l3, 1; ") + c.access, 8192,
            {1, 1, 1}, {64, 1, 1}, ".shared .align 4 .b8 tile[256];");
    EXPECT_EQ(f.result.outcome, Outcome::kMisaligned) << c.access << f.fault().text;
    EXPECT_EQ(f.fault().code, "D602");
    EXPECT_NE(f.fault().text.find(c.space), std::string::npos) << f.fault().text;
    EXPECT_NE(f.fault().text.find("not aligned to " + std::to_string(c.bytes)), std::string::npos) << f.fault().text;
    expect_no_counts(f.result);
  }
  // The first lane that is: lane 0 of `ld.global.u64 [a + 4 * i]` is aligned.
  EXPECT_EQ(run("st.global.u64 [%l0], %l1;").fault().thread[0], 1u);
}

TEST(Fault, SharedAndLocalOutOfRange) {
  for (const char* access :
       {"ld.shared.u32 %r2, [%r3];", "st.shared.u32 [%r3], %r2;", "atom.shared.add.u32 %r2, [%r3], 1;"}) {
    const Faulted f = run(std::string("mov.u32 %r3, tile; shl.b32 %r4, %t, 2; add.u32 %r3, %r3, %r4; ") + access, 4096,
                          {1, 1, 1}, {64, 1, 1}, ".shared .align 4 .b8 tile[200];");
    EXPECT_EQ(f.fault().code, "D601") << access;
    EXPECT_EQ(f.fault().thread[0], 50u);
    EXPECT_NE(f.fault().text.find("200 bytes of shared memory"), std::string::npos) << f.fault().text;
  }
  const Faulted f =
      run(".local .align 4 .b8 mine[64]; mov.u64 %l1, mine; mul.wide.u32 %l2, %t, 4; add.u64 %l1, %l1, %l2; "
          "st.local.u32 [%l1], %t;",
          4096, {1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(f.fault().code, "D601");
  EXPECT_EQ(f.fault().thread[0], 16u);
  EXPECT_NE(f.fault().text.find("local"), std::string::npos);
}

TEST(Fault, PastTheEndInsideTheGranuleIsAFinding) {
  Machine m;
  m.load(kernel("ld.global.u32 %r2, [%l0]; add.u32 %r2, %r2, 1; st.global.u32 [%l0], %r2;"));
  const u64 a = m.zeros(400);  // 100 elements for 128 threads
  const LaunchResult r = m.run_ok("k", {2, 1, 1}, {64, 1, 1}, a);
  const views::Finding* f = find_finding(r, "D610");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->count, 28u);
  EXPECT_NE(f->text.find("0 bytes past the end"), std::string::npos) << f->text;
  u32 findings = 0;
  for (const views::Finding& each : r.record.findings) findings += each.code == "D610";
  EXPECT_EQ(findings, 2u) << "one for the load, one for the store";
  EXPECT_EQ(m.read<u32>(a + 396), 1u);
  EXPECT_EQ(m.read<u32>(a + 508), 1u);
}

TEST(Fault, FreedMemory) {
  Machine m;
  m.load(kernel("ld.global.u32 %r2, [%l0];"));
  const u64 a = m.zeros(u64{4} << 20);
  ASSERT_TRUE(m.memory().release(a));
  const LaunchResult r = m.run("k", {1, 1, 1}, {32, 1, 1}, a);
  EXPECT_EQ(r.outcome, Outcome::kIllegalAddress);
}

TEST(Fault, EarlierBlocksAreFinishedLaterOnesHaveNoOutput) {
  for (unsigned threads : {1u, 2u, 4u}) {
    Machine m(Machine::with_threads(threads));
    m.load(kernel("setp.eq.u32 %p0, %r0, 20; @%p0 trap; st.global.u32 [%l0], 1;"));
    const u64 a = m.zeros(4 * 64 * 100);
    const LaunchResult r = m.run("k", {100, 1, 1}, {64, 1, 1}, a);
    EXPECT_EQ(r.outcome, Outcome::kTrap);
    EXPECT_EQ(r.record.fault.code, "D608");
    EXPECT_EQ(r.record.fault.block[0], 20u);
    const auto v = m.read<u32>(a, 64 * 21);
    for (u32 i = 0; i < 64 * 20; ++i) ASSERT_EQ(v[i], 1u) << threads;
    for (u32 i = 64 * 20; i < 64 * 21; ++i) ASSERT_EQ(v[i], 0u);
    expect_no_counts(r);
  }
}

TEST(Fault, UnsupportedInstructionsMatterOnlyWhenReached) {
  const char* body =
      "setp.gt.u32 %p0, %i, 1000; @!%p0 bra GOOD; wgmma.commit_group.sync.aligned;\nGOOD: st.global.u32 [%l0], 5;";
  const Faulted good = run(body);
  EXPECT_EQ(good.result.outcome, Outcome::kOk) << good.fault().text;
  const Faulted bad = run(body, 8192, {20, 1, 1});
  EXPECT_EQ(bad.result.outcome, Outcome::kUnsupported);
  EXPECT_EQ(bad.fault().code, "D609");
  EXPECT_EQ(bad.fault().block[0], 15u);
  EXPECT_EQ(bad.fault().thread[0], 41u);
  EXPECT_NE(bad.fault().text.find("wgmma.commit_group.sync.aligned"), std::string::npos);
}

TEST(Fault, CallOfAMissingFunction) {
  const char* declarations = ".extern .func (.param .b32 r) helper(.param .b32 a);";
  const char* body =
      "setp.lt.u32 %p0, %i, 5000; @%p0 bra GOOD; { .param .b32 x; .param .b32 y; st.param.b32 [x], %i; call.uni (y), "
      "helper, (x); ld.param.b32 %r2, [y]; }\nGOOD: st.global.u32 [%l0], 5;";
  EXPECT_EQ(run(body, 4096, {2, 1, 1}, {64, 1, 1}, declarations).result.outcome, Outcome::kOk);
  const Faulted bad = run(body, 4 * 64 * 100, {100, 1, 1}, {64, 1, 1}, declarations);
  EXPECT_EQ(bad.fault().code, "D609");
  EXPECT_NE(bad.fault().text.find("helper"), std::string::npos);
}

TEST(Fault, SwitchIndexOutOfRange) {
  const Faulted f =
      run("and.b32 %r2, %t, 3;\nT: .branchtargets A, B, C;\nbrx.idx %r2, T;\nA: add.u32 %r3, %r3, 1;\nB: add.u32 %r3, "
          "%r3, 1;\nC: st.global.u32 [%l0], %r3;");
  EXPECT_EQ(f.result.outcome, Outcome::kIllegalInstruction);
  EXPECT_EQ(f.fault().code, "D605");
  EXPECT_EQ(f.fault().thread[0], 3u);
}

TEST(Fault, IndirectCallOfNoFunction) {
  const Faulted f =
      run("mov.u64 %l1, 0x1234; { .param .b32 y; P: .callprototype (.param .b32 _) _ (); call (y), %l1, (), P; "
          "ld.param.b32 %r2, [y]; }");
  EXPECT_EQ(f.result.outcome, Outcome::kInvalidPc);
  EXPECT_EQ(f.fault().code, "D606");
}

TEST(Fault, EndlessRecursion) {
  for (const char* work : {"", ".reg .b32 %r<3>; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1;"}) {
    const Faulted f = run("call.uni deep;", 4096, {1, 1, 1}, {32, 1, 1},
                          std::string(".func deep;\n.func deep { ") + work + " call.uni deep; ret; }");
    EXPECT_EQ(f.result.outcome, Outcome::kIllegalAddress);
    EXPECT_EQ(f.fault().code, "D607");
  }
}

TEST(Fault, ConstantsAndParametersOutOfRange) {
  for (const char* access :
       {"mov.u64 %l1, table; mul.wide.u32 %l2, %t, 4; add.u64 %l1, %l1, %l2; ld.const.u32 %r2, [%l1];",
        "mov.b64 %l1, a; mul.wide.u32 %l2, %t, 4; add.u64 %l1, %l1, %l2; ld.param.u32 %r2, [%l1];"}) {
    const Faulted f = run(access, 4096, {1, 1, 1}, {64, 1, 1}, ".const .align 4 .u32 table[4];");
    EXPECT_EQ(f.fault().code, "D601") << access;
    EXPECT_EQ(f.fault().thread[0], access[8] == ' ' ? 4u : f.fault().thread[0]);
  }
}

// The block's memory is refused on the engine's own thread: the launch ends, the process does not.
TEST(Fault, MemoryThatThisMachineDoesNotHave) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "allocators of sanitizers end the process";
#endif
  Machine m;
  m.load(kernel("st.global.u32 [%l0], %t;"));
  const u64 out = m.zeros(4096);
  m.run_ok("k", {2, 1, 1}, {64, 1, 1}, out);  // its threads are there
  LaunchRequest request = m.request("k", {2, 1, 1}, {64, 1, 1}, out);
  request.dynamic_shared = 3'000'000'000;
  u64 pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit less = before;
  less.rlim_cur = pages * 4096 + (u64{1} << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
  const Faulted f{m.run(request)};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(f.result.outcome, Outcome::kUnsupported);
  EXPECT_EQ(f.fault().code, "D625");
  expect_no_counts(f.result);
  m.run_ok("k", {2, 1, 1}, {64, 1, 1}, out);
  EXPECT_EQ(m.read<u32>(out, 64)[63], 63u);
}

}  // namespace
}  // namespace muscope::exec::testing
