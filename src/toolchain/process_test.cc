#include "toolchain/process.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "base/diagnostic.h"
#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Process, CapturesBothStreamsAndTheExitCode) {
  const ProcessResult result = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(describe_end(result), "exited with 7");
}

TEST(Process, NoShellTouchesTheArguments) {
  const ProcessResult result = run_process({"/bin/echo", "$HOME", "*", "a b", "`id`"});
  EXPECT_EQ(result.out, "$HOME * a b `id`\n");
}

TEST(Process, FeedsStdinLargerThanAPipe) {
  ProcessOptions options;
  options.input = std::string(1 << 20, 'x');
  const ProcessResult result = run_process({"/bin/cat"}, options);
  EXPECT_EQ(result.out.size(), options.input.size());
  EXPECT_TRUE(result.ok());
}

TEST(Process, AChildThatDoesNotReadItsInputDoesNotKillUs) {
  ProcessOptions options;
  options.input = std::string(1 << 20, 'x');
  EXPECT_EQ(run_process({"/bin/true"}, options).exit_code, 0);
}

TEST(Process, ReportsSignals) {
  const ProcessResult result = run_process({"/bin/sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.ok());
}

TEST(Process, ReportsAProgramThatDoesNotExist) {
  const ProcessResult result = run_process({"/nonexistent/tool"});
  EXPECT_EQ(result.start_error, "No such file or directory");
  EXPECT_FALSE(result.ok());
}

TEST(Process, ChangesFolderAndEnvironment) {
  const TestFolder folder;
  const ScopedVariable kept("MUSCOPE_TEST_A", "from outside");
  ProcessOptions options;
  options.directory = folder.path();
  options.environment = {"MUSCOPE_TEST_A=new", "MUSCOPE_TEST_B=added"};
  const ProcessResult result = run_process({"/bin/sh", "-c", "pwd -P; echo $MUSCOPE_TEST_A $MUSCOPE_TEST_B"}, options);
  EXPECT_EQ(result.out, std::filesystem::canonical(folder.path()).string() + "\nnew added\n");
}

TEST(Process, OnesThatOthersWaitForCanBeEnded) {
  const TestFolder folder;
  RunningProcesses running;
  ProcessOptions options;
  options.listed = &running;
  const std::string pid_file = folder.path("pid");
  ProcessResult result;
  // The sleeping one keeps the streams open: it has to go as well.
  std::thread other([&] {
    result =
        run_process({"/bin/sh", "-c",
                     "sleep 1000 & echo $$ > " + pid_file + ".new; mv " + pid_file + ".new " + pid_file + "; wait"},
                    options);
  });
  while (!std::filesystem::exists(pid_file)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const int pid = std::stoi(folder.read("pid"));
  EXPECT_TRUE(running.contains(pid));
  running.end_all();
  other.join();
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_FALSE(running.contains(pid));
  // What starts later ends too.
  EXPECT_EQ(run_process({"/bin/sh", "-c", "sleep 1000"}, options).signal, SIGKILL);
}

TEST(Process, SplitsWordsAsAShellWould) {
  EXPECT_THAT(split_words("-I a  -DX='1 2' \"b c\" d\\ e"), ElementsAre("-I", "a", "-DX=1 2", "b c", "d e"));
  EXPECT_THAT(split_words("  \t\n"), IsEmpty());
  EXPECT_THAT(split_words("''"), ElementsAre(""));
  EXPECT_THAT(split_words(R"("a\"b" 'c\d')"), ElementsAre("a\"b", "c\\d"));
  EXPECT_THROW(split_words("-DX='1"), Error);
}

TEST(Process, ShellTextCanBeReadBack) {
  const std::vector<std::string> words{"g++", "-DX=\"a b\"", "it's", "", "a.cu"};
  EXPECT_EQ(split_words(shell_text(words)), words);
}

}  // namespace
}  // namespace muscope::toolchain
