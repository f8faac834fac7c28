// Loads and stores: widths, vectors, signs, spaces, generic addresses, constants and parameters with an index.
#include <numeric>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

constexpr u32 kThreads = 64;

/// A kernel k(out, in): %t thread, %i its permuted index, %o out + 64 * thread, %a in, %lane* for addresses.
std::string kernel(std::string_view body, std::string_view declarations = "") {
  return std::string(declarations) + R"(
.visible .entry k(.param .u64 out, .param .u64 in)
{ .reg .b16 %h<16>; .reg .b32 %t, %i, %r<32>; .reg .b64 %o, %a, %l<32>; .reg .pred %p<8>; .reg .f32 %f<8>; .reg .f64 %d<8>;
  mov.u32 %t, %tid.x; mul.lo.u32 %i, %t, 23; and.b32 %i, %i, 63; ld.param.u64 %o, [out]; mul.wide.u32 %l0, %t, 64; add.u64 %o, %o, %l0; ld.param.u64 %a, [in];
)" + std::string(body) +
         "\n ret; }\n";
}

std::vector<u8> pattern(std::size_t bytes) {
  std::vector<u8> v(bytes);
  for (std::size_t k = 0; k < bytes; ++k) v[k] = static_cast<u8>(k * 167 + (k >> 8) * 59 + 13);
  return v;
}

struct Done {
  std::vector<u64> out;  ///< eight per thread
  std::vector<u8> in;    ///< the input after the run
  LaunchResult result;
};
Done run(std::string_view text, const std::vector<u8>& in = pattern(16384), u32 shared = 0) {
  Machine m;
  m.load(text);
  const u64 out = m.zeros(64 * kThreads), from = m.upload(in);
  LaunchRequest request = m.request("k", {1, 1, 1}, {kThreads, 1, 1}, out, from);
  request.dynamic_shared = shared;
  Done r;
  r.result = m.run(request);
  EXPECT_EQ(r.result.outcome, Outcome::kOk) << r.result.record.fault.text;
  r.out = m.read<u64>(out, 8 * kThreads);
  r.in = m.read<u8>(from, in.size());
  return r;
}

/// `bytes` of the pattern at `at`, extended by sign or zero to 64 bits.
u64 element(const std::vector<u8>& in, std::size_t at, unsigned bytes, bool is_signed) {
  u64 v = 0;
  for (unsigned k = 0; k < bytes; ++k) v |= u64{in[at + k]} << (8 * k);
  if (is_signed && bytes < 8 && (v >> (8 * bytes - 1)) & 1) v |= ~u64{0} << (8 * bytes);
  return v;
}

/// How thread t addresses: by its own number, by a permutation, all alike, backwards, or far apart.
struct Pattern {
  const char* name;
  const char* code;  ///< leaves the element's number in %r0
  u32 (*element)(u32 t);
};
const Pattern kPatterns[] = {{"in order", "mov.u32 %r0, %t;", [](u32 t) { return t; }},
                             {"permuted", "mov.u32 %r0, %i;", [](u32 t) { return t * 23 & 63; }},
                             {"uniform", "mov.u32 %r0, 5;", [](u32) { return 5u; }},
                             {"backwards", "sub.u32 %r0, 63, %t;", [](u32 t) { return 63 - t; }},
                             {"strided", "mul.lo.u32 %r0, %t, 3;", [](u32 t) { return 3 * t; }}};

TEST(Load, EveryWidthSignAndPattern) {
  struct Case {
    const char* type;
    unsigned bytes;
    bool is_signed;
    char reg;  ///< destination: h, r or l
  };
  const Case cases[] = {{"u8", 1, false, 'h'},  {"s8", 1, true, 'h'},   {"b8", 1, false, 'h'},  {"u8", 1, false, 'r'},
                        {"s8", 1, true, 'r'},   {"u8", 1, false, 'l'},  {"s8", 1, true, 'l'},   {"u16", 2, false, 'h'},
                        {"s16", 2, true, 'r'},  {"u16", 2, false, 'r'}, {"s16", 2, true, 'l'},  {"b16", 2, false, 'l'},
                        {"u32", 4, false, 'r'}, {"s32", 4, true, 'l'},  {"u32", 4, false, 'l'}, {"b32", 4, false, 'r'},
                        {"u64", 8, false, 'l'}, {"s64", 8, true, 'l'}};
  for (const Case& c : cases)
    for (const Pattern& p : kPatterns)
      for (const bool partial : {false, true}) {
        const std::string reg = c.reg == 'h' ? "%h1" : c.reg == 'r' ? "%r1" : "%l5";
        const std::string widen =
            c.reg == 'h'   ? std::string("cvt.") + (c.is_signed ? "s64.s16" : "u64.u16") + " %l5, %h1;"
            : c.reg == 'r' ? std::string("cvt.") + (c.is_signed ? "s64.s32" : "u64.u32") + " %l5, %r1;"
                           : "";
        const Done r = run(kernel(std::string(p.code) + " mul.wide.u32 %l1, %r0, " + std::to_string(c.bytes) +
                                  "; add.u64 %l1, %a, %l1; setp.lt.u32 %p1, %t, " + (partial ? "37" : "64") +
                                  "; @!%p1 bra OFF; ld.global." + c.type + " " + reg + ", [%l1+16]; " + widen +
                                  " st.global.u64 [%o], %l5; OFF:"));
        for (u32 t = 0; t < kThreads; ++t)
          ASSERT_EQ(r.out[8 * t],
                    partial && t >= 37 ? 0 : element(r.in, p.element(t) * c.bytes + 16, c.bytes, c.is_signed))
              << c.type << " into " << c.reg << " " << p.name << " thread " << t;
      }
}

