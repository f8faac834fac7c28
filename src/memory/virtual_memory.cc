#include "memory/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace muscope::memory {
namespace {

// Addresses for reservations: far from the device's range, at the same place in every run.
constexpr std::uint64_t kFirstBase = 0x5000'0000'0000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 42;
constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 32;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

void* map_pages(void* at, std::uint64_t bytes, int protection, int flags) {
  void* const got = mmap(at, bytes, protection, MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return got == MAP_FAILED ? nullptr : got;
}

}  // namespace

VirtualMemory::~VirtualMemory() {
  for (auto& [handle, memory] : memories_) munmap(memory.pages, memory.bytes);
  if (size_ == 0) return;
  munmap(reinterpret_cast<void*>(base_), size_);
  munmap(reinterpret_cast<void*>(base_ + static_cast<std::uint64_t>(distance_)), size_);
}

// Reserves the range; less of it where the process may not have that much (ulimit -v).
bool VirtualMemory::open() {
  if (size_ > 0) return true;
  for (std::uint64_t bytes = kMostBytes; bytes >= kLeastBytes; bytes /= 2) {
    auto* const wanted = reinterpret_cast<void*>(kFirstBase);
    void* addresses = map_pages(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_FIXED_NOREPLACE);
    if (addresses != nullptr && addresses != wanted) {
      munmap(addresses, bytes);
      addresses = nullptr;
    }
    if (addresses == nullptr) addresses = map_pages(nullptr, bytes, PROT_NONE, MAP_PRIVATE);
    if (addresses == nullptr) continue;
    void* const backing = map_pages(nullptr, bytes, PROT_NONE, MAP_PRIVATE);
    if (backing == nullptr) {
      munmap(addresses, bytes);
      continue;
    }
    const auto raw = reinterpret_cast<std::uint64_t>(addresses);
    base_ = round_up(raw, kGranule);
    size_ = (raw + bytes - base_) / kGranule * kGranule;
    distance_ = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(backing) - base_);
    madvise(addresses, bytes, MADV_DONTDUMP);
    space_.add_range(base_, size_, distance_);
    return true;
  }
  return false;
}

VirtualResult VirtualMemory::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                                     std::uint64_t& address) {
  if (bytes == 0 || bytes % kGranule != 0 || (alignment & (alignment - 1)) != 0 || wanted % kGranule != 0)
    return VirtualResult::kInvalid;
  const std::lock_guard lock(mutex_);
  if (!open()) return VirtualResult::kOutOfAddresses;
  const std::uint64_t step = std::max(alignment, kGranule);
  const auto free_at = [&](std::uint64_t at) {
    if (at < base_ || at - base_ > size_ || bytes > size_ - (at - base_)) return false;
    const auto next = reservations_.lower_bound(at);
    if (next != reservations_.end() && next->first - at < bytes) return false;
    return next == reservations_.begin() || std::prev(next)->first + std::prev(next)->second <= at;
  };
  std::uint64_t found = 0;
  if (wanted != 0 && wanted % step == 0 && free_at(wanted)) found = wanted;
  if (found == 0 && free_at(round_up(base_, step))) found = round_up(base_, step);
  for (auto at = reservations_.begin(); found == 0 && at != reservations_.end(); ++at)
    if (const std::uint64_t behind = round_up(at->first + at->second, step); free_at(behind)) found = behind;
  if (found == 0) return VirtualResult::kOutOfAddresses;
  reservations_[found] = bytes;
  address = found;
  return VirtualResult::kOk;
}

VirtualResult VirtualMemory::release(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != bytes) return VirtualResult::kInvalid;
  const auto mapped = mappings_.lower_bound(address);
  if (mapped != mappings_.end() && mapped->first < address + bytes) return VirtualResult::kInvalid;
  reservations_.erase(found);
  return VirtualResult::kOk;
}

std::optional<VirtualMemory::Range> VirtualMemory::reservation(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return std::nullopt;
  --after;
  if (address - after->first >= after->second) return std::nullopt;
  return Range{after->first, after->second};
}

