#include "runtime/spool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/code_address.h"
#include "runtime/environment.h"
#include "runtime/process.h"
#include "runtime/program_names.h"
#include "runtime/raw_io.h"
#include "runtime/signals.h"
#include "runtime/spool_file.h"
#include "views/records_io.h"

namespace muscope::runtime {
namespace {

constexpr std::size_t kSignalFrameBytes = 8192;
constexpr std::size_t kMaxArgumentBytes = std::size_t{256} << 10;

struct TransferKey {
  views::TransferKind kind;
  views::HostMemory host_memory;
  bool async;
  const char* api;
  const void* caller;
  bool operator==(const TransferKey&) const = default;
};

struct TransferKeyHash {
  std::size_t operator()(const TransferKey& k) const {
    std::size_t h = reinterpret_cast<std::size_t>(k.caller) * 0x9e3779b97f4a7c15u;
    h ^= reinterpret_cast<std::size_t>(k.api) + (h >> 29);
    return h * 31 + static_cast<std::size_t>(k.kind) * 16 + static_cast<std::size_t>(k.host_memory) * 2 +
           (k.async ? 1 : 0);
  }
};

std::vector<std::string> command_line() {
  const std::string raw = raw_read_file("/proc/self/cmdline", kMaxArgumentBytes);
  std::vector<std::string> argv;
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t end = std::min(raw.find('\0', at), raw.size());
    argv.emplace_back(raw, at, end - at);
    at = end + 1;
  }
  return argv;
}

void write_name(ProcessPage& page, std::string_view name) {
  page.name_sequence.fetch_add(1, std::memory_order_acq_rel);
  const std::size_t size = std::min(name.size(), kNameBytes - 1);
  std::memcpy(page.name, name.data(), size);
  std::memset(page.name + size, 0, kNameBytes - size);
  page.name_sequence.fetch_add(1, std::memory_order_release);
}

/// Takes away the line that `muscope run` drew about the launch that has just ended.
void erase_progress_line(ProcessPage& page) {
  if (page.progress_line.load() == kNoLine) return;
  const KeepErrno keep;
  for (int i = 0; i < 20 && page.progress_line.load() == kDrawing; ++i) ::usleep(1000);
  std::uint32_t drawn = kDrawn;
  if (page.progress_line.compare_exchange_strong(drawn, kNoLine) && ::isatty(STDERR_FILENO) != 0) {
    raw_stderr(kEraseLine, sizeof kEraseLine - 1);
  }
}

}  // namespace

struct Spool::State {
  std::mutex mutex;
  SpoolFile file;
  std::string frame;         // scratch, so that steady state allocates nothing
  std::string signal_frame;  // with room reserved
  std::unordered_map<TransferKey, std::uint32_t, TransferKeyHash> transfers;
  std::unordered_map<std::string, std::uint32_t> findings;
  std::unordered_set<std::uint32_t> kernels;  // ids of those written
  bool stopped = false;                       // a stopped launch has been recorded

  /// One frame around encode(value). The caller holds the mutex.
  template <typename T>
  void append(views::FrameType type, const T& value) {
    frame.clear();
    const std::size_t start = views::begin_frame(frame, type);
    views::encode(frame, value);
    views::end_frame(frame, start);
    file.append(frame);
    // A record of many sites must not hold its memory for ever.
    if (constexpr std::size_t kKeep = std::size_t{1} << 20; frame.capacity() > kKeep) frame = {};
  }
};

Spool::Spool() : state_(new State) {
  state_->signal_frame.reserve(kSignalFrameBytes);
  state_->file.create(environment_value(kEnvRunDir));
  if (!state_->file.enabled()) return;
  views::ProcessStart start;
  start.pid = ::getpid();
  start.parent = ::getppid();
  start.started_ns = monotonic_ns();
  start.argv = command_line();
  state_->append(views::FrameType::kStart, start);
}

Spool& Spool::of_process() {
  static Spool* const spool = new Spool;  // outlives exit handlers
  return *spool;
}

void start_spool() { Spool::of_process(); }

