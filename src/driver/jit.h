// Options of the JIT compiler and linker (CUjit_option), and the logs that it writes for the program.
#pragma once

#include <cstdint>
#include <string>

#include "base/diagnostic.h"
#include "driver/driver_abi.h"

namespace muscope::driver {

/// A buffer of the program. The place of its size gets the number of bytes written, the NUL not counted.
struct JitLog {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  void** size_place = nullptr;
  std::string text;  ///< all so far
};

class Jit {
 public:
  Jit() = default;
  /// CUDA_ERROR_INVALID_VALUE for options that are not known, or null arrays. The arrays stay the program's.
  CUresult read(unsigned count, const CUjit_option* options, void** values);

  /// Options for ptxas as nvcc records them in fat binaries; empty where the program asked for none.
  std::string ptxas_options() const;
  void error(const std::string& line);
  /// Errors among the diagnostics, one a line.
  void errors(const Error& error);
  /// Writes the logs into the program's buffers.
  void finish();

 private:
  JitLog info_, error_;
  unsigned max_registers_ = 0;
  int optimization_ = -1;
  bool line_info_ = false;
  void** wall_time_ = nullptr;
};

/// Writes the logs when it goes, however that comes.
class FinishJit {
 public:
  explicit FinishJit(Jit& jit) : jit_(jit) {}
  ~FinishJit() { jit_.finish(); }
  FinishJit(const FinishJit&) = delete;
  FinishJit& operator=(const FinishJit&) = delete;

 private:
  Jit& jit_;
};

}  // namespace muscope::driver
