// AccessSamples: the recorder behind LaunchSamples (views/samples.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/sink.h"
#include "views/pattern_table.h"
#include "views/samples.h"
#include "views/witness.h"

namespace muscope::views {

/// Which blocks of a grid are recorded in full: the first, the next in x, the first of the next row, the middle one and
/// the last, as far as they differ; ascending.
std::vector<std::uint64_t> witness_blocks(const std::array<std::uint32_t, 3>& grid);

/// A shard of one worker. Each block is run by one worker, so that a witness has one owner.
class AccessSamples final : public trace::AccessSink {
 public:
  AccessSamples(std::size_t sites, const std::array<std::uint32_t, 3>& grid);

  void access(const trace::WarpAccess& access) override;
  void barrier(std::uint64_t block, std::uint32_t op, bool plain) override;
  void merge(AccessSamples& other);
  LaunchSamples finish() const;

 private:
  static constexpr std::size_t kSpaces = 6;  ///< of trace::Space
  static constexpr std::size_t kHotClasses = 64;
  struct HotClass {
    std::uint64_t lanes = 0;
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
  };
  struct Row {
    trace::Space space = trace::Space::kGlobal;
    PatternTable patterns;
    AtomicMeetings meetings;
    std::vector<HotClass> hot;
  };
  void meet(Row& row, const trace::WarpAccess& access);
  Row& row_of(const trace::WarpAccess& access);
  Witness* witness_of(std::uint64_t block);

  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<std::uint64_t> witness_blocks_;
  std::vector<std::unique_ptr<Witness>> witnesses_;  ///< as witness_blocks_; null: another worker's
  std::uint64_t last_block_ = ~std::uint64_t{0};
  Witness* last_witness_ = nullptr;
};

}  // namespace muscope::views
