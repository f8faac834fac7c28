// Virtual memory management (cuMemAddressReserve, cuMemCreate, cuMemMap, ...): addresses and the memory behind them are
// handled apart. One memory may be mapped at several addresses; which devices may use a mapping is set last.
//
// Rules as an H200 has them (tests/programs/device_memory.txt).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "memory/address_space.h"

namespace muscope::memory {

enum class VirtualResult : std::uint8_t { kOk, kInvalid, kNotSupported, kOutOfMemory, kOutOfAddresses };

/// Thread-safe. Handles count from 1.
class VirtualMemory {
 public:
  explicit VirtualMemory(AddressSpace& space) : space_(space) {}
  ~VirtualMemory();
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;

  struct Range {
    std::uint64_t address = 0, bytes = 0;
  };
  /// Memory behind addresses.
  struct Memory {
    std::uint64_t bytes = 0;
    unsigned device = 0;
    std::uint64_t properties = 0;  ///< the caller's to choose
    void* pages = nullptr;         ///< a mapping of ours, which all others share their pages with
    unsigned holders = 0;          ///< references of the program; memory goes with the last one and the last mapping
    unsigned mappings = 0;
  };

  /// Addresses without memory: `bytes` of them, a multiple of kGranule, at a multiple of `alignment` (a power of 2, or
  /// 0), at `wanted` where that is free.
  VirtualResult reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted, std::uint64_t& address);
  /// kInvalid unless it is a whole reservation in which nothing is mapped.
  VirtualResult release(std::uint64_t address, std::uint64_t bytes);
  /// That holds the address.
  std::optional<Range> reservation(std::uint64_t address) const;

  /// Memory without addresses: zeros; a multiple of kGranule.
  VirtualResult create(std::uint64_t bytes, unsigned device, std::uint64_t properties, std::uint64_t& handle);
  /// Of a handle that the program holds.
  std::optional<Memory> memory(std::uint64_t handle) const;
  /// One reference less; gives back what was freed by it, bytes 0 when it is still in use. Nothing for a bad handle.
  std::optional<Memory> drop(std::uint64_t handle);
  /// The handle of what is mapped at the address, with one reference more; 0 where nothing is.
  std::uint64_t retain(std::uint64_t address);

  /// kNotSupported for a part of the memory.
  VirtualResult map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
  /// Whole mappings in a reservation; places without one are skipped. `freed(memory)` for what went with them.
  template <typename Freed>
  VirtualResult unmap(std::uint64_t address, std::uint64_t bytes, Freed&& freed) {
    const std::lock_guard lock(mutex_);
    if (!whole(address, bytes, false)) return VirtualResult::kInvalid;
    while (const auto memory = unmap_first(address, bytes))
      if (memory->bytes > 0) freed(*memory);
    return VirtualResult::kOk;
  }

  /// Of one device to mappings without a gap.
  VirtualResult set_access(std::uint64_t address, std::uint64_t bytes, unsigned device, bool read, bool write);

 private:
  struct Mapping {
    std::uint64_t bytes = 0, handle = 0;
  };
  bool open();
  bool whole(std::uint64_t address, std::uint64_t bytes, bool without_gap) const;
  std::optional<Memory> unmap_first(std::uint64_t address, std::uint64_t bytes);
  std::optional<Memory> free_unused(std::uint64_t handle);

  AddressSpace& space_;
  mutable std::mutex mutex_;
  std::uint64_t base_ = 0, size_ = 0;  // 0 until the first reservation
  std::int64_t distance_ = 0;
  std::uint64_t next_handle_ = 1;
  std::map<std::uint64_t, std::uint64_t> reservations_;  // address -> bytes
  std::map<std::uint64_t, Mapping> mappings_;            // by address
  std::map<std::uint64_t, Memory> memories_;             // by handle
};

}  // namespace muscope::memory
