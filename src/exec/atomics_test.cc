// atom and red: every operation and type, in every space, with contention; the same results for any number of threads.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

struct Operation {
  std::string form;  ///< "add.u32"
  unsigned bytes;
  u64 start;
  u64 (*operand)(u32 t);
  std::function<u64(u64 old, u64 b)> apply;
};

u64 small(u32 t) { return t * 7 + 1; }
u64 wild(u32 t) { return (t + 1) * 0x9e3779b97f4a7c15ull; }
u64 wild32(u32 t) { return ((t + 1) * 0x9e3779b97f4a7c15ull) >> 32; }

std::vector<Operation> operations() {
  const auto low = [](auto f) {
    return [f](u64 a, u64 b) -> u64 { return static_cast<u32>(f(static_cast<u32>(a), static_cast<u32>(b))); };
  };
  std::vector<Operation> v;
  for (const char* t : {"u32", "s32"})
    v.push_back({std::string("add.") + t, 4, 100, wild32, low([](u32 a, u32 b) { return a + b; })});
  v.push_back({"add.u64", 8, 100, wild, [](u64 a, u64 b) { return a + b; }});
  v.push_back({"min.u32", 4, 0xf0000000, wild32, low([](u32 a, u32 b) { return std::min(a, b); })});
  v.push_back({"max.u32", 4, 5, wild32, low([](u32 a, u32 b) { return std::max(a, b); })});
  v.push_back(
      {"min.s32", 4, 0, wild32, low([](u32 a, u32 b) { return std::min(static_cast<s32>(a), static_cast<s32>(b)); })});
  v.push_back({"max.s32", 4, 0x80000000, wild32,
               low([](u32 a, u32 b) { return std::max(static_cast<s32>(a), static_cast<s32>(b)); })});
  v.push_back({"min.u64", 8, ~u64{0}, wild, [](u64 a, u64 b) { return std::min(a, b); }});
  v.push_back({"max.s64", 8, u64{1} << 63, wild,
               [](u64 a, u64 b) { return static_cast<u64>(std::max(static_cast<s64>(a), static_cast<s64>(b))); }});
  v.push_back({"min.s64", 8, 0, wild,
               [](u64 a, u64 b) { return static_cast<u64>(std::min(static_cast<s64>(a), static_cast<s64>(b))); }});
  v.push_back({"and.b32", 4, ~u32{0}, wild32, low([](u32 a, u32 b) { return a & b; })});
  v.push_back({"or.b32", 4, 0, wild32, low([](u32 a, u32 b) { return a | b; })});
  v.push_back({"xor.b32", 4, 0, wild32, low([](u32 a, u32 b) { return a ^ b; })});
  v.push_back({"and.b64", 8, ~u64{0}, wild, [](u64 a, u64 b) { return a & b; }});
  v.push_back({"or.b64", 8, 1, wild, [](u64 a, u64 b) { return a | b; }});
  v.push_back({"xor.b64", 8, 1, wild, [](u64 a, u64 b) { return a ^ b; }});
  v.push_back({"inc.u32", 4, 3, [](u32) -> u64 { return 20; }, low([](u32 a, u32 b) { return a >= b ? 0 : a + 1; })});
  v.push_back(
      {"dec.u32", 4, 3, [](u32) -> u64 { return 20; }, low([](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; })});
  v.push_back({"exch.b32", 4, 9, small, [](u64, u64 b) { return b; }});
  v.push_back({"exch.b64", 8, 9, wild, [](u64, u64 b) { return b; }});
  // Sums of small integers are exact in any order.
  v.push_back(
      {"add.f32", 4, std::bit_cast<u32>(1.0f), [](u32 t) -> u64 { return std::bit_cast<u32>(static_cast<float>(t)); },
       low([](u32 a, u32 b) { return std::bit_cast<u32>(std::bit_cast<float>(a) + std::bit_cast<float>(b)); })});
  v.push_back({"add.f64", 8, std::bit_cast<u64>(1.0), [](u32 t) { return std::bit_cast<u64>(t * 0.5); },
               [](u64 a, u64 b) { return std::bit_cast<u64>(std::bit_cast<double>(a) + std::bit_cast<double>(b)); }});
  return v;
}

enum class Where { kGlobal, kShared, kGenericGlobal, kGenericShared };

