#include "exec/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/async.h"
#include "exec/block_run.h"
#include "exec/launch_context.h"
#include "exec/machine.h"
#include "exec/paths.h"
#include "exec/texture_ops.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

/// Polls without a change before a warp lets others run.
constexpr std::uint32_t kPatience = 32;
void count_block(Warp& w, const XOp* op) {
  w.worker->block_executions[op->block] += 1;
  w.worker->block_lanes[op->block] += static_cast<std::uint64_t>(std::popcount(w.active));
  w.steps += op->instructions;
}

GroupMask guard_of(const Warp& w, const XOp* op) {
  const GroupMask p = *w.src<std::uint32_t>(op->guard);
  return (op->guard_negated ? ~p : p) & w.active;
}

const XOp* ops_of(const Warp& w) { return w.worker->program->ops.data(); }

const XOp* stop_at(Warp& w, const XOp* op, Stop stop) {
  w.resume = static_cast<std::uint32_t>(op - ops_of(w));
  w.stop = stop;
  return nullptr;
}

bool has_other(const Warp& w) {
  return std::any_of(w.paths.begin(), w.paths.end(),
                     [](const Path& p) { return p.state == PathState::kReady || p.state == PathState::kSpinning; });
}

/// A slice is over at the loop header `op`: the launch's budget and stop flag are looked at, then other lanes and other
/// warps may run.
const XOp* end_of_slice(Warp& w, const XOp* op) {
  if (stopped_at(w, op + 1, ", here in a loop")) return nullptr;
  if (!charge_steps(w, op + 1)) return nullptr;
  if (!has_other(w)) return stop_at(w, op, Stop::kSlice);
  save_path(w, static_cast<std::uint32_t>(op - ops_of(w)), PathState::kSpinning);
  return stop_at(w, next_path(w), Stop::kSlice);
}

}  // namespace

bool stopped_at(Warp& w, const XOp* op, const char* where) {
  const LaunchContext& launch = *w.worker->launch;
  if (!launch.stop_requested()) return false;
  const std::uint64_t steps = launch.steps.load() + w.steps - w.charged;
  raise(w, op, Outcome::kStopped, "D604",
        fmt::format("stopped while running: {} million warp instructions so far{}", steps / 1000000, where),
        "does this loop end? raise --timeout if it needs more time");
  return true;
}

bool charge_steps(Warp& w, const XOp* op) {
  LaunchContext& launch = *w.worker->launch;
  const std::uint64_t budget = launch.options.max_steps;
  const std::uint64_t fresh = w.steps - w.charged, total = launch.steps.fetch_add(fresh) + fresh;
  w.charged = w.steps;
  w.slice_end = w.steps + launch.slice();
  w.look_at = std::min(w.slice_end, w.steps + kLook);
  if (budget == 0 || total <= budget) return true;
  raise(w, op, Outcome::kHang, "D603", fmt::format("the launch used up its budget of {} warp instructions", budget),
        "does this loop end? raise --max-steps if it does");
  return false;
}

const XOp* run_nothing(Warp&, const XOp* op) { return op + 1; }

const XOp* run_enter(Warp& w, const XOp* op) {
  if (!w.paths.empty()) {
    const XOp* now = meet(w, static_cast<std::uint32_t>(op - ops_of(w)));
    if (now != op) return now;
  }
  count_block(w, op);
  return op + 1;
}

const XOp* run_enter_machine(Warp& w, const XOp* op) {
  count_block(w, op);
  return op + 1;
}

const XOp* run_enter_loop(Warp& w, const XOp* op) {
  if (!w.paths.empty()) {
    const XOp* now = meet(w, static_cast<std::uint32_t>(op - ops_of(w)));
    if (now != op) return now;
  }
  return run_enter_machine_loop(w, op);
}

const XOp* run_enter_machine_loop(Warp& w, const XOp* op) {
  const auto index = static_cast<std::uint32_t>(op - ops_of(w));
  if (w.steps >= w.look_at) {
    if (w.steps >= w.slice_end) return end_of_slice(w, op);
    if (stopped_at(w, op + 1, ", here in a loop")) return nullptr;
    w.look_at = std::min(w.slice_end, w.steps + kLook);
  }
  if (w.progress) {
    w.progress = false;
    w.polls = 0;
    w.block->progress = true;
    for (Path& p : w.paths)
      if (p.state == PathState::kSpinning) p.state = PathState::kReady;
  } else if (w.polls > kPatience) {
    // Waiting for someone: other lanes first, then other warps.
    w.polls = 0;
    if (has_other(w)) {
      save_path(w, index, PathState::kSpinning);
      const XOp* other = next_path(w);
      // All lanes spin: the warp gives way as a whole, with this path first in line again.
      bool all_spin = true;
      for (const Path& p : w.paths) all_spin = all_spin && p.state != PathState::kReady;
      if (all_spin && other) return stop_at(w, other, Stop::kYield);
      return other;
    }
    count_block(w, op);
    return stop_at(w, op + 1, Stop::kYield);
  }
  count_block(w, op);
  return op + 1;
}

