// Clusters: registers, the barrier, shared memory of other blocks, remote mbarriers, copies to several blocks, faults.
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;

struct Ran {
  LaunchResult result;
  std::vector<u32> out;
};

/// k(out) with `words` words of zeros.
Ran run_text(std::string_view text, Dim3 grid, Dim3 block, Dim3 cluster, std::size_t words, unsigned threads = 1) {
  Machine m(Machine::with_threads(threads));
  m.load(text);
  const auto out = m.zeros(4 * words);
  LaunchRequest request = m.request("k", grid, block, out);
  request.cluster = cluster;
  Ran ran;
  ran.result = m.run(std::move(request));
  ran.out = m.read<u32>(out, words);
  return ran;
}

std::vector<u32> values(std::string_view text, Dim3 grid, Dim3 block, Dim3 cluster, std::size_t words,
                        unsigned threads = 1) {
  Ran ran = run_text(text, grid, block, cluster, words, threads);
  EXPECT_EQ(ran.result.outcome, Outcome::kOk) << ran.result.record.fault.code << ran.result.record.fault.text;
  return ran.out;
}

TEST(Cluster, Registers) {
  const char* text = R"(.visible .entry k(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %l<4>; .reg .pred %p;
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x; mad.lo.u32 %r0, %r1, %r2, %r0;
    ld.param.u64 %l0, [out]; mul.wide.u32 %l1, %r0, 32; add.u64 %l0, %l0, %l1;
    mov.u32 %r3, %cluster_ctarank; st.global.u32 [%l0], %r3;
    mov.u32 %r3, %cluster_nctarank; st.global.u32 [%l0+4], %r3;
    mov.u32 %r3, %clusterid.x; st.global.u32 [%l0+8], %r3;
    mov.u32 %r3, %clusterid.y; st.global.u32 [%l0+12], %r3;
    mov.u32 %r3, %nclusterid.x; st.global.u32 [%l0+16], %r3;
    mov.u32 %r3, %cluster_ctaid.y; st.global.u32 [%l0+20], %r3;
    mov.u32 %r3, %cluster_nctaid.y; st.global.u32 [%l0+24], %r3;
    mov.pred %p, %is_explicit_cluster; selp.u32 %r3, 1, 0, %p; st.global.u32 [%l0+28], %r3; ret; })";
  // Block (3, 1) of 4x2 in clusters of 2x2.
  const auto out = values(text, {4, 2, 1}, {1, 1, 1}, {2, 2, 1}, 64);
  EXPECT_EQ(std::vector<u32>(out.begin() + 56, out.end()), (std::vector<u32>{3, 4, 1, 0, 2, 1, 2, 1}));
  // Block (2, 1) of the same grid without.
  const auto plain = values(text, {4, 2, 1}, {1, 1, 1}, {0, 0, 0}, 64);
  EXPECT_EQ(std::vector<u32>(plain.begin() + 48, plain.begin() + 56), (std::vector<u32>{0, 1, 2, 1, 4, 0, 1, 0}));
}

/// Every block writes its rank, reads its neighbour's word and then stores into it.
constexpr const char* kRing = R"(.shared .align 4 .b8 word[128];
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %l<8>;
  mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %tid.x; mov.u32 %r3, word;
  shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4; mad.lo.u32 %r6, %r0, 100, %r2; st.shared.u32 [%r5], %r6;
  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  add.u32 %r7, %r0, 1; rem.u32 %r7, %r7, %r1; mapa.shared::cluster.u32 %r8, %r5, %r7; ld.shared::cluster.u32 %r9, [%r8];
  cvt.u64.u32 %l0, %r5; cvta.shared.u64 %l0, %l0; mapa.u64 %l1, %l0, %r7; ld.u32 %r10, [%l1]; add.u32 %r9, %r9, %r10;
  barrier.cluster.arrive; barrier.cluster.wait;
  st.shared::cluster.u32 [%r8], %r9;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.shared.u32 %r11, [%r5];
  mov.u32 %r12, %ctaid.x; shl.b32 %r12, %r12, 5; add.u32 %r12, %r12, %r2; mul.wide.u32 %l2, %r12, 4;
  ld.param.u64 %l3, [out]; add.u64 %l3, %l3, %l2; st.global.u32 [%l3], %r11; ret; })";

TEST(Cluster, MemoryOfOtherBlocks) {
  for (const u32 size : {1u, 2u, 4u, 8u})
    for (const unsigned threads : {1u, 3u}) {
      const auto out = values(kRing, {16, 1, 1}, {32, 1, 1}, {size, 1, 1}, 512, threads);
      // What a block finds at the end was stored by the one before it, which had read this block's own words twice.
      for (u32 b = 0; b < 16; ++b)
        for (u32 t = 0; t < 32; ++t)
          ASSERT_EQ(out[32 * b + t], 2 * (b % size * 100 + t)) << size << " " << b << " " << t;
    }
}