TEST(Load, Vectors) {
  for (const Pattern& p : kPatterns)
    for (const char* space : {"global", "shared"}) {
      const std::string address = space[0] == 'g' ? "mul.wide.u32 %l1, %r0, 16; add.u64 %l1, %a, %l1;"
                                                  : "shl.b32 %r9, %r0, 4; mov.u32 %r8, tile; add.u32 %r9, %r8, %r9;";
      const std::string at = space[0] == 'g' ? "%l1" : "%r9", ld = std::string("ld.") + space;
      // The tile is filled by all threads together first.
      const Done r =
          run(kernel(R"(
        mov.u32 %r8, tile; mov.u32 %r10, %t;
FILL:   shl.b32 %r11, %r10, 2; add.u32 %r12, %r8, %r11; cvt.u64.u32 %l9, %r11; add.u64 %l9, %a, %l9; ld.global.u32 %r13, [%l9]; st.shared.u32 [%r12], %r13; add.u32 %r10, %r10, 64; setp.lt.u32 %p0, %r10, 1024; @%p0 bra FILL; bar.sync 0;
        )" + std::string(p.code) +
                         address + ld + ".v4.u32 {%r1, %r2, %r3, %r4}, [" + at +
                         "]; st.global.v4.u32 [%o], {%r4, %r3, %r2, %r1}; " + ld + ".v2.u64 {%l5, %l6}, [" + at +
                         "]; st.global.v2.u64 [%o+16], {%l6, %l5}; " + ld + ".v2.s16 {%h1, %h2}, [" + at +
                         "+4]; st.global.v2.u16 [%o+32], {%h2, %h1}; " + ld + ".v4.u8 {%r1, %r2, %r3, %r4}, [" + at +
                         "+8]; st.global.v4.u8 [%o+36], {%r1, %r2, %r3, %r4}; " + ld + ".v2.f32 {%f1, _}, [" + at +
                         "+8]; st.global.f32 [%o+40], %f1;",
                     ".shared .align 16 .b8 tile[4096];"));
      for (u32 t = 0; t < kThreads; ++t) {
        const std::size_t from = std::size_t{p.element(t)} * 16;
        const u64* o = &r.out[8 * t];
        ASSERT_EQ(o[0], element(r.in, from + 12, 4, false) | element(r.in, from + 8, 4, false) << 32)
            << p.name << space;
        ASSERT_EQ(o[1], element(r.in, from + 4, 4, false) | element(r.in, from, 4, false) << 32);
        ASSERT_EQ(o[2], element(r.in, from + 8, 8, false));
        ASSERT_EQ(o[3], element(r.in, from, 8, false));
        ASSERT_EQ(o[4], element(r.in, from + 6, 2, false) | element(r.in, from + 4, 2, false) << 16 |
                            element(r.in, from + 8, 4, false) << 32);
        ASSERT_EQ(o[5] & 0xffffffff, element(r.in, from + 8, 4, false));
      }
    }
}