const XOp* run_jump(Warp& w, const XOp* op) { return ops_of(w) + op->target; }

namespace {

/// Which lanes of a branch that parts go first: those that take it, or those that do not.
/// PTX: blocks are numbered in the order in which lanes should run them. Machine code: the fewer lanes, and where both
/// are as many, those that go on (counters of an H200 where lanes leave a barrier for which others wait: see
/// docs/accuracy.md). A guard parts the lanes for the one operation that follows.
bool goes_first(const Warp& w, const XOp* op, GroupMask taken, GroupMask fall) {
  if (w.worker->program->kernel->machine_code == nullptr) return op->target < op->target2;
  const bool guard = ops_of(w) + op->target == op + 1;
  return guard || std::popcount(taken) < std::popcount(fall);
}

}  // namespace

const XOp* run_branch(Warp& w, const XOp* op) { return part(w, op, guard_of(w, op)); }

const XOp* part(Warp& w, const XOp* op, GroupMask taken) {
  if (taken == w.active) return ops_of(w) + op->target;
  if (taken == 0) return ops_of(w) + op->target2;
  const GroupMask fall = w.active & ~taken;
  const bool taken_first = goes_first(w, op, taken, fall);
  set_active(w, taken_first ? fall : taken);
  save_path(w, taken_first ? op->target2 : op->target, PathState::kReady);
  set_active(w, taken_first ? taken : fall);
  return ops_of(w) + (taken_first ? op->target : op->target2);
}

const XOp* run_switch(Warp& w, const XOp* op) {
  const std::uint32_t* index = w.src<std::uint32_t>(op->a);
  const auto& targets = op->source->targets;
  GroupMask left = w.active;
  while (left) {
    const std::uint32_t mine = index[std::countr_zero(left)];
    if (mine >= targets.size())
      return raise(w, op, Outcome::kIllegalInstruction, "D605",
                   fmt::format("brx.idx with index {} and only {} targets", mine, targets.size()),
                   "undefined in PTX; the switch value is out of range");
    GroupMask same = 0;
    for (GroupMask m = left; m; m &= m - 1) {
      const unsigned l = static_cast<unsigned>(std::countr_zero(m));
      if (index[l] < targets.size() && targets[index[l]] == targets[mine]) same |= 1u << l;
    }
    set_active(w, same);
    save_path(w, targets[mine], PathState::kReady);
    left &= ~same;
    set_active(w, left);
  }
  return next_path(w);
}

const XOp* run_exit(Warp& w, const XOp*) {
  w.alive &= ~w.active;
  threads_exited(w, static_cast<std::uint32_t>(std::popcount(w.active)));
  // Lanes that wait for these in a .sync instruction need them no more.
  if (w.worker->program->kernel->machine_code) {
    release_converged(w);
  } else {
    for (Path& p : w.paths)
      if (p.state == PathState::kSync) p.state = PathState::kReady;
  }
  if (w.paths.empty()) {
    set_active(w, 0);
    w.stop = Stop::kExited;
    return nullptr;
  }
  return next_path(w);
}

std::uint8_t* local_bytes(Warp& w, unsigned lane, std::uint32_t offset) {
  return w.local + std::size_t{w.local_stride} * lane + w.local_base + offset;
}

