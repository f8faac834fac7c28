// The files of one process in the run directory: its spool and its page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/control.h"

namespace muscope::runtime {

/// Appends frames by open, write and close, so that no descriptor stays behind for the program to trip over. Not
/// thread-safe.
class SpoolFile {
 public:
  /// Makes <dir>/<pid>.<n>.spool and the page beside it, with the first n that is free: a process that calls exec keeps
  /// its pid. Without a run directory, or when the run is over, the page is private memory and frames go nowhere.
  void create(const std::string& dir);

  /// Writes `frame`, or keeps it for the next call when the disk is full or no descriptor is free. Says so once on
  /// stderr (D732) and in the page. In a process that was forked behind our back nothing happens.
  void append(std::string_view frame);
  /// Tries once more to write what append() kept.
  void flush();

  ProcessPage& page() { return *page_; }
  bool enabled() const { return enabled_; }

 private:
  int write_pending();
  void warn(int error);

  ProcessPage* page_ = nullptr;  // never unmapped
  std::string dir_;
  std::string path_;
  std::string pending_;
  std::uint32_t pending_frames_ = 0;
  std::uint32_t dropped_frames_ = 0;
  std::uint64_t size_ = 0;      // bytes of whole frames in the file
  std::uint64_t retry_at_ = 0;  // CLOCK_MONOTONIC, ns
  std::int64_t pid_ = 0;
  bool enabled_ = false;
  bool warned_ = false;
  bool size_limited_ = false;  // RLIMIT_FSIZE is set: writing may raise SIGXFSZ
};

/// CLOCK_MONOTONIC in nanoseconds.
std::uint64_t monotonic_ns();

}  // namespace muscope::runtime
