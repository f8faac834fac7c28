// muscope cc without running a compiler: what it would call (--dryrun), what it prints for build systems, what it
// refuses.
#include "toolchain/driver.h"

#include <gmock/gmock.h>

#include <regex>

#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : path_("PATH", (folder_.path("bin") + ":/usr/bin:/bin").c_str()) {
    // Newer than any real one, so that it is the one found.
    folder_.write_script("bin/clang++-99",
                         "case \"$1\" in --version) echo 'clang version 99.0.0';; *) echo sm_90 sm_80;; esac\n");
    folder_.write("a.cu", "__global__ void k() {}\n");
    folder_.write("b.cpp", "int main() {}\n");
  }

  /// Runs the driver; returns what it printed to stderr. `code_` is the error's code or "".
  std::string run(std::vector<std::string> args) {
    ::testing::internal::CaptureStderr();
    code_.clear();
    try {
      EXPECT_EQ(run_driver(args, Preference::kClang, "1.2.3"), 0);
    } catch (const Error& error) {
      code_ = error.diagnostics().front().code;
    }
    return ::testing::internal::GetCapturedStderr();
  }

  std::string file(const std::string& name) const { return folder_.path(name); }

  TestFolder folder_;
  ScopedVariable path_;
  std::string code_;
};

TEST(DriverVersion, SatisfiesThoseWhoSearchIt) {
  const std::string text = driver_version_text("1.2.3", "clang 22.1.8");
  // CMakeDetermineCUDACompiler.cmake and FindCUDAToolkit.cmake, and scripts that look for "release N.N,".
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(nvcc: NVIDIA \(R\) Cuda compiler driver)")));
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(release ([0-9]+)\.([0-9]+),)")));
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(V13\.0\.[0-9]+)")));
  EXPECT_TRUE(text.starts_with("muscope"));  // find_nvcc tells it apart by this
  EXPECT_THAT(text, HasSubstr("clang 22.1.8"));
}

TEST_F(DriverTest, DryRunShowsEveryStepAndMakesNothing) {
  const std::string text = run({"--dryrun", "-O1", "-o", file("app"), file("a.cu"), file("b.cpp"), "-lm"});
  EXPECT_EQ(code_, "");
  EXPECT_THAT(text, HasSubstr("--cuda-device-only"));
  EXPECT_THAT(text, HasSubstr("-fcuda-include-gpubinary"));
  EXPECT_THAT(text, HasSubstr("--cuda-gpu-arch=sm_90"));
  EXPECT_THAT(text, HasSubstr("-lm"));
  EXPECT_FALSE(std::filesystem::exists(file("app")));
}

TEST_F(DriverTest, VerboseOutputHoldsWhatCMakeReads) {
  const std::string text = run({"-dryrun", "-o", file("app"), file("a.cu")});
  std::smatch libraries;
  ASSERT_TRUE(std::regex_search(text, libraries, std::regex("#\\$ +LIBRARIES= *([^\n]*)\n")));
  // The link line repeats that value word for word; CMake finds it by this and takes its first word as the linker.
  const std::size_t link = text.rfind("#$ /");
  ASSERT_NE(link, std::string::npos);
  EXPECT_NE(text.find(libraries[1].str(), link), std::string::npos);
  for (const char* pattern : {"#\\$ TOP=([^\r\n]+)", "#\\$ NVVMIR_LIBRARY_DIR=[^\r\n]*nvvm/libdevice\n",
                              "#\\$ +PATH= *([^\n]*)\n", "#\\$ +INCLUDES= *([^\n]+)\n", "-arch compute_90"}) {
    EXPECT_TRUE(std::regex_search(text, std::regex(pattern))) << pattern;
  }
  // CMake asks with a name that is no file, and reads the variables all the same.
  EXPECT_THAT(run({"-v", "__cmake_determine_cuda"}), HasSubstr("#$ TOP="));
  EXPECT_EQ(code_, "D405");
}

TEST_F(DriverTest, DependencyRulesNameTheObject) {
  EXPECT_THAT(run({"--dryrun", "-MD", "-c", file("a.cu"), "-o", file("x.o")}),
              HasSubstr("-MD -MT " + file("x.o") + " -MF " + file("x.d")));
  EXPECT_THAT(run({"--dryrun", "-MMD", "-MF", "my.d", "-MT", "t", "-MP", "-c", file("a.cu")}),
              HasSubstr("-MMD -MF my.d -MP -MT t"));
}

TEST_F(DriverTest, TheTargetIsClampedWithANote) {
  EXPECT_THAT(run({"--dryrun", "-arch=sm_100", "-c", file("a.cu")}), HasSubstr("D410"));
  EXPECT_THAT(run({"--dryrun", "-arch=sm_86", "-c", file("a.cu")}), HasSubstr("--cuda-gpu-arch=sm_80"));
  EXPECT_THAT(run({"--dryrun", "-arch=sm_80", "-c", file("a.cu")}), Not(HasSubstr("D410")));
}

TEST_F(DriverTest, RefusesWhatItCannotDo) {
  run({});
  EXPECT_EQ(code_, "D405");
  run({"-c", file("nothing.cu")});
  EXPECT_EQ(code_, "D405");
  run({"--options-file", folder_.path(""), "-c", file("a.cu")});  // a directory can be opened, but not read
  EXPECT_EQ(code_, "D405");
  run({"-c", folder_.write("k.ptx", "")});
  EXPECT_EQ(code_, "D405");
  run({"-c", folder_.write("README", "")});
  EXPECT_EQ(code_, "D405");
  run({"-c", file("a.cu"), file("b.cpp"), "-o", file("x.o")});
  EXPECT_EQ(code_, "D408");
  run({"-c", file("a.cu"), "-o", file("missing/x.o")});
  EXPECT_EQ(code_, "D405");
  run({"-cubin", file("a.cu")});
  EXPECT_EQ(code_, "D407");
}

}  // namespace
}  // namespace muscope::toolchain
