// What a launch counts: accesses per site for known patterns, executed instructions, and that neither depends on
// threads.
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using views::SiteCounts;

struct Counted {
  LaunchResult result;
  std::shared_ptr<const code::Kernel> kernel;
  /// The counts of the first site whose text begins so.
  SiteCounts at(const std::string& text, trace::Space space = trace::Space::kGlobal) const {
    for (const SiteCounts& s : result.record.sites)
      if (s.space == space && kernel->info.sites[s.site].text.rfind(text, 0) == 0) return s;
    ADD_FAILURE() << "no counts of " << text;
    return {};
  }
  u64 warp_instructions() const {
    u64 n = 0;
    for (const auto& f : result.record.frames) n += f.warp_instructions;
    return n;
  }
};

Counted run(std::string_view body, u32 threads = 32, u32 blocks = 1, std::string_view declarations = "",
            u32 workers = 1) {
  Machine m(Machine::with_threads(workers));
  m.load(per_thread_kernel(body, declarations));
  Counted c;
  c.kernel = m.kernel("k");
  c.result = m.run_ok("k", {blocks, 1, 1}, {threads, 1, 1}, m.zeros(u64{1} << 20));
  return c;
}

TEST(Counts, GlobalPatterns) {
  const auto load = [](const std::string& index, const std::string& form = "u32", const std::string& reg = "%x9") {
    return run(index + " add.u64 %l1, %out, %l1; ld.global." + form + " " + reg + ", [%l1]; mov.u32 %r, 0;", 64)
        .at("ld.global");
  };
  const SiteCounts coalesced = load("mul.wide.u32 %l1, %i, 4;");
  EXPECT_EQ(coalesced.executed, 2u);
  EXPECT_EQ(coalesced.requests, 2u);
  EXPECT_EQ(coalesced.lanes, 64u);
  EXPECT_EQ(coalesced.sectors, 8u);
  EXPECT_EQ(coalesced.ideal_sectors, 8u);
  EXPECT_EQ(coalesced.lines, 2u);
  EXPECT_EQ(coalesced.bytes, 256u);
  EXPECT_EQ(coalesced.worst_cost, 4u);
  EXPECT_EQ(coalesced.worst_warp, 0u);
  EXPECT_EQ(coalesced.worst_mask, 0xffffffffu);
  EXPECT_EQ(coalesced.worst_addresses[1] - coalesced.worst_addresses[0], 4u);
  EXPECT_EQ(load("mul.wide.u32 %l1, %i, 128;").sectors, 64u);
  EXPECT_EQ(load("mul.wide.u32 %l1, %i, 128;").ideal_sectors, 8u);
  EXPECT_EQ(load("mul.wide.u32 %l1, %i, 8;").sectors, 16u);
  EXPECT_EQ(load("mov.u64 %l1, 64;").sectors, 2u);
  EXPECT_EQ(load("mul.wide.u32 %l1, %i, 16;", "v4.u32", "{%x5, %x6, %x7, %x8}").sectors, 32u);
  EXPECT_EQ(load("mul.wide.u32 %l1, %i, 4; add.u64 %l1, %l1, 4;").sectors, 10u);
  EXPECT_EQ(load("cvt.u64.u32 %l1, %i;", "u8", "%h1").sectors, 2u);
  EXPECT_EQ(load("xor.b32 %x1, %i, 21; mul.wide.u32 %l1, %x1, 4;").sectors, 8u);
}

TEST(Counts, PartialWarpsAndGuards) {
  // Lanes off by a branch, and a guard that is false for all lanes of the second warp: executed, but no request.
  const Counted c =
      run("setp.lt.u32 %p1, %i, 20; @%p1 ld.global.u32 %x1, [%to]; mov.u32 %r, 0; setp.ge.u32 %p2, %i, 40; @%p2 bra "
          "SKIP; st.global.u32 [%to], %r;\nSKIP: mov.u32 %r, 1;",
          64);
  const SiteCounts load = c.at("ld.global");
  EXPECT_EQ(load.executed, 2u);
  EXPECT_EQ(load.requests, 1u);
  EXPECT_EQ(load.lanes, 20u);
  EXPECT_EQ(load.sectors, 3u);
  EXPECT_EQ(load.ideal_sectors, 3u);
  const SiteCounts store = c.at("st.global");
  EXPECT_EQ(store.executed, 2u);
  EXPECT_EQ(store.requests, 2u);
  EXPECT_EQ(store.lanes, 40u);
  EXPECT_EQ(store.kind, trace::Kind::kStore);
}