VirtualResult VirtualMemory::create(std::uint64_t bytes, unsigned device, std::uint64_t properties,
                                    std::uint64_t& handle) {
  if (bytes == 0 || bytes % kGranule != 0) return VirtualResult::kInvalid;
  if (!space_.charge(bytes)) return VirtualResult::kOutOfMemory;
  void* const pages = map_pages(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (pages == nullptr) {
    space_.uncharge(bytes);
    return VirtualResult::kOutOfMemory;
  }
  const std::lock_guard lock(mutex_);
  handle = next_handle_++;
  memories_[handle] = {bytes, device, properties, pages, 1, 0};
  return VirtualResult::kOk;
}

std::optional<VirtualMemory::Memory> VirtualMemory::memory(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = memories_.find(handle);
  if (found == memories_.end() || found->second.holders == 0) return std::nullopt;
  return found->second;
}

std::optional<VirtualMemory::Memory> VirtualMemory::free_unused(std::uint64_t handle) {
  const auto found = memories_.find(handle);
  const Memory memory = found->second;
  if (memory.holders > 0 || memory.mappings > 0) return Memory{};
  munmap(memory.pages, memory.bytes);
  space_.uncharge(memory.bytes);
  memories_.erase(found);
  return memory;
}

std::optional<VirtualMemory::Memory> VirtualMemory::drop(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = memories_.find(handle);
  if (found == memories_.end() || found->second.holders == 0) return std::nullopt;
  --found->second.holders;
  return free_unused(handle);
}

std::uint64_t VirtualMemory::retain(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return 0;
  --after;
  if (address - after->first >= after->second.bytes) return 0;
  ++memories_[after->second.handle].holders;
  return after->second.handle;
}

VirtualResult VirtualMemory::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto memory = memories_.find(handle);
  if (bytes == 0 || memory == memories_.end() || memory->second.holders == 0) return VirtualResult::kInvalid;
  if (bytes != memory->second.bytes) return VirtualResult::kNotSupported;
  if (address % kGranule != 0) return VirtualResult::kInvalid;
  auto inside = reservations_.upper_bound(address);
  if (inside == reservations_.begin()) return VirtualResult::kInvalid;
  --inside;
  const std::uint64_t offset = address - inside->first;
  if (offset >= inside->second || bytes > inside->second - offset) return VirtualResult::kInvalid;
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first < address + bytes) return VirtualResult::kInvalid;
  if (next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address)
    return VirtualResult::kInvalid;
  // With an old size of 0 the new mapping shares the pages of the old one (mremap(2)).
  auto* const at = reinterpret_cast<void*>(address + static_cast<std::uint64_t>(distance_));
  if (mremap(memory->second.pages, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
    return VirtualResult::kOutOfMemory;
  mappings_[address] = {bytes, handle};
  ++memory->second.mappings;
  space_.add_mapping(address, bytes, memory->second.device);
  return VirtualResult::kOk;
}

// Whether [address, address + bytes) lies in one reservation and cuts no mapping; and has no place without one.
bool VirtualMemory::whole(std::uint64_t address, std::uint64_t bytes, bool without_gap) const {
  auto inside = reservations_.upper_bound(address);
  if (bytes == 0 || inside == reservations_.begin()) return false;
  --inside;
  const std::uint64_t offset = address - inside->first;
  if (offset >= inside->second || bytes > inside->second - offset) return false;
  auto at = mappings_.lower_bound(address);
  if (at != mappings_.begin() && std::prev(at)->first + std::prev(at)->second.bytes > address) return false;
  std::uint64_t covered = address;
  for (; at != mappings_.end() && at->first < address + bytes; ++at) {
    if (without_gap && at->first != covered) return false;
    covered = at->first + at->second.bytes;
    if (covered > address + bytes) return false;
  }
  return !without_gap || covered == address + bytes;
}

std::optional<VirtualMemory::Memory> VirtualMemory::unmap_first(std::uint64_t address, std::uint64_t bytes) {
  const auto at = mappings_.lower_bound(address);
  if (at == mappings_.end() || at->first >= address + bytes) return std::nullopt;
  space_.remove_mapping(at->first);
  // The addresses stay reserved.
  map_pages(reinterpret_cast<void*>(at->first + static_cast<std::uint64_t>(distance_)), at->second.bytes, PROT_NONE,
            MAP_PRIVATE | MAP_FIXED);
  const std::uint64_t handle = at->second.handle;
  mappings_.erase(at);
  --memories_[handle].mappings;
  return free_unused(handle);
}

VirtualResult VirtualMemory::set_access(std::uint64_t address, std::uint64_t bytes, unsigned device, bool read,
                                        bool write) {
  const std::lock_guard lock(mutex_);
  if (!whole(address, bytes, true)) return VirtualResult::kInvalid;
  const std::uint64_t bit = std::uint64_t{1} << device;
  for (auto at = mappings_.lower_bound(address); at != mappings_.end() && at->first < address + bytes; ++at) {
    const Allocation now = space_.find(at->first);
    space_.set_rights(at->first, read ? now.readers | bit : now.readers & ~bit,
                      write ? now.writers | bit : now.writers & ~bit);
  }
  return VirtualResult::kOk;
}

}  // namespace muscope::memory
