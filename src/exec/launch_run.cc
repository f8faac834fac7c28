#include "exec/launch_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "exec/cluster.h"
#include "exec/translate.h"
#include "views/samples.h"

namespace muscope::exec {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBlocksForTwo = 4;  ///< smaller grids are not worth a second thread
/// Of each kernel; the samples of a launch take up to some 100 KiB of the run's record.
constexpr std::uint32_t kSampledLaunches = 4;
constexpr std::uint64_t kIdleBeforeSleep = 64;
constexpr std::chrono::milliseconds kHostWaits{100};  ///< how long one host_is_waiting() holds

const XOp* waiting_op(const Block& block, Warp** warp) {
  for (const auto& w : block.warps) {
    if (w->alive == 0) continue;
    *warp = w.get();
    if (w->active != 0) return &w->worker->program->ops[w->resume];
    if (!w->paths.empty()) {
      set_active(*w, w->paths[0].mask);
      return &w->worker->program->ops[w->paths[0].op];
    }
  }
  return nullptr;
}

const XOp* waiting_op(const std::vector<std::unique_ptr<Block>>& blocks, Warp** warp) {
  for (const auto& block : blocks)
    if (const XOp* op = waiting_op(*block, warp)) return op;
  return nullptr;
}

/// Blocks or warps may order each other by fences, or by barriers in shared memory, or pass data through surfaces,
/// whose accesses nobody records.
bool orders_otherwise(const code::Kernel& kernel) {
  if (kernel.ordered) return true;
  if (std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const code::Op& op) {
        return op.kind == code::OpKind::kAsync || op.opcode == ptx::Opcode::k_sust || op.opcode == ptx::Opcode::k_sured;
      }))
    return true;
  return kernel.machine_code &&
         std::any_of(kernel.machine_code->begin(), kernel.machine_code->end(), [](const sass::Instruction& i) {
           switch (i.opcode) {
             case sass::Opcode::kMEMBAR:
             case sass::Opcode::kFENCE:
             case sass::Opcode::kSYNCS:
             case sass::Opcode::kARRIVES:
             case sass::Opcode::kUBLKCP:
             case sass::Opcode::kUTMALDG:
             case sass::Opcode::kUTMASTG:
               return true;
             default:
               return false;
           }
         });
}

/// Whether an op stands in a loop (a jump from behind it leads before it) or in a function that is called.
bool repeats(const code::Kernel& kernel, std::uint32_t at) {
  if (kernel.has_calls || kernel.functions.size() > 1) return true;
  return std::any_of(kernel.ops.begin() + at, kernel.ops.end(), [at](const code::Op& op) {
    const bool forks = op.kind == code::OpKind::kBranch ||
                       (op.kind == code::OpKind::kMachine && op.machine == code::MachineKind::kDiverged);
    if (op.kind == code::OpKind::kMachine && op.machine == code::MachineKind::kIndirect) return true;
    if (op.kind == code::OpKind::kSwitch)
      return std::any_of(op.targets.begin(), op.targets.end(), [at](std::uint32_t to) { return to <= at; });
    return (op.kind == code::OpKind::kJump && op.target <= at) || (forks && std::min(op.target, op.target2) <= at);
  });
}

}  // namespace

LaunchRun::LaunchRun(LaunchRequest request, std::shared_ptr<const Program> program, memory::AddressSpace& memory,
                     const arch::GpuSpec& gpu, const EngineOptions& options)
    : request_(std::move(request)), program_(std::move(program)) {
  context_.program = program_.get();
  context_.request = &request_;
  context_.memory = &memory;
  context_.gpu = &gpu;
  context_.options = options;
  context_.total_blocks = std::uint64_t{request_.grid[0]} * request_.grid[1] * request_.grid[2];
  if (request_.cluster[0] != 0) {
    for (std::size_t d = 0; d < 3; ++d) context_.cluster[d] = std::max(request_.cluster[d], 1u);
    context_.unit_blocks = context_.cluster[0] * context_.cluster[1] * context_.cluster[2];
  }
  const code::Kernel& kernel = *program_->kernel;
  unsigned threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  if (kernel.ordered || context_.total_blocks < kBlocksForTwo) threads = 1;
  workers_ = static_cast<unsigned>(std::min<std::uint64_t>(threads, context_.total_units()));
  running_ = workers_;
  if (kernel.machine_code) fill_driver_words();
  fill_const_bank();
  if (request_.observe) {
    sampled_ = program_->observed.fetch_add(1) < kSampledLaunches;
    counts_ = new_counts();
  }
  block_executions_.assign(kernel.blocks.size(), 0);
  block_lanes_.assign(kernel.blocks.size(), 0);
  guarded_lanes_.assign(kernel.ops.size(), 0);
}