TEST(Counts, SharedConflicts) {
  const auto conflicts = [](u32 stride, const std::string& op = "ld.shared.u32 %x3, [%x2];") {
    return run("mov.u32 %x1, tile; mad.lo.u32 %x2, %i, " + std::to_string(stride) + ", %x1; " + op + " mov.u32 %r, 0;",
               32, 1, ".shared .align 128 .b8 tile[8192];")
        .at(op.substr(0, 9), trace::Space::kShared);
  };
  EXPECT_EQ(conflicts(4).wavefronts, 1u);
  EXPECT_EQ(conflicts(8).wavefronts, 2u);
  EXPECT_EQ(conflicts(128).wavefronts, 32u);
  EXPECT_EQ(conflicts(132).wavefronts, 1u);
  EXPECT_EQ(conflicts(0).wavefronts, 1u);
  EXPECT_EQ(conflicts(128).ideal_wavefronts, 1u);
  EXPECT_EQ(conflicts(16, "ld.shared.v4.u32 {%x3, %x4, %x5, %x6}, [%x2];").wavefronts, 4u);
  EXPECT_EQ(conflicts(64, "st.shared.u32 [%x2], %i;").wavefronts, 16u);
  EXPECT_EQ(conflicts(4).sectors, 0u);
}

TEST(Counts, ConstantsByDistinctWords) {
  const auto requests = [](const std::string& index) {
    return run(index + " mul.wide.u32 %l1, %x1, 4; mov.u64 %l2, table; add.u64 %l2, %l2, %l1; ld.const.u32 %r, [%l2];",
               32, 1, ".const .align 4 .b8 table[1024];")
        .at("ld.const", trace::Space::kConst)
        .requests;
  };
  EXPECT_EQ(requests("mov.u32 %x1, 5;"), 1u);
  EXPECT_EQ(requests("and.b32 %x1, %i, 3;"), 4u);
  EXPECT_EQ(requests("mov.u32 %x1, %i;"), 32u);
}

TEST(Counts, LocalAccessesInterleaveLanes) {
  const Counted c =
      run(".local .align 4 .b8 mine[128]; mov.u64 %l1, mine; st.local.u32 [%l1+8], %i; and.b32 %x1, %i, 7; "
          "mul.wide.u32 %l2, %x1, 4; add.u64 %l2, %l1, %l2; ld.local.u32 %r, [%l2];");
  const SiteCounts uniform = c.at("st.local", trace::Space::kLocal), divergent = c.at("ld.local", trace::Space::kLocal);
  EXPECT_EQ(uniform.sectors, 4u);  // 32 lanes of one offset are neighbours
  EXPECT_EQ(uniform.requests, 1u);
  EXPECT_EQ(divergent.requests, 1u);
  EXPECT_GT(divergent.sectors, 4u);
}

TEST(Counts, GenericAccessesCountWhereTheyGo) {
  const Counted c =
      run("mov.u32 %x1, tile; cvt.u64.u32 %l1, %x1; cvta.shared.u64 %l2, %l1; mul.wide.u32 %l3, %i, 4; add.u64 %l2, "
          "%l2, %l3; setp.lt.u32 %p1, %i, 16; selp.u64 %l4, %l2, %to, %p1; ld.u32 %r, [%l4];",
          32, 1, ".shared .align 128 .b8 tile[128];");
  EXPECT_EQ(c.at("ld.u32", trace::Space::kShared).lanes, 16u);
  EXPECT_EQ(c.at("ld.u32", trace::Space::kGlobal).lanes, 16u);
  EXPECT_EQ(c.at("ld.u32", trace::Space::kGlobal).sectors, 2u);
  EXPECT_TRUE(c.at("ld.u32", trace::Space::kGlobal).generic);
}

TEST(Counts, AtomicsAreAtomsOrReductions) {
  const Counted c =
      run("atom.global.add.u32 %x1, [%out], 1; atom.global.add.u32 %x2, [%out+4], 1; red.global.add.u32 [%to], 1; "
          "mov.u32 %r, %x1;");
  EXPECT_EQ(c.result.record.sites[0].kind, trace::Kind::kAtom);
  EXPECT_EQ(c.result.record.sites[1].kind, trace::Kind::kRed) << "its result is not used";
  EXPECT_EQ(c.at("red.global").kind, trace::Kind::kRed);
  EXPECT_EQ(c.at("red.global").requests, 1u);
}

