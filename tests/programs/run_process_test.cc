// How processes of a run end, and what is left of them: exit, _exit, abort, crash, kill, fork, exec, threads, signals,
// timeout, full disk. With fake_child in the place of a CUDA program.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/diagnostic.h"
#include "cli/run_child.h"
#include "cli/run_directory.h"
#include "cli/run_progress.h"
#include "cli/run_records.h"

namespace muscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Outcome {
  ChildResult child;
  RunRecords records;
  std::string path;  ///< of the run directory, gone by now
  double seconds = 0;
};

std::vector<std::string> child_environment(const RunDirectory& run, const std::vector<std::string>& more) {
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", std::string(runtime::kEnvRunDir) + "=" + run.path()};
  environment.insert(environment.end(), more.begin(), more.end());
  // The sanitizers catch what these programs do on purpose.
  environment.push_back(
      "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0:allow_user_segv_handler=1:use_sigaltstack=0");
  return environment;
}

struct Setting {
  std::vector<std::string> environment;
  double timeout = 0;
  std::function<void()> tick = [] {};
  RunRequest request;
};

Outcome run_command_line(const std::vector<std::string>& argv, const Setting& setting = {}) {
  Outcome out;
  RunDirectory run;
  out.path = run.path();
  ChildCommand command;
  command.path = argv.front();
  command.argv = argv;
  command.environment = child_environment(run, setting.environment);
  command.timeout_seconds = setting.timeout;
  const auto begin = std::chrono::steady_clock::now();
  out.child = run_child(command, run, setting.tick);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int error = 0;
  const std::uint32_t lost = run.lost_processes(error);
  out.records = gather_records(run.read(), setting.request, lost, error);
  return out;
}

Outcome run_steps(std::vector<std::string> steps, const Setting& setting = {}) {
  steps.insert(steps.begin(), MUSCOPE_FAKE_CHILD);
  return run_command_line(steps, setting);
}

std::size_t launches(const Outcome& o) {
  std::size_t n = 0;
  for (const views::ProcessRecord& p : o.records.processes) n += p.launches.size();
  return n;
}

TEST(RunProcess, ExitKeepsEverything) {
  const Outcome o = run_steps({"launch:3", "exit:3"});
  EXPECT_EQ(o.child.exit_code, 3);
  EXPECT_EQ(o.child.exit_text, "exited with 3");
  ASSERT_THAT(o.records.processes, SizeIs(1));
  const views::ProcessRecord& p = o.records.processes[0];
  ASSERT_THAT(p.launches, SizeIs(3));
  EXPECT_EQ(p.launches[2].index, 2u);
  EXPECT_EQ(p.launches[2].sites.at(0).sectors, 40u);
  ASSERT_THAT(p.argv, SizeIs(3));
  EXPECT_EQ(p.argv[1], "launch:3");
  EXPECT_EQ(p.parent, ::getpid());
  EXPECT_FALSE(p.truncated);
  EXPECT_EQ(p.in_progress, "");
  EXPECT_FALSE(o.records.incomplete);
  EXPECT_THAT(o.records.diagnostics, IsEmpty());
}