/// %total_smem_size of a block with these bytes: hardware hands out multiples (H200: 384 for 320).
std::uint64_t LaunchRun::handed_out(std::uint64_t shared_bytes) const {
  const arch::Sourced& unit = context_.gpu->shared_allocation_unit;
  const std::uint64_t step = unit.known ? static_cast<std::uint64_t>(unit.as_int()) : 128;
  return (shared_bytes + step - 1) / step * step;
}

void LaunchRun::work() {
  Worker worker;
  std::unique_ptr<views::AccessCounts> counts;
  try {
    run_blocks(worker, counts);
  } catch (const std::bad_alloc&) {
    out_of_memory(worker);
  } catch (const std::length_error&) {  // a size that no container has
    out_of_memory(worker);
  }
  merge(worker, counts.get());
}

/// Ends the launch: which block asked for too much depends on what the others hold, so it is told of the first.
void LaunchRun::out_of_memory(Worker& worker) {
  worker.fault = {};
  worker.fault.outcome = Outcome::kUnsupported;
  worker.fault.op = UINT32_MAX;  // no instruction's doing
  worker.fault.code = "D625";
  worker.fault.text = "this machine's memory does not suffice for the launch";
  worker.fault.hint = "fewer --threads run fewer blocks at one time; see `muscope explain D625`";
  context_.fault_order = 0;
}

void LaunchRun::run_blocks(Worker& worker, std::unique_ptr<views::AccessCounts>& counts) {
  const code::Kernel& kernel = *program_->kernel;
  worker.program = const_cast<Program*>(program_.get());
  worker.memory = context_.memory;
  worker.launch = &context_;
  worker.records.resize(kernel.info.sites.size());
  worker.block_executions.assign(kernel.blocks.size(), 0);
  worker.block_lanes.assign(kernel.blocks.size(), 0);
  worker.guarded_lanes.assign(kernel.ops.size(), 0);
  if (request_.observe) {
    counts = new_counts();
    worker.sink = counts.get();
  }
  if (kernel.ordered)
    run_ordered(worker);
  else
    run_parallel(worker);
}

void LaunchRun::finish_blocks(std::vector<std::unique_ptr<Block>>& blocks) {
  for (const auto& block : blocks) finish_block(*block);
}

void LaunchRun::finish_block(Block& block) {
  if (context_.options.blocks_done) context_.options.blocks_done->fetch_add(1, std::memory_order_relaxed);
  block.prepared.clear();
  block.launch_error = block.device_handles = 0;
  if (block.output.empty() && block.launched.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!block.output.empty()) outputs_[block.order] = std::exchange(block.output, {});
  if (!block.launched.empty()) launches_[block.order] = std::exchange(block.launched, {});
}

