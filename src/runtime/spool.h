// The child's side of a run: every finished launch is appended to a file of the run directory at once, so that a crash,
// _exit, exec, closefrom or SIGKILL loses at most the launch in progress.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "runtime/control.h"
#include "views/records.h"

namespace muscope::views {
struct FindingView;
}

namespace muscope::runtime {

/// Thread-safe. Does nothing where there is no run directory (a program that is preloaded by hand) or after fork.
class Spool {
 public:
  /// Of this process. Call enter_process() (process.h) before.
  static Spool& of_process();

  /// Before the first launch record of a kernel; a kernel (by its id) that was described before is passed over.
  void kernel(const views::KernelInfo& info);
  /// Before a launch starts, and once it has ended. Every launch_begin is followed by one launch() or
  /// launch_unobserved(). `blocks` is the size of the grid, for the progress display.
  void launch_begin(std::uint32_t index, std::string_view kernel_name, std::uint64_t blocks = 0);
  void launch(const views::LaunchRecord& record);
  /// A launch that --kernel or --launches leaves out: nothing is written.
  void launch_unobserved();

  /// One copy or memset. `api` is a string literal; `caller` the return address of the API call, or null.
  void transfer(views::TransferKind kind, views::HostMemory host_memory, bool async, std::uint64_t bytes,
                const char* api, const void* caller);
  /// About an API call (code, text, hint; `frame` is not used). Repeated ones with the same code and text are written
  /// once and counted.
  void finding(const views::Finding& finding);

  /// Becomes non-zero when the run is to end: exec::EngineOptions::stop.
  const volatile std::uint32_t* stop_flag() const;
  /// Finished blocks of the launch in progress; the engine may add to it.
  std::atomic<std::uint64_t>& progress();

  /// The page as `muscope run` sees it. Never null.
  ProcessPage& page();

  /// For the crash handler: allocates nothing, takes no lock that the crashed thread may hold.
  void finding_from_signal(const views::FindingView& finding) noexcept;

  /// Tries to write what a full disk held back. Called at exit.
  void flush();

  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

 private:
  Spool();
  ~Spool() = default;
  struct State;
  State* state_;  ///< never freed: API calls may come after exit handlers
};

/// Opens the spool of this process. Called by enter_process().
void start_spool();

}  // namespace muscope::runtime
