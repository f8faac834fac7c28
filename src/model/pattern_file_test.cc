#include "model/pattern_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace muscope::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHeader = "space\top\tbytes\tmask\toffsets";

std::string offsets(std::uint64_t stride) {
  std::string text;
  for (unsigned lane = 0; lane < 32; ++lane) text += fmt::format("{}{}", lane == 0 ? "" : ",", lane * stride);
  return text;
}

std::string output(const std::string& header, const std::string& line, const char* gpu = "h200") {
  const PatternFile file(header, "patterns.tsv");
  const PatternFile::Row row = file.parse(line, 2);
  const PatternCounts counts = count_pattern(arch::find_gpu(gpu), row.pattern, true);
  return PatternFile::output_row(line, &counts);
}

Diagnostic complaint(const std::string& header, const std::string& line) {
  try {
    const PatternFile file(header, "patterns.tsv");
    file.parse(line, 7);
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  return {};
}

TEST(PatternFile, AppendsCountsAndPassesOtherColumnsThrough) {
  EXPECT_EQ(PatternFile(kHeader + "\r\n", "f").output_header(),
            kHeader + "\trequests\tsectors\twavefronts\tbank_conflicts\tconstant_requests");
  const std::string shared = fmt::format("shared\tLD\t4\tffffffff\t{}", offsets(16));
  EXPECT_EQ(output(kHeader, shared), shared + "\t1\t\t4\t3\t");
  const std::string global = fmt::format("global\tST\t4\tffffffff\t{}", offsets(8));
  EXPECT_EQ(output(kHeader, global), global + "\t1\t8\t\t\t");
  const std::string constant = fmt::format("const\tLD\t4\tffffffff\t{}", offsets(4));
  EXPECT_EQ(output(kHeader, constant), constant + "\t\t\t\t\t32");
  const std::string local = fmt::format("local\tLD\t4\tffffffff\t{}", offsets(0));
  EXPECT_EQ(output(kHeader, local), local + "\t1\t4\t\t\t");
  // Columns in another order, others between them, a carriage return at the end.
  const std::string header = "label\toffsets\tmask\tbytes\top\tspace\tcounters";
  const std::string row = fmt::format("a \"b\"\t{}\t0000ffff\t8\tred\tglobal\t{{\"x\"\":1}}", offsets(8));
  EXPECT_EQ(output(header, row + "\r\n"), row + "\t1\t4\t\t\t");
}

TEST(PatternFile, AllInactiveMakesNoRequest) {
  const std::string line = fmt::format("global\tLD\t4\t0\t{}", offsets(4));
  EXPECT_EQ(output(kHeader, line), line + "\t0\t0\t\t\t");
}

TEST(PatternFile, BadHeadersAndRowsAreNamed) {
  EXPECT_THAT(complaint("space\top\tbytes\tmask", "").text, HasSubstr("no column 'offsets'"));
  EXPECT_THAT(complaint("space,op,bytes,mask,offsets", "").text, HasSubstr("tabs, not commas"));
  EXPECT_THAT(complaint(kHeader + "\tsectors", "").text, HasSubstr("'sectors' already"));
  EXPECT_THAT(complaint(kHeader + "\tspace", "").text, HasSubstr("two columns 'space'"));
  const auto row = [](const std::string& line) { return complaint(kHeader, line); };
  EXPECT_EQ(row("global\tLD\t4").where.line, 7);
  EXPECT_EQ(row("global\tLD\t4").code, "D115");
  EXPECT_THAT(row("globl\tLD\t4\tff\t0").text, HasSubstr("unknown space 'globl'"));
  EXPECT_THAT(row("global\tLDX\t4\tff\t0").text, HasSubstr("unknown op 'LDX'"));
  EXPECT_THAT(row(fmt::format("global\tLD\t3\tff\t{}", offsets(4))).text, HasSubstr("not 3"));
  EXPECT_THAT(row("global\tLD\t4x\tff\t0").text, HasSubstr("bytes '4x'"));
  EXPECT_THAT(row("global\tLD\t4\tfg\t0").text, HasSubstr("mask 'fg'"));
  EXPECT_THAT(row("global\tLD\t4\tff\t0,4").text, HasSubstr("lane 2 is active"));
  EXPECT_THAT(row("global\tLD\t4\tff\t0,-4").text, HasSubstr("offset '-4'"));
  EXPECT_THAT(row("global\tLD\t4\t1\t99999999999999999999").text, HasSubstr("offset"));
  EXPECT_THAT(row(fmt::format("const\tST\t4\tff\t{}", offsets(4))).text, HasSubstr("const memory has no ST"));
  EXPECT_THAT(row(fmt::format("shared\tLD_NC\t4\tff\t{}", offsets(4))).text, HasSubstr("no LD_NC"));
}

TEST(PatternFile, Masks) {
  EXPECT_EQ(parse_mask("ffffffff").words[0], 0xffffffffu);
  EXPECT_EQ(parse_mask("0x0F").words[0], 0xfu);
  EXPECT_EQ(parse_mask("all").count(), 32u);
  EXPECT_EQ(parse_mask("80000000000000000000000000000001").words[1], 1ull << 63);
  EXPECT_EQ(parse_mask("80000000000000000000000000000001").words[0], 1u);
  EXPECT_THROW(parse_mask(""), Error);
  EXPECT_THROW(parse_mask("0x"), Error);
  EXPECT_THROW(parse_mask("100000000000000000000000000000000"), Error);
}

TEST(PatternFile, Offsets) {
  EXPECT_THAT(parse_offsets("0,4, 0x10"), ElementsAre(0, 4, 16));
  EXPECT_THAT(parse_offsets("8..20:6"), ElementsAre(8, 14, 20));
  EXPECT_THAT(parse_offsets("0..8"), ElementsAre(0, 4, 8));
  EXPECT_THAT(parse_offsets("7*3,1"), ElementsAre(7, 7, 7, 1));
  EXPECT_EQ(parse_offsets("0..508:4").size(), 128u);
  for (const char* bad :
       {"", "1,,2", "4..0", "0..8:0", "a", "1*", "0..600:4", "5*1000000000000", "0..4611686018427387905", "-1"})
    EXPECT_THROW(parse_offsets(bad), Error) << bad;
}

// The whole of the hardware file through the batch form.
TEST(PatternFile, AgreesWithHardware) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/patterns.tsv");
  std::string line;
  std::getline(in, line);
  const PatternFile file(line, "patterns.tsv");
  const arch::GpuSpec h200 = arch::find_gpu("h200");
  int compared = 0, number = 1;
  while (std::getline(in, line)) {
    const PatternFile::Row row = file.parse(line, ++number);
    if (!row.has_offsets) continue;
    const auto counters = nlohmann::json::parse(line.substr(line.rfind('\t') + 1));
    const Pattern& p = row.pattern;
    const PatternCounts counts = count_pattern(h200, p, true);
    const bool atomic = p.op == PatternOp::kRed || p.op == PatternOp::kAtom;
    std::string op = p.op == PatternOp::kStore ? "st" : p.op == PatternOp::kRed ? "red" : atomic ? "atom" : "ld";
    const auto counter = [&](const std::string& name) { return counters.value(name, 0u); };
    if (p.space == PatternSpace::kConst) {
      EXPECT_EQ(*counts.constant_requests + 2, counter("idc__requests")) << number;
    } else if (p.space == PatternSpace::kShared) {
      if (atomic) op = "atom";
      EXPECT_EQ(*counts.wavefronts, counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + op)) << number;
      if (p.bytes == 8 && atomic) op = "ld";  // the conflicts of the loop
      const std::string conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + op;
      if (counters.contains(conflicts)) {
        EXPECT_EQ(*counts.bank_conflicts, counter(conflicts)) << number;
      }
    } else if (!atomic) {
      EXPECT_EQ(*counts.requests, counter("l1tex__t_requests_pipe_lsu_mem_global_op_" + op)) << number;
      EXPECT_EQ(*counts.sectors, counter("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op)) << number;
    } else {
      EXPECT_LE(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_" + op) - *counts.sectors, 2u) << number;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 1992);
}

TEST(Pattern, PassesMakeUpTheWavefronts) {
  Pattern p;
  p.space = PatternSpace::kShared;
  p.mask = WarpMask::of(kAllLanes);
  p.addresses.resize(32);
  const arch::GpuSpec h200 = arch::find_gpu("h200");
  std::uint64_t seed = 1;
  for (int i = 0; i < 500; ++i) {
    for (auto& address : p.addresses) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      address = (seed >> 40) % 4096 / 16 * 16;
    }
    for (const std::uint32_t bytes : {1u, 4u, 8u, 16u})
      for (const PatternOp op : {PatternOp::kLoad, PatternOp::kStore, PatternOp::kRed}) {
        p.bytes = bytes;
        p.op = op;
        if (!why_invalid(p).empty() || (op == PatternOp::kRed && bytes == 8)) continue;
        const std::vector<std::uint32_t> passes = passes_of(h200, p);
        EXPECT_EQ(*std::max_element(passes.begin(), passes.end()), *count_pattern(h200, p, true).wavefronts);
      }
    p.space = PatternSpace::kGlobal;
    p.bytes = 4;
    p.op = PatternOp::kLoad;
    const std::vector<std::uint32_t> passes = passes_of(h200, p);
    EXPECT_EQ(*std::max_element(passes.begin(), passes.end()), *count_pattern(h200, p, true).t_wavefronts);
    p.space = PatternSpace::kShared;
  }
}

TEST(Pattern, MisalignedLanes) {
  Pattern p;
  p.mask = WarpMask::of(7);
  p.addresses = {0, 3, 6};
  EXPECT_THAT(misaligned_lanes(p), ElementsAre(1, 2));
}

}  // namespace
}  // namespace muscope::model
