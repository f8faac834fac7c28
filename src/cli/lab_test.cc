// muscope lab without a GPU: its list, and results that were measured elsewhere.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LabCommand : public testing::Test {
 protected:
  LabCommand() : folder_(new_folder()) {}
  ~LabCommand() override { fs::remove_all(folder_); }

  /// Of its own: tests run side by side.
  static fs::path new_folder() {
    std::string name = (fs::path(testing::TempDir()) / "muscope-lab-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }
  static std::string code_of(const Arguments& args) {
    try {
      lab_command(args);
    } catch (const Error& error) {
      return error.diagnostics().front().code;
    }
    return "";
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  const fs::path folder_;
};

TEST_F(LabCommand, ListsWithoutAGpu) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--list"}), kOk);
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_THAT(out, HasSubstr("stride-read "));
  EXPECT_THAT(out, HasSubstr("ladder-scan "));
}

TEST_F(LabCommand, ReadsWhatWasMeasuredElsewhere) {
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl";
  fs::copy_file(source, folder_ / "patterns.jsonl");
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--from", folder_, "--csv", folder_ / "t.csv", "--json", folder_ / "t.json", "--html",
                         folder_ / "t.html"}),
            kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("read with stride 2"));
  EXPECT_THAT(read("t.csv"), HasSubstr("\nstride-read,read with stride 2,2,words,byte,67108864,copy,clean,us,31,29.1"));
  EXPECT_THAT(read("t.html"), HasSubstr("read with stride 2"));
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--from", folder_, "--compare", folder_ / "t.json"}), kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("0 slower, 0 faster, 4 the same"));
}

TEST_F(LabCommand, WhatBecameSlowerIsFound) {
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl";
  fs::copy_file(source, folder_ / "patterns.jsonl");
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--from", folder_, "--json", folder_ / "before.json"}), kOk);
  const auto scale = [&](double factor) {
    std::ifstream in(source);
    std::ofstream out(folder_ / "patterns.jsonl");
    for (std::string line; std::getline(in, line);) {
      auto object = nlohmann::json::parse(line);
      if (object.contains("samples"))
        for (auto& sample : object["samples"]) sample = sample.get<double>() * factor;
      out << object.dump() << "\n";
    }
  };
  scale(1.2);
  EXPECT_EQ(lab_command({"--from", folder_, "--compare", folder_ / "before.json"}), kFound);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("4 slower, 0 faster, 0 the same"));
  testing::internal::CaptureStdout();
  scale(0.8);
  EXPECT_EQ(lab_command({"--from", folder_, "--compare", folder_ / "before.json"}), kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("0 slower, 4 faster, 0 the same"));
}

