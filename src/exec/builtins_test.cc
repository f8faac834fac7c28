// What the device runtime supplies: printf, malloc, free, assert; and clocks, nanosleep.
#include <bit>
#include <cmath>

#include "exec/device_format.h"
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The text of a format and packed arguments; %s arguments are 1-based numbers of `strings`.
std::string text_of(const std::string& format, const std::vector<std::pair<u64, unsigned>>& arguments,
                    int* count = nullptr, const std::vector<std::string>& strings = {}) {
  std::vector<std::uint8_t> block;
  for (const auto& [value, bytes] : arguments) {
    while (block.size() % bytes) block.push_back(0xcc);
    for (unsigned k = 0; k < bytes; ++k) block.push_back(static_cast<std::uint8_t>(value >> (8 * k)));
  }
  const FormatReader reader{[&](u64 offset, void* out, std::size_t bytes) {
                              if (offset + bytes > block.size()) return false;
                              std::memcpy(out, block.data() + offset, bytes);
                              return true;
                            },
                            [&](u64 address) {
                              return address >= 1 && address <= strings.size() ? strings[address - 1]
                                                                               : std::string("(bad)");
                            }};
  int n = 0;
  std::string text = format_device_text(format, reader, n);
  if (count) *count = n;
  return text;
}

u64 bits(double d) { return std::bit_cast<u64>(d); }

TEST(Format, Conversions) {
  // What an H200's printf wrote for the same calls.
  int n = 0;
  EXPECT_EQ(
      text_of("%5d|%-5d|%05d|%+d|% d|%x|%X|%#x|%o|%#o|%c|\n",
              {{42, 4}, {42, 4}, {42, 4}, {42, 4}, {42, 4}, {255, 4}, {255, 4}, {255, 4}, {8, 4}, {8, 4}, {'x', 4}},
              &n),
      "   42|42   |00042|+42| 42|ff|FF|0xff|10|010|x|\n");
  EXPECT_EQ(n, 11);
  EXPECT_EQ(text_of("%s|%6s|%-6s|%.2s|%%|\n", {{1, 8}, {1, 8}, {1, 8}, {1, 8}}, &n, {"abc"}),
            "abc|   abc|abc   |ab|%|\n");
  EXPECT_EQ(n, 4);
  EXPECT_EQ(text_of("%f|%.3f|%10.2f|%-10.2f|%e|%.2E|%g|%G|%a|\n",
                    {{bits(1.5), 8},
                     {bits(2.0 / 3), 8},
                     {bits(3.14159), 8},
                     {bits(3.14159), 8},
                     {bits(12345.678), 8},
                     {bits(12345.678), 8},
                     {bits(1e-5), 8},
                     {bits(1e20), 8},
                     {bits(0.1), 8}},
                    &n),
            "1.500000|0.667|      3.14|3.14      |1.234568e+04|1.23E+04|1e-05|1E+20|0x1.999999999999ap-4|\n");
  EXPECT_EQ(n, 9);
  EXPECT_EQ(text_of("%lld|%llu|%llx|%ld|%lu|%hd|%hhd|", {{static_cast<u64>(-5), 8},
                                                         {~u64{0}, 8},
                                                         {~u64{0}, 8},
                                                         {static_cast<u64>(-7), 8},
                                                         {7, 8},
                                                         {static_cast<u32>(-3), 4},
                                                         {static_cast<u32>(-3), 4}}),
            "-5|18446744073709551615|ffffffffffffffff|-7|7|-3|-3|");
  EXPECT_EQ(text_of("%i|%u|%zu|", {{~u32{0}, 4}, {~u32{0}, 4}, {12345678901ull, 8}}), "-1|4294967295|12345678901|");
  EXPECT_EQ(text_of("%f %f %f %f\n",
                    {{bits(HUGE_VAL), 8}, {bits(-HUGE_VAL), 8}, {0x7ff8000000000000ull, 8}, {bits(-0.0), 8}}),
            "inf -inf nan -0.000000\n");
  EXPECT_EQ(text_of("%5%|%y|%\n", {}, &n), "%5%|%y|%\n");
  EXPECT_EQ(n, 0);
  EXPECT_EQ(text_of("no arguments\n", {}, &n), "no arguments\n");
  EXPECT_EQ(text_of("", {}), "");
  EXPECT_EQ(text_of("%.0f|%.10d|%+.3e|%08.3f|%x|%s\n",
                    {{bits(2.5), 8}, {77, 4}, {bits(-1e-300), 8}, {bits(-3.14159), 8}, {0x89abcdef, 4}, {1, 8}},
                    nullptr, {"last"}),
            "2|0000000077|-1.000e-300|-003.142|89abcdef|last\n");
}

