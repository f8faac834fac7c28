#include "runtime/signals.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "runtime/raw_io.h"
#include "runtime/spool.h"
#include "views/records_io.h"

namespace muscope::runtime {
namespace {

constinit std::atomic<std::uint64_t> device_base{0};
constinit std::atomic<std::uint64_t> device_bytes{0};
constinit std::atomic<int> held_signal{0};

constexpr std::size_t kAlternateStackBytes = 64 * 1024;

/// Text in fixed memory: a handler may not allocate.
class FixedText {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      if (size_ < sizeof buffer_) buffer_[size_++] = c;
    }
  }
  void add_hex(std::uint64_t value) {
    add("0x");
    int shift = 60;
    while (shift > 0 && (value >> shift) == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) add(std::string_view(&"0123456789abcdef"[value >> shift & 15], 1));
  }
  std::string_view view() const { return {buffer_, size_}; }

 private:
  char buffer_[512];
  std::size_t size_ = 0;
};

void restore_default(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
}

/// Lets the default action happen to this process, now.
void raise_default(int signal) {
  restore_default(signal);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::kill(::getpid(), signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void record_host_access(std::uint64_t address, const ucontext_t* context) {
  const auto pc = static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  // Bit 1 of the page fault's error code: the access was a write (Intel SDM vol. 3, 4.7).
  const bool write = (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  FixedText text;
  text.add(write ? "host code writes device memory at " : "host code reads device memory at ");
  text.add_hex(address);
  views::FindingView finding;
  // dladdr takes the loader's lock, which the crashed thread holds only inside dlopen; it is recursive.
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(pc), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr) {
    finding.module = map->l_name != nullptr && map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe";
    finding.offset = pc - map->l_addr;
    if (info.dli_sname != nullptr) {
      finding.symbol = info.dli_sname;
      finding.symbol_offset = pc - reinterpret_cast<std::uint64_t>(info.dli_saddr);
    }
  }
  char exe[512];
  if (finding.module == "/proc/self/exe") {
    const ssize_t size = ::readlink("/proc/self/exe", exe, sizeof exe);
    if (size > 0) finding.module = std::string_view(exe, static_cast<std::size_t>(size));
  }
  finding.code = "D590";
  finding.text = text.view();
  finding.hint = "copy with cudaMemcpy, or allocate with cudaMallocManaged where both sides use the pointer";
  Spool::of_process().finding_from_signal(finding);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const KeepErrno keep;
  const bool from_kernel = info->si_code > 0;
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (from_kernel && address - device_base.load() < device_bytes.load()) {
    record_host_access(address, static_cast<const ucontext_t*>(context));
  }
  restore_default(signal);
  // A real fault happens again when we return, with the default action and the right registers in a core dump.
  if (!from_kernel) raise_default(signal);
}

void on_termination(int signal) {
  const KeepErrno keep;
  ProcessPage& page = Spool::of_process().page();
  const auto launch_runs = [&] { return page.begun.load() != page.finished.load(); };
  // A second signal while the first is held back: the user insists.
  if (!launch_runs() || held_signal.exchange(signal) != 0) return raise_default(signal);
  page.stop = 1;
  // The launch may have ended between the two looks, on another thread; then nobody would deliver the signal.
  if (!launch_runs()) deliver_held_signal();
}

bool has_default_action(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_DFL;
}

/// A stack overflow of this thread can then be told from other crashes. Only where the thread has none.
void give_alternate_stack() {
  stack_t current{};
  if (::sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
  void* memory =
      ::mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kAlternateStackBytes;
  ::sigaltstack(&stack, nullptr);
}

}  // namespace

void install_signal_handlers() {
  const KeepErrno keep;
  if (has_default_action(SIGSEGV)) {
    give_alternate_stack();
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, nullptr);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!has_default_action(signal)) continue;
    struct sigaction action{};
    action.sa_handler = on_termination;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

void set_device_range(std::uint64_t base, std::uint64_t bytes) {
  device_base.store(base);
  device_bytes.store(bytes);
}

void deliver_held_signal() {
  const int signal = held_signal.exchange(0);
  if (signal != 0) raise_default(signal);
}

}  // namespace muscope::runtime
