// Every form gives the bits that an H200 gave, from its PTX and from machine code, except where differences.tsv says
// why not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run.h"

namespace muscope::conformance {
namespace {

const std::string kFolder = MUSCOPE_SOURCE_DIR "/tests/conformance/";

/// Cells of the lines that are no comments.
std::vector<std::vector<std::string>> read_table(const std::string& name) {
  std::ifstream in(kFolder + name);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    lines.emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) lines.back().push_back(cell);
  }
  return lines;
}

const std::vector<Form>& all_forms() {
  static const std::vector<Form> forms = read_forms(kFolder + "forms.tsv");
  return forms;
}

TEST(Conformance, EveryFormOfPublicProgramsIsCoveredOrLeftOutForAReason) {
  std::set<std::string> covered;
  for (const Form& form : all_forms()) covered.insert(form.name.substr(0, form.name.find('#')));
  const auto left_out = read_table("left_out.tsv");
  std::set<std::string> used;
  std::size_t forms = 0;
  for (const auto& line : read_table("program_forms.tsv")) {
    const std::string& form = line.at(0);
    if (covered.contains(form)) {
      ++forms;
      continue;
    }
    const auto reason = std::find_if(left_out.begin(), left_out.end(),
                                     [&](const auto& cells) { return form.starts_with(cells.at(0)); });
    if (reason == left_out.end())
      ADD_FAILURE() << form << " has no test";
    else
      used.insert(reason->at(0));
  }
  EXPECT_EQ(used.size(), left_out.size()) << "a line of left_out.tsv is not needed";
  EXPECT_EQ(forms, 630u);
}

TEST(Conformance, NamesAreDistinct) {
  std::set<std::string> names;
  for (const Form& form : all_forms()) EXPECT_TRUE(names.insert(form.name).second) << form.name;
}

TEST(Conformance, InputsReachCornerCases) {
  const auto has = [](const char* name, const std::vector<std::uint64_t>& tuple) {
    const auto form =
        std::find_if(all_forms().begin(), all_forms().end(), [&](const Form& f) { return f.name == name; });
    const std::vector<std::uint64_t> in = inputs(*form);
    for (std::size_t t = 0; t < in.size(); t += tuple.size())
      if (std::equal(tuple.begin(), tuple.end(), in.begin() + static_cast<std::ptrdiff_t>(t))) return true;
    return false;
  };
  EXPECT_TRUE(has("shl.b32", {0xffffffff, 32}));
  EXPECT_TRUE(has("shl.b32", {1, 255}));
  EXPECT_TRUE(has("add.f32", {0x7f800000, 0xff800000}));
  EXPECT_TRUE(has("mul.f32", {0, 0x7f800000}));
  EXPECT_TRUE(has("add.f32", {0x7fc00005, 0xff800001}));
  EXPECT_TRUE(has("div.s32", {0x80000000, 0xffffffff}));
  EXPECT_TRUE(has("cvt.rzi.s32.f32", {0x4f000000}));
  EXPECT_FALSE(has("add.f32", {0x12345678, 0x9abcdef0}));
}

/// All forms, but those of differences.tsv, have the GPU's digests. Machine code that is not executed as such differs.
void expect_as_on_an_h200(const std::string& way) {
  const auto hardware = read_table("h200.tsv");
  if (hardware.empty()) GTEST_SKIP() << "no results of an H200";
  std::set<std::string> known, found;
  for (const auto& line : read_table("differences.tsv"))
    if (line.at(1) == way) known.insert(line.at(0));
  const std::vector<Form>& forms = all_forms();
  ASSERT_EQ(hardware.size(), forms.size()) << "h200.tsv is of another forms.tsv";
  constexpr std::size_t kPerModule = 100;
  for (std::size_t at = 0; at < forms.size(); at += kPerModule) {
    const std::span<const Form> part(&forms[at], std::min(kPerModule, forms.size() - at));
    std::string cubin, problem;
    if (way == "sass") {
      cubin = assemble(module_text(part), problem);
      ASSERT_FALSE(cubin.empty()) << problem;
    }
    const std::vector<Outcome> outcomes = run_forms(part, cubin);
    for (std::size_t i = 0; i < part.size(); ++i) {
      ASSERT_EQ(hardware[at + i].at(0), part[i].name) << "h200.tsv is of another forms.tsv";
      std::ostringstream digits;
      digits << std::hex << digest(outcomes[i].results);
      std::string text = digits.str();
      text.insert(0, 16 - text.size(), '0');
      const bool other_way = way == "sass" && !outcomes[i].from_machine_code;
      if (text != hardware[at + i].at(2) || other_way) found.insert(part[i].name);
    }
  }
  for (const std::string& name : found) EXPECT_TRUE(known.contains(name)) << name << " differs (show_conformance)";
  for (const std::string& name : known) EXPECT_TRUE(found.contains(name)) << name << " no longer differs";
}

TEST(Conformance, PtxGivesTheBitsOfAnH200) { expect_as_on_an_h200("ptx"); }

TEST(Conformance, MachineCodeGivesTheBitsOfAnH200) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas of CUDA 13";
  expect_as_on_an_h200("sass");
}

}  // namespace
}  // namespace muscope::conformance