TEST(Format, WidthsFromArguments) {
  EXPECT_EQ(text_of("%*d|%-*d|%.*f|", {{6, 4}, {1, 4}, {6, 4}, {1, 4}, {2, 4}, {bits(1.239), 8}}),
            "     1|1     |1.24|");
  EXPECT_EQ(text_of("%*d|", {{static_cast<u32>(-4), 4}, {7, 4}}), "7   |");
  EXPECT_EQ(text_of("%.*f|", {{static_cast<u32>(-1), 4}, {bits(0.5), 8}}), "0.500000|");
  // Absurd widths are bounded.
  EXPECT_LT(text_of("%999999999d", {{1, 4}}).size(), 10000u);
  EXPECT_LT(text_of("%*d", {{0x7fffffff, 4}, {1, 4}}).size(), 10000u);
}

TEST(Format, HostileTextIsHarmless) {
  for (const char* format : {"%", "%l", "%-+ #0*.*ll", "%n", "%.", "%hhhhhhd", "%llllld", "\x80\xff%d"})
    (void)text_of(format, {{1, 4}});
  EXPECT_EQ(text_of("%d %d", {{5, 4}}), "5 0") << "arguments that are not there read as zero";
}

constexpr const char* kPrintf = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[32] = {116, 32, 37, 100, 32, 37, 115, 32, 37, 46, 49, 102, 10, 0};
.global .align 1 .b8 word[4] = {104, 105, 33, 0};
)";
constexpr const char* kPrintBody = R"(
  .local .align 8 .b8 args[24]; mov.u64 %l1, args; st.local.u32 [%l1], %i; mov.u64 %l2, word; st.local.u64 [%l1+8], %l2; cvt.rn.f64.u32 %d1, %i; st.local.f64 [%l1+16], %d1; cvta.local.u64 %l3, %l1; mov.u64 %l4, format; cvta.global.u64 %l4, %l4;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %l4; st.param.b64 [a], %l3; call.uni (r), vprintf, (f, a); ld.param.b32 %r, [r]; })";

TEST(Printf, WritesInBlockOrderWhateverTheThreads) {
  std::string first;
  for (const unsigned threads : {1u, 2u, 4u}) {
    Machine m(Machine::with_threads(threads));
    m.load(per_thread_kernel(
        std::string(".reg .f64 %d<4>; and.b32 %x1, %i, 15; setp.eq.u32 %p1, %x1, 3; mov.u32 %r, 9; @!%p1 bra SKIP;") +
            kPrintBody + "\nSKIP:",
        kPrintf));
    const u64 out = m.zeros(4 * 32 * 20);
    const LaunchResult r = m.run_ok("k", {20, 1, 1}, {32, 1, 1}, out);
    std::string want;
    for (u32 i = 3; i < 640; i += 16) want += "t " + std::to_string(i) + " hi! " + std::to_string(i) + ".0\n";
    EXPECT_EQ(r.output, want);
    EXPECT_EQ(m.read<u32>(out + 12), 3u);
    EXPECT_EQ(m.read<u32>(out + 16), 9u);
  }
}

TEST(Printf, BadPointersPrintNothingOfOthers) {
  Machine m;
  m.load(per_thread_kernel(
      "mov.u64 %l1, 0x1234; mov.u64 %l2, -1; { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %l1; "
      "st.param.b64 [a], %l2; call.uni (r), vprintf, (f, a); ld.param.b32 %r, [r]; }",
      kPrintf));
  EXPECT_EQ(m.run_ok("k", {1, 1, 1}, {1, 1, 1}, m.zeros(4)).output, "");
}

TEST(Malloc, GivesMemoryThatFreeTakesBack) {
  Machine m;
  m.load(per_thread_kernel(R"(
    { .param .b64 n; .param .b64 p; st.param.b64 [n], 64; call.uni (p), malloc, (n); ld.param.b64 %l1, [p]; }
    st.u32 [%l1+60], %i; bar.sync 0; ld.u32 %r, [%l1+60]; setp.eq.u64 %p1, %l1, 0; @%p1 mov.u32 %r, 0;
    { .param .b64 p; st.param.b64 [p], %l1; call.uni free, (p); } { .param .b64 p; st.param.b64 [p], 0; call.uni free, (p); })",
                           ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);"));
  const u64 out = m.zeros(256), free_before = m.memory().free_bytes();
  const LaunchResult r = m.run_ok("k", {1, 1, 1}, {64, 1, 1}, out);
  EXPECT_TRUE(r.record.findings.empty());
  const auto v = m.read<u32>(out, 64);
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(v[t], t);
  EXPECT_EQ(m.memory().free_bytes(), free_before);
}

