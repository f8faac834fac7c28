// The memory of one emulated device, as the program sees it (ENGINE.md A1-A3 in docs/architecture.md).
//
// Device addresses live in a range that is reserved without access rights, so that host code which touches device
// memory faults as it would on a real machine; the bytes live in a second mapping at one constant distance.
// Managed, pinned, mapped and registered host memory is known by its host address (distance 0).
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace muscope::memory {

enum class Kind : std::uint8_t {
  kDevice,
  kManaged,
  kPinned,
  kRegistered,
  kModule,
  kHeap,     ///< by malloc() of a kernel: device memory, within the heap's size
  kVirtual,  ///< mapped by virtual memory management (virtual_memory.h)
};

/// One allocation, or one module variable (kModule).
struct Allocation {
  std::uint64_t base = 0;     ///< first device address
  std::uint64_t end = 0;      ///< one past the last byte that was asked for
  std::int64_t distance = 0;  ///< add to a device address to get a host pointer
  std::uint64_t id = 0;       ///< counts from 1
  Kind kind = Kind::kDevice;
  std::uint8_t device = 0;  ///< that has it
  /// Which devices may use it is said here, bit by bit, not by the peer access that they have to its device.
  bool own_rights = false;
  std::uint64_t readers = 0, writers = 0;

  bool on_host() const { return kind == Kind::kManaged || kind == Kind::kPinned || kind == Kind::kRegistered; }
  /// Whether kernels of `user` may read or write it. `reach`: the devices whose memory it may use, itself among them.
  bool lets(unsigned user, std::uint64_t reach, bool write) const {
    if (on_host()) return true;
    return own_rights ? (((write ? writers : readers) >> user) & 1) != 0 : ((reach >> device) & 1) != 0;
  }
};

/// Bytes that placement works with (H200, CUDA 13.0: tests/counters/placement.txt).
inline constexpr std::uint64_t kGranule = std::uint64_t{2} << 20;  ///< device memory is mapped in 2 MiB granules
inline constexpr std::uint64_t kSmallStep = 512;                   ///< blocks under 1 MiB start at multiples of this
inline constexpr std::uint64_t kPitch = 512;                       ///< cudaMallocPitch rounds rows up to this

class AddressSpace {
 public:
  /// `device_bytes`: memory of all emulated GPUs together. Throws Error D520 when no address range can be reserved.
  explicit AddressSpace(std::uint64_t device_bytes, unsigned devices = 1);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// Places `bytes` (> 0) as cudaMalloc does and returns the device address; 0 when the GPU's memory, or the memory
  /// that the machine or its cgroup can give, would be exceeded. Fresh memory reads zero.
  std::uint64_t allocate(std::uint64_t bytes, Kind kind = Kind::kDevice, unsigned device = 0);
  /// False when `address` is not the base of a live device allocation.
  bool release(std::uint64_t address);

  /// Gives an allocation rights of its own (Allocation::own_rights). False when none begins at `address`.
  bool set_rights(std::uint64_t address, std::uint64_t readers, std::uint64_t writers);

  // For virtual memory management, whose addresses are a range of their own.
  /// Names that range; its bytes lie at `distance`. Once.
  void add_range(std::uint64_t base, std::uint64_t bytes, std::int64_t distance);
  /// Counts memory that has no address yet. False when there is not that much.
  bool charge(std::uint64_t bytes);
  void uncharge(std::uint64_t bytes);
  /// A mapping of `bytes` in that range, which nobody may use yet.
  void add_mapping(std::uint64_t address, std::uint64_t bytes, unsigned device);
  void remove_mapping(std::uint64_t address);

  /// What kernels may have from malloc() at one time, in bytes (cudaLimitMallocHeapSize; 8 MiB at first). An H200 gives
  /// less of it, 60 to 95 %, for its heap has a structure of its own; 0 from allocate() when it would be exceeded.
  void set_heap_limit(std::uint64_t bytes);

  /// Makes host memory known to kernels under its own address. False when it overlaps a known range.
  bool add_host(const void* pointer, std::uint64_t bytes, Kind kind);
  bool remove_host(const void* pointer);

  /// The live allocation that holds `address`; an Allocation with id 0 when none does.
  Allocation find(std::uint64_t address) const;
  /// True when a device access to [address, address + bytes) reaches mapped memory, as the hardware would see it:
  /// inside a mapped granule of the device range, or inside a known host range. Granules of other devices count too.
  bool mapped(std::uint64_t address, std::uint64_t bytes) const;

  bool in_device_range(std::uint64_t address) const {
    return address - reserved_base_ < reserved_bytes_ || in_virtual_range(address);
  }
  bool in_virtual_range(std::uint64_t address) const {
    return address - virtual_base_ < __atomic_load_n(&virtual_bytes_, __ATOMIC_ACQUIRE);
  }
  std::uint64_t reserved_base() const { return reserved_base_; }
  std::uint64_t reserved_bytes() const { return reserved_bytes_; }
  /// Host pointer of a device or known host address, with no check.
  void* host_pointer(std::uint64_t address) const {
    if (address - reserved_base_ < reserved_bytes_)
      return reinterpret_cast<void*>(address + static_cast<std::uint64_t>(device_distance_));
    return reinterpret_cast<void*>(in_virtual_range(address) ? address + static_cast<std::uint64_t>(virtual_distance_)
                                                             : address);
  }
  std::int64_t device_distance() const { return device_distance_; }

  /// One byte per granule of the device range: 1 where mapped. Read by the engine without a lock.
  const std::uint8_t* granule_map() const { return granule_map_; }
  /// False where `address` lies among the allocations of a device that is not in `reach`, a mask of devices.
  bool within_reach(std::uint64_t address, std::uint64_t reach) const;
  /// Changes whenever an allocation appears or goes, so that cached Allocations can be dropped.
  std::uint64_t generation() const { return __atomic_load_n(&generation_, __ATOMIC_ACQUIRE); }

  std::uint64_t free_bytes() const;
  std::uint64_t total_bytes() const;
  /// Live allocations in address order.
  std::vector<Allocation> allocations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t reserved_base_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::int64_t device_distance_ = 0;
  std::uint64_t virtual_base_ = 0;
  std::uint64_t virtual_bytes_ = 0;  ///< 0 until add_range()
  std::int64_t virtual_distance_ = 0;
  std::uint8_t* granule_map_ = nullptr;
  std::uint64_t generation_ = 0;
};

}  // namespace muscope::memory
