// `muscope pattern`, `gpu` and `occupancy` as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"
#include "cli/pattern_view.h"

namespace muscope::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct Result {
  int code = 0;
  std::string out, err;
};

Result run(int (*command)(const Arguments&), const Arguments& args) {
  Result result;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    result.code = command(args);
  } catch (const Leave& leave) {
    result.code = leave.code;
  }
  std::fflush(stdout);
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

Result pattern(const Arguments& args) { return run(pattern_command, args); }

std::uint64_t number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n  " + name + " ");
  return at == std::string::npos ? ~0ull : std::stoull(text.substr(at + 3 + name.size()));
}

TEST(PatternCommand, CountsAColumnOfAPaddedTile) {
  const Result r = pattern({"--index", "threadIdx.x*17 + threadIdx.y", "--block", "16x16", "--space", "shared"});
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(number_after(r.out, "wavefronts"), 2u);
  EXPECT_EQ(number_after(r.out, "bank conflicts"), 1u);
  EXPECT_THAT(r.out, HasSubstr("2-way in bank 0: word 0 (lane 0), word 256 (lane 31)"));
  EXPECT_THAT(r.out, HasSubstr("[counted]"));
}

TEST(PatternCommand, CountsAStridedStore) {
  const Result r = pattern({"--index", "threadIdx.x*2048+threadIdx.y", "--block", "16x16", "--op", "ST"});
  EXPECT_EQ(number_after(r.out, "sectors (32 B)"), 16u);
  EXPECT_EQ(number_after(r.out, "ideal sectors"), 4u);
  EXPECT_THAT(r.out, HasSubstr("25.0 %"));
}

TEST(PatternCommand, AtomicsOnOneAddressAreOneWord) {
  const Result r = pattern({"--index", "0", "--op", "RED"});
  EXPECT_EQ(number_after(r.out, "sectors (32 B)"), 32u);
  EXPECT_THAT(r.out, HasSubstr("1 would do\n"));  // not "for 128 bytes", which is what 32 lanes ask for
  EXPECT_THAT(pattern({"--index", "8*tid"}).out, HasSubstr("4 would do for 128 bytes\n"));
}

TEST(PatternCommand, TextbookGenerations) {
  const auto misaligned = [](const char* l1) {
    return pattern({"--index", "tid", "--base-offset", "16", "--gpu", "sm_20", "--l1", l1}).out;
  };
  EXPECT_THAT(misaligned("on"), HasSubstr("2 x 128 B"));
  EXPECT_THAT(misaligned("on"), ContainsRegex("bus utilisation +50.0 %"));
  EXPECT_THAT(misaligned("off"), HasSubstr("5 x 32 B"));
  EXPECT_THAT(misaligned("off"), ContainsRegex("bus utilisation +80.0 %"));
  EXPECT_THAT(pattern({"--index", "tid", "--gpu", "sm_20"}).out, ContainsRegex("bus utilisation +100.0 %"));
  EXPECT_THAT(pattern({"--index", "0", "--gpu", "sm_20"}).out, ContainsRegex("bus utilisation +3.1 %"));
  EXPECT_THAT(pattern({"--index", "tid", "--gpu", "sm_61"}).out, HasSubstr("[estimated]"));
  EXPECT_THAT(pattern({"--index", "tid", "--gpu", "a100"}).out, HasSubstr("[modelled]"));
}

TEST(PatternCommand, PageFits120ColumnsWithoutColour) {
  for (const char* space : {"global", "shared", "const", "local"})
    for (const char* index : {"tid", "tid*1234567", "lane/4", "32*lane"})
      for (const char* bytes : {"4", "8"}) {
        const Result r = pattern({"--index", index, "--space", space, "--bytes", bytes});
        EXPECT_EQ(r.code, 0) << r.err;
        EXPECT_THAT(r.out, Not(HasSubstr("\x1b")));
        std::stringstream lines(r.out);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
      }
}

TEST(PatternCommand, PictureOfSectors) {
  const Result r = pattern({"--offsets", "0..28:4,64,193", "--bytes", "4"});
  EXPECT_THAT(r.out, HasSubstr("|########|        |#.......|        |   lanes 0-8"));
  EXPECT_THAT(r.out, HasSubstr("|        |        |++......|        |   lane 9"));
  EXPECT_THAT(r.out, HasSubstr("misaligned: lane 9"));
}

TEST(PatternCommand, ColourOnlyWhereAsked) {
  model::Pattern p;
  p.space = model::PatternSpace::kShared;
  p.mask = WarpMask::of(kAllLanes);
  p.addresses.assign(32, 0);
  p.addresses[1] = 128;
  const PatternView view = view_pattern(arch::find_gpu("h200"), p, true);
  EXPECT_THAT(pattern_text(view, true), HasSubstr("\x1b[31m"));
  EXPECT_THAT(pattern_text(view, false), Not(HasSubstr("\x1b")));
}

