// Redeal: the first execution of each global access by a witness block, with its addresses dealt to lanes anew.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "advice/context.h"

namespace muscope::advice {

/// A thread's place in its block.
struct Thread {
  std::uint32_t x = 0, y = 0, z = 0;
};

/// One site's first execution by the threads of one witness block.
struct BlockAccess {
  const Site* site = nullptr;
  std::uint64_t block = 0;
  std::vector<std::optional<std::uint64_t>> addresses;  ///< by linear thread; none: inactive
};

/// Of all witness blocks, for the global accesses whose first executions were recorded. Atomics are left out.
std::vector<BlockAccess> block_accesses(const Context& context);

/// Sectors when the threads `order` gives (linear indices, 32 of them a warp) run the access.
std::uint64_t sectors_of(const BlockAccess& access, const std::vector<std::uint32_t>& order);

/// Threads 0, 1, 2, ... of a block.
std::vector<std::uint32_t> order_as_is(const Context& context);
/// Threads in the order of a block whose x and y are swapped: y runs fastest.
std::vector<std::uint32_t> order_swapped(const Context& context);
/// The active threads by address.
std::vector<std::uint32_t> order_by_address(const BlockAccess& access);

/// The first warp of the block as it runs the access, and as it would with the threads that `order` gives; nothing
/// where not the same lanes would be active.
std::optional<report::AdvicePicture> picture_of(const BlockAccess& access, const std::vector<std::uint32_t>& now,
                                                const std::vector<std::uint32_t>& order);

/// Bytes from one thread to the next in x, y and z, where one number holds for all threads of all witness blocks.
struct Fit {
  std::optional<std::int64_t> x, y, z;
};
Fit fit_of(const Context& context, const std::vector<BlockAccess>& accesses, const Site& site);

}  // namespace muscope::advice
