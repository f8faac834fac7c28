#include "toolchain/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/diagnostic.h"

extern char** environ;

namespace muscope::toolchain {
namespace {

/// A pipe whose ends close themselves.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_read() { close_end(read_end); }
  void close_write() { close_end(write_end); }

 private:
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

/// The caller's environment with the given entries put in place of those of the same name.
std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const std::string& change : changes) {
      if (change.size() > name.size() && change[name.size()] == '=' && change.starts_with(name)) replaced = true;
    }
    if (!replaced) merged.emplace_back(text);
  }
  merged.insert(merged.end(), changes.begin(), changes.end());
  return merged;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Reads what is ready; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

/// Feeds stdin and collects stdout and stderr until all streams are at their end.
void exchange(Pipe& in, Pipe& out, Pipe& err, const std::string& input, ProcessResult& result) {
  std::size_t written = 0;
  if (in.write_end >= 0) {
    const int flags = fcntl(in.write_end, F_GETFL);
    fcntl(in.write_end, F_SETFL, flags | O_NONBLOCK);
  }
  while (in.write_end >= 0 || out.read_end >= 0 || err.read_end >= 0) {
    // poll ignores entries with a negative descriptor.
    std::array<pollfd, 3> polled{{{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}, {in.write_end, POLLOUT, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (polled[0].revents != 0 && !drain(out.read_end, result.out)) out.close_read();
    if (polled[1].revents != 0 && !drain(err.read_end, result.err)) err.close_read();
    if (polled[2].revents != 0) {
      const ssize_t sent = ::write(in.write_end, input.data() + written, input.size() - written);
      if (sent > 0) written += static_cast<std::size_t>(sent);
      const bool broken = sent < 0 && errno != EINTR && errno != EAGAIN;
      if (broken || written == input.size()) in.close_write();
    }
  }
}

/// Blocks SIGPIPE in this thread while a child's stdin is fed, and swallows one that arrived meanwhile.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec now{0, 0};
      while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace

bool RunningProcesses::contains(pid_t pid) const {
  const std::lock_guard lock(mutex_);
  return std::find(pids_.begin(), pids_.end(), pid) != pids_.end();
}

void RunningProcesses::end_all() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const pid_t pid : pids_) ::kill(-pid, SIGKILL);
}

void RunningProcesses::add(pid_t pid) {
  const std::lock_guard lock(mutex_);
  pids_.push_back(pid);
  if (ended_) ::kill(-pid, SIGKILL);
}

void RunningProcesses::remove(pid_t pid) {
  const std::lock_guard lock(mutex_);
  std::erase(pids_, pid);
}

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  ProcessResult result;
  if (argv.empty()) {
    result.start_error = "no program named";
    return result;
  }
  Pipe in, out, err;
  if ((!options.input.empty() && !in.open()) || (options.capture_out && !out.open()) ||
      (options.capture_err && !err.open())) {
    result.start_error = std::strerror(errno);
    return result;
  }
  const SigpipeBlocked sigpipe;

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (in.read_end >= 0) {
    posix_spawn_file_actions_adddup2(&actions, in.read_end, STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  if (options.capture_out) posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  if (options.capture_err) posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  if (!options.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &sigpipe.before());
  short flags = POSIX_SPAWN_SETSIGMASK;
  if (options.listed != nullptr) flags |= POSIX_SPAWN_SETPGROUP;  // of its own, led by it
  posix_spawnattr_setflags(&attributes, flags);

  const std::vector<std::string> environment = merged_environment(options.environment);
  pid_t child = -1;
  const int spawned = posix_spawnp(&child, argv[0].c_str(), &actions, &attributes, pointers_to(argv).data(),
                                   pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (spawned != 0) {
    result.start_error = std::strerror(spawned);
    return result;
  }
  if (options.listed != nullptr) options.listed->add(child);
  in.close_read();
  out.close_write();
  err.close_write();
  exchange(in, out, err, options.input, result);

  if (options.listed != nullptr) {
    siginfo_t ended{};
    while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    options.listed->remove(child);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    result.start_error = std::strerror(errno);
    return result;
  }
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_code = WEXITSTATUS(status);
  }
  return result;
}

std::string shell_text(const std::vector<std::string>& argv) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  std::string text;
  for (const std::string& word : argv) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) {
      if (c == '\'') {
        text += "'\\''";
      } else {
        text += c;
      }
    }
    text += '\'';
  }
  return text;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0)
    fail("D408", fmt::format("a {} quote is not closed in '{}'", quote, text), "close it, or escape it with \\");
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::string describe_end(const ProcessResult& result) {
  if (!result.start_error.empty()) return "could not be started: " + result.start_error;
  if (result.signal != 0) return fmt::format("was killed by signal {} ({})", result.signal, strsignal(result.signal));
  return fmt::format("exited with {}", result.exit_code);
}

}  // namespace muscope::toolchain