TEST(PatternCommand, JsonCarriesGrades) {
  const auto j = nlohmann::json::parse(pattern({"--index", "32*tid", "--space", "shared", "--json"}).out);
  EXPECT_EQ(j["schema"], "muscope.pattern/1");
  EXPECT_EQ(j["counts"]["wavefronts"]["value"], 32);
  EXPECT_EQ(j["counts"]["wavefronts"]["grade"], "counted");
  EXPECT_EQ(j["counts"]["bank_conflicts"]["value"], 31);
  EXPECT_EQ(j["lanes"].size(), 32u);
  EXPECT_EQ(j["lanes"][3]["pass"], 4);
  EXPECT_EQ(j["lanes"][3]["bank"], 0);
}

TEST(PatternCommand, PartialWarpsAndMasks) {
  EXPECT_EQ(number_after(pattern({"--index", "tid", "--block", "40", "--warp", "1"}).out, "sectors (32 B)"), 1u);
  EXPECT_EQ(number_after(pattern({"--index", "tid", "--mask", "ffff"}).out, "sectors (32 B)"), 2u);
  EXPECT_EQ(number_after(pattern({"--index", "tid", "--mask", "0"}).out, "requests"), 0u);
  EXPECT_EQ(number_after(pattern({"--index", "lane ? 100/lane : 0", "--mask", "fffffffe"}).out, "requests"), 1u);
}

TEST(PatternCommand, WrongUseIsExplained) {
  const std::pair<Arguments, const char*> cases[] = {
      {{}, "D114"},
      {{"--index", "1/lane"}, "D113"},
      {{"--index", "tid-1"}, "D113"},
      {{"--index", "tid +"}, "D112"},
      {{"--index", "tid", "--offsets", "0"}, "D101"},
      {{"--index", "tid", "--bytes", "3"}, "D114"},
      {{"--index", "tid", "--space", "texture"}, "D114"},
      {{"--index", "tid", "--op", "CAS"}, "D114"},
      {{"--index", "tid", "--mask", "xyz"}, "D114"},
      {{"--index", "tid", "--mask", "1ffffffff"}, "D114"},
      {{"--index", "tid", "--block", "64x64"}, "D114"},
      {{"--index", "tid", "--block", "0"}, "D114"},
      {{"--index", "tid", "--block", "99999999999999999999"}, "D114"},
      {{"--index", "tid", "--warp", "1"}, "D114"},
      {{"--index", "tid", "--gpu", "h20"}, "D110"},
      {{"--index", "tid", "--l1", "maybe"}, "D101"},
      {{"--offsets", "0,4", "--mask", "7"}, "D114"},
      {{"--from", "/nonexistent"}, "D116"},
      {{"--from", "/dev/zero"}, "D115"},
      {{"--index", "tid * 0x7fffffffffffffff"}, "D113"},
  };
  for (const auto& [args, code] : cases) {
    const Result r = pattern(args);
    EXPECT_EQ(r.code, kUsage) << code;
    EXPECT_THAT(r.err, HasSubstr(code));
    EXPECT_EQ(r.out, "");
  }
}

TEST(PatternCommand, HelpShowsExamples) {
  for (const auto command : {pattern_command, gpu_command, occupancy_command}) {
    const Result r = run(command, {"--help"});
    EXPECT_EQ(r.code, 0);
    EXPECT_THAT(r.out, HasSubstr("Examples:\n  muscope "));
  }
}

TEST(PatternCommand, BatchNamesBadRowsAndCountsTheOthers) {
  const std::string path = testing::TempDir() + "patterns_batch.tsv";
  std::ofstream(path) << "id\tspace\top\tbytes\tmask\toffsets\n"
                      << "a\tshared\tLD\t4\t3\t0,128\n"
                      << "b\tshared\tLD\t5\t3\t0,128\n"
                      << "c\tglobal\tLD\t4\t3\t0,128\n"
                      << "d\tlocal\tLDST\t4\tffffffff\t\n";
  const Result r = pattern({"--from", path});
  EXPECT_EQ(r.code, kUsage);
  EXPECT_EQ(r.out,
            "id\tspace\top\tbytes\tmask\toffsets\trequests\tsectors\twavefronts\tbank_conflicts\tconstant_requests\n"
            "a\tshared\tLD\t4\t3\t0,128\t1\t\t2\t1\t\n"
            "b\tshared\tLD\t5\t3\t0,128\t\t\t\t\t\n"
            "c\tglobal\tLD\t4\t3\t0,128\t1\t2\t\t\t\n"
            "d\tlocal\tLDST\t4\tffffffff\t\t\t\t\t\t\n");
  EXPECT_THAT(r.err, HasSubstr(path + ":3"));
  EXPECT_THAT(r.err, HasSubstr("1 row without offsets"));
  std::remove(path.c_str());
}

