// Which pages of managed memory are on the device: counted when a kernel touches one that is not.
// Source: demand paging of managed memory (CUDA C++ Programming Guide, "Unified Memory Programming"); 4 KiB is the host
// page, hardware may move larger pieces at once.
#pragma once

#include <cstdint>

#include "memory/address_space.h"

namespace muscope::exec {

inline constexpr std::uint64_t kManagedPage = 4096;

/// Marks the pages of [low, high) of a managed allocation as on the device; returns how many were not.
std::uint64_t mark_resident(const memory::Allocation& allocation, std::uint64_t low, std::uint64_t high);

/// A prefetch to the device, or (to_device false) back to the host; `bytes` at `address`.
void move_pages(std::uint64_t address, std::uint64_t bytes, bool to_device);

}  // namespace muscope::exec
