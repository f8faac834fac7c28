// Counts per memory instruction: the view behind requests, sectors, wavefronts and the worst example of each line.
#pragma once

#include <memory>
#include <vector>

#include "model/bank_memo.h"
#include "trace/sink.h"
#include "views/access_samples.h"
#include "views/records.h"
#include "views/wide_warps.h"

namespace muscope::views {

/// A shard of one worker. Integer sums and a total order on examples make the merged result independent of how blocks
/// were shared out.
class AccessCounts final : public trace::AccessSink {
 public:
  explicit AccessCounts(std::size_t sites) : rows_(sites * kSpaces) {}
  /// With samples of a launch of this grid.
  AccessCounts(std::size_t sites, const std::array<std::uint32_t, 3>& grid)
      : rows_(sites * kSpaces), samples_(std::make_unique<AccessSamples>(sites, grid)) {}

  /// The groups of warps of more than 32 lanes count together.
  void join_warps(unsigned lanes, std::uint32_t threads) { wide_ = std::make_unique<WideWarps>(lanes, threads); }

  void access(const trace::WarpAccess& access) override;
  void barrier(std::uint64_t block, std::uint32_t op, bool plain) override {
    if (samples_) samples_->barrier(block, op, plain);
  }
  void merge(AccessCounts& other);
  /// Rows with at least one execution, by site and space.
  std::vector<SiteCounts> finish() const;
  /// Null: none were taken.
  std::shared_ptr<LaunchSamples> samples() const {
    return samples_ ? std::make_shared<LaunchSamples>(samples_->finish()) : nullptr;
  }

 private:
  static constexpr std::size_t kSpaces = 6;  ///< of trace::Space
  void keep_worst(SiteCounts& row, const trace::WarpAccess& access, std::uint32_t cost);
  std::vector<SiteCounts> rows_;
  std::unique_ptr<AccessSamples> samples_;
  std::unique_ptr<WideWarps> wide_;
  model::BankMemo banks_;
};

}  // namespace muscope::views
