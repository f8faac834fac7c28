// Machine code of code.cu (tests/counters/binaries/src), whole program and relocatable, against its source and against
// what the machine itself does with the bytes: targets of calls, branch tables, opcodes.
#include "cubin/code_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "cubin/code_test_files.h"
#include "cubin/cubin.h"

namespace muscope::cubin {
namespace {

using testing::ElementsAre;

const CodeSection& section(const CodeImage& image, const std::string& name) {
  const CodeSection* found = image.section(name);
  EXPECT_NE(found, nullptr) << name;
  static const CodeSection kNone;
  return found != nullptr ? *found : kNone;
}

// file:line function < file:line function ... with the last part of file names.
std::string chain(const CodeImage& image, const CodeSection& code, std::uint64_t pc) {
  const FrameRow* row = line_at(code, pc);
  if (row == nullptr) return "none";
  std::string text;
  for (const SourcePlace& place : inline_chain(image, *row)) {
    const std::string& file = image.files.at(place.file);
    if (!text.empty()) text += " < ";
    text += file.substr(file.rfind('/') + 1) + ":" + std::to_string(place.line);
    if (!place.function.empty()) text += " " + std::string(place.function);
  }
  return text;
}

// All chains of a section that occur, each once.
std::vector<std::string> chains(const CodeImage& image, const CodeSection& code) {
  std::vector<std::string> all;
  for (const FrameRow& row : code.lines) {
    std::string one = chain(image, code, row.pc);
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  }
  return all;
}

std::string at_line(const std::string& source, const std::string& comment) {
  return source + ":" + std::to_string(line_with(source, comment));
}

TEST(CodeImage, HasTheFunctionsOfEachKernel) {
  const CodeImage image = read_code("code_90.cubin");
  EXPECT_EQ(image.target, (SmTarget{90, 0}));
  EXPECT_FALSE(image.relocatable);
  EXPECT_EQ(image.sections.size(), 6u);
  const CodeSection& calls = section(image, "calls");
  ASSERT_EQ(calls.functions.size(), 3u);
  EXPECT_EQ(calls.functions[0].name, "calls");
  EXPECT_TRUE(calls.functions[0].is_entry);
  EXPECT_EQ(calls.functions[0].binding, Binding::kGlobal);
  EXPECT_EQ(calls.functions[0].size, calls.bytes.size());
  EXPECT_EQ(calls.functions[1].name, "$calls$_Z5twicei");
  EXPECT_EQ(calls.functions[1].function(), "_Z5twicei");
  EXPECT_FALSE(calls.functions[1].is_entry);
  EXPECT_EQ(calls.functions[2].function(), "_Z6thricei");
  EXPECT_EQ(calls.function_at(0)->name, "calls");
  EXPECT_EQ(calls.function_at(calls.functions[1].offset - 16)->name, "calls");
  EXPECT_EQ(calls.function_at(calls.functions[1].offset)->function(), "_Z5twicei");
  EXPECT_EQ(calls.function_at(calls.bytes.size() - 16)->function(), "_Z6thricei");
  EXPECT_EQ(calls.function_at(calls.bytes.size()), nullptr);
  EXPECT_EQ(image.section("$calls$_Z5twicei"), &calls);
  EXPECT_EQ(image.section("nothing"), nullptr);
  EXPECT_TRUE(calls.relocations.empty());
}

TEST(CodeImage, FunctionsBeginWhereCallsGo) {
  const CodeImage image = read_code("code_90.cubin");
  const CodeSection& calls = section(image, "calls");
  std::vector<std::int64_t> targets;
  for (std::uint64_t pc = 0; pc < calls.functions.at(1).offset; pc += 16) {
    const TestWord word = word_at(calls, pc);
    if (word.opcode() == kCallRelative) targets.push_back(static_cast<std::int64_t>(pc) + 16 + word.target());
  }
  EXPECT_THAT(targets, ElementsAre(calls.functions[1].offset, calls.functions[2].offset));
}

TEST(CodeImage, FollowsInlinedCalls) {
  const CodeImage image = read_code("code_90.cubin");
  const CodeSection& inlines = section(image, "inlines");
  const std::string call = at_line("code.cu", "inlines calls outer");
  const std::string first = at_line("code_inline.h", "outer calls inner first") + " _Z5outerf < " + call;
  const std::string again = at_line("code_inline.h", "outer calls inner again") + " _Z5outerf < " + call;
  const std::string sum = at_line("code_inline.h", "inner's sum") + " _Z5innerf < ";
  EXPECT_THAT(chains(image, inlines), testing::IsSupersetOf({call, sum + first, sum + again, again}));
  EXPECT_EQ(image.frames.size(), 3u);  // outer, inner in it twice
  for (std::size_t i = 0; i < image.frames.size(); ++i) {
    EXPECT_LT(image.frames[i].inlined_at, static_cast<std::int32_t>(i));
  }
}

TEST(CodeImage, PutsLinesToFunctions) {
  const CodeImage image = read_code("code_90.cubin");
  const CodeSection& calls = section(image, "calls");
  const std::string first = at_line("code.cu", "first call"), second = at_line("code.cu", "second call");
  std::vector<std::string> call_lines;
  for (std::uint64_t pc = 0; pc < calls.functions.at(1).offset; pc += 16) {
    if (word_at(calls, pc).opcode() == kCallRelative) call_lines.push_back(chain(image, calls, pc));
  }
  EXPECT_THAT(call_lines, ElementsAre(first, second));
  // The last instruction of a function computes in its body.
  EXPECT_EQ(chain(image, calls, calls.functions[2].offset - 16), at_line("code.cu", "body of twice"));
  EXPECT_EQ(chain(image, calls, calls.bytes.size() - 16), at_line("code.cu", "body of thrice"));
  EXPECT_TRUE(std::is_sorted(calls.lines.begin(), calls.lines.end(),
                             [](const FrameRow& a, const FrameRow& b) { return a.pc <= b.pc; }));
  EXPECT_EQ(line_at(CodeSection{}, 0), nullptr);
}

TEST(CodeImage, PutsPtxLines) {
  const CodeImage image = read_code("code_90.cubin");
  ASSERT_EQ(image.ptx_texts.size(), 1u);
  const std::vector<std::string>& text = image.ptx_texts[0].lines;
  const CodeSection& switches = section(image, "switches");
  const auto ptx_at = [&](std::uint64_t pc) {
    const PtxRow* row = ptx_line_at(switches, pc);
    return row != nullptr ? text.at(row->line - 1) : std::string();
  };
  // A memory instruction comes from a memory instruction.
  constexpr unsigned kLoadGlobal = 0x981;
  std::size_t loads = 0;
  for (std::uint64_t pc = 0; pc < switches.bytes.size(); pc += 16) {
    if (word_at(switches, pc).opcode() != kLoadGlobal) continue;
    EXPECT_THAT(ptx_at(pc), testing::StartsWith("ld.global")) << pc;
    ++loads;
  }
  EXPECT_EQ(loads, 7u);
  EXPECT_TRUE(read_code("kernels_90.cubin").ptx_texts.empty());
}

TEST(CodeImage, KnowsBranchTablesAndExits) {
  const CodeImage image = read_code("code_90.cubin");
  const CodeSection& switches = section(image, "switches");
  const FunctionFacts* facts = image.facts_of("switches");
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->exits.size(), 6u);
  for (const std::uint64_t pc : facts->exits) EXPECT_EQ(word_at(switches, pc).opcode(), kExit);
  // The tables lie in bank 2, one after the other in any order; their entries are offsets in the section.
  const ConstantData* bank = image.constant(2, "switches");
  ASSERT_NE(bank, nullptr);
  std::vector<std::uint64_t> entries;
  for (std::size_t at = 0; at < bank->bytes.size(); at += 4) entries.push_back(read_at<std::uint32_t>(bank->bytes, at));
  ASSERT_EQ(facts->branches.size(), 2u);
  EXPECT_EQ(entries.size(), facts->branches[0].targets.size() + facts->branches[1].targets.size());
  for (const auto& [pc, targets] : facts->branches) {
    EXPECT_EQ(word_at(switches, pc).opcode(), kIndirectBranch);
    EXPECT_GE(targets.size(), 3u);
    EXPECT_NE(std::search(entries.begin(), entries.end(), targets.begin(), targets.end()), entries.end());
  }
  EXPECT_EQ(image.bank_of(2, "switches"), bank);
  EXPECT_EQ(image.constant(2, "calls"), nullptr);
}

TEST(CodeImage, HandlesOfFunctionsLeadThroughBankTwo) {
  const CodeImage image = read_code("code_90.cubin");
  const auto data = std::find_if(image.data.begin(), image.data.end(),
                                 [](const DataSection& d) { return d.name == ".nv.global.init"; });
  ASSERT_NE(data, image.data.end());
  const ImageSymbol* functions = symbol_of(data->symbols, "functions");
  ASSERT_NE(functions, nullptr);
  EXPECT_EQ(functions->size, 16u);
  const ConstantData* table = image.constant(2, "indirect");
  const CodeSection& indirect = section(image, "indirect");
  ASSERT_NE(table, nullptr);
  const auto called = [&](std::uint64_t index) {
    const auto handle = read_at<std::uint64_t>(data->bytes, functions->offset + index * 8);
    const ImageSymbol* function = indirect.function_at(read_at<std::uint64_t>(table->bytes, handle));
    return function != nullptr ? std::string(function->function()) : std::string();
  };
  EXPECT_EQ(called(0), "_Z5twicei");
  EXPECT_EQ(called(1), "_Z6thricei");
}

TEST(CodeImage, ReadsConstantsAndData) {
  const CodeImage image = read_code("code_90.cubin");
  const ConstantData* bank = image.bank_of(3, "constants");
  ASSERT_NE(bank, nullptr);
  EXPECT_EQ(bank->owner, "");
  const ImageSymbol* scales = symbol_of(bank->symbols, "scales");
  ASSERT_NE(scales, nullptr);
  std::vector<std::uint32_t> values;
  for (std::uint64_t at = 0; at < scales->size; at += 4)
    values.push_back(read_at<std::uint32_t>(bank->bytes, scales->offset + at));
  EXPECT_THAT(values, ElementsAre(3, 5, 7, 11));
  EXPECT_EQ(symbol_of(bank->symbols, "offset")->size, 4u);

  std::vector<std::string> names;
  for (const DataSection& data : image.data) {
    names.push_back(data.name);
    if (data.name != ".nv.global.init") continue;
    const ImageSymbol* table = symbol_of(data.symbols, "table");
    EXPECT_EQ(read_at<std::uint32_t>(data.bytes, table->offset + 4), 20u);
    ASSERT_EQ(data.relocations.size(), 1u);  // into_table = table + 1
    EXPECT_EQ(data.relocations[0].symbol, "table");
    EXPECT_EQ(data.relocations[0].addend, 4);
    EXPECT_EQ(data.relocations[0].offset, symbol_of(data.symbols, "into_table")->offset);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(".nv.global.init", ".nv.global"));
  const ConstantData* own = image.bank_of(0, "switches");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->bytes.size(), 0x210u + 12);
}