TEST(Counts, InstructionsPerLineAndKind) {
  Machine m;
  m.load(R"(.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p<2>; .reg .b64 %l<2>;
  .loc 1 10 3
  mov.u32 %r1, %tid.x;
  ld.param.u64 %l1, [out];
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f3F800000;
LOOP:
  .loc 1 11 5
  fma.rn.f32 %f1, %f1, %f1, %f1;
  add.s32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 10;
  @%p1 bra LOOP;
  .loc 1 12 5
  setp.lt.u32 %p0, %r1, 5;
  @%p0 add.f32 %f1, %f1, %f1;
  .loc 1 13 1
  ret;
}
.file 1 "a.cu")");
  const auto kernel = m.kernel("k");
  const LaunchResult r = m.run_ok("k", {3, 1, 1}, {64, 1, 1}, m.zeros(8));
  std::map<int, views::FrameCounts> by_line;
  for (const auto& f : r.record.frames) by_line[kernel->info.frames[f.frame].line] = f;
  EXPECT_EQ(kernel->info.frames[r.record.frames[0].frame].file, "a.cu");
  EXPECT_EQ(by_line[10].warp_instructions, 6u * 4);
  EXPECT_EQ(by_line[11].warp_instructions, 6u * 40);
  EXPECT_EQ(by_line[11].thread_instructions, 192u * 40);
  EXPECT_EQ(by_line[11].by_kind[static_cast<std::size_t>(views::InstructionKind::kFp32Fma)], 1920u);
  EXPECT_EQ(by_line[12].warp_instructions, 6u * 2);
  EXPECT_EQ(by_line[12].thread_instructions, 192u + 3 * 5);
  EXPECT_EQ(by_line[12].by_kind[static_cast<std::size_t>(views::InstructionKind::kFp32Add)], 15u);
  EXPECT_EQ(by_line[13].warp_instructions, 6u);
}

TEST(Counts, DivergenceRunsBothSides) {
  // A branch of two sides: the warp executes both, each thread one.
  const Counted c = run(
      "and.b32 %x1, %i, 1; setp.eq.u32 %p1, %x1, 0; mov.u32 %r, 0; @%p1 bra EVEN; ld.global.u32 %x2, [%to]; add.u32 "
      "%r, %r, 1; bra DONE;\nEVEN: ld.global.f32 %x3, [%to]; add.u32 %r, %r, 2;\nDONE: st.global.u32 [%to], %r;",
      32);
  EXPECT_EQ(c.at("ld.global.u32").lanes, 16u);
  EXPECT_EQ(c.at("ld.global.f32").lanes, 16u);
  EXPECT_EQ(c.at("ld.global.u32").executed, 1u);
  EXPECT_EQ(c.at("st.global.u32").lanes, 32u);
  EXPECT_EQ(c.at("st.global.u32").executed, 1u);
}

TEST(Counts, LoopsOfDifferentLengthsRunAsLongAsTheLongest) {
  // Lane t runs t + 1 rounds: 32 executions of the load, with one lane less each.
  const Counted c =
      run("mov.u32 %x1, 0;\nLOOP: ld.global.u32 %x2, [%to]; add.u32 %x1, %x1, 1; setp.le.u32 %p1, %x1, %i; @%p1 bra "
          "LOOP; mov.u32 %r, %x1;",
          32);
  EXPECT_EQ(c.at("ld.global.u32").executed, 32u);
  EXPECT_EQ(c.at("ld.global.u32").lanes, 32u * 33 / 2);
  EXPECT_EQ(c.at("st.global.u32").executed, 1u);
}

TEST(Counts, NoneWithoutObservation) {
  Machine m;
  m.load(per_thread_kernel("ld.global.u32 %r, [%to];"));
  LaunchRequest request = m.request("k", {1, 1, 1}, {32, 1, 1}, m.zeros(128));
  request.observe = false;
  const LaunchResult r = m.run(request);
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_TRUE(r.record.sites.empty());
  EXPECT_TRUE(r.record.frames.empty());
}

