// Launches made by kernels (CUDA's dynamic parallelism).
#pragma once

#include <array>
#include <cstdint>

namespace muscope::exec {

/// A kernel that a kernel launched.
struct DeviceLaunch {
  std::uint64_t function = 0;  ///< the kernel, as device code names it: in code::kFunctionWindow
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  std::uint64_t parameters = 0;  ///< device address of their bytes; whoever runs the launch releases them
  std::uint64_t stream = 0;      ///< handle in device code: kTailLaunch, or any other

  /// cudaStreamTailLaunch: after all other launches of the grid (driver_types.h).
  static constexpr std::uint64_t kTailLaunch = 3;
};

/// Room for the parameters of one launch from the device: "kernel parameters" are limited to 4 KiB in the CUDA C++
/// Programming Guide's section on dynamic parallelism.
inline constexpr std::uint64_t kDeviceParameterBytes = 4096;

}  // namespace muscope::exec