namespace {

/// Where lane 0 of an argument or result lives, and the distance to the next lane.
struct LaneBytes {
  std::uint8_t* first = nullptr;
  std::size_t stride = 0;
};

LaneBytes register_lanes(const Warp& w, code::Place place, std::uint32_t bytes, std::uint32_t frame_offset) {
  const std::uint32_t bank = place.bits >> code::Place::kBankShift;
  std::uint8_t* base = bank == code::kFrameBank ? w.registers + frame_offset : w.bases[bank];
  return {base + (place.bits & code::Place::kOffsetMask), std::max<std::uint32_t>(bytes, 2)};
}

LaneBytes local_lanes(const Warp& w, std::uint32_t local_base, std::uint32_t offset) {
  return {w.local + local_base + offset, w.local_stride};
}

void copy_lanes(GroupMask active, LaneBytes to, LaneBytes from, std::uint32_t bytes) {
  for (GroupMask m = active; m; m &= m - 1) {
    const auto l = static_cast<std::size_t>(std::countr_zero(m));
    std::memcpy(to.first + l * to.stride, from.first + l * from.stride, bytes);
  }
}

/// Start of a frame for `callee`: every function has one of its own, so that lanes inside different functions do not
/// meet; activations beyond the first stack up behind them.
std::uint32_t frame_for(const Warp& w, std::uint32_t callee) {
  const Program& program = *w.worker->program;
  const auto& functions = program.kernel->functions;
  if (!program.kernel->recursive) return program.frame_base[callee];
  bool active = callee == w.function;
  std::uint32_t top = std::max(program.static_frames, w.frame_offset + functions[w.function].frame_bytes);
  for (const CallFrame& f : w.stack) {
    active = active || f.caller == callee;
    top = std::max(top, f.frame_offset + functions[f.caller].frame_bytes);
  }
  return active ? top : program.frame_base[callee];
}

constexpr std::size_t kMaxDepth = 1 << 14;

}  // namespace

const XOp* run_return(Warp& w, const XOp* op) {
  if (w.stack.empty()) return run_exit(w, op);
  const CallFrame frame = w.stack.back();
  const code::Function& callee = w.worker->program->kernel->functions[frame.function];
  for (std::size_t i = 0; i < frame.call->results.size() && i < callee.returns.size(); ++i) {
    const auto& to = frame.call->results[i];
    const auto& from = callee.returns[i];
    if ((from.is_register && !from.place.exists()) || (to.is_register && !to.caller_place.exists())) continue;
    copy_lanes(w.active,
               to.is_register ? register_lanes(w, to.caller_place, to.bytes, frame.frame_offset)
                              : local_lanes(w, frame.local_base, to.caller_local),
               from.is_register ? register_lanes(w, from.place, from.bytes, w.frame_offset)
                                : local_lanes(w, w.local_base, from.local),
               std::min(to.bytes, from.bytes));
  }
  w.stack.pop_back();
  w.frame_offset = frame.frame_offset;
  w.local_base = frame.local_base;
  w.function = frame.caller;
  w.bases[0] = w.registers + w.frame_offset;
  return ops_of(w) + frame.return_op;
}

const XOp* run_call(Warp& w, const XOp* op) {
  const code::CallDetails& call = *op->source->call;
  if (!call.builtin.empty()) return run_builtin(w, op);
  const Program& program = *w.worker->program;
  const code::Kernel& kernel = *program.kernel;
  const auto index = static_cast<std::uint32_t>(op - ops_of(w));
  std::uint32_t callee = call.callee;
  if (call.target.exists()) {
    const std::uint64_t* targets = w.src<std::uint64_t>(call.target.bits);
    const std::uint64_t mine = targets[std::countr_zero(w.active)];
    const std::uint64_t number = (mine - code::kFunctionWindow) / 16;
    callee = mine >= code::kFunctionWindow && number < program.function_by_ptx.size() && mine % 16 == 0
                 ? program.function_by_ptx[number]
                 : 0xffffffffu;
    if (callee == 0xffffffffu)
      return raise(w, op, Outcome::kInvalidPc, "D606",
                   fmt::format("indirect call to {:#x}, which is no device function", mine),
                   "function pointers must be taken in device code; a host function's address is not one");
    GroupMask same = 0;
    for (GroupMask m = w.active; m; m &= m - 1)
      if (targets[std::countr_zero(m)] == mine) same |= m & (0u - m);
    if (same != w.active) {
      // Lanes with another target call it on their own.
      const GroupMask rest = w.active & ~same;
      set_active(w, rest);
      save_path(w, index, PathState::kReady);
      set_active(w, same);
    }
  }
  const code::Function& caller = kernel.functions[w.function];
  const code::Function& target = kernel.functions[callee];
  CallFrame frame;
  frame.return_op = index + 1;
  frame.block = op->block;
  frame.function = callee;
  frame.call = &call;
  frame.frame_offset = w.frame_offset;
  frame.local_base = w.local_base;
  frame.caller = w.function;
  const std::uint32_t new_frame = frame_for(w, callee), new_local = w.local_base + caller.local_bytes;
  if (new_frame + target.frame_bytes > w.register_bytes || new_local + target.local_bytes > w.local_stride ||
      w.stack.size() >= kMaxDepth)
    return raise(w, op, Outcome::kIllegalAddress, "D607", fmt::format("stack overflow: {} calls deep", w.stack.size()),
                 "does this recursion end? cudaDeviceSetLimit(cudaLimitStackSize, ...) gives more room");
  for (std::size_t i = 0; i < call.arguments.size() && i < target.params.size(); ++i) {
    const auto& from = call.arguments[i];
    const auto& to = target.params[i];
    if (to.is_register && !to.place.exists()) continue;
    copy_lanes(w.active,
               to.is_register ? register_lanes(w, to.place, to.bytes, new_frame) : local_lanes(w, new_local, to.local),
               from.is_register ? register_lanes(w, from.caller_place, from.bytes, w.frame_offset)
                                : local_lanes(w, w.local_base, from.caller_local),
               std::min(from.bytes, to.bytes));
  }
  w.stack.push_back(frame);
  w.frame_offset = new_frame;
  w.local_base = new_local;
  w.local_used = std::max(w.local_used, new_local + target.local_bytes);
  w.function = callee;
  w.bases[0] = w.registers + new_frame;
  // Predicates may be read before they are written. Only the callee's own lanes: others may be inside another function
  // at the same place.
  for (std::uint32_t slot = 0; slot < target.predicate_slots; ++slot) {
    std::uint32_t* words = w.dst<std::uint32_t>(slot * code::kSlotBytes);
    for (unsigned k = 0; k < code::kSlotBytes / 4; ++k) words[k] &= ~w.active;
  }
  return ops_of(w) + target.entry;
}

