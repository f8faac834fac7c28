// The completion scripts name every command and GPU, and bash completes with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

using testing::HasSubstr;

std::string script_for(const std::string& shell) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(completion_command({shell}), kOk);
  return testing::internal::GetCapturedStdout();
}

TEST(Completion, NamesCommandsAndGpus) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = script_for(shell);
    EXPECT_EQ(script.find("@COMMANDS@"), std::string::npos) << shell;
    EXPECT_EQ(script.find("@GPUS@"), std::string::npos) << shell;
    for (const Command& c : commands()) EXPECT_THAT(script, HasSubstr(std::string(c.name))) << shell;
    for (const std::string& gpu : arch::gpu_names()) EXPECT_THAT(script, HasSubstr(gpu)) << shell;
  }
}

// What bash offers for the words, the last of them unfinished. `muscope --help` is replaced by a text.
std::string offered(const std::string& words, int last) {
  std::string path = (std::filesystem::temp_directory_path() / "muscope-completion-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  EXPECT_GE(descriptor, 0);
  std::ofstream(path) << script_for("bash")
                      << "muscope() { [[ $2 == --help ]] && echo '  --gpu NAME  --kernel REGEX'; }\n"
                      << "COMP_WORDS=(" << words << ")\nCOMP_CWORD=" << last
                      << "\n_muscope\necho \"${COMPREPLY[@]}\"\n";
  std::string out;
  if (std::FILE* pipe = ::popen(("bash " + path).c_str(), "r"); pipe != nullptr) {
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    EXPECT_EQ(::pclose(pipe), 0);
  }
  ::close(descriptor);
  std::filesystem::remove(path);
  return out;
}

TEST(Completion, BashCompletes) {
  if (std::system("bash -c true") != 0) GTEST_SKIP() << "bash was not found";
  EXPECT_EQ(offered("muscope occ", 1), "occupancy\n");
  EXPECT_EQ(offered("muscope run --k", 2), "--kernel\n");
  EXPECT_EQ(offered("muscope run --gpu h20", 3), "h200\n");
  EXPECT_EQ(offered("muscope completion z", 2), "zsh\n");
  EXPECT_EQ(offered("muscope run /etc/os-relea", 2), "/etc/os-release\n");
}

TEST(Completion, RefusesOtherShells) {
  EXPECT_THROW(completion_command({}), Error);
  EXPECT_THROW(completion_command({"csh"}), Error);
  EXPECT_THROW(completion_command({"bash", "zsh"}), Error);
}

}  // namespace
}  // namespace muscope::cli
