#include "exec/paths.h"

#include <algorithm>

#include "exec/program.h"
#include "exec/translate.h"

namespace muscope::exec {
namespace {

const XOp* op_at(const Warp& w, std::uint32_t index) { return &w.worker->program->ops[index]; }

/// Which of two places comes first: call sites from the outside in, then the block. A path inside a call at block b
/// comes after one that still stands at b.
bool before(const std::vector<CallFrame>& a, std::uint32_t block_a, const std::vector<CallFrame>& b,
            std::uint32_t block_b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i)
    if (a[i].block != b[i].block) return a[i].block < b[i].block;
  if (a.size() == b.size()) return block_a < block_b;
  if (a.size() < b.size()) return block_a <= b[common].block;
  return a[common].block < block_b;
}

void load(Warp& w, std::size_t index) {
  Path path = std::move(w.paths[index]);
  w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(index));
  w.stack = std::move(path.stack);
  w.frame_offset = path.frame_offset;
  w.local_base = path.local_base;
  w.function = path.function;
  w.bases[0] = w.registers + w.frame_offset;
  set_active(w, path.mask);
  w.resume = path.op;
}

std::uint32_t block_of(const Warp& w, std::uint32_t op) { return op_at(w, op)->block; }

}  // namespace

bool same_stack(const Warp& w, const Path& path) {
  return w.function == path.function && w.frame_offset == path.frame_offset && w.stack == path.stack;
}

void save_path(Warp& w, std::uint32_t op, PathState state, std::uint32_t barrier, GroupMask members) {
  const bool may_meet = !w.worker->program->kernel->machine_code;
  for (Path& p : w.paths)
    if (may_meet && p.op == op && p.state == state && p.barrier == barrier && p.members == members &&
        same_stack(w, p)) {
      p.mask |= w.active;
      return;
    }
  w.paths.push_back(Path{w.active, op, state, barrier, members, w.stack, w.frame_offset, w.local_base, w.function});
}

const XOp* next_path(Warp& w) {
  std::size_t best = w.paths.size();
  // Machine code parts and meets as it is nested: the path that parted last goes on first.
  const bool latest_first = w.worker->program->kernel->machine_code != nullptr;
  for (int spinning = 0; spinning < 2 && best == w.paths.size(); ++spinning) {
    const PathState wanted = spinning ? PathState::kSpinning : PathState::kReady;
    for (std::size_t i = 0; i < w.paths.size(); ++i) {
      const Path& p = w.paths[i];
      if (p.state != wanted) continue;
      if (latest_first && !spinning) {
        best = i;
        continue;
      }
      // Paths that spin take turns, oldest first.
      if (best == w.paths.size() ||
          (!spinning && before(p.stack, block_of(w, p.op), w.paths[best].stack, block_of(w, w.paths[best].op))))
        best = i;
    }
  }
  if (best < w.paths.size()) {
    load(w, best);
    return op_at(w, w.resume);
  }
  set_active(w, 0);
  w.stop = w.paths.empty() ? Stop::kExited : Stop::kBlocked;
  if (w.paths.empty()) return nullptr;
  // Lanes that wait for others that will never come: hardware leaves this undefined; go on with those present.
  const bool at_barrier = std::any_of(w.paths.begin(), w.paths.end(), [](const Path& p) {
    return p.state == PathState::kBarrier || p.state == PathState::kPhase;
  });
  if (at_barrier) return nullptr;
  load(w, 0);
  const XOp* op = op_at(w, w.resume);
  note(w, op, "D611", "a .sync instruction names lanes that do not come to it",
       "pass __activemask() of a converged place, or make every named lane execute the same instruction");
  w.forced_sync = true;
  w.stop = Stop::kNone;
  return op;
}

const XOp* meet(Warp& w, std::uint32_t op) {
  for (std::size_t i = 0; i < w.paths.size();) {
    Path& p = w.paths[i];
    if (p.op == op && (p.state == PathState::kReady || p.state == PathState::kSpinning) && same_stack(w, p)) {
      set_active(w, w.active | p.mask);
      w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (const Path& p : w.paths)
    if (p.state == PathState::kReady && before(p.stack, block_of(w, p.op), w.stack, block_of(w, op))) {
      save_path(w, op, PathState::kReady);
      return next_path(w);
    }
  return op_at(w, op);
}

bool rendezvous(Warp& w, const XOp* op, GroupMask members, const XOp** next) {
  const GroupMask needed = members & w.alive;
  const auto index = static_cast<std::uint32_t>(op - w.worker->program->ops.data());
  for (std::size_t i = 0; i < w.paths.size();) {
    Path& p = w.paths[i];
    if (p.state == PathState::kSync && p.op == index && same_stack(w, p)) {
      set_active(w, w.active | p.mask);
      w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if ((w.active & needed) == needed || w.forced_sync) {
    w.forced_sync = false;
    return true;
  }
  save_path(w, index, PathState::kSync, 0, 0);
  *next = next_path(w);
  return false;
}

void release_barrier(Warp& w, std::uint32_t id) {
  for (Path& p : w.paths)
    if (p.state == PathState::kBarrier && p.barrier == id) {
      p.state = PathState::kReady;
      p.barrier = 0;
      ++p.op;
    }
  if (w.worker->program->kernel->machine_code) return;
  // Lanes that came separately go on together.
  for (std::size_t i = 0; i < w.paths.size(); ++i)
    for (std::size_t j = w.paths.size(); j-- > i + 1;)
      if (w.paths[i].op == w.paths[j].op && w.paths[i].state == PathState::kReady &&
          w.paths[j].state == PathState::kReady && w.paths[i].stack == w.paths[j].stack &&
          w.paths[i].frame_offset == w.paths[j].frame_offset) {
        w.paths[i].mask |= w.paths[j].mask;
        w.paths.erase(w.paths.begin() + static_cast<std::ptrdiff_t>(j));
      }
}

}  // namespace muscope::exec