TEST(Store, EveryWidthAndPattern) {
  for (const unsigned bytes : {1u, 2u, 4u, 8u})
    for (const Pattern& p : kPatterns) {
      // From a register as wide as the element, and from a wider one.
      const std::string narrow = bytes <= 2 ? "cvt.u16.u64 %h1, %l7;" : bytes == 4 ? "cvt.u32.u64 %r1, %l7;" : "";
      const std::string reg = bytes <= 2 ? "%h1" : bytes == 4 ? "%r1" : "%l7";
      const Done r =
          run(kernel(std::string(p.code) + "mul.wide.u32 %l1, %r0, " + std::to_string(bytes) +
                     "; add.u64 %l1, %a, %l1; cvt.u64.u32 %l7, %t; mul.lo.u64 %l7, %l7, 0x9e3779b97f4a7c15; " + narrow +
                     " st.global.b" + std::to_string(8 * bytes) + " [%l1+64], " + reg + "; st.global.b" +
                     std::to_string(8 * bytes) + " [%l1+4096], %l7;"));
      std::vector<u8> want = pattern(16384);
      for (u32 t = 0; t < kThreads; ++t)
        for (unsigned k = 0; k < bytes; ++k) {
          const u8 byte = static_cast<u8>((t * 0x9e3779b97f4a7c15ull) >> (8 * k));
          want[64 + p.element(t) * bytes + k] = byte;
          want[4096 + p.element(t) * bytes + k] = byte;
        }
      ASSERT_EQ(r.in, want) << bytes << " bytes " << p.name;
    }
}

TEST(Generic, SpacesMayDifferByLane) {
  const Done r = run(kernel(R"(
    mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; mad.lo.u32 %r4, %t, 3, 1000; st.shared.u32 [%r3], %r4;
    .local .align 4 .b8 mine[16]; mov.u64 %l3, mine; cvta.local.u64 %l4, %l3; add.u32 %r5, %t, 2000; st.u32 [%l4+8], %r5;
    cvta.shared.u64 %l5, %l6; cvt.u64.u32 %l6, %r3; cvta.shared.u64 %l5, %l6; cvt.u64.u32 %l7, %r2; add.u64 %l7, %a, %l7;
    rem.u32 %r6, %t, 3; setp.eq.u32 %p0, %r6, 0; setp.eq.u32 %p1, %r6, 1; add.u64 %l8, %l4, 8; selp.u64 %l9, %l5, %l8, %p0; selp.u64 %l9, %l7, %l9, %p1;
    ld.u32 %r7, [%l9]; st.global.u32 [%o], %r7; add.u32 %r8, %r7, 1; st.u32 [%l9], %r8; ld.local.u32 %r9, [%l3+8]; st.global.u32 [%o+4], %r9; ld.shared.u32 %r10, [%r3]; st.global.u32 [%o+8], %r10;
    isspacep.shared %p2, %l9; isspacep.local %p3, %l9; isspacep.global %p4, %l9; selp.u32 %r11, 1, 0, %p2; selp.u32 %r12, 2, 0, %p3; selp.u32 %r13, 4, 0, %p4; or.b32 %r11, %r11, %r12; or.b32 %r11, %r11, %r13; st.global.u32 [%o+12], %r11;
    cvta.to.shared.u64 %l10, %l5; cvt.u32.u64 %r14, %l10; sub.u32 %r14, %r14, %r3; st.global.u32 [%o+16], %r14;)",
                            ".shared .align 4 .b8 tile[256];"));
  const std::vector<u8> before = pattern(16384);
  for (u32 t = 0; t < kThreads; ++t) {
    const u32 value = t % 3 == 0   ? 3 * t + 1000
                      : t % 3 == 1 ? static_cast<u32>(element(before, 4 * t, 4, false))
                                   : t + 2000;
    ASSERT_EQ(r.out[8 * t], value | u64{t + 2000 + (t % 3 == 2)} << 32) << t;
    ASSERT_EQ(r.out[8 * t + 1], (3 * t + 1000 + (t % 3 == 0)) | u64{t % 3 == 0 ? 1u : t % 3 == 1 ? 4u : 2u} << 32) << t;
    ASSERT_EQ(r.out[8 * t + 2], 0u);
    if (t % 3 == 1) {
      ASSERT_EQ(element(r.in, 4 * t, 4, false), value + u64{1});
    }
  }
}

