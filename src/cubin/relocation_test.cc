// Relocations: against what nvlink made of the same words, and against where patched calls and loads lead.
#include "cubin/relocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cubin/code_test_files.h"

namespace muscope::cubin {
namespace {

constexpr std::uint64_t kCodeBase = 0x7f12'3456'0000, kDataBase = 0x2'8000'0000;

Placement placement_for(const CodeImage& image, std::map<std::string, std::uint64_t> known) {
  Placement placement;
  for (std::size_t i = 0; i < image.sections.size(); ++i) placement.sections.push_back(kCodeBase + i * 0x10000);
  for (std::size_t i = 0; i < image.data.size(); ++i) placement.data.push_back(kDataBase + i * 0x1000);
  placement.address = [known = std::move(known)](std::string_view symbol) -> std::optional<std::uint64_t> {
    const auto found = known.find(std::string(symbol));
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  return placement;
}

std::uint64_t base_of(const CodeImage& image, const Placement& placement, const std::string& name) {
  const CodeSection* section = image.section(name);
  EXPECT_NE(section, nullptr) << name;
  return section == nullptr ? 0 : placement.sections.at(static_cast<std::size_t>(section - image.sections.data()));
}

// An image with one code section of one instruction and one relocation.
CodeImage one_word(std::uint32_t type, SymbolPlace place, std::uint64_t value, std::int64_t addend = 0) {
  CodeImage image;
  CodeSection& section = image.sections.emplace_back();
  section.name = "k";
  section.bytes.resize(16);
  section.relocations.push_back({.offset = 0,
                                 .type = type,
                                 .symbol = "s",
                                 .place = place,
                                 .section = place == SymbolPlace::kUndefined ? -1 : 0,
                                 .value = value,
                                 .addend = addend});
  image.constants.emplace_back().bank = 3;
  return image;
}

TestWord patched(CodeImage image, std::uint64_t address = 0) {
  Placement placement;
  placement.sections.push_back(address);
  placement.address = [&](std::string_view) { return address; };
  const auto problems = apply_relocations(image, placement);
  EXPECT_TRUE(problems.empty()) << problems.front().why;
  EXPECT_TRUE(image.sections[0].relocations.empty());
  return word_at(image.sections[0], 0);
}

TEST(Relocation, FieldsOfInstructions) {
  const auto undefined = SymbolPlace::kUndefined;
  constexpr std::uint64_t kAddress = 0x0012'3456'789a'bcd0;
  EXPECT_EQ(patched(one_word(0x38, undefined, 0), kAddress), (TestWord{0x789abcd0'00000000, 0}));
  EXPECT_EQ(patched(one_word(0x39, undefined, 0), kAddress), (TestWord{0x00123456'00000000, 0}));
  EXPECT_EQ(patched(one_word(0x4b, undefined, 0), kAddress).target(), static_cast<std::int64_t>(kAddress));
  EXPECT_EQ(patched(one_word(0x72, undefined, 0), kAddress).target(), static_cast<std::int64_t>(kAddress));
  // sm_80 and before: the target in words of 4 bytes from bit 34 on.
  const TestWord before = patched(one_word(0x3a, undefined, 0), 0x1'2345'6780);
  EXPECT_EQ((before.lo >> 34) | (before.hi << 30), 0x1'2345'6780u / 4);
  EXPECT_EQ(before.lo & 0x3'ffff'ffff, 0u);
  EXPECT_EQ(patched(one_word(0x38, undefined, 0, -16), kAddress).immediate(), 0x789abcc0u);
  // Offsets in constant banks: c[0x3][0x10]. Bank in bits 54 to 58.
  const auto constant = SymbolPlace::kConstant;
  EXPECT_EQ(patched(one_word(0x42, constant, 0x10)).lo, (3ull << 54) | (0x10ull << 38));
  EXPECT_EQ(patched(one_word(0x40, constant, 0x10)).lo, (3ull << 54) | (4ull << 40));
  EXPECT_EQ(patched(one_word(0x73, constant, 0x10)).lo, (3ull << 54) | (0x10ull << 37));
  EXPECT_EQ(patched(one_word(0x42, constant, 0, -0x8000)).lo, (3ull << 54) | (0x8000ull << 38));
  EXPECT_EQ(patched(one_word(0x3b, constant, 0x24)).lo, 0x24ull << 32);
  EXPECT_EQ(patched(one_word(0x37, SymbolPlace::kShared, 0x24, 4)).lo, 0x28ull << 32);
  EXPECT_EQ(patched(one_word(0x4a, SymbolPlace::kShared, 0x24)).lo, 0x24ull << 40);
  // The address of a constant as a pointer is where the module put it.
  EXPECT_EQ(patched(one_word(0x38, constant, 0x10), kAddress).immediate(), 0x789abcd0u);
  EXPECT_EQ(patched(one_word(0x02, undefined, 0), kAddress), (TestWord{kAddress, 0}));
  EXPECT_EQ(patched(one_word(0x56, undefined, 0), kAddress), (TestWord{kAddress & 0xff0000, 0}));
  EXPECT_EQ(patched(one_word(0x44, undefined, 0), kAddress), (TestWord{0, 0}));
}

// What `child<<<...>>>` in device code is compiled to, and tables of kernels.
TEST(Relocation, KernelsByTheirOwnNumbers) {
  static constexpr std::uint64_t kHandle = 0x8300'0000'0120;
  const auto word = [](std::uint32_t type) {
    CodeImage image = one_word(type, SymbolPlace::kCode, 0);
    Placement placement;
    placement.sections.push_back(kCodeBase);
    placement.kernel = [](std::string_view name) { return name == "s" ? std::optional(kHandle) : std::nullopt; };
    for (const auto& problem : apply_relocations(image, placement)) ADD_FAILURE() << problem.why;
    return word_at(image.sections[0], 0);
  };
  EXPECT_EQ(word(0x3e), (TestWord{0x0000'0120ull << 32, 0}));
  EXPECT_EQ(word(0x3f), (TestWord{0x0000'8300ull << 32, 0}));
  EXPECT_EQ(word(0x23), (TestWord{kHandle, 0}));
  EXPECT_EQ(word(0x5d), (TestWord{kHandle & 0xff00, 0}));
  EXPECT_EQ(word(0x61), (TestWord{kHandle & 0xff00'0000'0000, 0}));
}

TEST(Relocation, KeepsOtherBits) {
  CodeImage image = one_word(0x4b, SymbolPlace::kUndefined, 0);
  std::fill(image.sections[0].bytes.begin(), image.sections[0].bytes.end(), 0xff);
  const TestWord word = patched(std::move(image), 0);
  EXPECT_EQ(word.lo, 0x0000'0003'ff00'ffffu);
  EXPECT_EQ(word.hi, 0xffff'ffff'fffe'0000u);
}

TEST(Relocation, SaysWhatItCannotApply) {
  const auto why = [](CodeImage image, std::uint64_t address) {
    Placement placement;
    placement.sections.push_back(address);
    const auto problems = apply_relocations(image, placement);
    EXPECT_EQ(problems.size(), image.sections[0].relocations.size());
    EXPECT_EQ(word_at(image.sections[0], 0), TestWord{});
    return problems.empty() ? std::string() : problems.front().why;
  };
  EXPECT_EQ(why(one_word(0x38, SymbolPlace::kUndefined, 0), 0), "no address for 's'");
  EXPECT_EQ(why(one_word(200, SymbolPlace::kCode, 0), 0), "relocation type 200 is not known");
  EXPECT_EQ(why(one_word(0x3e, SymbolPlace::kCode, 0), 0),
            "it uses the address of the kernel 's', as launches from the device do");
  EXPECT_EQ(why(one_word(0x42, SymbolPlace::kCode, 0), 0), "its symbol is not in a constant bank");
  EXPECT_EQ(why(one_word(0x42, SymbolPlace::kConstant, 0x20000), 0), "the offset 0x20000 is too large");
  EXPECT_EQ(why(one_word(0x4b, SymbolPlace::kCode, 0), std::uint64_t{1} << 60),
            "the address 0x1000000000000000 of 's' does not fit");
  EXPECT_EQ(why(one_word(0x4b, SymbolPlace::kCode, 2), 0), "the address 0x2 of 's' does not fit");
  CodeImage outside = one_word(0x38, SymbolPlace::kCode, 0);
  outside.sections[0].relocations[0].offset = 8;
  EXPECT_EQ(why(std::move(outside), 0), "it lies outside its section");
  CodeImage shared = one_word(0x37, SymbolPlace::kShared, 0);
  shared.relocatable = true;
  EXPECT_EQ(why(std::move(shared), 0), "shared memory has no layout before the code is linked");
}

// nvlink resolves what depends on constant banks only. The banks of the linked file have the same layout: the other
// file has no constants.
TEST(Relocation, AgreesWithNvlink) {
  CodeImage mine = read_code("code_90_rdc.cubin");
  const CodeImage before = mine;
  const CodeImage linked = read_code("code_90_linked.cubin");
  EXPECT_TRUE(mine.relocatable);
  apply_relocations(mine, placement_for(mine, {}));
  std::size_t compared = 0;
  for (const CodeSection& section : before.sections) {
    for (const Relocation& r : section.relocations) {
      const RelocationForm form = relocation_form(r.type);
      ASSERT_NE(form.value, RelocationValue::kUnknown) << r.type;
      if (r.place != SymbolPlace::kConstant && r.symbol != "__UFT_OFFSET") continue;
      EXPECT_EQ(word_at(*mine.section(section.name), r.offset), word_at(*linked.section(section.name), r.offset))
          << section.name << " " << r.offset;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 5u);  // two branch tables, two constants, one call of a handle
}

TEST(Relocation, LinkedCallsReachTheirFunctions) {
  for (const char* name : {"code_90_linked.cubin", "code_90_rdc.cubin"}) {
    CodeImage image = read_code(name);
    const std::map<std::string, std::uint64_t> known{{"vprintf", 0x7fff'0000'1000}, {"table", 0x4'0000'0100}};
    const Placement placement = placement_for(image, known);
    for (const RelocationProblem& problem : apply_relocations(image, placement)) ADD_FAILURE() << problem.why;
    const CodeSection& calls = *image.section("calls");
    const std::uint64_t base = base_of(image, placement, "calls");
    std::vector<std::uint64_t> targets;
    std::uint64_t low = 0, high = 0;
    for (std::uint64_t pc = 0; pc < calls.bytes.size(); pc += 16) {
      const TestWord word = word_at(calls, pc);
      if (word.opcode() == kMove && ((word.lo >> 16) & 0xff) == 20) low = word.immediate();
      if (word.opcode() == kMove && ((word.lo >> 16) & 0xff) == 21) high = word.immediate();
      if (word.opcode() != kCallAbsolute) continue;
      targets.push_back(static_cast<std::uint64_t>(word.target()));
      EXPECT_EQ(high << 32 | low, base + pc + 16) << name;  // the return address in R20 and R21
    }
    EXPECT_THAT(targets,
                testing::ElementsAre(base_of(image, placement, "_Z5twicei"), base_of(image, placement, "_Z6thricei")));
    const CodeSection& prints = *image.section("prints");
    std::vector<std::int64_t> system;
    for (std::uint64_t pc = 0; pc < prints.bytes.size(); pc += 16) {
      if (word_at(prints, pc).opcode() == kCallAbsolute) system.push_back(word_at(prints, pc).target());
    }
    EXPECT_THAT(system, testing::ElementsAre(0x7fff'0000'1000));
    // Data: two function pointers, a pointer into a table that the module placed.
    for (const DataSection& data : image.data) {
      if (data.name != ".nv.global.init") continue;
      const std::uint64_t functions = symbol_of(data.symbols, "functions")->offset;
      EXPECT_EQ(read_at<std::uint64_t>(data.bytes, functions), base_of(image, placement, "_Z5twicei"));
      EXPECT_EQ(read_at<std::uint64_t>(data.bytes, functions + 8), base_of(image, placement, "_Z6thricei"));
      EXPECT_EQ(read_at<std::uint64_t>(data.bytes, symbol_of(data.symbols, "into_table")->offset), 0x4'0000'0104u);
    }
    // Globals that the callback does not know lie where the data sections were put.
    const CodeSection& twice = *image.section("_Z5twicei");
    std::uint64_t counter = 0;
    for (std::uint64_t pc = 0; pc < twice.bytes.size(); pc += 16) {
      const TestWord word = word_at(twice, pc);
      if (word.opcode() != kUniformMove) continue;
      const bool is_high = ((word.lo >> 16) & 0x3f) % 2 == 1;
      counter |= word.immediate() << (is_high ? 32 : 0);
    }
    const std::size_t zeros = image.data[0].name == ".nv.global" ? 0 : 1;
    EXPECT_EQ(counter, placement.data[zeros] + symbol_of(image.data[zeros].symbols, "counter")->offset) << name;
  }
}

TEST(Relocation, WholeProgramNeedsOnlyItsTables) {
  CodeImage image = read_code("code_90.cubin");
  const CodeImage before = image;
  const Placement placement = placement_for(
      image, {{"vprintf", 0x7000}, {"counter", 0x1111'2222'3333}, {"table", 0x100}, {"functions", 0x200}});
  for (const RelocationProblem& problem : apply_relocations(image, placement)) {
    ADD_FAILURE() << problem.section << " " << problem.symbol << " " << problem.why;
  }
  for (std::size_t i = 0; i < image.sections.size(); ++i) EXPECT_EQ(image.sections[i].bytes, before.sections[i].bytes);
  const ConstantData& table = *image.constant(4, {});
  for (const Relocation& r : before.constant(4, {})->relocations) {
    const auto value = read_at<std::uint64_t>(table.bytes, r.offset);
    if (r.symbol == "vprintf") {
      EXPECT_EQ(value, 0x7000u);
    } else if (r.symbol == "counter") {
      EXPECT_EQ(value, 0x1111'2222'3333u);
    } else if (r.place == SymbolPlace::kData && !placement.address(r.symbol)) {
      EXPECT_EQ(value, placement.data.at(static_cast<std::size_t>(r.section)) + r.value) << r.symbol;
    }
  }
  EXPECT_TRUE(table.relocations.empty());
}

TEST(Relocation, OlderArchitectures) {
  CodeImage image = read_code("code_80_rdc.cubin");
  const Placement placement = placement_for(image, {{"vprintf", 0x9000}});
  for (const RelocationProblem& problem : apply_relocations(image, placement)) ADD_FAILURE() << problem.why;
  const CodeSection& calls = *image.section("calls");
  std::vector<std::uint64_t> targets;
  for (std::uint64_t pc = 0; pc < calls.bytes.size(); pc += 16) {
    const TestWord word = word_at(calls, pc);
    if (word.opcode() == kCallAbsolute) targets.push_back(((word.lo >> 34) | (word.hi << 30 & 0x7fff'ffff'ffff)) * 4);
  }
  EXPECT_THAT(targets,
              testing::ElementsAre(base_of(image, placement, "_Z5twicei"), base_of(image, placement, "_Z6thricei")));
}

}  // namespace
}  // namespace muscope::cubin
