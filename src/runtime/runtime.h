// The process-wide runtime behind the C interface: the emulated devices, their memory, streams, modules and handles.
// Made by the first call that needs it, never destroyed: programs call after their exit handlers ran.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "exec/launcher.h"
#include "memory/address_space.h"
#include "memory/virtual_memory.h"
#include "runtime/array.h"
#include "runtime/blocks.h"
#include "runtime/device.h"
#include "runtime/event.h"
#include "runtime/handles.h"
#include "runtime/modules.h"
#include "runtime/run_options.h"
#include "runtime/scheduler.h"
#include "runtime/texture_object.h"

namespace muscope::runtime {

class Runtime {
 public:
  /// Throws Error when the GPU is not known (D110) or has no room in the address space (D520); so do later calls then.
  static Runtime& get();

  const arch::GpuSpec& gpu() const { return gpu_; }
  memory::AddressSpace& memory() { return memory_; }
  Scheduler& scheduler() { return scheduler_; }
  Modules& modules() { return Modules::of_process(); }
  Blocks& blocks() { return blocks_; }
  Handles<Event>& events() { return events_; }
  Handles<Array>& arrays() { return arrays_; }
  Textures& textures() { return textures_; }
  Handles<Stream>& streams() { return streams_; }

  int device_count() const { return static_cast<int>(devices_.size()); }
  /// Null when there is no such device.
  Device* device(int index) {
    return index >= 0 && index < device_count() ? devices_[static_cast<std::size_t>(index)].get() : nullptr;
  }
  Device& current_device();
  void set_current_device(int index);

  /// The stream behind a program's handle (0, cudaStreamLegacy, cudaStreamPerThread or a created one); null when it is
  /// none of ours.
  StreamRef stream(cudaStream_t handle);

  /// Bytes of device memory, placed on `device`; 0 when it or the machine has not that much.
  std::uint64_t allocate(Device& device, std::uint64_t bytes, memory::Kind kind);
  /// A kernel of the device ended with this error. Devices that are peers of it, or it of them, fail as well (H200).
  void fault(Device& device, cudaError_t error);
  memory::VirtualMemory& virtual_memory() { return virtual_memory_; }
  std::uint64_t device_bytes() const { return device_bytes_; }

  /// What cudaMemGetInfo reports for a device.
  void memory_info(const Device& device, std::uint64_t& free, std::uint64_t& total) const;

  /// cudaDeviceReset: gives back all memory, streams and events of the device.
  void reset_device(Device& device);

  exec::Engine& engine();
  std::uint32_t next_launch_index() { return next_launch_.fetch_add(1); }

  /// What kernels printed. Written to the program's stdout when it synchronises, and at exit.
  void append_output(const std::string& text);
  void write_output();

 private:
  Runtime();
  const arch::GpuSpec gpu_;
  std::uint64_t device_bytes_;
  memory::AddressSpace memory_;
  memory::VirtualMemory virtual_memory_{memory_};
  Scheduler scheduler_;
  std::vector<std::unique_ptr<Device>> devices_;
  Blocks blocks_;
  Handles<Event> events_;
  Handles<Array> arrays_;
  Handles<Stream> streams_;
  Textures textures_;
  std::mutex engine_mutex_;
  std::unique_ptr<exec::Engine> engine_;
  std::atomic<std::uint32_t> next_launch_{0};
  std::mutex output_mutex_;
  std::string output_;
};

}  // namespace muscope::runtime
