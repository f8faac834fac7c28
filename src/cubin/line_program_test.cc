// Line programs byte by byte: each opcode, damaged headers, records of inlining that make no sense.
#include "cubin/line_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cubin/code_image.h"

namespace muscope::cubin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Program = std::vector<std::uint8_t>;

void append(Program& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// A unit with line base -5, range 14, opcode base 10, two directories and two files; `gap` zeros before the program.
Program unit(const Program& program, unsigned gap = 0, std::uint8_t min_length = 1) {
  Program tables{0, 1, 1, 1, 1, 0, 0, 0, 1};  // operands of standard opcodes 1 to 9
  for (const char* text : {"/first", "/second", ""}) tables.insert(tables.end(), text, text + std::strlen(text) + 1);
  for (const char c : {'a', '\0', '\1', '\0', '\0', 'b', '\0', '\2', '\0', '\0', '\0'})
    tables.push_back(static_cast<std::uint8_t>(c));
  tables.resize(tables.size() + gap);
  Program out;
  append(out, 2 + 4 + 5 + tables.size() + program.size(), 4);
  append(out, 2, 2);
  append(out, 5 + tables.size(), 4);
  for (const int byte : {static_cast<int>(min_length), 1, -5, 14, 10}) out.push_back(static_cast<std::uint8_t>(byte));
  out.insert(out.end(), tables.begin(), tables.end());
  out.insert(out.end(), program.begin(), program.end());
  return out;
}

struct Outcome {
  bool ok = false;
  std::vector<std::string> rows;  // "address file:line context/function", "end", "set N"
  std::vector<std::string> files;
};

Outcome run(const Program& bytes) {
  Outcome outcome;
  LineVisitor visitor;
  visitor.unit = [&](const LineUnit& u) {
    for (const LineFile& file : u.files) outcome.files.push_back(fmt::format("{} {}", file.name, file.directory));
  };
  visitor.set_address = [&](std::uint64_t, std::uint64_t operand) {
    outcome.rows.push_back(fmt::format("set {:x}", operand));
    return operand + 0x1000;
  };
  visitor.row = [&](const LineRow& row) {
    outcome.rows.push_back(fmt::format("{:x} {}:{} {}/{}", row.address, row.file, row.line, row.context, row.function));
  };
  visitor.end_of_sequence = [&] { outcome.rows.push_back("end"); };
  outcome.ok = run_line_program(bytes, visitor);
  return outcome;
}

TEST(LineProgram, Opcodes) {
  const Program set_address{0, 9, 2, 0x10, 0, 0, 0, 0, 0, 0, 0};
  Program program = set_address;
  const Program rest{
      1,  // copy
      2,
      0x90,
      1,  // advance pc by 144
      3,
      0x7e,  // line -2 ...
      3,
      0xe4,
      0,  // ... and +100
      4,
      2,  // file 2
      5,
      9,  // column
      6,
      7,  // ignored
      1,  // copy
      8,  // address += (255 - 10) / 14 = 17
      9,
      0x34,
      0x12,                 // address += 0x1234
      10 + 14 * 3 + 5 + 4,  // address += 3, line += 4, a row
      0,
      3,
      0x90,
      7,
      5,       // inlined: context 7, function 5
      10 + 5,  // a row
      0,
      5,
      0x77,
      1,
      2,
      3,
      4,  // unknown, passed over
      0,
      3,
      0x90,
      0,
      0,
      10 + 6,  // line += 1
      0,
      1,
      1,  // end
      1,  // state is reset
  };
  program.insert(program.end(), rest.begin(), rest.end());
  const Outcome outcome = run(unit(program));
  EXPECT_TRUE(outcome.ok);
  EXPECT_THAT(outcome.files, ElementsAre("a 1", "b 2"));
  EXPECT_THAT(outcome.rows, ElementsAre("set 10", "1010 1:1 0/0", "10a0 2:99 0/0", "22e8 2:103 0/0", "22e8 2:103 7/5",
                                        "22e8 2:104 0/0", "end", "0 1:1 0/0", "end"));
}

TEST(LineProgram, MinimumInstructionLengthScalesAddresses) {
  EXPECT_THAT(run(unit({2, 3, 1}, 0, 16)).rows, ElementsAre("30 1:1 0/0", "end"));
}

TEST(LineProgram, ProgramBeginsWhereTheHeaderSays) {
  EXPECT_THAT(run(unit({1}, 4)).rows, ElementsAre("0 1:1 0/0", "end"));
}

TEST(LineProgram, SeveralUnits) {
  Program both = unit({1});
  const Program second = unit({3, 4, 1});
  both.insert(both.end(), second.begin(), second.end());
  const Outcome outcome = run(both);
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.files.size(), 4u);
  EXPECT_THAT(outcome.rows, ElementsAre("0 1:1 0/0", "end", "0 1:5 0/0", "end"));
}

TEST(LineProgram, DamageEndsIt) {
  EXPECT_TRUE(run({}).ok);
  EXPECT_FALSE(run({1, 2, 3}).ok);
  Program version = unit({1});
  version[4] = 9;
  EXPECT_FALSE(run(version).ok);
  EXPECT_THAT(run(version).rows, IsEmpty());
  Program range = unit({1});
  range[13] = 0;
  EXPECT_FALSE(run(range).ok);
  Program header_length = unit({1});
  header_length[6] = 0xff;
  EXPECT_FALSE(run(header_length).ok);
  Program length = unit({1});
  length[3] = 0xff;
  EXPECT_FALSE(run(length).ok);
  // Cut off inside operands.
  EXPECT_FALSE(run(unit({1, 2, 0x80})).ok);
  EXPECT_FALSE(run(unit({1, 9, 1})).ok);
  EXPECT_FALSE(run(unit({1, 0, 9, 2, 0})).ok);
  EXPECT_THAT(run(unit({1, 9, 1})).rows, ElementsAre("0 1:1 0/0"));
  // Lengths beyond all bounds do not lead backwards.
  EXPECT_EQ(run(unit({1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x80, 1})).rows.size(), 2u);
  // A number of more than 64 bits.
  EXPECT_TRUE(run(unit({2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1})).ok);
}

}  // namespace
}  // namespace muscope::cubin