TEST(CodeImage, ReadsParametersAndSystemFunctions) {
  const CodeImage image = read_code("code_90.cubin");
  const FunctionFacts* switches = image.facts_of("switches");
  ASSERT_EQ(switches->parameters.size(), 2u);
  EXPECT_EQ(switches->parameters[0].size, 8u);
  EXPECT_EQ(switches->parameters[1].ordinal, 1u);
  EXPECT_EQ(switches->parameters[1].offset, 8u);
  EXPECT_EQ(switches->parameters[1].size, 4u);
  EXPECT_EQ(switches->parameter_offset, 0x210u);
  EXPECT_EQ(switches->parameter_bytes, 12u);
  const FunctionFacts* prints = image.facts_of("prints");
  EXPECT_THAT(prints->externs, ElementsAre("vprintf"));
  EXPECT_EQ(prints->frame_bytes, 8u);
  ASSERT_EQ(prints->system_calls.size(), 1u);
  EXPECT_EQ(word_at(section(image, "prints"), prints->system_calls[0]).opcode(), 0x343u);  // CALL.ABS of a register
  // The address of vprintf is in the address table of the module.
  const ConstantData* table = image.constant(4, {});
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(std::any_of(table->relocations.begin(), table->relocations.end(),
                          [](const Relocation& r) { return r.symbol == "vprintf" && r.type == 2; }));
}