TEST(Local, ArraysOfEachThreadAreItsOwn) {
  const Done r = run(kernel(R"(
    .local .align 8 .b8 stack[64]; mov.u64 %l1, stack; mov.u32 %r1, 0;
FILL: mul.wide.u32 %l2, %r1, 4; add.u64 %l3, %l1, %l2; mad.lo.u32 %r2, %r1, 100, %t; st.local.u32 [%l3], %r2; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 16; @%p0 bra FILL;
    and.b32 %r3, %i, 15; mul.wide.u32 %l2, %r3, 4; add.u64 %l3, %l1, %l2; ld.local.u32 %r4, [%l3]; st.global.u32 [%o], %r4; ld.local.u32 %r5, [stack+20]; st.global.u32 [%o+4], %r5; ld.local.v2.u32 {%r6, %r7}, [%l1+24]; st.global.u32 [%o+8], %r6; st.global.u32 [%o+12], %r7;)"));
  for (u32 t = 0; t < kThreads; ++t) {
    ASSERT_EQ(r.out[8 * t], ((t * 23 & 15) * 100 + t) | u64{500 + t} << 32);
    ASSERT_EQ(r.out[8 * t + 1], (600 + t) | u64{700 + t} << 32);
  }
}

TEST(Constant, IndexedAndInitialised) {
  const Done r = run(kernel(R"(
    and.b32 %r1, %t, 7; mul.wide.u32 %l1, %r1, 4; mov.u64 %l2, table; add.u64 %l2, %l2, %l1; ld.const.u32 %r2, [%l2]; st.global.u32 [%o], %r2; ld.const.u32 %r3, [table+8]; st.global.u32 [%o+4], %r3;
    mov.u64 %l3, bytes; cvt.u64.u32 %l4, %r1; add.u64 %l3, %l3, %l4; ld.const.s8 %r4, [%l3]; st.global.u32 [%o+8], %r4; ld.const.v2.f32 {%f1, %f2}, [table+16]; st.global.v2.f32 [%o+16], {%f1, %f2};
    mov.u64 %l5, table; cvta.const.u64 %l6, %l5; ld.u32 %r5, [%l6+4]; st.global.u32 [%o+12], %r5;)",
                            ".const .align 8 .u32 table[8] = {10, 20, 30, 40, 50, 60, 70, 80};\n.const .b8 bytes[8] = "
                            "{255, 1, 128, 3, 4, 5, 6, 7};"));
  for (u32 t = 0; t < kThreads; ++t) {
    const int bytes[] = {-1, 1, -128, 3, 4, 5, 6, 7};
    ASSERT_EQ(r.out[8 * t], (t % 8 + 1) * 10 | u64{30} << 32);
    ASSERT_EQ(r.out[8 * t + 1], static_cast<u32>(bytes[t % 8]) | u64{20} << 32);
    ASSERT_EQ(r.out[8 * t + 2], 50 | u64{60} << 32);
  }
}

TEST(Parameter, OfEveryWidthAndWithAnIndex) {
  Machine m;
  m.load(
      R"(.visible .entry k(.param .u64 out, .param .u8 a, .param .s8 b, .param .u16 c, .param .align 8 .b8 s[24], .param .f64 d, .param .u32 e)
{ .reg .b32 %t, %r<16>; .reg .b64 %o, %l<16>; .reg .b16 %h<4>; .reg .pred %p<2>;
  mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mul.wide.u32 %l0, %t, 64; add.u64 %o, %o, %l0;
  ld.param.u8 %h0, [a]; ld.param.s8 %r1, [b]; ld.param.u16 %h1, [c]; ld.param.u64 %l1, [d]; ld.param.u32 %r2, [e]; cvt.u32.u16 %r3, %h0; cvt.u32.u16 %r4, %h1;
  st.global.u32 [%o], %r3; st.global.u32 [%o+4], %r1; st.global.u32 [%o+8], %r4; st.global.u32 [%o+12], %r2; st.global.u64 [%o+16], %l1;
  ld.param.v2.u32 {%r5, %r6}, [s+8]; st.global.u32 [%o+24], %r6; st.global.u32 [%o+28], %r5;
  mov.b64 %l2, s; rem.u32 %r7, %t, 6; mul.wide.u32 %l3, %r7, 4; add.u64 %l4, %l2, %l3; ld.param.u32 %r8, [%l4]; st.global.u32 [%o+32], %r8;
  cvta.param.u64 %l5, %l2; add.u64 %l5, %l5, %l3; ld.u32 %r9, [%l5]; st.global.u32 [%o+36], %r9;
  setp.lt.u32 %p0, %t, 10; mov.u32 %r10, 7; @%p0 ld.param.u32 %r10, [e]; st.global.u32 [%o+40], %r10; ret; })");
  const u64 out = m.zeros(64 * 40);
  const std::array<u32, 6> s{11, 22, 33, 44, 55, 66};
  m.run_ok("k", {1, 1, 1}, {40, 1, 1}, out, u8{200}, u8{0x90}, u16{0xfffe}, s, 2.5, u32{99});
  const auto v = m.read<u32>(out, 16 * 40);
  for (u32 t = 0; t < 40; ++t) {
    const u32* o = &v[16 * t];
    EXPECT_EQ(o[0], 200u);
    EXPECT_EQ(o[1], 0xffffff90u);
    EXPECT_EQ(o[2], 0xfffeu);
    EXPECT_EQ(o[3], 99u);
    double d;
    std::memcpy(&d, o + 4, 8);
    EXPECT_EQ(d, 2.5);
    EXPECT_EQ(o[6], 44u);
    EXPECT_EQ(o[7], 33u);
    EXPECT_EQ(o[8], s[t % 6]);
    EXPECT_EQ(o[9], s[t % 6]);
    EXPECT_EQ(o[10], t < 10 ? 99u : 7u);
  }
}

