// The private directory of one run: where the processes of the run leave their spools and pages, and what `muscope`
// reads from them while they run and afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "runtime/control.h"
#include "views/records_io.h"

namespace muscope::cli {

/// What one process of the run is doing, from its page.
struct ProcessStatus {
  std::int64_t pid = 0;
  std::string stem;  ///< of its files, for RunDirectory::draw() and erase()
  bool in_launch = false;
  std::uint32_t launch_index = 0;  ///< of the launch begun last
  std::uint32_t launches = 0;      ///< finished ones
  std::string kernel;              ///< of the launch begun last; empty when none was
  std::uint64_t blocks_done = 0;
  std::uint64_t blocks = 0;   ///< 0: not known
  double launch_seconds = 0;  ///< since that launch began
};

/// One process after the run: its spool and the sums of its page.
struct ProcessFiles {
  views::Spooled spooled;
  std::vector<views::TransferRecord> counts;  ///< of spooled.transfers, element by element: count and bytes only
  std::vector<std::uint64_t> finding_counts;  ///< of spooled.findings
  std::uint32_t launches_begun = 0;
  bool launch_unfinished = false;
  std::string kernel;  ///< of the launch begun last
  std::uint32_t lost_records = 0;
  int lost_errno = 0;
};

class RunDirectory {
 public:
  /// Makes a directory of mode 0700 under TMPDIR, else /tmp. Throws Error D124.
  RunDirectory();
  ~RunDirectory();  ///< removes it, unless keep()
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }
  void keep() { keep_ = true; }

  /// Sets every stop flag, and that of processes still to come.
  void stop();
  /// Processes that use the runtime, in the order of their pids.
  std::vector<ProcessStatus> statuses() const;
  /// Writes `line` to stderr, unless that launch has ended meanwhile; false then. The process takes the line away when
  /// the launch ends.
  bool draw(const ProcessStatus& status, const std::string& line);
  /// Takes a drawn line away, unless the process has done so.
  void erase(const std::string& stem);
  /// Everything, in the order in which processes made their first CUDA call.
  std::vector<ProcessFiles> read() const;
  /// Processes that used the runtime but could not make a spool.
  std::uint32_t lost_processes(int& error) const;

 private:
  std::vector<std::string> stems() const;

  std::string path_;
  runtime::RunPage* page_ = nullptr;
  bool keep_ = false;
};

}  // namespace muscope::cli