TEST(CodeImage, AgreesWithTheOtherReader) {
  for (const char* name : {"kernels_75.cubin", "kernels_80.cubin", "kernels_90.cubin", "kernels_90a.cubin",
                           "kernels_120.cubin", "code_90.cubin", "code_90_linked.cubin", "code_80_rdc.cubin"}) {
    const CubinInfo info = read_cubin(read_test_binary(name));
    const CodeImage image = read_code(name);
    EXPECT_EQ(image.target, info.target) << name;
    EXPECT_EQ(image.relocatable, info.relocatable) << name;
    std::size_t entries = 0;
    for (const CodeSection& code : image.sections) {
      EXPECT_EQ(code.lines.empty(), !info.line_info) << name << " " << code.name;
      EXPECT_EQ(code.ptx_lines.empty(), !info.ptx_map) << name << " " << code.name;
      for (const ImageSymbol& function : code.functions) {
        if (!function.is_entry) continue;
        ++entries;
        const CubinKernel* kernel = info.kernel(function.name);
        ASSERT_NE(kernel, nullptr) << function.name;
        EXPECT_EQ(code.bytes.size(), kernel->code_bytes);
        const FunctionFacts* facts = image.facts_of(function.name);
        ASSERT_NE(facts, nullptr) << function.name;
        EXPECT_EQ(facts->parameter_bytes, kernel->parameter_bytes);
        EXPECT_EQ(facts->parameter_offset, kernel->parameter_offset);
        EXPECT_EQ(facts->frame_bytes, kernel->frame_bytes);
        EXPECT_EQ(facts->stack_bytes, kernel->stack_bytes);
      }
    }
    EXPECT_EQ(entries, info.kernels.size()) << name;
  }
}