TEST(Cluster, AtomicsOnOtherBlocks) {
  const auto out = values(R"(.shared .align 8 .b64 sum[2];
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %l<8>; .reg .pred %p; .reg .f32 %f<4>;
  mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %tid.x; mov.u32 %r2, sum; mapa.shared::cluster.u32 %r3, %r2, 1;
  barrier.cluster.arrive; barrier.cluster.wait;
  atom.shared::cluster.add.u32 %r4, [%r3], %r1; red.shared::cluster.max.u32 [%r3+4], %r4;
  mov.u64 %l0, sum; cvta.shared.u64 %l0, %l0; mapa.u64 %l0, %l0, 1; mov.f32 %f0, 0f3F000000; red.add.f32 [%l0+8], %f0;
  barrier.cluster.arrive; barrier.cluster.wait;
  mad.lo.u32 %r5, %r0, 8, 0; setp.ne.u32 %p, %r1, 0; @%p ret;
  ld.param.u64 %l1, [out]; mul.wide.u32 %l2, %r0, 12; add.u64 %l1, %l1, %l2;
  ld.shared.u32 %r6, [sum]; st.global.u32 [%l1], %r6; ld.shared.u32 %r6, [sum+4]; st.global.u32 [%l1+4], %r6;
  ld.shared.u32 %r6, [sum+8]; st.global.u32 [%l1+8], %r6; ret; })",
                          {2, 1, 1}, {64, 1, 1}, {2, 1, 1}, 6);
  const float sum = 64.0f;
  u32 bits;
  std::memcpy(&bits, &sum, 4);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[3], 2u * 64 * 63 / 2);
  EXPECT_EQ(out[4], 2u * 64 * 63 / 2 - 63);  // before the last addition, of block 1's lane 31 of warp 1
  EXPECT_EQ(out[5], bits);
}

TEST(Cluster, LeaversDoNotHoldOthersUp) {
  const auto out = values(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %l<4>; .reg .pred %p;
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; setp.gt.u32 %p, %r0, %r1; @%p exit;
  barrier.cluster.arrive; ld.param.u64 %l0, [out]; red.global.add.u32 [%l0], 1; barrier.cluster.wait;
  ld.volatile.global.u32 %r2, [%l0]; mul.wide.u32 %l1, %r1, 4; add.u64 %l1, %l0, %l1; st.global.u32 [%l1+4], %r2; ret; })",
                          {4, 1, 1}, {64, 1, 1}, {4, 1, 1}, 5);
  // Blocks keep 1, 2, 3 and 4 threads; all of them have added before one goes on... except those that left.
  EXPECT_EQ(out[0], 10u);
  EXPECT_EQ(out[4], 10u);
}

TEST(Cluster, RemoteBarriersAndStores) {
  const auto out = values(R"(.shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar;
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %l<8>; .reg .pred %p, %q;
  mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, bar; mov.u32 %r3, tile; mov.u32 %r4, %tid.x;
  setp.eq.u32 %p, %r4, 0; @%p mbarrier.init.shared::cta.b64 [%r2], 33;
  @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
  barrier.cluster.arrive; barrier.cluster.wait;
  mapa.shared::cluster.u32 %r5, %r2, %r1; mapa.shared::cluster.u32 %r6, %r3, %r1; shl.b32 %r7, %r4, 3; add.u32 %r6, %r6, %r7;
  mad.lo.u32 %r8, %r0, 1000, %r4;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r6], {%r8, %r4}, [%r5];
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
again: mbarrier.try_wait.parity.shared::cta.b64 %q, [%r2], 0; @!%q bra again;
  add.u32 %r9, %r3, %r7; ld.shared.v2.u32 {%r10, %r11}, [%r9]; add.u32 %r10, %r10, %r11;
  ld.param.u64 %l0, [out]; mov.u32 %r12, %ctaid.x; mad.lo.u32 %r12, %r12, 32, %r4; mul.wide.u32 %l1, %r12, 4;
  add.u64 %l0, %l0, %l1; st.global.u32 [%l0], %r10; barrier.cluster.arrive; barrier.cluster.wait; ret; })",
                          {4, 1, 1}, {32, 1, 1}, {2, 1, 1}, 128);
  for (u32 b = 0; b < 4; ++b)
    for (u32 t = 0; t < 32; ++t) ASSERT_EQ(out[32 * b + t], (1 - b % 2) * 1000 + 2 * t) << b << " " << t;
}