/// One warp, each lane on the word of its index mod `words`: old values, and the words at the end.
void check(const Operation& op, Where where, u32 words, bool partial, bool result_used) {
  constexpr u32 kThreads = 32;
  const std::string w = op.bytes == 8 ? "64" : "32", reg = op.bytes == 8 ? "%l" : "%r";
  const bool shared = where == Where::kShared || where == Where::kGenericShared;
  const std::string space = where == Where::kGlobal ? ".global" : where == Where::kShared ? ".shared" : "";
  const std::string address = where == Where::kShared ? "%r9" : "%l9";
  const std::string instruction = (result_used ? "atom" : "red") + space + "." + op.form +
                                  (result_used ? " " + reg + "5," : "") + " [" + address + "], " + reg + "6;";
  Machine m;
  m.load(
      R"(.shared .align 8 .b8 tile[1024];
.visible .entry k(.param .u64 old, .param .u64 data, .param .u64 operands)
{ .reg .b32 %t, %r<16>; .reg .b64 %l<16>; .reg .pred %p<4>;
  mov.u32 %t, %tid.x; rem.u32 %r0, %t, )" +
      std::to_string(words) + "; mul.lo.u32 %r1, %r0, " + std::to_string(op.bytes) +
      R"(; cvt.u64.u32 %l1, %r1; ld.param.u64 %l2, [data]; add.u64 %l3, %l2, %l1; mov.u32 %r2, tile; add.u32 %r9, %r2, %r1;
  ld.param.u64 %l4, [operands]; mul.wide.u32 %l7, %t, 8; add.u64 %l4, %l4, %l7; ld.global.b)" +
      w + " " + reg + "6, [%l4]; ld.param.u64 %l8, [old]; add.u64 %l8, %l8, %l7; ld.global.b" + w + " " + reg +
      "10, [%l3]; st.shared.b" + w + " [%r9], " + reg + R"(10; bar.sync 0;
  )" + (where == Where::kGenericShared ? "cvt.u64.u32 %l10, %r9; cvta.shared.u64 %l9, %l10;" : "mov.u64 %l9, %l3;") +
      (partial ? "and.b32 %r3, %t, 5; setp.eq.u32 %p0, %r3, 4; @%p0 bra SKIP; " : "") + instruction +
      (result_used ? " st.global.b" + w + " [%l8], " + reg + "5;" : "") + "\nSKIP: bar.sync 0; " +
      (shared ? "ld.shared.b" + w + " " + reg + "7, [%r9]; st.global.b" + w + " [%l3], " + reg + "7;" : "") +
      " ret; }");
  std::vector<u64> operands;
  for (u32 t = 0; t < kThreads; ++t) operands.push_back(op.operand(t));
  std::vector<std::uint8_t> data(words * op.bytes);
  for (u32 k = 0; k < words; ++k) std::memcpy(&data[k * op.bytes], &op.start, op.bytes);
  const u64 old = m.zeros(8 * kThreads), at = m.upload(data);
  m.run_ok("k", {1, 1, 1}, {kThreads, 1, 1}, old, at, m.upload(operands));
  // Any order of lanes would do; the engine has this one.
  std::vector<u64> want(words, op.start), returned(kThreads, 0);
  for (u32 t = 0; t < kThreads; ++t) {
    if (partial && (t & 5) == 4) continue;
    if (result_used) returned[t] = want[t % words];
    want[t % words] = op.apply(want[t % words], operands[t]);
  }
  const auto end = m.read<std::uint8_t>(at, data.size());
  const auto got = m.read<u64>(old, kThreads);
  const std::string what = instruction + " on " + std::to_string(words) + " words";
  for (u32 k = 0; k < words; ++k) {
    u64 v = 0;
    std::memcpy(&v, &end[k * op.bytes], op.bytes);
    ASSERT_EQ(v, want[k]) << what;
  }
  ASSERT_EQ(got, returned) << what;
}

TEST(Atomics, EveryOperationTypeAndSpace) {
  for (const Operation& op : operations())
    for (const Where where : {Where::kGlobal, Where::kShared, Where::kGenericGlobal, Where::kGenericShared})
      for (const u32 words : {1u, 7u, 32u})
        for (const bool partial : {false, true}) {
          check(op, where, words, partial, true);
          if (op.form.find("exch") == std::string::npos) check(op, where, words, partial, false);
        }
}

