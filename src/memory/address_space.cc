#include "memory/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/check.h"
#include "base/diagnostic.h"
#include "memory/machine_limit.h"
#include "memory/placement.h"

namespace muscope::memory {
namespace {

constexpr std::uint64_t kPreferredBase = 0x4000'0000'0000;       // far from what the kernel and sanitizers use
constexpr std::uint64_t kBaseStep = std::uint64_t{1} << 36;      // other bases are multiples of this
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 47;  // user space of x86-64 with four page levels
constexpr std::uint64_t kModuleBytes = std::uint64_t{16} << 30;  // room for module variables, at the end of the range
constexpr std::uint64_t kLeastDevice = std::uint64_t{1} << 30;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLargeBytes = std::uint64_t{4} << 20;  // from here on, backing is asked for in huge pages

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t step) { return (bytes + step - 1) / step * step; }

void* map(void* at, std::uint64_t bytes, int protection, int extra = 0) {
  void* const got = mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extra, -1, 0);
  return got == MAP_FAILED ? nullptr : got;
}

// Inaccessible addresses at a multiple of kBaseStep; 0 when there is no such stretch.
std::uint64_t reserve(std::uint64_t bytes) {
  for (int pass = 0; pass < 2; ++pass) {
    const std::uint64_t from = pass == 0 ? kPreferredBase : kBaseStep;
    const std::uint64_t to = pass == 0 ? kAddressLimit : kPreferredBase;
    for (std::uint64_t base = from; base + bytes <= to; base += kBaseStep) {
      void* const wanted = reinterpret_cast<void*>(base);
      void* const got = map(wanted, bytes, PROT_NONE, MAP_FIXED_NOREPLACE);
      if (got == wanted) return base;
      if (got != nullptr) munmap(got, bytes);  // a kernel before 4.17 takes the address as a hint
    }
  }
  return 0;
}

}  // namespace

struct AddressSpace::State {
  // A range of addresses with its placement: device memory, module variables, or host memory that the device sees.
  struct Pool {
    Pool(std::uint64_t first, std::uint64_t bytes) : base(first), size(bytes), placement(bytes) {}
    bool holds(std::uint64_t address) const { return address - base < size; }
    std::uint64_t base;
    std::uint64_t size;
    Placement placement;
  };

  explicit State(std::uint64_t device_bytes_wanted) : limit(std::min(device_bytes_wanted, machine_limit())) {}

  Pool* pool_of(std::uint64_t address) {
    for (const auto& device : devices)
      if (device->holds(address)) return device.get();
    if (modules && modules->holds(address)) return modules.get();
    if (host && host->holds(address)) return host.get();
    return nullptr;
  }

  mutable std::shared_mutex mutex;
  std::uint64_t limit = 0;  // bytes that device allocations may map, and host ones together with them
  std::uint64_t used = 0;   // bytes mapped for device memory and module variables
  std::uint64_t host_used = 0;
  std::uint64_t heap_limit = std::uint64_t{8} << 20, heap_used = 0;  // bytes asked for by kernels
  std::uint64_t next_id = 1;
  std::uint64_t granules = 0;                  // bytes of granule_map_
  bool backing_closed = false;                 // strict overcommit: backing is opened granule by granule
  std::vector<std::unique_ptr<Pool>> devices;  ///< no granule has blocks of two
  std::unique_ptr<Pool> modules, host;
  std::map<std::uint64_t, Allocation> live;  // by base
};

