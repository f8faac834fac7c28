#include "cli/run_child.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/diagnostic.h"

namespace muscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kTick{0.1};
/// A signal that was sent to our whole process group reached the program without us; we forward one only when the
/// program does not end by itself soon.
constexpr Seconds kForwardAfter{0.25};
/// After a timeout the program gets this long to end by itself, once its launch has been stopped.
constexpr Seconds kAskAfter{1.0};

/// Blocks the signals that the waiting loop takes, and gives the old mask back to us and to the child.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&set_);
    for (const int s : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set_, s);
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  const sigset_t& set() const { return set_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t set_{}, before_{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& t : texts) out.push_back(const_cast<char*>(t.c_str()));
  out.push_back(nullptr);
  return out;
}

/// What this thread starts while one lives gets the same addresses every time, so that two runs of a program that hands
/// its own memory to kernels, or hashes pointers, count the same. Where that is forbidden, as in some containers, they
/// are drawn as usual.
class FixedAddresses {
 public:
  FixedAddresses() : before_(::personality(kAsk)) {
    if (before_ != -1) ::personality(static_cast<unsigned long>(before_) | ADDR_NO_RANDOMIZE);
  }
  FixedAddresses(const FixedAddresses&) = delete;
  FixedAddresses& operator=(const FixedAddresses&) = delete;
  ~FixedAddresses() {
    if (before_ != -1) ::personality(static_cast<unsigned long>(before_));
  }

 private:
  static constexpr unsigned long kAsk = 0xffff'ffff;
  int before_;
};

pid_t spawn(const ChildCommand& command, const sigset_t& mask) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (command.stdout_to_stderr) posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = 0;
  const FixedAddresses fixed;
  const int error = ::posix_spawn(&pid, command.path.c_str(), &files, &attributes, pointers(command.argv).data(),
                                  pointers(command.environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    fail("D123", fmt::format("cannot start '{}': {}", command.path, std::strerror(error)),
         error == ENOEXEC  ? "begin the script with a line such as #!/bin/sh"
         : error == E2BIG  ? "shorten its arguments or the environment"
         : error == ENOENT ? "the interpreter or loader that it names is missing"
                           : "");
  }
  return pid;
}

/// Processes that descend from us, from /proc, without our helpers. Orphans of the run are our children: we are their
/// subreaper.
std::vector<std::int64_t> descendants(const std::function<bool(pid_t)>& is_helper) {
  std::multimap<std::int64_t, std::int64_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    std::ifstream file(at->path() / "stat");
    std::string line;
    std::getline(file, line, '\0');  // the process may end meanwhile: then reading fails, and must not throw
    // pid (comm) state ppid ...; comm may hold anything, blanks and parentheses included.
    const std::size_t after = line.rfind(')');
    char state = 0;
    long long parent = 0;
    if (after == line.npos || std::sscanf(line.c_str() + after + 1, " %c %lld", &state, &parent) != 2) continue;
    if (state != 'Z' && state != 'X') children.emplace(parent, std::stoll(name));
  }
  std::vector<std::int64_t> found{static_cast<std::int64_t>(::getpid())};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto at = first; at != last; ++at)
      if (!is_helper || !is_helper(static_cast<pid_t>(at->second))) found.push_back(at->second);
  }
  found.erase(found.begin());
  return found;
}

void describe_status(int status, ChildResult& result) {
  if (WIFSIGNALED(status)) {
    result.exit_code = 128 + WTERMSIG(status);
    result.exit_text = "killed by " + signal_text(WTERMSIG(status));
  } else {
    result.exit_code = WEXITSTATUS(status);
    result.exit_text = fmt::format("exited with {}", result.exit_code);
  }
}

/// The loop around one child: what was asked, what was done about it.
class Watch {
 public:
  Watch(pid_t child, const ChildCommand& command, RunDirectory& run) : child_(child), command_(command), run_(run) {
    const double timeout = command.timeout_seconds;
    if (timeout > 0) deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(Seconds(timeout));
  }