TEST(Atomics, CompareAndSwapOf16To64Bits) {
  // Each thread swaps its expected value in: only those that name the current value succeed.
  for (const char* width : {"16", "32", "64"}) {
    const std::string w = width, reg = w == "16" ? "%h" : w == "32" ? "%r" : "%l";
    Machine m;
    m.load(R"(.visible .entry k(.param .u64 out, .param .u64 data)
{ .reg .b32 %t, %r<16>; .reg .b64 %l<16>; .reg .b16 %h<16>;
  mov.u32 %t, %tid.x; cvt.u16.u32 %h1, %t; cvt.u64.u32 %l1, %t; mov.u32 %r1, %t; add.u16 %h2, %h1, 1; add.u64 %l2, %l1, 1; add.u32 %r2, %r1, 1;
  ld.param.u64 %l8, [data]; atom.global.cas.b)" +
           w + " " + reg + "3, [%l8], " + reg + "1, " + reg +
           "2; ld.param.u64 %l9, [out]; mul.wide.u32 %l10, %t, 8; add.u64 %l9, %l9, %l10; st.global.b" + w +
           " [%l9], " + reg + "3; atom.global.cas.b" + w + " " + reg + "4, [%l8+8], 0, " + reg + "2; st.global.b" + w +
           " [%l9+256], " + reg + "4; ret; }");
    const u64 out = m.zeros(512), data = m.zeros(16);
    m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out, data);
    EXPECT_EQ(m.read<u64>(data), 32u) << w;
    EXPECT_EQ(m.read<u64>(data + 8), 1u) << w;
    const auto v = m.read<u64>(out, 64);
    for (u32 t = 0; t < 32; ++t) {
      EXPECT_EQ(v[t], t);
      EXPECT_EQ(v[32 + t], t == 0 ? 0u : 1u);
    }
  }
}

TEST(Atomics, HalvesAndPairs) {
  Machine m;
  m.load(R"(.visible .entry k(.param .u64 data)
{ .reg .b32 %t, %r<8>; .reg .b64 %l<4>; .reg .b16 %h<8>;
  ld.param.u64 %l1, [data]; mov.b32 %r1, 0x3c004000; mov.b32 %r2, 0x3f804000; mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x3f80;
  red.global.add.noftz.f16x2 [%l1], %r1; atom.global.add.noftz.f16x2 %r3, [%l1+4], %r1; red.global.add.noftz.bf16x2 [%l1+8], %r2; red.global.add.noftz.f16 [%l1+12], %h1; atom.global.add.noftz.bf16 %h3, [%l1+14], %h2; ret; })");
  const u64 data = m.zeros(16);
  m.run_ok("k", {1, 1, 1}, {32, 1, 1}, data);
  const auto v = m.read<u32>(data, 4);
  EXPECT_EQ(v[0], 0x50005400u);  // 32, 64
  EXPECT_EQ(v[1], 0x50005400u);
  EXPECT_EQ(v[2], 0x42004280u);
  EXPECT_EQ(v[3], 0x42005000u);
}

TEST(Atomics, GlobalFloatSumsFlushSubnormalsSharedOnesDoNot) {
  Machine m;
  m.load(R"(.shared .align 4 .b8 tile[4];
.visible .entry k(.param .u64 data)
{ .reg .b32 %r<8>; .reg .b64 %l<4>;
  ld.param.u64 %l1, [data]; mov.b32 %r1, 1; atom.global.add.f32 %r2, [%l1], %r1; st.shared.u32 [tile], 0; atom.shared.add.f32 %r3, [tile], %r1; ld.shared.u32 %r4, [tile]; st.global.u32 [%l1+4], %r4;
  mov.b32 %r5, 0x7fc12345; red.global.add.f32 [%l1+8], %r5; ret; })");
  const u64 data = m.upload(std::vector<u32>{0x80000001u, 0, 0x3f800000u});
  m.run_ok("k", {1, 1, 1}, {1, 1, 1}, data);
  EXPECT_EQ(m.read<u32>(data), 0u);
  EXPECT_EQ(m.read<u32>(data + 4), 1u);
  EXPECT_EQ(m.read<u32>(data + 8), 0x7fffffffu);
}

