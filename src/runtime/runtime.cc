#include "runtime/runtime.h"

#include <cstdio>
#include <cstdlib>

#include "runtime/entry.h"
#include "runtime/process.h"
#include "runtime/signals.h"
#include "runtime/spool.h"

namespace muscope::runtime {
namespace {

thread_local int g_current_device = 0;

std::atomic<Runtime*> g_runtime{nullptr};

// At exit, after the program's own handlers that were registered later: what kernels printed must not be lost.
void write_output_at_exit() {
  Runtime* const runtime = g_runtime.load();
  if (runtime != nullptr && !forked_from_user()) runtime->write_output();
}

}  // namespace

Runtime::Runtime()
    : gpu_(arch::find_gpu(RunOptions::of_process().gpu)),
      device_bytes_(gpu_.memory_bytes.known ? static_cast<std::uint64_t>(gpu_.memory_bytes.as_int())
                                            : std::uint64_t{16} << 30),
      memory_(device_bytes_ * static_cast<std::uint64_t>(RunOptions::of_process().devices),
              static_cast<unsigned>(RunOptions::of_process().devices)) {
  for (int i = 0; i < RunOptions::of_process().devices; ++i)
    devices_.push_back(std::make_unique<Device>(i, scheduler_));
  set_device_range(memory_.reserved_base(), memory_.reserved_bytes());
}

Runtime& Runtime::get() {
  Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime != nullptr) return *runtime;
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr) {
    runtime = new Runtime;
    g_runtime.store(runtime, std::memory_order_release);
    std::atexit(write_output_at_exit);
  }
  return *runtime;
}

Device& Runtime::current_device() { return *devices_[static_cast<std::size_t>(g_current_device)]; }

void Runtime::set_current_device(int index) { g_current_device = index; }

StreamRef Runtime::stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return current_device().default_stream();
  if (handle == cudaStreamPerThread) return current_device().thread_stream(scheduler_);
  return streams_.find(handle);
}

std::uint64_t Runtime::allocate(Device& device, std::uint64_t bytes, memory::Kind kind) {
  const bool counts = kind == memory::Kind::kDevice;
  if (counts && device.used_bytes.load() + bytes > device_bytes_) return 0;
  const std::uint64_t address = memory_.allocate(bytes, kind, static_cast<unsigned>(device.index()));
  if (address != 0 && counts) device.used_bytes += bytes;
  return address;
}

void Runtime::fault(Device& device, cudaError_t error) {
  device.fault(error);
  const std::uint64_t reach = device.reach(), self = std::uint64_t{1} << device.index();
  for (const auto& other : devices_)
    if (((reach >> other->index()) & 1) != 0 || (other->reach() & self) != 0) other->fault(error);
}

void Runtime::memory_info(const Device& device, std::uint64_t& free, std::uint64_t& total) const {
  total = std::min(memory_.total_bytes(), device_bytes_);
  const std::uint64_t left =
      device_count() == 1 ? memory_.free_bytes() : total - std::min(total, device.used_bytes.load());
  free = std::min({left, memory_.free_bytes(), total});
}

void Runtime::reset_device(Device& device) {
  for (const memory::Allocation& allocation : memory_.allocations()) {
    const auto block = blocks_.take(allocation.base, [&](const Block& b) { return b.device == device.index(); });
    if (!block) continue;
    if (block->source == Source::kHostRegister) {
      memory_.remove_host(reinterpret_cast<const void*>(allocation.base));
    } else {
      memory_.release(allocation.base);
    }
  }
  device.used_bytes = 0;
  for (const auto& stream : streams_.all()) {
    if (stream->device() == device.index()) streams_.drop(stream.get());
  }
  for (const auto& event : events_.all()) {
    if (event->device() == device.index()) events_.drop(event.get());
  }
  modules().unload(device.index());
  device.reset();
}

exec::Engine& Runtime::engine() {
  const std::lock_guard lock(engine_mutex_);
  if (!engine_) {
    const RunOptions& options = RunOptions::of_process();
    exec::EngineOptions engine_options;
    engine_options.threads = options.threads;
    engine_options.max_steps = options.max_steps;
    engine_options.stop = Spool::of_process().stop_flag();
    engine_options.blocks_done = &Spool::of_process().progress();
    engine_ = std::make_unique<exec::Engine>(memory_, gpu_, engine_options);
  }
  return *engine_;
}

void Runtime::append_output(const std::string& text) {
  if (text.empty()) return;
  const std::lock_guard lock(output_mutex_);
  output_ += text;
}

void Runtime::write_output() {
  std::string text;
  {
    const std::lock_guard lock(output_mutex_);
    text.swap(output_);
  }
  if (!text.empty()) std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace muscope::runtime