TEST(Malloc, FailsWithNullAndNotesWrongFrees) {
  Machine m;
  m.load(
      per_thread_kernel("{ .param .b64 n; .param .b64 p; st.param.b64 [n], 0x10000000000; call.uni (p), malloc, (n); "
                        "ld.param.b64 %l1, [p]; } setp.eq.u64 %p1, %l1, 0; selp.u32 %r, 1, 2, %p1; { .param .b64 p; "
                        "mov.u64 %l2, 0x1230; st.param.b64 [p], %l2; call.uni free, (p); }",
                        ".extern .func (.param .b64 p) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);"));
  const u64 out = m.zeros(4);
  const LaunchResult r = m.run_ok("k", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(m.read<u32>(out), 1u);
  EXPECT_NE(find_finding(r, "D617"), nullptr);
}

/// Blocks of 1 MiB that one thread gets before malloc() says no.
u32 heap_blocks(Machine& m) {
  m.load(per_thread_kernel(R"(mov.u32 %r, 0;
AGAIN:
    { .param .b64 n; .param .b64 p; st.param.b64 [n], 0x100000; call.uni (p), malloc, (n); ld.param.b64 %l1, [p]; }
    setp.eq.u64 %p1, %l1, 0; @%p1 bra END; add.u32 %r, %r, 1; setp.lt.u32 %p1, %r, 100; @%p1 bra AGAIN;
END:)",
                           ".extern .func (.param .b64 p) malloc(.param .b64 n);"));
  const u64 out = m.zeros(4);
  m.run_ok("k", {1, 1, 1}, {1, 1, 1}, out);
  return m.read<u32>(out);
}

TEST(Malloc, EndsWithTheHeap) {
  Machine m;
  EXPECT_EQ(heap_blocks(m), 8u);
  EXPECT_EQ(heap_blocks(m), 0u) << "what a launch leaves is still there in the next";
  m.memory().set_heap_limit(20 << 20);
  EXPECT_EQ(heap_blocks(m), 12u);
}

TEST(Malloc, FreeLeavesMemoryOfTheHostAlone) {
  Machine m;
  m.load(per_thread_kernel(
      "ld.param.u64 %l1, [out]; { .param .b64 p; st.param.b64 [p], %l1; call.uni free, (p); } mov.u32 %r, 5;",
      ".extern .func free(.param .b64 p);"));
  const u64 out = m.zeros(4);
  const LaunchResult r = m.run_ok("k", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_NE(find_finding(r, "D617"), nullptr);
  EXPECT_EQ(m.memory().find(out).base, out);
  EXPECT_EQ(m.read<u32>(out), 5u);
}

TEST(Assert, EndsTheLaunchWithItsText) {
  Machine m;
  m.load(per_thread_kernel(R"(
    setp.lt.u32 %p1, %i, 40; mov.u32 %r, 1; @%p1 bra GOOD; mov.u64 %l1, text;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %l1; st.param.b64 [b], %l1; st.param.b32 [c], 17; st.param.b64 [d], %l1; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }
GOOD:)",
                           ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
                           ".param .b64 e);\n.global .b8 text[4] = {105, 60, 57, 0};"));
  ::testing::internal::CaptureStderr();
  const LaunchResult r = m.run("k", {1, 1, 1}, {64, 1, 1}, m.zeros(256));
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(r.outcome, Outcome::kAssert);
  EXPECT_EQ(r.record.fault.code, "D616");
  EXPECT_EQ(r.record.fault.thread[0], 40u);
  EXPECT_NE(told.find("i<9:17: i<9: block: [0,0,0], thread: [40,0,0] Assertion `i<9` failed."), std::string::npos)
      << told;
}

TEST(Clock, GrowsAndIsTheSameInEveryRun) {
  std::vector<u32> first;
  for (int run = 0; run < 2; ++run) {
    Machine m;
    m.load(per_thread_kernel(
        "mov.u32 %x1, %clock; mov.u64 %l1, %clock64; mov.u64 %l2, %globaltimer; mov.u32 %x2, 0;\nLOOP: add.u32 %x2, "
        "%x2, 1; setp.lt.u32 %p1, %x2, 10; @%p1 bra LOOP; mov.u32 %x3, %clock; mov.u64 %l3, %clock64; setp.gt.u64 %p2, "
        "%l3, %l1; sub.u32 %r, %x3, %x1; @!%p2 mov.u32 %r, 0;"));
    const u64 out = m.zeros(128);
    m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out);
    const auto v = m.read<u32>(out, 32);
    EXPECT_GT(v[0], 30u);
    if (run == 0) first = v;
    EXPECT_EQ(v, first);
  }
}

TEST(Clock, WaitsUntilADeadlineEnd) {
  Machine m;
  m.load(
      per_thread_kernel("mov.u64 %l1, %clock64; add.u64 %l2, %l1, 100000;\nWAIT: nanosleep.u32 50; mov.u64 %l3, "
                        "%clock64; setp.lt.u64 %p1, %l3, %l2; @%p1 bra WAIT; mov.u32 %r, 1;"));
  const u64 out = m.zeros(128);
  m.run_ok("k", {2, 1, 1}, {16, 1, 1}, out);
  EXPECT_EQ(m.read<u32>(out), 1u);
}

}  // namespace
}  // namespace muscope::exec::testing