  ChildResult wait(const sigset_t& signals, const std::function<void()>& tick) {
    auto next_tick = Clock::now() + kTick;
    while (!reap()) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(next_tick - Clock::now());
      timespec slice{0, static_cast<long>(std::clamp<std::int64_t>(left.count(), 0, 999'999'999))};
      siginfo_t info{};
      const int signal = ::sigtimedwait(&signals, &info, &slice);
      if (signal > 0 && signal != SIGCHLD) on_signal(signal, info);
      on_clock();
      if (Clock::now() < next_tick) continue;
      next_tick = Clock::now() + kTick;
      if (stopping_) run_.stop();  // processes that appeared since
      tick();
    }
    if (stopping_ && (result_.timed_out || result_.interrupted_by != 0)) kill_rest();
    result_.still_running = descendants(command_.is_helper);
    return result_;
  }

 private:
  /// Collects ended children; true when the program is among them. Not those of other threads, which wait themselves;
  /// orphans come to the first thread, which is this one.
  bool reap() {
    bool ended = false;
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG | __WNOTHREAD)) > 0;) {
      if (pid != child_) continue;
      describe_status(status, result_);
      ended = true;
    }
    return ended;
  }

  void on_signal(int signal, const siginfo_t& info) {
    if (signal == SIGQUIT) {
      if (info.si_code != SI_KERNEL) ::kill(child_, SIGQUIT);
      return;
    }
    if (result_.interrupted_by != 0) return kill_now();  // the user insists
    result_.interrupted_by = signal;
    // The terminal sends ^C to the whole foreground group: the program has it already.
    if (info.si_code != SI_KERNEL) forward_ = signal;
    stop();
  }

  void on_clock() {
    const auto now = Clock::now();
    if (!stopping_ && deadline_ != Clock::time_point{} && now >= deadline_) {
      result_.timed_out = true;
      stop();
    }
    if (!stopping_) return;
    if (forward_ != 0 && now - stopped_at_ >= kForwardAfter) ::kill(child_, std::exchange(forward_, 0));
    if (result_.timed_out && !asked_ && now - stopped_at_ >= kAskAfter) {
      asked_ = true;
      ::kill(child_, SIGTERM);
    }
    if (now - stopped_at_ >= Seconds(kGraceSeconds)) kill_now();
  }

  void stop() {
    if (!stopping_) stopped_at_ = Clock::now();
    stopping_ = true;
    run_.stop();
  }

  void kill_now() {
    result_.forced = true;
    for (const std::int64_t pid : descendants(command_.is_helper)) ::kill(static_cast<pid_t>(pid), SIGKILL);
  }

  /// What the program left behind when it was stopped: asked first, killed after a moment.
  void kill_rest() {
    const auto begin = Clock::now();
    for (const std::int64_t pid : descendants(command_.is_helper)) ::kill(static_cast<pid_t>(pid), SIGTERM);
    while (Clock::now() - begin < kAskAfter && !descendants(command_.is_helper).empty()) {
      ::usleep(20'000);
      reap();
    }
    for (const std::int64_t pid : descendants(command_.is_helper)) ::kill(static_cast<pid_t>(pid), SIGKILL);
    reap();
  }

  pid_t child_;
  const ChildCommand& command_;
  RunDirectory& run_;
  ChildResult result_;
  Clock::time_point deadline_{};
  Clock::time_point stopped_at_{};
  bool stopping_ = false;
  bool asked_ = false;
  int forward_ = 0;
};

}  // namespace

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

ChildResult run_child(const ChildCommand& command, RunDirectory& run, const std::function<void()>& tick) {
  // Orphaned grandchildren become our children, so that we know of them and can end them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const BlockedSignals blocked;
  const pid_t child = spawn(command, blocked.before());
  return Watch(child, command, run).wait(blocked.set(), tick);
}

}  // namespace muscope::cli