const XOp* run_trap(Warp& w, const XOp* op) {
  return raise(w, op, Outcome::kTrap, "D608", "the kernel executed a trap",
               "__trap(), or a failed check of a device library such as cooperative groups");
}

const XOp* run_nanosleep(Warp& w, const XOp* op) {
  w.polls += kPatience / 2;
  return op + 1;
}

const XOp* run_unsupported(Warp& w, const XOp* op) {
  const ptx::Instruction* i = op->source->source;
  return raise(w, op, Outcome::kUnsupported, "D609",
               fmt::format("muscope cannot execute '{}' yet", i ? i->text() : std::string("this instruction")),
               "muscope explain ptx lists what it can; the launch was ended here");
}

const XOp* run_guarded(Warp& w, const XOp* op) {
  const GroupMask all = w.active, on = guard_of(w, op);
  const auto index = static_cast<std::size_t>(op - ops_of(w));
  w.worker->guarded_lanes[index] += static_cast<std::uint64_t>(std::popcount(on));
  if (on == 0) {
    if (op->source->kind == code::OpKind::kAsync) {
      report_no_copy(w, op);
    } else if (w.worker->sink && op->site != 0xffffffffu) {
      trace::WarpAccess access;
      access.site = op->site;
      access.bytes = op->bytes;
      access.shape = trace::Shape::kUniform;
      const ptx::Opcode opcode = op->source->opcode;
      const bool is_surface =
          opcode == ptx::Opcode::k_suld || opcode == ptx::Opcode::k_sust || opcode == ptx::Opcode::k_sured;
      access.kind = opcode == ptx::Opcode::k_st || opcode == ptx::Opcode::k_sust     ? trace::Kind::kStore
                    : opcode == ptx::Opcode::k_red || opcode == ptx::Opcode::k_sured ? trace::Kind::kRed
                    : opcode == ptx::Opcode::k_tex                                   ? texture_kind(*op->source)
                    : opcode == ptx::Opcode::k_atom ? (op->source->result_used ? trace::Kind::kAtom : trace::Kind::kRed)
                                                    : trace::Kind::kLoad;
      switch (op->source->space) {
        case ptx::Space::kShared:
          access.space = trace::Space::kShared;
          break;
        case ptx::Space::kLocal:
          access.space = trace::Space::kLocal;
          break;
        case ptx::Space::kConst:
        case ptx::Space::kParam:
          access.space = trace::Space::kConst;
          break;
        default:
          access.space = opcode == ptx::Opcode::k_tex ? trace::Space::kTexture
                         : is_surface                 ? trace::Space::kSurface
                                                      : trace::Space::kGlobal;
      }
      access.generic = op->source->space == ptx::Space::kGeneric;
      access.warp = w.index;
      access.block = w.block->index;
      w.worker->sink->access(access);
    }
    return op + 1;
  }
  if (on != all) set_active(w, on);
  const XOp* next = op->inner(w, op);
  if (on != all) set_active(w, all);
  return next;
}

}  // namespace muscope::exec
