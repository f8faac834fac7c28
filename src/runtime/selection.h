// Which launches are counted: by the run's options, by cudaProfilerStart and cudaProfilerStop, and by the NVTX ranges
// in which they are made.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::runtime {

/// As Nsight Compute takes these calls (2025.3, tried on an H200): each sets the state, whatever it was; a program that
/// says cudaProfilerStop() is not counted from there on, also without --profile-from-start off.
void profiler_start();
void profiler_stop();

/// Is a launch made now, by this host thread, to be counted?
bool selects_launch(std::uint32_t index, std::string_view kernel);

/// NVTX ranges that are open. Thread-safe. A range is called "name", or "domain@name" in a domain of the program's own.
class Ranges {
 public:
  static Ranges& of_process();

  /// Push and pop belong to a thread and a domain. pop() of nothing does nothing.
  void push(const void* domain, const std::string& name);
  void pop(const void* domain);
  /// Start and end belong to the process. Returns the handle.
  std::uint64_t start(const void* domain, const std::string& name);
  void end(std::uint64_t handle);
  /// How the ranges of that domain are called; the default domain is null.
  void name_domain(const void* domain, const std::string& name);
  /// How many pushed ranges of the domain are open in this thread.
  int depth(const void* domain) const;

  /// Is one of these ranges open, for this thread?
  bool inside(const std::vector<std::string>& names) const;

 private:
  std::string full_name(const void* domain, const std::string& name) const;
  mutable std::mutex mutex_;
  std::map<const void*, std::string> domains_;
  std::map<std::uint64_t, std::string> started_;
  std::uint64_t next_ = 1;
};

}  // namespace muscope::runtime