TEST(RunProcess, RunDirectoryIsPrivateAndGoesAway) {
  std::string path;
  {
    RunDirectory run;
    path = run.path();
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RunProcess, UnderscoreExitKeepsLaunchesAndTransfers) {
  const Outcome o = run_steps({"launch", "transfer", "transfer", "_exit:0"});
  EXPECT_EQ(launches(o), 1u);
  ASSERT_THAT(o.records.processes.at(0).transfers, SizeIs(1));
  EXPECT_EQ(o.records.processes[0].transfers[0].count, 2u);
  EXPECT_EQ(o.records.processes[0].transfers[0].bytes, 8192u);
  EXPECT_EQ(o.records.processes[0].transfers[0].api, "cudaMemcpy");
}

TEST(RunProcess, AbortAndCrashKeepWhatCameBefore) {
  const Outcome aborted = run_steps({"launch", "abort"});
  EXPECT_EQ(aborted.child.exit_text, "killed by SIGABRT");
  EXPECT_EQ(aborted.child.exit_code, 134);
  EXPECT_EQ(launches(aborted), 1u);
  const Outcome crashed = run_steps({"launch", "transfer", "null"});
  EXPECT_EQ(crashed.child.exit_text, "killed by SIGSEGV");
  EXPECT_EQ(launches(crashed), 1u);
  EXPECT_THAT(crashed.records.processes[0].transfers, SizeIs(1));
  EXPECT_THAT(crashed.records.processes[0].findings, IsEmpty());
}

TEST(RunProcess, HostAccessToDeviceMemoryIsNamed) {
  const Outcome o = run_steps({"launch", "touch"});
  EXPECT_EQ(o.child.exit_text, "killed by SIGSEGV");
  ASSERT_THAT(o.records.processes.at(0).findings, SizeIs(1));
  const views::Finding& f = o.records.processes[0].findings[0];
  EXPECT_EQ(f.code, "D590");
  EXPECT_THAT(f.text, HasSubstr("host code writes device memory at 0x"));
  EXPECT_THAT(f.text, testing::ContainsRegex("touch_device|fake_child"));
  EXPECT_THAT(f.hint, HasSubstr("cudaMemcpy"));
}

TEST(RunProcess, OwnCrashHandlersRun) {
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{"handle:11", "launch", "null"}, {"launch", "handle:11", "null"}}) {
    const Outcome o = run_steps(order);
    EXPECT_EQ(o.child.exit_text, "exited with 7");
    EXPECT_EQ(launches(o), 1u);
  }
}

TEST(RunProcess, KillLosesOnlyTheLaunchInProgress) {
  const Outcome o = run_steps({"launch:2", "transfer", "begin", "kill:9"});
  EXPECT_EQ(o.child.exit_text, "killed by SIGKILL");
  EXPECT_EQ(launches(o), 2u);
  EXPECT_EQ(o.records.processes[0].in_progress, "fake(int*)");
  EXPECT_THAT(o.records.processes[0].transfers, SizeIs(1));
  EXPECT_EQ(o.records.launches, 3u);
}

TEST(RunProcess, NoDescriptorStaysOpenAndNoneIsNeeded) {
  const Outcome o = run_steps({"launch", "closefrom", "launch", "transfer", "exit:0"});
  EXPECT_EQ(launches(o), 2u);
}

TEST(RunProcess, ClearedEnvironmentAndOtherFolderDoNotMatter) {
  EXPECT_EQ(launches(run_steps({"clearenv", "launch"})), 1u);
  EXPECT_EQ(launches(run_steps({"launch", "chdir:/", "launch"})), 2u);
}

TEST(RunProcess, AForkBeforeTheFirstCallHasItsOwnSpool) {
  const Outcome o = run_steps({"fork", "launch:2"});
  ASSERT_THAT(o.records.processes, SizeIs(1));
  EXPECT_EQ(launches(o), 2u);
  EXPECT_NE(o.records.processes[0].parent, ::getpid());
}

TEST(RunProcess, AForkAfterTheFirstCallWritesNothing) {
  testing::internal::CaptureStdout();
  const Outcome o = run_steps({"launch", "fork", "launch"});
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_THAT(out, HasSubstr("initialization error"));
  EXPECT_THAT(out, HasSubstr("child ended with 3"));
  ASSERT_THAT(o.records.processes, SizeIs(1));
  EXPECT_EQ(launches(o), 1u);
}

TEST(RunProcess, AForkBehindOurBackWritesNothing) {
  const Outcome o = run_steps({"launch", "rawfork", "launch"});
  ASSERT_THAT(o.records.processes, SizeIs(1));
  ASSERT_EQ(launches(o), 2u);
  EXPECT_EQ(o.records.processes[0].launches[1].index, 1u);
  EXPECT_FALSE(o.records.processes[0].truncated);
}

TEST(RunProcess, ExecKeepsBothPrograms) {
  const Outcome o = run_steps({"launch", "exec", "launch:2", "exit:0"});
  ASSERT_THAT(o.records.processes, SizeIs(2));
  EXPECT_EQ(o.records.processes[0].pid, o.records.processes[1].pid);
  EXPECT_THAT(o.records.processes[0].launches, SizeIs(1));
  EXPECT_THAT(o.records.processes[1].launches, SizeIs(2));
}