TEST(Atomics, ReturnedValuesArePermutationAndResultsDoNotDependOnThreads) {
  constexpr u32 kThreads = 64, kBlocks = 40;
  std::vector<u32> first;
  std::vector<float> sums;
  for (const unsigned threads : {1u, 2u, 4u}) {
    Machine m(Machine::with_threads(threads));
    m.load(R"(.visible .entry k(.param .u64 out, .param .u64 data)
{ .reg .b32 %t, %i, %r<8>; .reg .b64 %l<8>; .reg .f32 %f<4>;
  mov.u32 %t, %tid.x; mov.u32 %r0, %ctaid.x; mad.lo.u32 %i, %r0, 64, %t; ld.param.u64 %l1, [data]; atom.global.add.u32 %r1, [%l1], 1; ld.param.u64 %l2, [out]; mul.wide.u32 %l3, %i, 4; add.u64 %l2, %l2, %l3; st.global.u32 [%l2], %r1;
  cvt.rn.f32.u32 %f1, %i; mul.f32 %f1, %f1, 0f3DCCCCCD; red.global.add.f32 [%l1+4], %f1; red.global.max.s32 [%l1+8], %i; ret; })");
    const u64 out = m.zeros(4 * kThreads * kBlocks), data = m.zeros(16);
    m.run_ok("k", {kBlocks, 1, 1}, {kThreads, 1, 1}, out, data);
    auto v = m.read<u32>(out, kThreads * kBlocks);
    if (first.empty()) first = v;
    EXPECT_EQ(v, first);
    std::sort(v.begin(), v.end());
    for (u32 k = 0; k < v.size(); ++k) ASSERT_EQ(v[k], k);
    sums.push_back(m.read<float>(data + 4));
    EXPECT_EQ(m.read<u32>(data + 8), kThreads * kBlocks - 1);
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

TEST(Atomics, ReductionsOfParallelBlocksLoseNothing) {
  // No result is used, so blocks run on several threads.
  for (const unsigned threads : {1u, 2u, 4u}) {
    Machine m(Machine::with_threads(threads));
    m.load(R"(.visible .entry k(.param .u64 data)
{ .reg .b32 %t, %r<8>; .reg .b64 %l<8>; .reg .pred %p<2>;
  ld.param.u64 %l1, [data]; mov.u32 %r1, 0; mov.u32 %t, %tid.x; and.b32 %r2, %t, 3; mul.wide.u32 %l2, %r2, 4; add.u64 %l2, %l1, %l2;
LOOP: red.global.add.u32 [%l2], 1; red.global.xor.b32 [%l1+32], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 20; @%p0 bra LOOP; ret; })");
    const u64 data = m.zeros(64);
    EXPECT_FALSE(m.kernel("k")->ordered);
    m.run_ok("k", {200, 1, 1}, {64, 1, 1}, data);
    for (u32 k = 0; k < 4; ++k) EXPECT_EQ(m.read<u32>(data + 4 * k), 200u * 16 * 20);
    EXPECT_EQ(m.read<u32>(data + 32), 0u);
  }
}

TEST(Atomics, GenericOnesReachLocalMemory) {
  // Each thread's own variable, odd threads' in shared memory.
  Machine m;
  m.load(per_thread_kernel(R"(
    .local .align 8 .b32 own[2]; mov.u32 %x0, %tid.x; mov.u64 %l0, own; cvta.local.u64 %l0, %l0; mov.u32 %x1, data;
    mul.wide.u32 %l1, %x0, 4; cvt.u64.u32 %l2, %x1; add.s64 %l2, %l2, %l1; cvta.shared.u64 %l2, %l2;
    and.b32 %x2, %x0, 1; setp.eq.u32 %p0, %x2, 1; selp.b64 %l3, %l2, %l0, %p0; st.u32 [%l3], 100;
    atom.add.u32 %x3, [%l3], %x0; atom.add.u32 %x4, [%l3], 1; mad.lo.u32 %r, %x3, 1000, %x4;)",
                           ".shared .align 4 .b8 data[128];"));
  const auto out = m.zeros(128);
  m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out);
  const auto got = m.read<std::uint32_t>(out, 32);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(got[t], 100'100u + t) << t;
}

struct VectorForm {
  std::string form;  ///< "v4.f32"
  unsigned elements, bytes;
  u32 one, sixty_four;  ///< of the element's type; in both halves of packed ones
};

/// Sums of ones are exact in any order: what each thread finds says how many came before it.
TEST(Atomics, AddVectors) {
  const std::vector<VectorForm> forms = {
      {"v2.f32", 2, 4, 0x3f800000, 0x42800000},         {"v4.f32", 4, 4, 0x3f800000, 0x42800000},
      {"noftz.v2.f16", 2, 2, 0x3c00, 0x5400},           {"noftz.v8.f16", 8, 2, 0x3c00, 0x5400},
      {"noftz.v4.bf16", 4, 2, 0x3f80, 0x4280},          {"noftz.v2.f16x2", 2, 4, 0x3c003c00, 0x54005400},
      {"noftz.v4.bf16x2", 4, 4, 0x3f803f80, 0x42804280}};
  for (const VectorForm& f : forms)
    for (const bool reduces : {false, true}) {
      const std::string type = f.bytes == 2 ? "b16" : "b32";
      std::string old, operands, stores;
      for (unsigned e = 0; e < f.elements; ++e) {
        old += (e ? ", %o" : "{%o") + std::to_string(e);
        operands += (e ? ", %v" : "{%v") + std::to_string(e);
        stores += "st.global." + type + " [%q+" + std::to_string(e * f.bytes) + "], %o" + std::to_string(e) + "; ";
      }
      const unsigned width = f.elements * f.bytes;
      std::string text =
          ".visible .entry k(.param .u64 p, .param .u64 out) { .reg .b64 %p, %q, %a; .reg .u32 %t; .reg ." + type +
          " %o<8>, %v<8>; ld.param.u64 %p, [p]; ld.param.u64 %q, [out]; mov.u32 %t, %tid.x; "
          "mul.wide.u32 %a, %t, " +
          std::to_string(width) + "; add.u64 %q, %q, %a; ";
      for (unsigned e = 0; e < f.elements; ++e)
        text += "mov." + type + " %v" + std::to_string(e) + ", " + std::to_string(f.one) + "; ";
      text += reduces ? "red.global.add." + f.form + " [%p+" + std::to_string(width) + "], " + operands + "}; "
                      : "atom.global.add." + f.form + " " + old + "}, [%p+" + std::to_string(width) + "], " + operands +
                            "}; " + stores;
      Machine m;
      m.load(text + "ret; }", "sm_90");
      const u64 p = m.upload(std::vector<std::uint8_t>(48, 0)),
                out = m.upload(std::vector<std::uint8_t>(std::size_t{64} * width, 0));
      m.run_ok("k", {1, 1, 1}, {64, 1, 1}, p, out);
      const auto memory = m.read<std::uint8_t>(p, 48);
      const auto element = [&](const std::vector<std::uint8_t>& from, std::size_t at) {
        u32 v = 0;
        std::memcpy(&v, from.data() + at, f.bytes);
        return v;
      };
      for (std::size_t at = 0; at + f.bytes <= memory.size(); at += f.bytes)
        EXPECT_EQ(element(memory, at), at >= width && at < 2 * width ? f.sixty_four : 0) << f.form << " " << at;
      const auto found = m.read<std::uint8_t>(out, std::size_t{64} * width);
      std::set<u32> distinct;
      for (std::size_t t = 0; t < 64; ++t) {
        distinct.insert(element(found, t * width));
        for (unsigned e = 1; e < f.elements; ++e)
          EXPECT_EQ(element(found, t * width + e * f.bytes), element(found, t * width)) << f.form;
      }
      EXPECT_EQ(distinct.size(), reduces ? 1u : 64u) << f.form;
    }
}

// f32 flushes subnormals, and a vector lies at a multiple of its size (PTX ISA, "atom").
TEST(Atomics, VectorsAreAlignedAndFlush) {
  const auto text = [](const char* offset) {
    return std::string(
               ".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .b32 %v<2>; ld.param.u64 %p, [p]; "
               "mov.b32 %v0, 1; mov.b32 %v1, 0x40000000; red.global.add.v2.f32 [%p+") +
           offset + "], {%v0, %v1}; ret; }";
  };
  Machine m;
  m.load(text("8"), "sm_90");
  const u64 p = m.upload(std::vector<u32>{0, 0, 2, 0x3f800000, 0, 0, 0, 0});
  m.run_ok("k", {1, 1, 1}, {1, 1, 1}, p);
  EXPECT_EQ(m.read<u32>(p, 4), (std::vector<u32>{0, 0, 0, 0x40400000}));
  Machine odd;
  odd.load(text("4"), "sm_90");
  const u64 q = odd.upload(std::vector<u32>(8, 0));
  EXPECT_EQ(odd.run("k", {1, 1, 1}, {1, 1, 1}, q).outcome, Outcome::kMisaligned);
}

}  // namespace
}  // namespace muscope::exec::testing