AddressSpace::AddressSpace(std::uint64_t device_bytes, unsigned devices)
    : state_(std::make_unique<State>(std::max(device_bytes, kGranule))) {
  // Twice the memory, so that fragmentation never ends a program that the hardware would have run; less where the
  // process may not have that much address space (ulimit -v).
  std::uint64_t wanted = round_up(2 * std::max(device_bytes, kGranule) + kModuleBytes, kBaseStep);
  void* backing = nullptr;
  for (; wanted >= kLeastDevice + kModuleBytes; wanted = wanted / 2 / kGranule * kGranule) {
    reserved_base_ = reserve(wanted);
    if (reserved_base_ == 0) continue;
    backing = map(nullptr, wanted, PROT_READ | PROT_WRITE);
    state_->backing_closed = backing == nullptr;
    if (backing == nullptr) backing = map(nullptr, wanted, PROT_NONE);
    if (backing != nullptr) break;
    munmap(reinterpret_cast<void*>(reserved_base_), wanted);
  }
  state_->granules = round_up(wanted / kGranule, kPage);
  if (backing != nullptr) {
    granule_map_ = static_cast<std::uint8_t*>(map(nullptr, state_->granules, PROT_READ | PROT_WRITE));
  }
  if (granule_map_ == nullptr) {
    if (backing != nullptr) {
      munmap(backing, wanted);
      munmap(reinterpret_cast<void*>(reserved_base_), wanted);
    }
    fail("D520", "no address range is free for the memory of the emulated GPU",
         "lift the limit on address space (ulimit -v unlimited); ThreadSanitizer leaves no such range either");
  }
  reserved_bytes_ = wanted;
  device_distance_ = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(backing) - reserved_base_);
  madvise(reinterpret_cast<void*>(reserved_base_), wanted, MADV_DONTDUMP);
  const std::uint64_t device_range = wanted - kModuleBytes;
  state_->limit = std::min(state_->limit, device_range);
  const std::uint64_t part = device_range / std::max(devices, 1u) / kGranule * kGranule;
  for (unsigned i = 0; i < std::max(devices, 1u); ++i)
    state_->devices.push_back(std::make_unique<State::Pool>(reserved_base_ + i * part, part));
  state_->modules = std::make_unique<State::Pool>(reserved_base_ + device_range, kModuleBytes);
}

AddressSpace::~AddressSpace() {
  munmap(reinterpret_cast<void*>(reserved_base_), reserved_bytes_);
  munmap(host_pointer(reserved_base_), reserved_bytes_);
  munmap(granule_map_, state_->granules);
  if (state_->host) munmap(reinterpret_cast<void*>(state_->host->base), state_->host->size);
}

std::uint64_t AddressSpace::allocate(std::uint64_t bytes, Kind kind, unsigned device) {
  MUSCOPE_CHECK(kind != Kind::kRegistered && kind != Kind::kVirtual && device < state_->devices.size());
  const bool on_host = kind == Kind::kManaged || kind == Kind::kPinned;
  const std::unique_lock lock(state_->mutex);
  State& state = *state_;
  if (bytes == 0 || bytes > state.limit) return 0;
  if (kind == Kind::kHeap && bytes > state.heap_limit - std::min(state.heap_limit, state.heap_used)) return 0;
  if (on_host && !state.host) {
    // A reservation without access costs no memory; strict overcommit still lets it through.
    const std::uint64_t size = round_up(2 * state.limit, kGranule);
    // At a place of its own, for addresses that are the same in every run.
    const std::uint64_t base = reserve(size);
    if (base == 0) return 0;
    state.host = std::make_unique<State::Pool>(base, size);
  }
  State::Pool& pool = on_host ? *state.host : kind == Kind::kModule ? *state.modules : *state.devices[device];
  if (state.used + state.host_used + pool.placement.would_map(bytes) > state.limit) return 0;
  const auto placed = pool.placement.place(bytes);
  if (!placed) return 0;
  const std::uint64_t base = pool.base + placed->block.offset;
  if (placed->mapped.bytes > 0) {
    const std::uint64_t first = pool.base + placed->mapped.offset;
    void* const memory = on_host ? reinterpret_cast<void*>(first) : host_pointer(first);
    if ((on_host || state.backing_closed) && mprotect(memory, placed->mapped.bytes, PROT_READ | PROT_WRITE) != 0) {
      pool.placement.remove(placed->block.offset);
      return 0;
    }
    // Refused where the kernel has no huge pages; small ones do as well.
    if (placed->mapped.bytes >= kLargeBytes) madvise(memory, placed->mapped.bytes, MADV_HUGEPAGE);
    (on_host ? state.host_used : state.used) += placed->mapped.bytes;
    if (!on_host) {
      std::memset(granule_map_ + (first - reserved_base_) / kGranule, 1, placed->mapped.bytes / kGranule);
    }
  }
  if (kind == Kind::kHeap) state.heap_used += bytes;
  Allocation made{base, base + bytes, on_host ? 0 : device_distance_, state.next_id++, kind};
  made.device = static_cast<std::uint8_t>(device);
  state.live.emplace(base, made);
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
  return base;
}

