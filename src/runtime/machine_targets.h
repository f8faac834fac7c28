// For which GPUs kernels can be made from machine code.
#pragma once

namespace muscope::runtime {

/// Compute capabilities (10 x major + minor) whose instruction words src/sass can read: 128-bit words, encodings of
/// Ampere, Ada and Hopper.
inline constexpr int kFirstKnownEncoding = 80, kLastKnownEncoding = 90;

/// Of these, the ones where the system's part of constant bank 0 (grid and block size, parameters, windows of shared
/// and local memory) is known: the code reads it at fixed offsets (exec/launch_run.cc). Taken from cubins of nvcc
/// 13.0.88, one special register at a time.
inline constexpr int kKnownBankZero[] = {80, 86, 87, 89, 90};

constexpr bool machine_code_known(int sm) {
  if (sm < kFirstKnownEncoding || sm > kLastKnownEncoding) return false;
  for (const int known : kKnownBankZero) {
    if (known == sm) return true;
  }
  return false;
}

}  // namespace muscope::runtime