bool LaunchRun::wait_for_others(Worker& worker, const std::vector<std::unique_ptr<Block>>& blocks,
                                std::uint64_t& idle) {
  thread_local Clock::time_point since;
  if (idle++ == 0) since = Clock::now();
  Warp* warp = nullptr;
  if (context_.stop_requested()) {
    if (const XOp* op = waiting_op(blocks, &warp))
      raise(*warp, op, Outcome::kStopped, "D604",
            "stopped while every warp waits for something that did not come, here",
            "is a flag missing that another kernel or the host must set?");
    return !worker.fault;
  }
  if (idle < kIdleBeforeSleep) return true;
  {
    const std::lock_guard lock(mutex_);
    if (!polling_) {
      polling_ = true;
      changed_.notify_all();
    }
  }
  const auto host_waited = Clock::time_point(std::chrono::nanoseconds(host_waited_.load()));
  const bool host_waits = waiting_.load() > 0 || Clock::now() - host_waited < kHostWaits;
  if (!host_waits) since = Clock::now();  // the host is free to change what the kernel waits for
  if (std::chrono::duration<double>(Clock::now() - since).count() > context_.options.hang_seconds) {
    if (const XOp* op = waiting_op(blocks, &warp))
      raise(*warp, op, Outcome::kHang, "D603",
            fmt::format("hang: every warp waits for something that nobody has changed for {} s, here",
                        context_.options.hang_seconds),
            "a lock that is not released, a flag that is not set, or more blocks than fit on the GPU at once");
    return !worker.fault;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  return true;
}

void LaunchRun::stop_before(Worker& worker, std::uint64_t unit) {
  const std::uint64_t order = unit * context_.unit_blocks;
  worker.fault.outcome = Outcome::kStopped;
  worker.fault.block = BlockPool::index_of(context_, unit, 0);
  worker.fault.order = order;
  worker.fault.code = "D604";
  worker.fault.text = fmt::format("stopped after {} of {} blocks", order, context_.total_blocks);
  worker.fault.hint = "raise --timeout if it needs more time";
}

void LaunchRun::run_parallel(Worker& worker) {
  BlockPool pool(context_);
  for (;;) {
    const std::uint64_t unit = context_.next_unit.fetch_add(1);
    // Clusters are handed out in order: those before a faulting one are finished, later ones are not started.
    if (unit >= context_.total_units() || unit * context_.unit_blocks > context_.fault_order.load()) return;
    if (context_.stop_requested() && unit > 0) {
      stop_before(worker, unit);
    } else {
      auto blocks = pool.take(unit, worker);
      bool moved = false;
      BlockState state = run_cluster(blocks, worker, moved);
      for (std::uint64_t idle = 0; state == BlockState::kStalled; state = run_cluster(blocks, worker, moved)) {
        if (moved)
          idle = 0;
        else if (!wait_for_others(worker, blocks, idle))
          break;
      }
      finish_blocks(blocks);
      pool.give(std::move(blocks));
    }
    if (worker.fault) {
      std::uint64_t lowest = context_.fault_order.load();
      while (worker.fault.order < lowest && !context_.fault_order.compare_exchange_weak(lowest, worker.fault.order)) {
      }
      return;
    }
  }
}

std::size_t LaunchRun::resident_units() const {
  // Registers are not known well enough to lower it further.
  const arch::GpuSpec& gpu = *context_.gpu;
  const auto known_or = [](const arch::Sourced& number, std::int64_t otherwise) {
    return number.known ? number.as_int() : otherwise;
  };
  constexpr std::int64_t kBlocks = 32, kThreads = 2048, kSms = 256;  // more than any GPU in the tables has
  const std::int64_t threads = std::int64_t{request_.block[0]} * request_.block[1] * request_.block[2];
  const std::int64_t per_sm = std::max<std::int64_t>(
      1, std::min(known_or(gpu.max_blocks_per_sm, kBlocks),
                  known_or(gpu.max_threads_per_sm, kThreads) / std::max<std::int64_t>(threads, 1)));
  const auto blocks = static_cast<std::size_t>(per_sm * std::max<std::int64_t>(1, known_or(gpu.sm_count, kSms)));
  return std::max<std::size_t>(1, blocks / context_.unit_blocks);
}

void LaunchRun::run_ordered(Worker& worker) {
  BlockPool pool(context_);
  std::deque<std::vector<std::unique_ptr<Block>>> started;
  std::uint64_t next = 0, idle = 0;
  const std::size_t resident = resident_units();
  while (next < context_.total_units() || !started.empty()) {
    bool changed = false;
    for (std::size_t i = 0; i < started.size();) {
      bool moved = false;
      const BlockState state = run_cluster(started[i], worker, moved);
      if (state == BlockState::kFault) return;
      if (state == BlockState::kDone) {
        finish_blocks(started[i]);
        pool.give(std::move(started[i]));
        started.erase(started.begin() + static_cast<std::ptrdiff_t>(i));
        changed = true;
      } else {
        changed = changed || moved;
        ++i;
      }
    }
    // Start clusters in order until one cannot finish on its own.
    while (next < context_.total_units() && started.size() < resident) {
      if (context_.stop_requested() && next > 0) return stop_before(worker, next);
      auto blocks = pool.take(next++, worker);
      bool moved = false;
      const BlockState state = run_cluster(blocks, worker, moved);
      changed = true;
      if (state == BlockState::kFault) return finish_blocks(blocks);
      if (state == BlockState::kDone) {
        finish_blocks(blocks);
        pool.give(std::move(blocks));
      } else {
        started.push_back(std::move(blocks));
        if (started.size() < resident) continue;
      }
    }
    if (changed) {
      idle = 0;
    } else if (!started.empty() && !wait_for_others(worker, started.front(), idle)) {
      return;
    }
  }
}

std::unique_ptr<views::AccessCounts> LaunchRun::new_counts() const {
  const std::size_t sites = program_->kernel->info.sites.size();
  auto counts = sampled_ ? std::make_unique<views::AccessCounts>(sites, request_.grid)
                         : std::make_unique<views::AccessCounts>(sites);
  if (const arch::Sourced& warp = context_.gpu->warp_size; warp.known && warp.as_int() > kGroupLanes)
    counts->join_warps(static_cast<unsigned>(warp.as_int()), request_.block[0] * request_.block[1] * request_.block[2]);
  return counts;
}

/// Of the recorder, with what it does not know of barriers.
std::shared_ptr<const views::LaunchSamples> LaunchRun::samples() const {
  const std::shared_ptr<views::LaunchSamples> samples = counts_->samples();
  if (!samples) return nullptr;
  const code::Kernel& kernel = *program_->kernel;
  // Blocks of a cluster reach into each other's shared memory, which is recorded for none.
  const bool ordered_otherwise = context_.unit_blocks > 1 || orders_otherwise(kernel);
  for (views::WitnessBlock& block : samples->witnesses) {
    if (ordered_otherwise) block.barriers = {.known = false, .barriers = {}, .one_of = {}};
    for (views::BarrierUse& use : block.barriers.barriers) {
      use.frame = kernel.ops[use.op].frame;
      use.repeats = repeats(kernel, use.op);
    }
  }
  return samples;
}

void LaunchRun::merge(Worker& worker, views::AccessCounts* counts) {
  const std::lock_guard lock(mutex_);
  // A launch with a fault has no counts, and a worker without memory may have no room for them.
  if (!worker.fault) {
    if (counts) counts_->merge(*counts);
    for (std::size_t i = 0; i < block_executions_.size(); ++i)
      block_executions_[i] += worker.block_executions[i], block_lanes_[i] += worker.block_lanes[i];
    for (std::size_t i = 0; i < guarded_lanes_.size(); ++i) guarded_lanes_[i] += worker.guarded_lanes[i];
  }
  for (const auto& [key, noted] : worker.finding_by_op) {
    Noted& known = findings_[key];
    const std::uint64_t count = known.finding.count + noted.finding.count;
    if (known.finding.count == 0 || noted.block < known.block) known = noted;
    known.finding.count = count;
  }
  if (worker.fault && (!fault_ || worker.fault.order < fault_.order)) fault_ = worker.fault;
  if (--running_ == 0) {
    finish();
    ended_ = true;
    changed_.notify_all();
  }
}

void LaunchRun::describe_fault(const Fault& fault) {
  const code::Kernel& kernel = *program_->kernel;
  views::FaultRecord& r = result_.record.fault;
  r.code = fault.code;
  r.text = fault.text;
  r.hint = fault.hint;
  if (fault.op < kernel.ops.size()) {
    const code::Op& op = kernel.ops[fault.op];
    r.frame = op.frame;
    if (op.source) {
      r.ptx_line = op.source->ptx_line;
      r.instruction = op.source->text();
    }
  }
  const std::uint64_t b = fault.block;
  r.block = {static_cast<std::uint32_t>(b % request_.grid[0]),
             static_cast<std::uint32_t>(b / request_.grid[0] % request_.grid[1]),
             static_cast<std::uint32_t>(b / request_.grid[0] / request_.grid[1])};
  const std::uint32_t t = fault.warp * kGroupLanes + fault.lane;
  r.thread = {t % request_.block[0], t / request_.block[0] % request_.block[1],
              t / request_.block[0] / request_.block[1]};
}

void LaunchRun::finish() {
  const code::Kernel& kernel = *program_->kernel;
  views::LaunchRecord& record = result_.record;
  record.grid = request_.grid;
  record.block = request_.block;
  record.dynamic_shared = request_.dynamic_shared;
  result_.outcome = fault_.outcome;
  // Blocks after a faulting one may have run or not: what they printed is left out.
  for (auto& [order, text] : outputs_)
    if (!fault_ || order <= fault_.order) result_.output += text;
  for (auto& [key, noted] : findings_) record.findings.push_back(noted.finding);
  if (fault_) {
    record.state = fault_.outcome == Outcome::kStopped ? views::LaunchState::kStopped : views::LaunchState::kFaulted;
    describe_fault(fault_);
    return;  // which blocks ran is not determined, on a GPU neither: no counts
  }
  for (const auto& [index, launches] : launches_)
    result_.launches.insert(result_.launches.end(), launches.begin(), launches.end());
  record.managed_pages = context_.managed_pages.load();
  record.driver_calls = context_.driver_calls.load();
  if (!counts_) return;
  record.sites = counts_->finish();
  record.samples = samples();
  std::map<std::uint32_t, views::FrameCounts> frames;
  for (const code::CountedInstruction& c : kernel.counted) {
    const std::uint64_t executed = block_executions_[c.block];
    if (executed == 0) continue;
    const std::uint64_t lanes = c.guarded_op != 0xffffffffu ? guarded_lanes_[c.guarded_op] : block_lanes_[c.block];
    views::FrameCounts& f = frames[c.frame];
    f.frame = c.frame;
    f.warp_instructions += executed;
    f.thread_instructions += lanes;
    f.by_kind[static_cast<std::size_t>(c.kind)] += lanes;
  }
  for (const auto& [frame, counts] : frames) record.frames.push_back(counts);
}

bool LaunchRun::wait_ended_or_polling() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ || polling_; });
  return ended_;
}

void LaunchRun::wait_ended() {
  ++waiting_;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_; });
  --waiting_;
}

void LaunchRun::host_is_waiting() {
  host_waited_ = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

bool LaunchRun::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

}  // namespace muscope::exec
