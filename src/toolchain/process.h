// Child processes without a shell: the compilers and tools that muscope calls.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <vector>

namespace muscope::toolchain {

/// Children that other threads are waiting for: to know them as ours, and to end them. Thread-safe.
class RunningProcesses {
 public:
  bool contains(pid_t pid) const;
  /// Kills them and what they started, and those that are still to come as soon as they are there.
  void end_all();

  // For run_process().
  void add(pid_t pid);
  /// Before the number of an ended process may be given out again.
  void remove(pid_t pid);

 private:
  mutable std::mutex mutex_;
  std::vector<pid_t> pids_;
  bool ended_ = false;
};

/// How a child process is started.
struct ProcessOptions {
  std::string directory;                 ///< working directory; empty: the caller's
  std::string input;                     ///< written to the child's standard input, then closed; empty: /dev/null
  std::vector<std::string> environment;  ///< "NAME=value" entries that replace or extend the caller's environment
  bool capture_out = true;               ///< false: the child writes to the caller's stdout
  bool capture_err = true;               ///< false: the child writes to the caller's stderr
  RunningProcesses* listed = nullptr;    ///< has the child in it while it runs, in a process group of its own
};

/// What became of a child process.
struct ProcessResult {
  int exit_code = -1;       ///< valid when signal == 0 and start_error is empty
  int signal = 0;           ///< the signal that ended it, 0 when it exited
  std::string start_error;  ///< why it could not be started; empty when it ran
  std::string out;
  std::string err;

  bool ok() const { return start_error.empty() && signal == 0 && exit_code == 0; }
};

/// Runs argv[0] (a path, or a name looked up on PATH) to its end. Never throws for what the child does.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// The command line as a user could type it into a shell.
std::string shell_text(const std::vector<std::string>& argv);

/// Splits text at blanks as a shell would: quotes ('..', "..") and backslashes are honoured, nothing is expanded.
/// Throws Error D408 when a quote is not closed.
std::vector<std::string> split_words(const std::string& text);

/// "exited with 2", "was killed by signal 11 (Segmentation fault)" or why it did not start.
std::string describe_end(const ProcessResult& result);

}  // namespace muscope::toolchain
