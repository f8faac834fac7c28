#include "verify/capture.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"

namespace muscope::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Capture read(std::string_view text) {
  return read_capture(text, "capture.csv", [](std::string_view name) {
    return name.starts_with("smsp__") || name.starts_with("l1tex__") || name.starts_with("launch__");
  });
}

double value(const Capture& capture, std::size_t launch, const std::string& metric) {
  for (const CaptureValue& v : capture.launches.at(launch).values)
    if (capture.metrics[v.metric] == metric) return v.value;
  ADD_FAILURE() << metric << " was not read";
  return -1;
}

std::string code_of(std::string_view text) {
  try {
    read(text);
  } catch (const Error& e) {
    return e.diagnostics().front().code;
  }
  return "";
}

// As ncu 2025.3 writes it with --csv --page raw: its own messages, what the program printed, names, units, rows.
constexpr std::string_view kRaw = R"csv(==WARNING== Note: Running with unmodified GPU clocks.
==PROF== Connected to process 527 (/home/me/app)
the program says "hi
ID, Kernel Name
==PROF== Disconnected from process 527
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","device__attribute_display_name","dram__bytes_read.sum","launch__shared_mem_per_block","smsp__inst_executed.sum","l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
"","","","","","","","","","","","","Mbyte","Kbyte/block","inst",""
"0","527","app","127.0.0.1","big_switch(int, const int *, int *)","1","7","(128, 1, 1)","(40, 2, 1)","0","9.0","NVIDIA H200","1.02","1.02","3,008","14.73"
"1","527","app","127.0.0.1","void naive<float>(int, const T1 *)","1","7","(16, 16, 1)","(8, 8, 1)","0","9.0","NVIDIA H200","2.50","0","1,234,567","n/a"
)csv";