TEST_F(LabCommand, ResultsOfAnH200AreBrought) {
  fs::copy_file(MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl", folder_ / "patterns.jsonl");
  testing::internal::CaptureStdout();
  EXPECT_NE(lab_command({"--from", folder_, "--compare", "h200"}), kUsage);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("; 0 only now, "));
  try {
    lab_command({"--from", folder_, "--compare", "h201"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "D791");
    EXPECT_THAT(error.diagnostics().front().hint, HasSubstr("h200"));
  }
}

TEST_F(LabCommand, ReadsItsOwnResults) {
  fs::copy_file(MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl", folder_ / "patterns.jsonl");
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--from", folder_, "--json", folder_ / "a.json", "--csv", folder_ / "a.csv"}), kOk);
  const std::string text = testing::internal::GetCapturedStdout();
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--from", folder_ / "a.json", "--json", folder_ / "b.json", "--csv", folder_ / "b.csv"}), kOk);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), text);
  EXPECT_TRUE(read("a.json") == read("b.json"));
  EXPECT_TRUE(read("a.csv") == read("b.csv"));
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--from", folder_, "--compare", folder_ / "a.json", "--html", folder_ / "c.html"}), kOk);
  testing::internal::GetCapturedStdout();
  EXPECT_THAT(read("c.html"), HasSubstr("<pre>0 slower, 0 faster, 4 the same; 0 only now, 0 only before"));
  std::ofstream(folder_ / "packed.json") << "\x1f\x8b\x08";
  EXPECT_EQ(code_of({"--from", folder_ / "packed.json"}), "D791");
}

TEST_F(LabCommand, NothingToCompareIsAnError) {
  fs::copy_file(MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl", folder_ / "patterns.jsonl");
  std::ofstream(folder_ / "none.json") << R"({"schema":"muscope.lab/1","rows":[]})";
  EXPECT_EQ(code_of({"--from", folder_, "--compare", folder_ / "none.json"}), "D791");
  std::ofstream(folder_ / "other.json")
      << R"({"schema":"muscope.lab/1","rows":[{"program":"p","experiment":"e","name":"n","unit":"us","time":{"median":1,"low":1,"high":1}}]})";
  EXPECT_EQ(code_of({"--from", folder_, "--compare", folder_ / "other.json"}), "D791");
}

TEST_F(LabCommand, OptionsThatWouldDoNothingAreRefused) {
  fs::copy_file(MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl", folder_ / "patterns.jsonl");
  EXPECT_EQ(code_of({"--from", folder_, "--no-predict"}), "D104");
  EXPECT_EQ(code_of({"--from", folder_, "--only", "latency-l1"}), "D794");
  EXPECT_EQ(code_of({"--list", "--only", "nonsense"}), "D119");
  testing::internal::CaptureStdout();
  EXPECT_EQ(lab_command({"--list", "--only", "stride"}), kOk);
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2) << out;
  // Before anything is measured or removed.
  EXPECT_EQ(code_of({"--keep", folder_, "--json", folder_ / "patterns.jsonl"}), "D730");
  EXPECT_EQ(code_of({"--keep", folder_, "--html", folder_ / "memory.ncu.csv"}), "D730");
  EXPECT_TRUE(fs::exists(folder_ / "patterns.jsonl"));
}

TEST_F(LabCommand, SaysWhatIsWrongWithFolders) {
  EXPECT_EQ(code_of({"--from", folder_}), "D794");
  std::ofstream(folder_ / "patterns.jsonl")
      << "{\"type\":\"begin\",\"format\":\"muscope.lab.raw/1\",\"program\":\"p\",\"mode\":\"full\"}\n";
  EXPECT_EQ(code_of({"--from", folder_}), "D794");  // stopped before its end
  std::ofstream(folder_ / "patterns.jsonl") << "PASS\n";
  EXPECT_EQ(code_of({"--from", folder_}), "D791");
  EXPECT_EQ(code_of({"--only", "nonsense"}), "D119");
  EXPECT_EQ(code_of({"--from", folder_, "--quick"}), "D104");
  EXPECT_EQ(code_of({"--from", ""}), "D104");
  EXPECT_EQ(code_of({"--list", "--json", "-"}), "D104");
  EXPECT_EQ(code_of({"--list", "--compare", "x.json"}), "D104");
}

TEST_F(LabCommand, WhatIsReadIsNotOverwritten) {
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/fuzz/lab_seeds/patterns.jsonl";
  fs::copy_file(source, folder_ / "patterns.jsonl");
  const std::string raw = read("patterns.jsonl");
  for (const char* option : {"--json", "--csv", "--html"}) {
    EXPECT_EQ(code_of({"--from", folder_, option, folder_ / "patterns.jsonl"}), "D730") << option;
    EXPECT_EQ(read("patterns.jsonl"), raw) << option;
  }
  testing::internal::CaptureStdout();
  EXPECT_EQ(code_of({"--from", folder_, "--json", folder_ / "b.json"}), "");
  testing::internal::GetCapturedStdout();
  const std::string before = read("b.json");
  EXPECT_EQ(code_of({"--from", folder_, "--compare", folder_ / "b.json", "--csv", folder_ / "b.json"}), "D730");
  EXPECT_EQ(read("b.json"), before);
}

}  // namespace
}  // namespace muscope::cli
