// What `muscope run` asked of the processes of a run, read from their environment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernel_pattern.h"
#include "runtime/launch_range.h"

namespace muscope::runtime {

/// What kernels are made from.
enum class CountFrom {
  kAuto,     ///< machine code where it can be had and executed, else PTX
  kPtx,      ///< never machine code
  kMachine,  ///< never PTX: what cannot be made from machine code does not run (D508)
};

struct RunOptions {
  std::string gpu = "h200";
  unsigned threads = 0;         ///< 0 = one per available core
  std::uint64_t max_steps = 0;  ///< warp instructions per launch; 0 = no limit
  int devices = 1;
  CountFrom count_from = CountFrom::kAuto;
  std::string run_dir;  ///< empty: preloaded by hand, not by `muscope run`
  LaunchRange launches;
  bool profile_from_start = true;        ///< false: nothing is counted before cudaProfilerStart
  std::vector<std::string> nvtx_ranges;  ///< "name" or "domain@name"; empty: everywhere
  std::vector<std::string> emit;         ///< "ptx", "kernels"
  std::string emit_dir;                  ///< absolute; set when emit is not empty

  /// Do --launches and --kernel select this launch? `kernel` is the demangled name; --kernel matches anywhere in it.
  bool selects(std::uint32_t index, std::string_view kernel) const;
  bool emits(std::string_view what) const;

  /// From the environment. Values that make no sense are taken as unset: `muscope run` has checked its own.
  static RunOptions from_environment();
  /// Of this process, read once at the first call.
  static const RunOptions& of_process();

 private:
  std::shared_ptr<const KernelPattern> kernel_;  // null: every kernel
};

}  // namespace muscope::runtime
