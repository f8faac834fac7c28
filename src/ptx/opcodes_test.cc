// The opcode table is sound, and the texts in tests/opcodes use every row of it.
#include "ptx/opcodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ptx/form.h"
#include "ptx/parser.h"
#include "ptx/verify.h"

namespace muscope::ptx {
namespace {

using testing::IsEmpty;

std::vector<std::filesystem::path> opcode_texts() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(MUSCOPE_SOURCE_DIR "/tests/opcodes")) {
    if (entry.path().extension() == ".ptx") out.push_back(entry.path());
  }
  return out;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(OpcodeTable, NamesOnlyKnownModifiers) { EXPECT_THAT(unknown_names_in_table(), IsEmpty()); }

TEST(OpcodeTable, KeepsTheRowsOfAnOpcodeTogether) {
  std::set<Opcode> closed;
  Opcode current = Opcode::kInvalid;
  for (const OpcodeRow& row : opcode_rows()) {
    EXPECT_TRUE(row.form.starts_with(name_of(row.opcode))) << row.form;
    if (row.opcode == current) continue;
    EXPECT_TRUE(closed.insert(row.opcode).second) << row.form;
    current = row.opcode;
  }
}

TEST(OpcodeTable, HasARowForEveryOpcode) {
#define MUSCOPE_OPCODE(name, text) EXPECT_FALSE(find_rows(Opcode::k_##name).empty()) << text;
#include "ptx/opcode_names.inc"
#undef MUSCOPE_OPCODE
  EXPECT_TRUE(find_rows(Opcode::kInvalid).empty());
}

TEST(OpcodeTable, UsesEveryModifier) {
  std::bitset<kModCount> used;
  for (const OpcodeRow& row : opcode_rows()) {
    for (const Form& form : forms_of(row.opcode)) {
      for (const ModSlot& slot : form.mods) used |= slot.members;
    }
  }
  for (Mod selector : {Mod::k_b0, Mod::k_b1, Mod::k_b2, Mod::k_b3, Mod::k_h0, Mod::k_h1})
    used.set(static_cast<std::size_t>(selector));
  for (std::size_t i = 1; i < kModCount; ++i) EXPECT_TRUE(used.test(i)) << name_of(static_cast<Mod>(i));
}

TEST(OpcodeTable, EveryGroupOfARowIsUsedByItsForm) {
  for (const OpcodeRow& row : opcode_rows()) {
    std::string_view rest = row.groups;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      EXPECT_NE(row.form.find(name), std::string_view::npos) << row.form << " " << name;
      const std::size_t next = rest.find("; ");
      rest = next == std::string_view::npos ? std::string_view{} : rest.substr(next + 2);
    }
  }
}

TEST(OpcodeTable, LinksToTheManual) {
  const auto rows = find_rows(Opcode::k_popc);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(manual_url(rows[0]),
            "https://docs.nvidia.com/cuda/parallel-thread-execution/#integer-arithmetic-instructions-popc");
  EXPECT_EQ(group_members(rows[0], ".type"), ".b32 .b64");
  EXPECT_EQ(group_members(rows[0], ".scope"), ".cta .cluster .gpu .sys");
  EXPECT_EQ(group_members(rows[0], ".rn"), "");
}

TEST(OpcodeTexts, UseEveryRow) {
  std::set<const OpcodeRow*> used;
  for (const auto& path : opcode_texts()) {
    const std::string text = read(path);
    const ParseResult result = parse(text, path.filename().string());
    for (const Diagnostic& diagnostic : result.diagnostics) ADD_FAILURE() << to_text(diagnostic);
    EXPECT_EQ(find_inconsistency(result.module), "");
    for (const Function& function : result.module.functions) {
      for (const Instruction& instruction : function.body) used.insert(instruction.row);
    }
  }
  for (const OpcodeRow& row : opcode_rows()) EXPECT_TRUE(used.contains(&row)) << "no text uses " << row.form;
}

/// Printing an instruction gives its mnemonic back.
TEST(OpcodeTexts, PrintAsWritten) {
  for (const auto& path : opcode_texts()) {
    const std::string text = read(path);
    std::vector<std::string> lines;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    const ParseResult result = parse(text, path.filename().string());
    for (const Function& function : result.module.functions) {
      for (const Instruction& instruction : function.body) {
        const std::string& line = lines.at(static_cast<std::size_t>(instruction.ptx_line) - 1);
        EXPECT_NE(line.find(instruction.text()), std::string::npos) << line << " | " << instruction.text();
      }
    }
  }
}

TEST(Names, AreFoundAgain) {
  EXPECT_EQ(find_opcode("mad24"), Opcode::k_mad24);
  EXPECT_EQ(find_opcode("nonsense"), Opcode::kInvalid);
  EXPECT_EQ(find_mod(".L2::128B"), Mod::k_L2_128B);
  EXPECT_EQ(find_mod("u32"), Mod::kInvalid);
  EXPECT_EQ(name_of(Mod::k_shared_cta), ".shared::cta");
  EXPECT_EQ(space_of(Mod::k_shared_cluster), Space::kShared);
  EXPECT_EQ(space_of(Mod::k_param_entry), Space::kParam);
  EXPECT_EQ(space_of(Mod::k_u32), Space::kGeneric);
  EXPECT_EQ(type_of(Mod::k_bf16x2), Type::kBF16x2);
  EXPECT_EQ(type_of(Mod::k_global), Type::kNone);
  EXPECT_EQ(size_of(Type::kB128), 16);
  EXPECT_TRUE(is_signed(Type::kS16));
  EXPECT_FALSE(is_signed(Type::kU16));
  EXPECT_TRUE(is_float(Type::kTF32));
}

}  // namespace
}  // namespace muscope::ptx