TEST(RunProcess, AShellIsFollowedAndLeavesNothingItself) {
  const std::string child = MUSCOPE_FAKE_CHILD;
  const Outcome o = run_command_line({"/bin/sh", "-c", child + " launch; " + child + " launch:2 exit:1; exit 5"});
  EXPECT_EQ(o.child.exit_code, 5);
  ASSERT_THAT(o.records.processes, SizeIs(2));
  EXPECT_THAT(o.records.processes[0].launches, SizeIs(1));
  EXPECT_THAT(o.records.processes[1].launches, SizeIs(2));
}

TEST(RunProcess, AProgramWithoutCudaLeavesNothing) {
  const Outcome o = run_command_line({"/bin/true"});
  EXPECT_EQ(o.child.exit_code, 0);
  EXPECT_THAT(o.records.processes, IsEmpty());
}

TEST(RunProcess, ThreadsMixWithoutLoss) {
  const Outcome o = run_steps({"threads:8"});
  EXPECT_EQ(launches(o), 800u);
  std::uint64_t copies = 0;
  for (const views::TransferRecord& t : o.records.processes.at(0).transfers) copies += t.count;
  EXPECT_EQ(copies, 800u);
}

TEST(RunProcess, RepeatedFindingsAreCountedOnce) {
  const Outcome o = run_steps({"finding", "finding", "finding", "_exit:0"});
  ASSERT_THAT(o.records.processes.at(0).findings, SizeIs(1));
  EXPECT_EQ(o.records.processes[0].findings[0].count, 3u);
}

TEST(RunProcess, SelectionLeavesLaunchesOut) {
  Setting setting;
  setting.environment = {std::string(runtime::kEnvLaunches) + "=1-2"};
  setting.request.launches = {1, 2};
  const Outcome o = run_steps({"launch:5"}, setting);
  EXPECT_EQ(launches(o), 2u);
  EXPECT_EQ(o.records.launches, 5u);
  EXPECT_EQ(o.records.processes[0].launches[0].index, 1u);
  setting.environment = {std::string(runtime::kEnvKernel) + "=^other"};
  setting.request = {};
  EXPECT_EQ(launches(run_steps({"launch:5"}, setting)), 0u);
}

TEST(RunProcess, TimeoutNamesTheSpinningLine) {
  Setting setting;
  setting.timeout = 0.5;
  const Outcome o = run_steps({"launch", "spin", "sleep:60000"}, setting);
  EXPECT_TRUE(o.child.timed_out);
  EXPECT_LT(o.seconds, 5.0);
  EXPECT_EQ(launches(o), 2u);
  EXPECT_EQ(stopped_launch_text(o.records.processes),
            "kernel fake(int*) (launch 1) at fake.cu:14, `ld.volatile.global.u32`");
}

TEST(RunProcess, TimeoutKillsWhatDoesNotListen) {
  Setting setting;
  setting.timeout = 0.3;
  const Outcome o = run_steps({"ignore:15", "launch", "deaf"}, setting);
  EXPECT_TRUE(o.child.timed_out);
  EXPECT_TRUE(o.child.forced);
  EXPECT_EQ(o.child.exit_text, "killed by SIGKILL");
  EXPECT_EQ(launches(o), 1u);
  EXPECT_EQ(stopped_launch_text(o.records.processes), "kernel fake(int*)");
}

TEST(RunProcess, TimeoutEndsBackgroundProcessesToo) {
  Setting setting;
  setting.timeout = 0.3;
  const Outcome o = run_command_line({"/bin/sh", "-c", "sleep 71 & sleep 72"}, setting);
  EXPECT_TRUE(o.child.timed_out);
  EXPECT_THAT(o.child.still_running, IsEmpty());
  EXPECT_LT(o.seconds, 6.0);
}

/// Sends `signal` to this process once a launch of the run is in progress, or after the first ticks.
void signal_ourselves(int signal, const std::vector<std::string>& steps,
                      const std::function<void(const Outcome&)>& check) {
  int ticks = 0;
  Setting setting;
  setting.tick = [&] {
    if (++ticks == 3) ::kill(::getpid(), signal);
  };
  check(run_steps(steps, setting));
}