TEST(PatternCommand, BatchOverTheHardwareFileSucceeds) {
  const Result r = pattern({"--from", MUSCOPE_SOURCE_DIR "/tests/counters/patterns.tsv"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), 1999);
}

TEST(GpuCommand, ListsDrawsAndDumps) {
  EXPECT_THAT(run(gpu_command, {}).out, ContainsRegex("h200 +NVIDIA H200 +9.0 +132 +139.8 GiB"));
  const std::string page = run(gpu_command, {"h200"}).out;
  EXPECT_THAT(page, HasSubstr("each of 132 SMs"));
  EXPECT_THAT(page, ContainsRegex("L2 +60 MiB m"));
  EXPECT_THAT(page, HasSubstr("NVIDIA H200 datasheet"));
  std::stringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  EXPECT_EQ(nlohmann::json::parse(run(gpu_command, {"h200", "--json"}).out)["sm_count"]["value"], 132);
  EXPECT_EQ(run(gpu_command, {"h2000"}).code, kUsage);
  EXPECT_THAT(run(gpu_command, {"h2000"}).err, HasSubstr("D110"));
}

TEST(GpuCommand, JsonIsReadBack) {
  const std::string path = testing::TempDir() + "muscope_gpu.json";
  std::ofstream(path) << run(gpu_command, {"sm_20", "--json"}).out;
  EXPECT_EQ(run(gpu_command, {path}).out, run(gpu_command, {"sm_20"}).out);
  EXPECT_THAT(pattern({"--index", "tid", "--base-offset", "16", "--gpu", path}).out, HasSubstr("2 x 128 B"));
  std::remove(path.c_str());
}

TEST(OccupancyCommand, SaysWhatLimitsAndWhatLifts) {
  const std::string page = run(occupancy_command, {"--regs", "65", "--block", "16x16", "--grid", "64x64"}).out;
  EXPECT_THAT(page, HasSubstr("occupancy 37.5 %: 3 blocks, 24 of 64 warps per SM   limit: registers"));
  EXPECT_THAT(page, HasSubstr("8 blocks,  100.0 %   at most 32 registers per thread"));
  EXPECT_THAT(page, HasSubstr("10.34 waves of 396 blocks"));
  EXPECT_THAT(run(occupancy_command, {"--block", "1024", "--gpu", "rtx3090"}).out, HasSubstr("occupancy 66.7 %"));
  EXPECT_THAT(run(occupancy_command, {"--block", "1056"}).out, HasSubstr("cannot run"));
  EXPECT_THAT(run(occupancy_command, {"--block", "1024", "--regs", "255"}).out,
              HasSubstr("\n     1 block,    50.0 %   at"));
  EXPECT_THAT(run(occupancy_command, {"--regs", "32"}).out, ContainsRegex("256 +8 +64 +100.0 %"));
}

TEST(OccupancyCommand, Json) {
  const auto j = nlohmann::json::parse(
      run(occupancy_command, {"--regs", "53", "--block", "128", "--gpu", "sm_120", "--json"}).out);
  EXPECT_EQ(j["launch"]["blocks_per_sm"], 9);
  EXPECT_EQ(j["launch"]["occupancy"]["value"], 75.0);
  EXPECT_EQ(j["launch"]["limits"]["launch__occupancy_limit_warps"], 12);
  EXPECT_EQ(j["lifts"][0]["registers_at_most"], 48);
}

TEST(OccupancyCommand, WrongUseIsExplained) {
  for (const Arguments& args : {Arguments{"--block", "abc"}, Arguments{"--block", "0"}, Arguments{"--shared", "1x2"},
                                Arguments{"--shared", "99999999999999999999"}, Arguments{"--block", "16x"},
                                Arguments{"--grid", "-1"}, Arguments{"--regs", "-3"}, Arguments{"--gpu", "nope"}}) {
    const Result r = run(occupancy_command, args);
    EXPECT_EQ(r.code, kUsage) << args[1];
    EXPECT_THAT(r.err, HasSubstr("error D1"));
  }
  EXPECT_THAT(run(occupancy_command, {"--shared", "48K", "--block", "64", "--regs", "32"}).out,
              HasSubstr("48.0 KiB shared"));
}

}  // namespace
}  // namespace muscope::cli
