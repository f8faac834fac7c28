// A program that leaves the records of a run without any CUDA in it: what the runtime library does in a real program,
// step by step as the command line says. Lets the process behaviour of a run be tested alone.
//
//   fake_child launch transfer launch _exit:3
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/process.h"
#include "runtime/run_options.h"
#include "runtime/signals.h"
#include "runtime/spool.h"

using namespace muscope;
using runtime::Spool;

namespace {

std::uint32_t next_launch = 0;

void use() {
  if (!runtime::enter_process()) {
    std::puts("initialization error");
    std::exit(3);
  }
}

void describe_kernel() {
  views::KernelInfo k;
  k.name = "fake(int*)";
  k.mangled = "_Z4fakePi";
  k.frames = {{"fake.cu", 14, 3, "", views::kNoFrame}};
  k.sites = {{"ld.volatile.global.u32", 22, 0, 4}};
  Spool::of_process().kernel(k);
}

views::LaunchRecord record_of(std::uint32_t index) {
  views::LaunchRecord l;
  l.index = index;
  views::SiteCounts s;
  s.executed = s.requests = 10;
  s.lanes = 320;
  s.sectors = s.ideal_sectors = 40;
  s.lines = 10;
  s.bytes = 1280;
  l.sites = {s};
  return l;
}

void launch() {
  use();
  describe_kernel();
  Spool& spool = Spool::of_process();
  const std::uint32_t index = next_launch++;
  spool.launch_begin(index, "fake(int*)", 8);
  if (runtime::RunOptions::of_process().selects(index, "fake(int*)")) {
    spool.launch(record_of(index));
  } else {
    spool.launch_unobserved();
  }
}

/// A kernel that spins until it is told to stop. `honour` false: an engine that does not look at the flag.
void spin(bool honour) {
  use();
  describe_kernel();
  Spool& spool = Spool::of_process();
  const std::uint32_t index = next_launch++;
  spool.launch_begin(index, "fake(int*)", 8);
  std::thread worker([&] {
    while (!honour || *spool.stop_flag() == 0) ::usleep(1000);
  });
  worker.join();
  views::LaunchRecord l = record_of(index);
  l.state = views::LaunchState::kStopped;
  l.fault = {"D620", "stopped", "", 0, 22, "ld.volatile.global.u32", {}, {}};
  spool.launch(l);
}

void transfer() {
  use();
  Spool::of_process().transfer(views::TransferKind::kHostToDevice, views::HostMemory::kPageable, false, 4096,
                               "cudaMemcpy", __builtin_return_address(0));
}

void finding() {
  use();
  views::Finding f;
  f.code = "D510";
  f.text = "something about an API call";
  Spool::of_process().finding(f);
}

__attribute__((noinline)) void touch_device() {
  use();
  void* device = ::mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  runtime::set_device_range(reinterpret_cast<std::uint64_t>(device), 1 << 20);
  static_cast<volatile int*>(device)[3] = 1;
}

void run(std::vector<std::string> steps);

void own_handler(int) {
  const char text[] = "own handler\n";
  [[maybe_unused]] const auto written = ::write(1, text, sizeof text - 1);
  ::_exit(7);
}

void wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("child ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void step(std::string_view word, const std::vector<std::string>& rest) {
  const std::size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const std::string value(colon == word.npos ? std::string_view() : word.substr(colon + 1));
  const int number = std::atoi(value.c_str());
  if (name == "launch") {
    for (int i = 0; i < (value.empty() ? 1 : number); ++i) launch();
  } else if (name == "spin") {
    spin(true);
  } else if (name == "deaf") {
    spin(false);
  } else if (name == "nap") {  // a launch of so many milliseconds
    use(), describe_kernel();
    Spool::of_process().launch_begin(next_launch, "fake(int*)", 8);
    ::usleep(static_cast<useconds_t>(number) * 1000);
    Spool::of_process().launch(record_of(next_launch++));
  } else if (name == "begin") {
    use(), describe_kernel(), Spool::of_process().launch_begin(next_launch++, "fake(int*)");
  } else if (name == "transfer") {
    transfer();
  } else if (name == "finding") {
    finding();
  } else if (name == "use") {
    use();
  } else if (name == "exit") {
    std::exit(number);
  } else if (name == "_exit") {
    ::_exit(number);
  } else if (name == "abort") {
    std::abort();
  } else if (name == "null") {
    // Not null itself, which the sanitizers would stop before it happens; volatile, so that the compiler does not see
    // where.
    volatile std::uintptr_t address = 16;
    *reinterpret_cast<volatile int*>(address) = 1;
  } else if (name == "touch") {
    touch_device();
  } else if (name == "kill") {
    ::kill(::getpid(), number);
  } else if (name == "sleep") {
    std::fflush(stdout), ::usleep(static_cast<useconds_t>(number) * 1000);
  } else if (name == "closefrom") {
    ::syscall(SYS_close_range, 3u, ~0u, 0u);
  } else if (name == "clearenv") {
    ::clearenv();
  } else if (name == "chdir") {
    if (::chdir(value.c_str()) != 0) std::exit(9);
  } else if (name == "handle") {
    std::signal(number, own_handler);
  } else if (name == "ignore") {
    std::signal(number, SIG_IGN);
  } else if (name == "say") {
    std::puts(value.c_str()), std::fflush(stdout);
  } else if (name == "fork" || name == "daemon") {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) return run(rest), std::exit(0);
    if (name == "fork") wait_for(child);
    std::exit(0);
  } else if (name == "rawfork") {  // no pthread_atfork handlers
    std::fflush(stdout);
    const auto child = static_cast<pid_t>(::syscall(SYS_fork));
    if (child == 0) {
      launch();
      ::_exit(0);
    }
    wait_for(child);
  } else if (name == "exec") {
    std::vector<char*> argv{const_cast<char*>("fake_child")};
    for (const std::string& r : rest) argv.push_back(const_cast<char*>(r.c_str()));
    argv.push_back(nullptr);
    ::execv("/proc/self/exe", argv.data());
    std::exit(9);
  } else if (name == "threads") {
    use(), describe_kernel();
    std::vector<std::thread> threads;
    for (int t = 0; t < number; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < 100; ++i) {
          Spool::of_process().launch_begin(static_cast<std::uint32_t>(t * 100 + i), "fake(int*)");
          Spool::of_process().launch(record_of(static_cast<std::uint32_t>(t * 100 + i)));
          transfer();
        }
      });
    }
    for (std::thread& t : threads) t.join();
  } else {
    std::fprintf(stderr, "fake_child: unknown step %s\n", std::string(word).c_str());
    std::exit(99);
  }
}

void run(std::vector<std::string> steps) {
  while (!steps.empty()) {
    const std::string word = steps.front();
    steps.erase(steps.begin());
    step(word, steps);
  }
}

}  // namespace

int main(int argc, char** argv) {
  run(std::vector<std::string>(argv + 1, argv + argc));
  return 0;
}
