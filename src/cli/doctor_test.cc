#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "toolchain/test_folder.h"

namespace muscope::cli {
namespace {

using ::testing::HasSubstr;

class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() : path_("PATH", folder_.path("bin").c_str()), cache_("XDG_CACHE_HOME", folder_.path("cache").c_str()) {
    folder_.write_script("bin/clang++-99", "echo 'clang version 99.1.0'\n");
    folder_.write_script("bin/g++", "echo 'g++ (Debian 12.2.0-14) 12.2.0'\n");
  }

  std::string run(const Arguments& args) {
    ::testing::internal::CaptureStdout();
    code_ = doctor_command(args);
    return ::testing::internal::GetCapturedStdout();
  }

  toolchain::TestFolder folder_;
  toolchain::ScopedVariable path_;
  toolchain::ScopedVariable cache_;
  int code_ = -1;
};

TEST_F(DoctorTest, NamesWhatIsFoundAndWhatAbsenceCosts) {
  const std::string text = run({});
  EXPECT_EQ(code_, kOk);
  EXPECT_THAT(text, HasSubstr("99.1.0"));
  EXPECT_THAT(text, HasSubstr(folder_.path("bin/g++")));
  EXPECT_THAT(text, HasSubstr("addr2line  not found"));
  EXPECT_THAT(text, HasSubstr("apt-get install binutils"));
}

TEST_F(DoctorTest, PrintsJson) {
  const auto json = nlohmann::json::parse(run({"--json"}));
  EXPECT_EQ(json.at("schema"), "muscope.doctor/1");
  EXPECT_EQ(json.at("tools").at("clang").at("version"), "99.1.0");
  EXPECT_EQ(json.at("tools").at("addr2line").at("found"), false);
  EXPECT_FALSE(json.at("tools").at("addr2line").at("costs").get<std::string>().empty());
  EXPECT_EQ(json.at("cache"), folder_.path("cache/muscope"));
}

}  // namespace
}  // namespace muscope::cli