TEST(RunProcess, InterruptRecordsTheLaunchThenEndsTheProgram) {
  signal_ourselves(SIGINT, {"launch", "spin", "sleep:60000"}, [](const Outcome& o) {
    EXPECT_EQ(o.child.interrupted_by, SIGINT);
    EXPECT_EQ(o.child.exit_text, "killed by SIGINT");
    EXPECT_FALSE(o.child.forced);
    EXPECT_EQ(launches(o), 2u);
    EXPECT_THAT(stopped_launch_text(o.records.processes), HasSubstr("fake.cu:14"));
    EXPECT_LT(o.seconds, 5.0);
  });
}

TEST(RunProcess, TerminateReachesAProgramWithoutALaunch) {
  signal_ourselves(SIGTERM, {"launch", "sleep:60000"}, [](const Outcome& o) {
    EXPECT_EQ(o.child.interrupted_by, SIGTERM);
    EXPECT_EQ(o.child.exit_text, "killed by SIGTERM");
    EXPECT_EQ(launches(o), 1u);
  });
}

TEST(RunProcess, AProgramThatHandlesTheInterruptDoesSo) {
  signal_ourselves(SIGINT, {"handle:2", "launch", "sleep:60000"}, [](const Outcome& o) {
    EXPECT_EQ(o.child.exit_text, "exited with 7");
    EXPECT_EQ(o.child.interrupted_by, SIGINT);
  });
}

TEST(RunProcess, AProgramThatIgnoresTheInterruptIsKilledAfterTheGrace) {
  signal_ourselves(SIGINT, {"ignore:2", "launch", "sleep:60000"}, [](const Outcome& o) {
    EXPECT_TRUE(o.child.forced);
    EXPECT_GE(o.seconds, kGraceSeconds);
    EXPECT_LT(o.seconds, kGraceSeconds + 3);
    EXPECT_EQ(launches(o), 1u);
  });
}

TEST(RunProcess, ALaunchInAChildIsStoppedToo) {
  signal_ourselves(SIGINT, {"fork", "spin"}, [](const Outcome& o) {
    EXPECT_EQ(o.child.exit_text, "exited with 0");  // the parent saw its child end
    EXPECT_THAT(o.child.still_running, IsEmpty());
    EXPECT_EQ(launches(o), 1u);
  });
}