TEST(Cluster, CopiesToSeveralBlocks) {
  const auto out = values(R"(.shared .align 128 .b8 tile[128]; .shared .align 8 .b64 bar;
.global .align 16 .b32 from[32] = {7, 8, 9, 10};
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %l<8>; .reg .pred %p, %q; .reg .b16 %h;
  mov.u32 %r0, %cluster_ctarank; mov.u32 %r2, bar; mov.u32 %r3, tile; mov.u32 %r4, %tid.x; setp.eq.u32 %p, %r4, 0;
  @%p mbarrier.init.shared::cta.b64 [%r2], 1; @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.eq.u32 %q, %r0, 1; and.pred %q, %q, %p; mov.u16 %h, 5; mov.u64 %l2, from;
  @%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%l2], 16, [%r2], %h;
  setp.eq.u32 %q, %r0, 1; @%q bra done;
again: mbarrier.try_wait.parity.shared::cta.b64 %q, [%r2], 0; @!%q bra again;
done: shl.b32 %r5, %r4, 2; add.u32 %r5, %r3, %r5; ld.shared.u32 %r6, [%r5];
  ld.param.u64 %l0, [out]; mad.lo.u32 %r12, %r0, 4, %r4; mul.wide.u32 %l1, %r12, 4; add.u64 %l0, %l0, %l1;
  st.global.u32 [%l0], %r6; barrier.cluster.arrive; barrier.cluster.wait; ret; })",
                          {3, 1, 1}, {4, 1, 1}, {3, 1, 1}, 12);
  EXPECT_EQ(out, (std::vector<u32>{7, 8, 9, 10, 0, 0, 0, 0, 7, 8, 9, 10}));
}

TEST(Cluster, FaultsAreThoseOfAnH200) {
  const auto outcome = [](std::string_view access, u32 rank) {
    const std::string text =
        ".shared .align 4 .b8 word[16];\n.visible .entry k(.param .u64 out) { .reg .b32 %r<4>;\n"
        "mov.u32 %r0, word; mapa.shared::cluster.u32 %r1, %r0, " +
        std::to_string(rank) + ";\n" + "barrier.cluster.arrive; barrier.cluster.wait;\n" + std::string(access) +
        "\nbarrier.cluster.arrive; barrier.cluster.wait; ret; }";
    const Ran ran = run_text(text, {2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 1);
    return std::pair(ran.result.outcome, ran.result.record.fault.code);
  };
  EXPECT_EQ(outcome("ld.shared::cluster.u32 %r2, [%r1];", 1), std::pair(Outcome::kOk, std::string()));
  EXPECT_EQ(outcome("ld.shared::cluster.u32 %r2, [%r1];", 2), std::pair(Outcome::kTrap, std::string("D622")));
  EXPECT_EQ(outcome("st.shared::cluster.u32 [%r1], %r1;", 2), std::pair(Outcome::kTrap, std::string("D622")));
  EXPECT_EQ(outcome("atom.shared::cluster.add.u32 %r2, [%r1], 1;", 2), std::pair(Outcome::kTrap, std::string("D622")));
  EXPECT_EQ(outcome("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", 2),
            std::pair(Outcome::kTrap, std::string("D622")));
  EXPECT_EQ(outcome("ld.shared::cta.u32 %r2, [%r1];", 1), std::pair(Outcome::kIllegalInstruction, std::string("D622")));
  EXPECT_EQ(outcome("ld.shared::cluster.u32 %r2, [%r1+1048576];", 1),
            std::pair(Outcome::kIllegalAddress, std::string("D601")));
  EXPECT_EQ(outcome("ld.shared::cluster.u32 %r2, [%r1+2];", 1), std::pair(Outcome::kMisaligned, std::string("D602")));
}

TEST(Cluster, ThreadsThatDoNotComeAreADeadlock) {
  const Ran ran = run_text(R"(.visible .entry k(.param .u64 out) { .reg .b32 %r0; .reg .pred %p;
  mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p, %r0, 1; @%p bra other; barrier.cluster.arrive; barrier.cluster.wait; ret;
other: mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 16; @%p bra one; bar.sync 1, 64; ret;
one: bar.sync 2, 64; ret; })",
                           {2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 1);
  EXPECT_EQ(ran.result.outcome, Outcome::kHang);
  EXPECT_EQ(ran.result.record.fault.code, "D612");
}

TEST(Cluster, MisusedBarriersAreNoted) {
  const Ran ran = run_text(".visible .entry k(.param .u64 out) { barrier.cluster.wait; ret; }", {2, 1, 1}, {32, 1, 1},
                           {2, 1, 1}, 1);
  EXPECT_EQ(ran.result.outcome, Outcome::kOk);
  EXPECT_NE(find_finding(ran.result, "D620"), nullptr);
}

TEST(Cluster, MemoryOfEndedBlocksIsNoted) {
  const Ran ran = run_text(R"(.shared .align 4 .b8 word[16];
.visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .pred %p;
  mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p, %r0, 0; @%p exit;
  mov.u32 %r1, word; mapa.shared::cluster.u32 %r1, %r1, 0; ld.shared::cluster.u32 %r2, [%r1]; ret; })",
                           {2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 1);
  EXPECT_EQ(ran.result.outcome, Outcome::kOk);
  EXPECT_NE(find_finding(ran.result, "D621"), nullptr);
}

}  // namespace
}  // namespace muscope::exec::testing
