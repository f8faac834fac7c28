// Runs one launch: hands its blocks to worker threads, watches for faults and hangs, gathers the counts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "code/kernel.h"
#include "exec/device_launch.h"
#include "memory/address_space.h"
#include "views/records.h"

namespace muscope::exec {

/// How a launch ended, in the terms of CUDA's sticky errors.
enum class Outcome : std::uint8_t {
  kOk,
  kIllegalAddress,      ///< cudaErrorIllegalAddress (700)
  kMisaligned,          ///< cudaErrorMisalignedAddress (716)
  kAssert,              ///< cudaErrorAssert (710)
  kTrap,                ///< cudaErrorLaunchFailure (719)
  kIllegalInstruction,  ///< cudaErrorIllegalInstruction (715)
  kInvalidPc,           ///< cudaErrorInvalidPc (718): an indirect call to something that is not a function
  kHang,                ///< cudaErrorLaunchTimeout (702): step budget used up, or no warp can go on
  kStopped,             ///< told to stop (--timeout, ^C)
  kUnsupported,         ///< cudaErrorNotSupported (801): reached an instruction that muscope does not have
};

struct LaunchRequest {
  std::shared_ptr<const code::Kernel> kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  std::vector<std::uint8_t> params;  ///< laid out at Kernel::params[i].offset
  std::uint32_t stack_bytes = 0;     ///< cudaLimitStackSize: of each thread, for recursion; 0: as a GPU begins with
  bool cooperative = false;
  std::array<std::uint32_t, 3> cluster{};  ///< blocks of a cluster; zeros: launched without, each block is one
  std::uint64_t grid_workspace =
      0;                ///< cooperative: device address of 16 zero bytes for the grid's barrier (%envreg1, 2)
  bool observe = true;  ///< false: run only, count nothing
  unsigned device = 0;  ///< that runs it
  std::uint64_t reach = ~std::uint64_t{0};  ///< devices whose memory it may use, bit by bit: its own and its peers
};

struct LaunchResult {
  Outcome outcome = Outcome::kOk;
  views::LaunchRecord
      record;          ///< counts, fault and findings; index, kernel, stream and device are the caller's to fill
  std::string output;  ///< what device printf and assert wrote, in block order
  std::vector<DeviceLaunch> launches;  ///< made by the kernel, in block order; they begin when it has ended
};

struct EngineOptions {
  unsigned threads = 0;                          ///< workers; 0 = one per available core
  std::uint64_t max_steps = 0;                   ///< warp instructions a launch may execute; 0 = no limit
  const volatile std::uint32_t* stop = nullptr;  ///< becomes non-zero to end the launch in progress
  std::atomic<std::uint64_t>* blocks_done =
      nullptr;  ///< counted up as blocks finish, for a progress display; may be null
  double hang_seconds =
      10;  ///< how long all warps may wait for something that nobody changes, while the host waits for the kernel
};

/// A launch under way on engine threads.
class LaunchHandle {
 public:
  virtual ~LaunchHandle() = default;
  /// Waits until the launch has ended, or until every runnable warp polls memory that only someone else can change
  /// (the kernel then goes on in the background). True when it has ended.
  virtual bool wait_ended_or_polling() = 0;
  virtual void wait_ended() = 0;
  virtual bool ended() const = 0;
  /// Told now and then by a host thread that waits for this launch: a kernel that waits for something then counts as
  /// hung after EngineOptions::hang_seconds without any change.
  virtual void host_is_waiting() {}
  /// After it has ended.
  virtual LaunchResult& result() = 0;
};

class Engine {
 public:
  Engine(memory::AddressSpace& memory, const arch::GpuSpec& gpu, EngineOptions options);
  ~Engine();
  /// Starts a launch. The caller has checked the limits (launch_limits.h) and filled params.
  std::shared_ptr<LaunchHandle> start(LaunchRequest request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muscope::exec