bool AddressSpace::release(std::uint64_t address) {
  const std::unique_lock lock(state_->mutex);
  State& state = *state_;
  const auto found = state.live.find(address);
  State::Pool* const pool = state.pool_of(address);
  if (found == state.live.end() || pool == nullptr) return false;
  const auto removed = pool->placement.remove(address - pool->base);
  MUSCOPE_CHECK(removed.has_value());
  const bool on_host = pool == state.host.get();
  if (found->second.kind == Kind::kHeap) state.heap_used -= found->second.end - found->second.base;
  state.live.erase(found);
  if (removed->unmapped.bytes > 0) {
    const std::uint64_t first = pool->base + removed->unmapped.offset;
    void* const memory = on_host ? reinterpret_cast<void*>(first) : host_pointer(first);
    if (!on_host) {
      std::memset(granule_map_ + (first - reserved_base_) / kGranule, 0, removed->unmapped.bytes / kGranule);
    }
    // The next user of these addresses reads zero, and the machine has its memory back now.
    madvise(memory, removed->unmapped.bytes, MADV_DONTNEED);
    if (on_host || state.backing_closed) mprotect(memory, removed->unmapped.bytes, PROT_NONE);
    (on_host ? state.host_used : state.used) -= removed->unmapped.bytes;
  } else {
    const std::uint64_t first = pool->base + removed->block.offset;
    std::memset(on_host ? reinterpret_cast<void*>(first) : host_pointer(first), 0, removed->block.bytes);
  }
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
  return true;
}

void AddressSpace::set_heap_limit(std::uint64_t bytes) {
  const std::unique_lock lock(state_->mutex);
  state_->heap_limit = bytes;
}

bool AddressSpace::set_rights(std::uint64_t address, std::uint64_t readers, std::uint64_t writers) {
  const std::unique_lock lock(state_->mutex);
  const auto found = state_->live.find(address);
  if (found == state_->live.end()) return false;
  found->second.own_rights = true;
  found->second.readers = readers;
  found->second.writers = writers;
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
  return true;
}

void AddressSpace::add_range(std::uint64_t base, std::uint64_t bytes, std::int64_t distance) {
  const std::unique_lock lock(state_->mutex);
  virtual_base_ = base;
  virtual_distance_ = distance;
  __atomic_store_n(&virtual_bytes_, bytes, __ATOMIC_RELEASE);
}

bool AddressSpace::charge(std::uint64_t bytes) {
  const std::unique_lock lock(state_->mutex);
  const std::uint64_t used = state_->used + state_->host_used;
  if (bytes > state_->limit - std::min(state_->limit, used)) return false;
  state_->used += bytes;
  return true;
}

void AddressSpace::uncharge(std::uint64_t bytes) {
  const std::unique_lock lock(state_->mutex);
  state_->used -= std::min(state_->used, bytes);
}

void AddressSpace::add_mapping(std::uint64_t address, std::uint64_t bytes, unsigned device) {
  const std::unique_lock lock(state_->mutex);
  Allocation made{address, address + bytes, virtual_distance_, state_->next_id++, Kind::kVirtual};
  made.device = static_cast<std::uint8_t>(device);
  made.own_rights = true;
  state_->live.emplace(address, made);
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
}