TEST(Shared, StaticAndDynamicArrays) {
  // Dynamic memory starts behind the static array; both keep what each thread stored.
  const Done r = run(kernel(R"(
    mov.u32 %r1, fixed; mov.u32 %r2, dynamic; shl.b32 %r3, %t, 2; add.u32 %r4, %r1, %r3; add.u32 %r5, %r2, %r3; st.shared.u32 [%r4], %t; add.u32 %r6, %t, 500; st.shared.u32 [%r5], %r6; bar.sync 0;
    xor.b32 %r7, %r3, 4; add.u32 %r4, %r1, %r7; add.u32 %r5, %r2, %r7; ld.shared.u32 %r8, [%r4]; ld.shared.u32 %r9, [%r5]; st.global.u32 [%o], %r8; st.global.u32 [%o+4], %r9;
    sub.u32 %r10, %r2, %r1; st.global.u32 [%o+8], %r10; mov.u32 %r11, %dynamic_smem_size; st.global.u32 [%o+12], %r11;)",
                            ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 fixed[256];"),
                     pattern(64), 256);
  for (u32 t = 0; t < kThreads; ++t) {
    ASSERT_EQ(r.out[8 * t], (t ^ 1) | u64{500 + (t ^ 1)} << 32);
    ASSERT_EQ(r.out[8 * t + 1], 256 | u64{256} << 32);
  }
}

TEST(Memory, WritesOfOneAddressKeepTheHighestLane) {
  const Done r =
      run(kernel("st.global.u32 [%a], %t; st.shared.u32 [tile], %t; bar.sync 0; ld.shared.u32 %r1, [tile]; "
                 "st.global.u32 [%o], %r1;",
                 ".shared .align 4 .b8 tile[4];"));
  EXPECT_EQ(element(r.in, 0, 4, false), 63u);
  EXPECT_EQ(r.out[0], 63u);
}

TEST(Memory, ModuleVariables) {
  Machine m;
  m.load(
      kernel("mov.u64 %l1, counter; atom.global.add.u32 %r1, [%l1], 1; ld.global.u64 %l2, [pointer]; ld.u32 %r2, "
             "[%l2+4]; st.global.u32 [%o], %r2; ld.global.f64 %d1, [values+8]; st.global.f64 [%o+8], %d1;",
             ".visible .global .align 4 .u32 counter = 40;\n.global .align 4 .u32 pair[2] = {7, 8};\n.global .u64 "
             "pointer = generic(pair);\n.global .f64 values[2] = {0d3FF0000000000000, 0d4000000000000000};"));
  const u64 out = m.zeros(64 * kThreads);
  m.run_ok("k", {1, 1, 1}, {kThreads, 1, 1}, out, m.zeros(8));
  EXPECT_EQ(m.read<u32>(m.module().symbol("counter")->address), 40 + kThreads);
  EXPECT_EQ(m.read<u64>(out), 8u);
  EXPECT_EQ(m.read<double>(out + 8), 2.0);
}

TEST(Memory, HostMemoryIsReachedUnderItsOwnAddress) {
  Machine m;
  m.load(
      kernel("mul.wide.u32 %l1, %t, 4; add.u64 %l1, %a, %l1; ld.global.u32 %r1, [%l1]; add.u32 %r1, %r1, 1; "
             "st.global.u32 [%l1], %r1;"));
  std::vector<u32> host(kThreads);
  std::iota(host.begin(), host.end(), 10u);
  ASSERT_TRUE(m.memory().add_host(host.data(), host.size() * 4, memory::Kind::kPinned));
  const LaunchResult r =
      m.run_ok("k", {1, 1, 1}, {kThreads, 1, 1}, m.zeros(64 * kThreads), reinterpret_cast<u64>(host.data()));
  for (u32 t = 0; t < kThreads; ++t) EXPECT_EQ(host[t], t + 11);
  for (const views::SiteCounts& s : r.record.sites) EXPECT_EQ(s.host_sectors, s.sectors);
  m.memory().remove_host(host.data());
}

}  // namespace
}  // namespace muscope::exec::testing
