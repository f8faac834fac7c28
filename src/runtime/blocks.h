// What the runtime knows of each block of memory that it gave out, beyond its place (memory::AddressSpace).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace muscope::runtime {

enum class Source : std::uint8_t {
  kMalloc,
  kMallocAsync,
  kManaged,
  kHostAlloc,
  kHostRegister,
  kGraph,  ///< of an allocation node: lives as long as graphs have the node
};

struct Block {
  Source source = Source::kMalloc;
  int device = 0;
  unsigned flags = 0;       ///< of cudaHostAlloc, cudaHostRegister
  std::uint64_t bytes = 0;  ///< as asked for
};

/// By base address. Thread-safe.
class Blocks {
 public:
  void add(std::uint64_t base, const Block& block) {
    const std::lock_guard lock(mutex_);
    blocks_[base] = block;
  }
  std::optional<Block> find(std::uint64_t base) const {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(base);
    return found == blocks_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Forgets the block and returns it; nothing when there is none, or `accept` refuses it.
  template <typename Accept>
  std::optional<Block> take(std::uint64_t base, Accept&& accept) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(base);
    if (found == blocks_.end() || !accept(found->second)) return std::nullopt;
    const Block block = found->second;
    blocks_.erase(found);
    return block;
  }
  /// Bytes of live blocks of one source on one device.
  std::uint64_t bytes(Source source, int device) const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [base, block] : blocks_) {
      if (block.source == source && block.device == device) sum += block.bytes;
    }
    return sum;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Block> blocks_;
};

}  // namespace muscope::runtime