void Spool::kernel(const views::KernelInfo& info) {
  const std::lock_guard lock(state_->mutex);
  if (state_->kernels.insert(info.id).second) state_->append(views::FrameType::kKernel, info);
}

void Spool::launch_begin(std::uint32_t index, std::string_view kernel_name, std::uint64_t blocks) {
  const std::lock_guard lock(state_->mutex);
  ProcessPage& p = page();
  write_name(p, kernel_name);
  p.launch_index.store(index);
  p.progress.store(0);
  p.progress_of.store(blocks);
  p.begun_at.store(monotonic_ns());
  p.begun.fetch_add(1);
}

void Spool::launch(const views::LaunchRecord& record) {
  {
    const std::lock_guard lock(state_->mutex);
    // A program that goes on launching after the run was stopped fails every launch; one of them says where it was.
    const bool repeated = record.state == views::LaunchState::kStopped && std::exchange(state_->stopped, true);
    if (!repeated) state_->append(views::FrameType::kLaunch, record);
    page().finished.fetch_add(1);
  }
  erase_progress_line(page());
  deliver_held_signal();
}

void Spool::launch_unobserved() {
  page().finished.fetch_add(1);
  erase_progress_line(page());
  deliver_held_signal();
}

void Spool::transfer(views::TransferKind kind, views::HostMemory host_memory, bool async, std::uint64_t bytes,
                     const char* api, const void* caller) {
  TransferSlot* slot;
  {
    const std::lock_guard lock(state_->mutex);
    const TransferKey key{kind, host_memory, async, api, caller};
    auto found = state_->transfers.find(key);
    if (found == state_->transfers.end()) {
      // Call sites that find no slot of their own share one without a caller for each way of copying.
      constexpr std::size_t kReserved = 256;
      const std::size_t next = state_->transfers.size();
      if (next >= kTransferSlots - kReserved && caller != nullptr) {
        found = state_->transfers.find(TransferKey{kind, host_memory, async, api, nullptr});
      }
      if (found == state_->transfers.end()) {
        if (next >= kTransferSlots) return;
        views::TransferSite site;
        site.slot = static_cast<std::uint32_t>(next);
        site.kind = kind;
        site.host_memory = host_memory;
        site.async = async;
        site.api = api;
        const bool named = next < kTransferSlots - kReserved;
        if (named) site.caller = code_address(caller);
        found = state_->transfers.emplace(named ? key : TransferKey{kind, host_memory, async, api, nullptr}, site.slot)
                    .first;
        state_->append(views::FrameType::kTransferSite, site);
      }
    }
    slot = &page().transfers[found->second];
  }
  slot->count.fetch_add(1, std::memory_order_relaxed);
  slot->bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void Spool::finding(const views::Finding& as_found) {
  views::Finding finding = as_found;
  finding.text = in_program_names(finding.text);
  finding.hint = in_program_names(finding.hint);
  const std::lock_guard lock(state_->mutex);
  const std::size_t next = state_->findings.size();
  std::string key = finding.code + '\0' + finding.text;
  auto found = state_->findings.find(key);
  if (found == state_->findings.end()) {
    if (next >= kFindingSlots) return;
    found = state_->findings.emplace(std::move(key), static_cast<std::uint32_t>(next)).first;
    state_->append(views::FrameType::kFinding, views::FindingSite{found->second, finding, {}});
  }
  page().findings[found->second].fetch_add(std::max<std::uint64_t>(finding.count, 1), std::memory_order_relaxed);
}

void Spool::finding_from_signal(const views::FindingView& finding) noexcept {
  const std::unique_lock lock(state_->mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  std::string& frame = state_->signal_frame;
  frame.clear();
  const std::size_t start = views::begin_frame(frame, views::FrameType::kFinding);
  views::encode(frame, finding);
  views::end_frame(frame, start);
  state_->file.append(frame);
}

void Spool::flush() {
  const std::lock_guard lock(state_->mutex);
  state_->file.flush();
}

const volatile std::uint32_t* Spool::stop_flag() const { return &state_->file.page().stop; }

std::atomic<std::uint64_t>& Spool::progress() { return state_->file.page().progress; }

ProcessPage& Spool::page() { return state_->file.page(); }

}  // namespace muscope::runtime