TEST(Capture, RawPage) {
  const Capture capture = read(kRaw);
  ASSERT_THAT(capture.launches, SizeIs(2));
  EXPECT_THAT(capture.metrics, ElementsAre("launch__shared_mem_per_block", "smsp__inst_executed.sum",
                                           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"));
  EXPECT_EQ(capture.launches[0].kernel, "big_switch(int, const int *, int *)");
  EXPECT_THAT(*capture.launches[0].block, ElementsAre(128, 1, 1));
  EXPECT_THAT(*capture.launches[0].grid, ElementsAre(40, 2, 1));
  EXPECT_EQ(capture.launches[1].id, 1u);
  EXPECT_EQ(capture.launches[0].cc, "9.0");
  EXPECT_EQ(capture.gpu, "NVIDIA H200");
  EXPECT_EQ(value(capture, 1, "smsp__inst_executed.sum"), 1234567);
  EXPECT_DOUBLE_EQ(value(capture, 0, "launch__shared_mem_per_block"), 1020) << "1.02 Kbyte";
  EXPECT_DOUBLE_EQ(capture.launches[0].values[0].resolution, 5) << "1.02 Kbyte is 1015 to 1025";
  EXPECT_DOUBLE_EQ(capture.launches[0].values[1].resolution, 0);
  EXPECT_DOUBLE_EQ(capture.launches[0].values[2].resolution, 0.005);
  EXPECT_EQ(capture.unreadable_values, 1u) << "n/a";
  EXPECT_EQ(capture.unreadable_lines, 0u);
  EXPECT_EQ(capture.other_metrics, 2u) << "device__attribute_display_name, dram__bytes_read.sum";
  EXPECT_THAT(capture.processes, SizeIs(1));
  EXPECT_EQ(capture.processes[0].name, "app");
}

// Without --page raw: a row for each metric, those of a launch one after the other.
TEST(Capture, RowForEachMetric) {
  const Capture capture = read(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
      "Size\",\"Grid "
      "Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\r\n"
      "\"0\",\"9\",\"a\",\"h\",\"k(int)\",\"1\",\"7\",\"(32, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"9.0\",\"S\",\"smsp__inst_executed.sum\",\"inst\",\"10\"\r\n"
      "\"0\",\"9\",\"a\",\"h\",\"k(int)\",\"1\",\"7\",\"(32, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"9.0\",\"S\",\"launch__shared_mem_per_block\",\"Kbyte/block\",\"2\"\r\n"
      "\"0\",\"9\",\"a\",\"h\",\"k(int)\",\"1\",\"7\",\"(32, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"9.0\",\"T\",\"smsp__inst_executed.sum\",\"inst\",\"10\"\r\n"
      "\"1\",\"9\",\"a\",\"h\",\"k(int)\",\"1\",\"7\",\"(64, 1, 1)\",\"(1, 1, "
      "1)\",\"0\",\"9.0\",\"S\",\"smsp__inst_executed.sum\",\"inst\",\"20\"\r\n");
  ASSERT_THAT(capture.launches, SizeIs(2));
  EXPECT_EQ(value(capture, 0, "smsp__inst_executed.sum"), 10);
  EXPECT_THAT(capture.launches[0].values, SizeIs(2)) << "repeats once";
  EXPECT_EQ(value(capture, 0, "launch__shared_mem_per_block"), 2000);
  EXPECT_EQ(value(capture, 1, "smsp__inst_executed.sum"), 20);
  EXPECT_THAT(*capture.launches[1].block, ElementsAre(64, 1, 1));
}

// Older releases have no grid and block columns; spreadsheets write a mark, semicolons and no quotes.
TEST(Capture, OtherColumnsSeparatorsAndMarks) {
  const Capture capture = read(
      "\xef\xbb\xbfProgram;ID;Process ID;Kernel Name;smsp__inst_executed.sum;smsp__inst_executed.sum\n"
      ";;;;inst;inst\nmine;0;5;copy;7;8\nmine;1;6;copy;9;9\n");
  ASSERT_THAT(capture.launches, SizeIs(2));
  EXPECT_FALSE(capture.launches[0].grid);
  EXPECT_EQ(capture.launches[0].cc, "");
  EXPECT_EQ(value(capture, 0, "smsp__inst_executed.sum"), 7) << "the first of two columns of one name";
  EXPECT_THAT(capture.launches[0].values, SizeIs(1));
  EXPECT_THAT(capture.processes, SizeIs(2));
  EXPECT_EQ(capture.launches[1].process, 1u);
}

// Several captures in one file: each has its header; process numbers may come again.
TEST(Capture, SeveralSections) {
  const Capture capture = read(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\n\"0\",\"5\",\"a\",\"1\"\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"launch__grid_size\",\"smsp__inst_executed.sum\"\n"
      "\"\",\"\",\"\",\"\",\"inst\"\n\"0\",\"5\",\"a\",\"3\",\"2\"\n");
  ASSERT_THAT(capture.launches, SizeIs(2));
  EXPECT_THAT(capture.processes, SizeIs(2));
  EXPECT_EQ(value(capture, 0, "smsp__inst_executed.sum"), 1);
  EXPECT_EQ(value(capture, 1, "smsp__inst_executed.sum"), 2);
  EXPECT_EQ(value(capture, 1, "launch__grid_size"), 3);
}

TEST(Capture, WhatIsNoRowIsCounted) {
  const Capture capture = read(
      "\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\n\"0\",\"a\",\"1\"\nresult: 42\n\"1\",\"b\n"
      "\"2\",\"c\",\"1\",\"extra\"\n\"x\",\"d\",\"1\"\n\"\",\"\",\"inst\"\n==PROF== "
      "done\n\"3\",\"e\",\"5\"\n\"4\",\"f");
  ASSERT_THAT(capture.launches, SizeIs(2));
  EXPECT_EQ(capture.unreadable_lines, 6u);
  EXPECT_EQ(capture.first_unreadable_line, 3);
  EXPECT_EQ(capture.launches[1].id, 3u);
}

TEST(Capture, NotACapture) {
  EXPECT_EQ(code_of(""), "D740");
  EXPECT_EQ(code_of("a,b,c\n1,2,3\n"), "D740");
  EXPECT_EQ(code_of("{\"schema\": \"muscope.report/1\"}"), "D740");
  EXPECT_EQ(code_of("==WARNING== No kernels were profiled.\n"), "D740");
  EXPECT_EQ(code_of("\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\n"), "D742");
  EXPECT_EQ(code_of("\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\"\n\"\",\"\",\"inst\"\n"), "D742");
}

TEST(Capture, IsBounded) {
  std::string launches = "ID,Kernel Name,smsp__inst_executed.sum\n";
  for (std::size_t i = 0; i <= kMostLaunches; ++i) launches += "1,k,1\n";
  EXPECT_EQ(code_of(launches), "D741");
  std::string metrics = "ID,Kernel Name";
  for (std::size_t i = 0; i <= kMostMetrics; ++i) metrics += ",smsp__" + std::to_string(i);
  EXPECT_EQ(code_of(metrics + "\n"), "D741");
  std::string columns = "ID,Kernel Name";
  for (std::size_t i = 0; i < kMostColumns; ++i) columns += ",c";
  EXPECT_EQ(code_of(columns + "\n"), "D740");
}

TEST(SplitCsvLine, QuotesAndSeparators) {
  EXPECT_THAT(split_csv_line(R"("a","b ""c"", d",,e)", ','), ElementsAre("a", R"(b "c", d)", "", "e"));
  EXPECT_THAT(split_csv_line("a; b ;", ';'), ElementsAre("a", "b", ""));
  EXPECT_THAT(split_csv_line(R"("a)", ','), IsEmpty());
  EXPECT_THAT(split_csv_line(R"("a"b,c)", ','), IsEmpty());
}

TEST(ParseNumber, NumbersAsNcuPrintsThem) {
  const auto number = [](std::string_view text) {
    const auto parsed = parse_number(text);
    return parsed ? std::pair(parsed->value, parsed->resolution) : std::pair(-1.0, -1.0);
  };
  EXPECT_EQ(number("0"), std::pair(0.0, 0.0));
  EXPECT_EQ(number("150,109,880,320"), std::pair(150109880320.0, 0.0));
  EXPECT_EQ(number("14.73"), std::pair(14.73, 0.005));
  EXPECT_EQ(number("1,234.5"), std::pair(1234.5, 0.05));
  EXPECT_EQ(number("-3"), std::pair(-3.0, 0.0));
  EXPECT_EQ(number("1.5e+06"), std::pair(1.5e6, 5e4));
  EXPECT_EQ(number("12 (4; 4; 4)"), std::pair(12.0, 0.0));
  for (const char* text : {"", "n/a", "inf", "nan", "1,23", "12,3456", ",123", "1234,567", "1.2.3", "0x10", "1e",
                           "1e999", "--1", "(128, 1, 1)", "1 2", "9e99999999999"})
    EXPECT_FALSE(parse_number(text)) << text;
}

TEST(ScaleOfUnit, Bytes) {
  EXPECT_EQ(scale_of_unit("byte"), 1);
  EXPECT_EQ(scale_of_unit("Kbyte/block"), 1e3);
  EXPECT_EQ(scale_of_unit("Mbyte"), 1e6);
  EXPECT_EQ(scale_of_unit("Gbyte"), 1e9);
  EXPECT_EQ(scale_of_unit("inst"), 1);
  EXPECT_EQ(scale_of_unit(""), 1);
}

}  // namespace
}  // namespace muscope::verify
