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
    for (const char* mark : {"@GPUS@", "@VALUES@", "@TOPICS@", "@OPTION"})
      EXPECT_EQ(script.find(mark), std::string::npos) << shell << mark;
    for (const Command& c : commands()) EXPECT_THAT(script, HasSubstr(std::string(c.name))) << shell;
    for (const std::string& gpu : arch::gpu_names()) EXPECT_THAT(script, HasSubstr(gpu)) << shell;
  }
}

// What bash offers for the words, the last of them unfinished. `muscope --help` is replaced by a text.
std::string offered(const std::string& words, int last) {
  std::string path = (std::filesystem::temp_directory_path() / "muscope-completion-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  EXPECT_GE(descriptor, 0);
  std::ofstream(path)
      << script_for("bash")
      << "muscope() {\n"
         "  [[ $2 == --help ]] && printf '  -q,--quiet\\n  --kernel REGEX\\n  --l1 X\\n  run ./app --verbose\\n'\n"
         "  [[ $2 == --all ]] && printf '  bank-conflict  Bank conflict\\n  D301: unknown\\n'\n"
         "  [[ $2 == --all ]] && printf '  l1tex__x.sum  (nvprof: gld_x)\\n  ld  ldu\\n'\n"
         "}\n"
      << "COMP_WORDS=(" << words << ")\nCOMP_CWORD=" << last << "\n_muscope\necho \"${COMPREPLY[@]}\"\n";
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
  EXPECT_EQ(offered("muscope run --q", 2), "--quiet\n");
  EXPECT_EQ(offered("muscope pattern --l", 2), "--l1\n");
  EXPECT_EQ(offered("muscope run --verb", 2), "\n");
  EXPECT_EQ(offered("muscope run --gpu h20", 3), "h200\n");
  EXPECT_EQ(offered("muscope run --gpu = h20", 4), "h200\n");
  EXPECT_EQ(offered("muscope run --sort w", 3), "waste\n");
  EXPECT_EQ(offered("muscope run --view = ''", 4), "lines kernels sass\n");
  EXPECT_EQ(offered("muscope run --view =", 3), "lines kernels sass\n");
  EXPECT_EQ(offered("muscope explain ba", 2), "bank-conflict\n");
  EXPECT_EQ(offered("muscope explain l", 2), "l1tex__x.sum ld ldu\n");
  EXPECT_EQ(offered("muscope explain D", 2), "D301\n");
  EXPECT_EQ(offered("muscope run --metrics gl", 3), "gld_x\n");
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