TEST(CodeImage, NamesInlinedFunctionsOfEachLinkedFile) {
  const CodeImage image = read_code("code_90_linked.cubin");
  const std::string sum = at_line("code_inline.h", "inner's sum") + " _Z5innerf < " +
                          at_line("code_inline.h", "outer calls inner first") + " _Z5outerf < ";
  EXPECT_THAT(chains(image, section(image, "inlines")),
              testing::Contains(sum + at_line("code.cu", "inlines calls outer")));
  EXPECT_THAT(chains(image, section(image, "_Z7shortenf")),
              testing::Contains(sum + at_line("code_other.cu", "shorten calls outer")));
  // Two PTX texts: the rows of each section refer to their own.
  ASSERT_EQ(image.ptx_texts.size(), 2u);
  for (const char* name : {"calls", "shortens"}) {
    const PtxRow* row = ptx_line_at(section(image, name), 0);
    ASSERT_NE(row, nullptr);
    const std::vector<std::string>& lines = image.ptx_texts.at(row->text).lines;
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(".entry " + std::string(name)) != std::string::npos;
    })) << name;
  }
}

TEST(CodeImage, RefusesOtherFiles) {
  for (const char* name : {"host_only", "kernels.tsv"}) {
    try {
      read_code(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics().front().code, "D207");
    }
  }
}

}  // namespace
}  // namespace muscope::cubin
