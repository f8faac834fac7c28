// The small parts of the text report: numbers, names, excerpts, causes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/cause.h"
#include "report/kernel_name.h"
#include "report/number_format.h"
#include "report/source_text.h"
#include "report/test_records.h"
#include "report/text_page.h"

namespace muscope::report {
namespace {

using ::testing::ElementsAre;
using trace::Kind;
using trace::Space;
using SiteOf = testing::SiteOf;

TEST(Numbers, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
  EXPECT_EQ(grouped(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(grouped(-0.5, 1), "-0.5");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(4096), "4.0 KiB");
  EXPECT_EQ(format_bytes(1u << 30), "1.0 GiB");
  EXPECT_EQ(average_text(17, 4), "4.25");
  EXPECT_EQ(average_text(32, 2), "16");
}

TEST(KernelName, ShortensStepByStep) {
  const std::string name =
      "void lab::detail::apply<lab::Policy<(int)256, lab::Order<(bool)1> >, float, unsigned int>(float*, int)";
  EXPECT_EQ("void " + shorten_kernel_name(name, 200), name);
  EXPECT_EQ(shorten_kernel_name(name, 85),
            "lab::detail::apply<lab::Policy<(int)256, lab::Order<(bool)1> >, float, unsigned int>");
  EXPECT_EQ(shorten_kernel_name(name, 83),
            "lab::detail::apply<lab::Policy<(int)256, lab::Order<...> >, float, unsigned int>");
  EXPECT_EQ(shorten_kernel_name(name, 60), "lab::detail::apply<lab::Policy<...>, float, unsigned int>");
  EXPECT_EQ(shorten_kernel_name(name, 30), "lab::detail::apply<...>");
  EXPECT_EQ(shorten_kernel_name(name, 12), "apply<...>");
  EXPECT_EQ(shorten_kernel_name("a_very_long_name_without_structure", 16), "a_very_lo...ture");
  const std::vector<std::string> scans = {"void s::scan<float, s::Policy<128>, 1>(int*)",
                                          "void s::scan<float, s::Policy<128>, 2>(int*)", "copy(int*)",
                                          "void s::scan<float, s::Policy<128>, 1>(int*)"};
  EXPECT_THAT(shorten_kernel_names(scans, 16),
              ::testing::ElementsAre("scan<..., 1>", "scan<..., 2>", "copy(int*)", "scan<..., 1>"));
  EXPECT_THAT(shorten_kernel_names({"f_of_a_long_name<true>(int)", "f_of_a_long_name<false>(int)"}, 18),
              ::testing::ElementsAre("f_of_a_lo...<true>", "f_of_a_l...<false>"));
  EXPECT_THAT(shorten_kernel_names({"a_long_name_1_and_more", "a_long_name_2_and_more"}, 12),
              ::testing::ElementsAre("a_long... #1", "a_long... #2"));
  EXPECT_EQ(kernel_base_name("void main::{lambda(int, float)#1}::run(int) const"), "main::{lambda(int, float)#1}::run");
  EXPECT_EQ(kernel_base_name("(anonymous namespace)::k(int)"), "(anonymous namespace)::k");
}

TEST(SourceText, ColumnsAndExpressions) {
  EXPECT_EQ(expand_tabs("\tx\ty"), "        x       y");
  EXPECT_EQ(expanded_column("\tx", 2), 8u);
  const std::string line = "out[ix * ny + iy] = in[p->q(3)[1]].x + a;";
  EXPECT_EQ(expression_length(line, 0), 17u);
  EXPECT_EQ(line.substr(20, expression_length(line, 20)), "in[p->q(3)[1]].x");
  EXPECT_EQ(expression_length(line, 18), 1u);
  EXPECT_EQ(expression_length("open[", 0), 4u);
  EXPECT_EQ(expression_length("", 0), 1u);
}

std::string access(std::string_view line, std::string_view at, AccessKind kind) {
  const auto extent = find_access(line, line.find(at), kind);
  return extent ? std::string(line.substr(extent->start, extent->length)) : "nothing";
}

TEST(SourceText, FindsTheAccess) {
  using enum AccessKind;
  const std::string_view copy = "if (i < n && j < n) out[i * n + j] = in[j * n + i];";
  EXPECT_EQ(access(copy, "if", kWrite), "out[i * n + j]");
  EXPECT_EQ(access(copy, "if", kRead), "in[j * n + i]");
  EXPECT_EQ(access("out[i] = in[j];", "=", kWrite), "out[i]");
  EXPECT_EQ(access("out[i] = a[i] + b[j];", "b", kRead), "b[j]");
  EXPECT_EQ(access("out[i] = a[i] + b[j];", "out", kRead), "nothing");  // nvcc does not say which
  EXPECT_EQ(access("out[idx[i]] = 1;", "out", kRead), "idx[i]");
  EXPECT_EQ(access("sum += p->cell[i].x;", "sum", kRead), "p->cell[i].x");
  EXPECT_EQ(access("hist[b] += 1;", "hist", kRead), "hist[b]");
  EXPECT_EQ(access("*q = a * b;", "*q", kWrite), "*q");
  EXPECT_EQ(access("float v = a * b;", "float", kRead), "nothing");
  EXPECT_EQ(access("atomicAdd(&hist[bin], 1u);", "atomic", kUpdate), "atomicAdd(&hist[bin], 1u)");
  EXPECT_EQ(access("return __ldg(&x[i]); // y[2]", "return", kRead), "x[i]");
  EXPECT_EQ(access("if (a[i] == b) c = 1;", "if", kRead), "a[i]");
  EXPECT_TRUE(is_system_header("/usr/local/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp"));
  EXPECT_TRUE(is_system_header("/home/u/cuda-12.4/include/sm_60_atomic_functions.hpp"));
  EXPECT_TRUE(is_system_header("/home/u/cuda-12.4/include/curand_kernel.h"));
  EXPECT_TRUE(is_system_header("/home/u/env/lib/python3.11/site-packages/nvidia/cuda_runtime/include/cuda_fp16.hpp"));
  EXPECT_FALSE(is_system_header("/home/u/src/kernel.cuh"));
  EXPECT_FALSE(is_system_header("/home/u/src/include/sm_tiles.h"));
  EXPECT_FALSE(is_system_header("curand_kernel.h"));
  EXPECT_EQ(relative_path("/a/b/c.cu", "/a"), "b/c.cu");
  EXPECT_EQ(relative_path("/ab/c.cu", "/a"), "/ab/c.cu");
  EXPECT_EQ(relative_path("c.cu", "/a"), "c.cu");
}

TEST(Wrap, KeepsUnitsWithTheirNumber) {
  EXPECT_THAT(wrap("aaaa bbb 12 %, c", 11), ElementsAre("aaaa bbb", "12 %, c"));
  EXPECT_THAT(wrap("", 5), ElementsAre());
  EXPECT_THAT(wrap("averylongword x", 5), ElementsAre("averylongword", "x"));
}

std::string cause(SiteOf site, unsigned lane_bytes = 4) {
  SiteReport report;
  static_cast<views::SiteCounts&>(report) = site.counts;
  report.lane_bytes = static_cast<std::uint8_t>(lane_bytes);
  const std::optional<Cause> cause = cause_of(report, testing::h200());
  return cause ? cause->subject + ": " + cause->text() : "nothing";
}

TEST(Cause, GlobalPatterns) {
  EXPECT_EQ(
      cause(SiteOf(0, Space::kGlobal, Kind::kStore, 5).sectors(32, 4).example([](unsigned l) { return 4096 * l; })),
      "store: neighbouring lanes are 4,096 B apart: 32 sectors per request where 4 would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kGlobal, Kind::kLoad, 5).sectors(5, 4).example([](unsigned l) { return 0x1004 + 4 * l; })),
      "load: the warp starts 4 B into a sector: 5 sectors per request where 4 would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kGlobal, Kind::kLoad, 5).sectors(8, 4).example([](unsigned l) { return 8000 - 8 * l; })),
      "load: neighbouring lanes are 8 B apart, backwards: 8 sectors per request where 4 would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kGlobal, Kind::kLoad, 5).sectors(31, 4).example([](unsigned l) { return l * l * 404u; })),
      "load: lanes are scattered over 379.1 KiB: 31 sectors per request where 4 would do");
  EXPECT_EQ(cause(SiteOf(0, Space::kGlobal, Kind::kAtom, 5).sectors(32, 1).example([](unsigned) { return 64; })),
            "atomic: up to 32 lanes hit one address, one after the other: 32 sectors per request where 1 would do");
  EXPECT_EQ(cause(SiteOf(0, Space::kGlobal, Kind::kLoad, 5).sectors(4, 4)), "nothing");
}

TEST(Cause, OtherSpaces) {
  EXPECT_EQ(
      cause(
          SiteOf(0, Space::kShared, Kind::kLoad, 5).wavefronts(32, 1).example([](unsigned l) { return 128 * l + 12; })),
      "shared load: 32 different words fall into bank 3, neighbours 128 B apart: 32 wavefronts per request where 1 "
      "would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kShared, Kind::kStore, 5, 8).wavefronts(4, 2).example([](unsigned l) { return 16 * l; }),
            8),
      "shared store: 2 different words fall into bank 0, neighbours 16 B apart: 4 wavefronts per request where 2 would "
      "do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kShared, Kind::kAtom, 5).wavefronts(32, 1).example([](unsigned) { return 8; })),
      "shared atomic: up to 32 lanes hit one word, one after the other: 32 wavefronts per request where 1 would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kShared, Kind::kCopy, 5).wavefronts(4, 1).example([](unsigned l) { return 16 * l; })),
      "shared async copy: up to 4 lanes write one bank: 4 wavefronts per request where 1 would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kShared, Kind::kCopy, 5, 16).wavefronts(8, 4).example([](unsigned l) { return 16 * l; }),
            16),
      "shared async copy: lanes read one bank of L1's lines: 8 wavefronts per request where 4 would do");
  EXPECT_EQ(
      cause(SiteOf(0, Space::kConst, Kind::kLoad, 5).words(7)),
      "constant load: lanes read different words, which are served one by one: 7 requests per load where 1 would do");
  EXPECT_EQ(cause(SiteOf(0, Space::kLocal, Kind::kLoad, 5).sectors(32, 4).example([](unsigned l) { return 4 * l; })),
            "local load: lanes index their arrays differently: 32 sectors per request where 4 would do");
}

TEST(Cause, CopiesOfALoopBodyAreSaidOnce) {
  const auto at = [](std::uint64_t offset, std::uint64_t sectors) {
    SiteReport report;
    static_cast<views::SiteCounts&>(report) =
        SiteOf(0, Space::kGlobal, Kind::kLoad, 10).sectors(sectors, 4).example([=](unsigned l) {
          return 4096 + offset + 4 * l;
        });
    report.lane_bytes = 4;
    return *cause_of(report, testing::h200());
  };
  Cause cause = at(4, 5);
  EXPECT_TRUE(cause.merge(at(8, 5)));
  EXPECT_EQ(cause.text(), "warps start inside sectors: 5 sectors per request where 4 would do");
  Cause store = at(4, 5);
  store.subject = "store";
  EXPECT_FALSE(cause.merge(store));
}

}  // namespace
}  // namespace muscope::report
