// One launch from start to result, on threads of the pool. Internal to exec/.
#pragma once

#include <condition_variable>
#include <mutex>

#include "exec/block_run.h"
#include "exec/launch_context.h"
#include "views/access_counts.h"

namespace muscope::exec {

class LaunchRun final : public LaunchHandle, public std::enable_shared_from_this<LaunchRun> {
 public:
  LaunchRun(LaunchRequest request, std::shared_ptr<const Program> program, memory::AddressSpace& memory,
            const arch::GpuSpec& gpu, const EngineOptions& options);

  unsigned workers() const { return workers_; }
  /// What each worker's thread does.
  void work();

  bool wait_ended_or_polling() override;
  void wait_ended() override;
  bool ended() const override;
  void host_is_waiting() override;
  LaunchResult& result() override { return result_; }

 private:
  void fill_driver_words();
  std::uint64_t handed_out(std::uint64_t shared_bytes) const;
  void fill_const_bank();
  /// The worker's share of the blocks; `counts` gets what it counts. Throws std::bad_alloc and std::length_error.
  void run_blocks(Worker& worker, std::unique_ptr<views::AccessCounts>& counts);
  void out_of_memory(Worker& worker);
  void run_parallel(Worker& worker);
  /// Clusters (blocks, without them) that the GPU could hold at one time; where its size is not published, no fewer
  /// than any GPU holds.
  std::size_t resident_units() const;
  void run_ordered(Worker& worker);
  /// A block, or every started block, waits for the outside. False when the launch must end (worker.fault is set).
  bool wait_for_others(Worker& worker, const std::vector<std::unique_ptr<Block>>& blocks, std::uint64_t& idle);
  void finish_block(Block& block);
  void finish_blocks(std::vector<std::unique_ptr<Block>>& blocks);
  /// The launch was told to stop before cluster number `unit` began.
  void stop_before(Worker& worker, std::uint64_t unit);
  std::unique_ptr<views::AccessCounts> new_counts() const;
  std::shared_ptr<const views::LaunchSamples> samples() const;
  void merge(Worker& worker, views::AccessCounts* counts);
  void finish();
  void describe_fault(const Fault& fault);

  LaunchRequest request_;
  std::shared_ptr<const Program> program_;
  LaunchContext context_;
  unsigned workers_ = 1;
  bool sampled_ = false;
  LaunchResult result_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  unsigned running_ = 0;
  bool ended_ = false, polling_ = false;
  std::atomic<int> waiting_{0};               ///< threads in wait_ended()
  std::atomic<std::int64_t> host_waited_{0};  ///< when host_is_waiting() was last called, steady clock nanoseconds

  // Merged from workers, under mutex_.
  std::unique_ptr<views::AccessCounts> counts_;
  std::vector<std::uint64_t> block_executions_, block_lanes_, guarded_lanes_;
  Fault fault_;
  std::map<std::pair<std::uint32_t, std::string>, Noted> findings_;
  std::map<std::uint64_t, std::string> outputs_;                 ///< of blocks that printed
  std::map<std::uint64_t, std::vector<DeviceLaunch>> launches_;  ///< of blocks that launched kernels
};

}  // namespace muscope::exec