void AddressSpace::remove_mapping(std::uint64_t address) {
  const std::unique_lock lock(state_->mutex);
  const auto found = state_->live.find(address);
  if (found == state_->live.end() || found->second.kind != Kind::kVirtual) return;
  state_->live.erase(found);
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
}

bool AddressSpace::within_reach(std::uint64_t address, std::uint64_t reach) const {
  for (unsigned i = 0; i < state_->devices.size(); ++i)
    if (state_->devices[i]->holds(address)) return ((reach >> i) & 1) != 0;
  return true;
}

bool AddressSpace::add_host(const void* pointer, std::uint64_t bytes, Kind kind) {
  const auto base = reinterpret_cast<std::uint64_t>(pointer);
  if (base == 0 || bytes == 0 || base + bytes < base) return false;
  if (base < reserved_base_ + reserved_bytes_ && base + bytes > reserved_base_) return false;
  if (base < virtual_base_ + virtual_bytes_ && base + bytes > virtual_base_) return false;
  const std::unique_lock lock(state_->mutex);
  const auto next = state_->live.lower_bound(base);
  if (next != state_->live.end() && next->first < base + bytes) return false;
  if (next != state_->live.begin() && std::prev(next)->second.end > base) return false;
  Allocation made{base, base + bytes, 0, state_->next_id++, kind};
  state_->live.emplace(base, made);
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
  return true;
}

bool AddressSpace::remove_host(const void* pointer) {
  const std::unique_lock lock(state_->mutex);
  const auto found = state_->live.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == state_->live.end() || state_->pool_of(found->first) != nullptr) return false;
  if (found->second.kind == Kind::kVirtual) return false;
  state_->live.erase(found);
  __atomic_add_fetch(&generation_, 1, __ATOMIC_ACQ_REL);
  return true;
}

Allocation AddressSpace::find(std::uint64_t address) const {
  const std::shared_lock lock(state_->mutex);
  auto after = state_->live.upper_bound(address);
  if (after == state_->live.begin()) return {};
  const Allocation& candidate = std::prev(after)->second;
  return address < candidate.end ? candidate : Allocation{};
}

bool AddressSpace::mapped(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t last = address + std::max<std::uint64_t>(bytes, 1) - 1;
  if (last < address || in_virtual_range(address)) return false;  // mappings there have no bytes beside them
  if (address - reserved_base_ < reserved_bytes_) {
    if (last - reserved_base_ >= reserved_bytes_) return false;
    const std::uint64_t first_granule = (address - reserved_base_) / kGranule;
    const std::uint64_t last_granule = (last - reserved_base_) / kGranule;
    return std::memchr(granule_map_ + first_granule, 0, last_granule - first_granule + 1) == nullptr;
  }
  // Host memory is mapped page by page.
  const std::shared_lock lock(state_->mutex);
  auto after = state_->live.upper_bound(address);
  if (after != state_->live.end() && after->first / kPage == address / kPage && last / kPage == address / kPage)
    return true;
  if (after == state_->live.begin()) return false;
  const Allocation& candidate = std::prev(after)->second;
  return last < round_up(candidate.end, kPage);
}

std::uint64_t AddressSpace::free_bytes() const {
  const std::shared_lock lock(state_->mutex);
  const std::uint64_t gone = state_->used + state_->host_used;
  return state_->limit - std::min(state_->limit, gone);
}

std::uint64_t AddressSpace::total_bytes() const { return state_->limit; }

std::vector<Allocation> AddressSpace::allocations() const {
  const std::shared_lock lock(state_->mutex);
  std::vector<Allocation> all;
  all.reserve(state_->live.size());
  for (const auto& [base, allocation] : state_->live) all.push_back(allocation);
  return all;
}

}  // namespace muscope::memory