TEST(RunProcess, InterruptFromTheTerminalArrivesOnce) {
  // In a terminal of its own: ^C reaches muscope and the program at once, and is not sent a second time.
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid < 0) GTEST_SKIP() << "no pseudo-terminal here (/dev/pts is not mounted)";
  if (pid == 0) {
    const Outcome o = run_steps({"launch", "spin", "sleep:60000"});
    const bool good = o.child.interrupted_by == SIGINT && o.child.exit_text == "killed by SIGINT" && launches(o) == 2;
    ::_exit(good ? 0 : 1);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  ASSERT_EQ(::write(terminal, "\x03", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ::close(terminal);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(RunProcess, TheProgressLineIsGoneBeforeTheProgramSpeaks) {
  int terminal = -1;
  winsize size{};
  size.ws_col = 80, size.ws_row = 25;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (pid < 0) GTEST_SKIP() << "no pseudo-terminal here (/dev/pts is not mounted)";
  if (pid == 0) {
    ::setenv("TERM", "xterm", 1);
    RunDirectory run;
    ChildCommand command;
    command.path = MUSCOPE_FAKE_CHILD;
    command.argv = {command.path, "nap:1500", "say:hello"};
    command.environment = child_environment(run, {});
    Progress progress(run, true);
    run_child(command, run, [&] { progress.update(); });
    ::_exit(0);
  }
  std::string screen;
  char chunk[512];
  for (ssize_t got; (got = ::read(terminal, chunk, sizeof chunk)) > 0;)
    screen.append(chunk, static_cast<std::size_t>(got));
  ::waitpid(pid, nullptr, 0);
  ::close(terminal);
  EXPECT_THAT(screen, HasSubstr("\rmuscope: launch 0 fake(int*)  0 %  1 s\033[K"));
  EXPECT_THAT(screen, HasSubstr("\r\033[Khello"));
}

TEST(RunProcess, BackgroundProcessesAreNamed) {
  const Outcome o = run_steps({"daemon", "launch", "sleep:1500"});
  EXPECT_EQ(o.child.exit_code, 0);
  ASSERT_THAT(o.child.still_running, SizeIs(1));
  ::kill(static_cast<pid_t>(o.child.still_running[0]), SIGKILL);
  ::waitpid(static_cast<pid_t>(o.child.still_running[0]), nullptr, 0);
}

TEST(RunProcess, StatusesShowTheLaunchInProgress) {
  std::vector<ProcessStatus> seen;
  RunDirectory run;
  ChildCommand command;
  command.path = MUSCOPE_FAKE_CHILD;
  command.argv = {command.path, "launch", "begin", "sleep:600"};
  command.environment = child_environment(run, {});
  run_child(command, run, [&] {
    auto statuses = run.statuses();
    if (!statuses.empty() && statuses[0].in_launch) seen = std::move(statuses);
  });
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].launch_index, 1u);
  EXPECT_EQ(seen[0].launches, 1u);
  EXPECT_EQ(seen[0].kernel, "fake(int*)");
}

TEST(RunProcess, ALimitOnFileSizeIsNotFatal) {
  // As on a full disk, writing fails in the middle; the program must neither die of SIGXFSZ nor stop.
  const Outcome o =
      run_command_line({"/bin/sh", "-c", "ulimit -f 400; exec " MUSCOPE_FAKE_CHILD " launch:4000 say:alive exit:4"});
  EXPECT_EQ(o.child.exit_text, "exited with 4");
  EXPECT_TRUE(o.records.incomplete);
  EXPECT_GT(launches(o), 10u);
  EXPECT_LT(launches(o), 4000u);
  EXPECT_FALSE(o.records.processes[0].truncated) << "the torn record was cut off again";
  ASSERT_THAT(o.records.diagnostics, SizeIs(1));
  EXPECT_EQ(o.records.diagnostics[0].code, "D732");
  EXPECT_THAT(o.records.diagnostics[0].text, HasSubstr("File too large"));
}

TEST(RunProcess, AProcessWithoutASpoolIsReported) {
  RunDirectory run;
  ChildCommand command;
  command.path = "/bin/sh";
  command.argv = {"sh", "-c", "ulimit -f 0; exec " MUSCOPE_FAKE_CHILD " launch exit:4"};
  command.environment = child_environment(run, {});
  const ChildResult child = run_child(command, run, [] {});
  EXPECT_EQ(child.exit_text, "exited with 4");
  int error = 0;
  EXPECT_EQ(run.lost_processes(error), 1u);
  EXPECT_EQ(error, EFBIG);
  EXPECT_TRUE(gather_records(run.read(), {}, 1, error).incomplete);
}

// Stands in for `muscope run --json -`: stdout belongs to the report.
TEST(RunProcess, WhatAProgramPrintsCanGoToStderr) {
  RunDirectory run;
  ChildCommand command;
  command.path = "/bin/echo";
  command.argv = {"echo", "hello"};
  command.environment = child_environment(run, {});
  for (const bool moved : {false, true}) {
    command.stdout_to_stderr = moved;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_child(command, run, [] {}).exit_code, 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), moved ? "" : "hello\n");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), moved ? "hello\n" : "");
  }
}

TEST(RunProcess, WhatCannotBeStartedIsADiagnostic) {
  RunDirectory run;
  ChildCommand command;
  command.path = "/nowhere/app";
  command.argv = {"app"};
  try {
    run_child(command, run, [] {});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.diagnostics().front().code, "D123");
    EXPECT_THAT(e.what(), HasSubstr("No such file"));
  }
}

TEST(RunProcess, AnUnusableTmpdirIsADiagnostic) {
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  try {
    RunDirectory run;
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.diagnostics().front().code, "D124");
  }
  ::unsetenv("TMPDIR");
}

TEST(RunProcess, DamagedFilesInTheRunDirectoryAreSurvived) {
  RunDirectory run;
  std::ofstream(run.path() + "/77.0.spool") << "not a spool at all, but some bytes";
  std::ofstream(run.path() + "/77.0.page") << "short";
  std::ofstream(run.path() + "/78.0.spool");
  const RunRecords r = gather_records(run.read(), {}, 0, 0);
  ASSERT_THAT(r.processes, SizeIs(2));
  EXPECT_TRUE(r.processes[0].truncated || r.processes[1].truncated);
  EXPECT_THAT(run.statuses(), IsEmpty());
  run.stop();
}

}  // namespace
}  // namespace muscope::cli