bool same(const SiteCounts& a, const SiteCounts& b) {
  return a.site == b.site && a.space == b.space && a.kind == b.kind && a.generic == b.generic &&
         a.executed == b.executed && a.lanes == b.lanes && a.requests == b.requests && a.sectors == b.sectors &&
         a.ideal_sectors == b.ideal_sectors && a.lines == b.lines && a.bytes == b.bytes &&
         a.wavefronts == b.wavefronts && a.ideal_wavefronts == b.ideal_wavefronts && a.host_sectors == b.host_sectors &&
         a.worst_cost == b.worst_cost && a.worst_mask == b.worst_mask && a.worst_block == b.worst_block &&
         a.worst_warp == b.worst_warp && a.worst_addresses == b.worst_addresses;
}

TEST(Counts, TheSameForAnyNumberOfThreadsAndInEveryRun) {
  // Divergent loops, shared and global accesses, a finding that several blocks make.
  const char* body = R"(
    mul.lo.u32 %x1, %i, 0x9e3779b1; shr.u32 %x2, %x1, 27; mov.u32 %x3, 0; mov.u32 %x4, tile;
LOOP: shr.u32 %x5, %x1, 20; and.b32 %x6, %x5, 31; mad.lo.u32 %x7, %x6, 4, %x4; st.shared.u32 [%x7], %x3; mul.wide.u32 %l1, %x5, 4; add.u64 %l1, %out, %l1; ld.global.u32 %x8, [%l1]; mul.lo.u32 %x1, %x1, 1664525;
    add.u32 %x3, %x3, 1; setp.lt.u32 %p1, %x3, %x2; @%p1 bra LOOP; setp.gt.u32 %p2, %x2, 29; mov.u64 %l2, 0x100000; add.u64 %l3, %out, %l2; @%p2 ld.global.u32 %x9, [%l3+64]; mov.u32 %r, %x3;)";
  LaunchResult first;
  for (const u32 workers : {1u, 2u, 4u, 1u}) {
    Machine m(Machine::with_threads(workers));
    m.load(per_thread_kernel(body, ".shared .align 4 .b8 tile[128];"));
    EXPECT_FALSE(m.kernel("k")->ordered);
    const LaunchResult r = m.run_ok("k", {60, 1, 1}, {96, 1, 1}, m.zeros(u64{1} << 20));
    if (first.record.sites.empty()) {
      first = r;
      ASSERT_NE(find_finding(r, "D610"), nullptr);
      continue;
    }
    ASSERT_EQ(r.record.sites.size(), first.record.sites.size());
    for (std::size_t k = 0; k < r.record.sites.size(); ++k)
      EXPECT_TRUE(same(r.record.sites[k], first.record.sites[k])) << workers << " workers, site " << k;
    ASSERT_EQ(r.record.frames.size(), first.record.frames.size());
    for (std::size_t k = 0; k < r.record.frames.size(); ++k) {
      EXPECT_EQ(r.record.frames[k].warp_instructions, first.record.frames[k].warp_instructions);
      EXPECT_EQ(r.record.frames[k].by_kind, first.record.frames[k].by_kind);
    }
    ASSERT_EQ(r.record.findings.size(), first.record.findings.size());
    for (std::size_t k = 0; k < r.record.findings.size(); ++k) {
      EXPECT_EQ(r.record.findings[k].text, first.record.findings[k].text);
      EXPECT_EQ(r.record.findings[k].count, first.record.findings[k].count);
    }
  }
}

TEST(Counts, ManagedPagesAreCountedWhenFirstTouched) {
  Machine m;
  m.load(
      per_thread_kernel("mul.wide.u32 %l1, %i, 1024; add.u64 %l1, %out, %l1; st.global.u32 [%l1], %i; mov.u32 %r, 5; "
                        "mov.u64 %to, %out;"));
  void* pages = std::aligned_alloc(4096, 65536);
  ASSERT_TRUE(m.memory().add_host(pages, 65536, memory::Kind::kManaged));
  const LaunchResult first = m.run_ok("k", {1, 1, 1}, {64, 1, 1}, reinterpret_cast<u64>(pages));
  EXPECT_EQ(first.record.managed_pages, 16u);
  const LaunchResult second = m.run_ok("k", {1, 1, 1}, {64, 1, 1}, reinterpret_cast<u64>(pages));
  EXPECT_EQ(second.record.managed_pages, 0u);
  m.memory().remove_host(pages);
  std::free(pages);
}

}  // namespace
}  // namespace muscope::exec::testing
