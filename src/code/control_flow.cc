#include "code/control_flow.h"

#include "code/block_order.h"

namespace muscope::code {
namespace {

using ptx::Opcode;

bool is_exit(const ptx::Instruction& i) { return i.opcode == Opcode::k_ret || i.opcode == Opcode::k_exit; }
bool is_branch(const ptx::Instruction& i) { return i.opcode == Opcode::k_bra || i.opcode == Opcode::k_brx; }

/// Ops that act on the whole path, whose guard is better expressed as a branch around them.
bool wants_uniform_guard(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::k_bar:
    case Opcode::k_barrier:
    case Opcode::k_call:
    case Opcode::k_trap:
    case Opcode::k_shfl:
    case Opcode::k_vote:
    case Opcode::k_match:
    case Opcode::k_redux:
      return true;
    default:
      return false;
  }
}

class Splitter {
 public:
  explicit Splitter(const ptx::Function& function) : function_(function), block_at_(function.body.size() + 1, kNone) {}

  std::vector<RawBlock> run() {
    const std::uint32_t n = static_cast<std::uint32_t>(function_.body.size());
    std::vector<bool> leader(n + 1, false);
    leader[0] = true;
    for (const ptx::Label& label : function_.labels)
      if (label.position <= n) leader[label.position] = true;
    // Lanes that part inside a callee meet again in the block after the call.
    for (std::uint32_t i = 0; i < n; ++i)
      if (function_.body[i].opcode == Opcode::k_call) leader[i + 1] = true;
    start(0);
    for (std::uint32_t i = 0; i < n; ++i) {
      const ptx::Instruction& instruction = function_.body[i];
      if (leader[i] && i != 0 && (current().begin != i || closed_)) open_at(i);
      if (closed_) open_at(i);
      if (is_exit(instruction) || is_branch(instruction)) {
        close_with(i, instruction);
      } else if (instruction.guard != ptx::kNoIndex && wants_uniform_guard(instruction)) {
        guard_around(i, instruction);
      }
    }
    if (closed_ || leader[n]) open_at(n);
    RawBlock& last = current();
    last.end = n < last.begin ? last.begin : n;
    last.terminator = Terminator::kExit;  // running off the end returns
    resolve();
    return std::move(blocks_);
  }

 private:
  RawBlock& current() { return blocks_.back(); }

  void start(std::uint32_t at) {
    blocks_.emplace_back();
    current().begin = current().end = at;
    // A label at a guarded call leads to the branch around it, which came first.
    if (block_at_[at] == kNone) block_at_[at] = static_cast<std::uint32_t>(blocks_.size() - 1);
    closed_ = false;
  }

  /// Opens a block at instruction `at`; the one before falls into it unless it was closed.
  void open_at(std::uint32_t at) {
    if (!closed_) {
      current().end = at;
      current().terminator = Terminator::kFall;
      current().successors = {static_cast<std::uint32_t>(blocks_.size())};
    }
    start(at);
  }

  void close_with(std::uint32_t i, const ptx::Instruction& instruction) {
    RawBlock& block = current();
    block.end = i;
    block.source = i;
    closed_ = true;
    if (is_exit(instruction)) {
      const bool ends_thread = instruction.opcode == Opcode::k_exit;
      if (instruction.guard == ptx::kNoIndex) {
        block.terminator = Terminator::kExit;
        block.ends_thread = ends_thread;
        return;
      }
      set_branch(block, instruction, false);
      const std::uint32_t own = static_cast<std::uint32_t>(blocks_.size() - 1);
      blocks_.emplace_back();  // the exit itself
      current().begin = current().end = i;
      current().terminator = Terminator::kExit;
      current().ends_thread = ends_thread;
      blocks_[own].successors = {static_cast<std::uint32_t>(blocks_.size() - 1),
                                 static_cast<std::uint32_t>(blocks_.size())};
      return;
    }
    if (instruction.opcode == Opcode::k_brx) {
      if (instruction.guard != ptx::kNoIndex) {
        // Lanes where the guard is false fall through.
        set_branch(block, instruction, true);
        block.source = kNone;
        const std::uint32_t next = static_cast<std::uint32_t>(blocks_.size());
        block.successors = {next + 1, next};
        blocks_.emplace_back();
        current().begin = current().end = i;
        current().source = i;
      }
      current().terminator = Terminator::kSwitch;
      switches_.push_back({static_cast<std::uint32_t>(blocks_.size() - 1), i});
      return;
    }
    const std::uint32_t own = static_cast<std::uint32_t>(blocks_.size() - 1);
    if (instruction.guard == ptx::kNoIndex) {
      block.terminator = Terminator::kJump;
      jumps_.push_back({own, label_of(instruction)});
    } else {
      set_branch(block, instruction, false);
      branches_.push_back({own, label_of(instruction)});
    }
  }

  static std::uint32_t label_of(const ptx::Instruction& instruction) {
    return instruction.operands.empty() ? kNone : instruction.operands[0].label;
  }

  static void set_branch(RawBlock& block, const ptx::Instruction& instruction, bool invert) {
    block.terminator = Terminator::kBranch;
    block.condition = instruction.guard;
    block.condition_negated = instruction.guard_negated != invert;
  }

  /// `@p op` becomes: branch on !p over a block that holds op alone.
  void guard_around(std::uint32_t i, const ptx::Instruction& instruction) {
    RawBlock& block = current();
    block.end = i;
    set_branch(block, instruction, true);
    const std::uint32_t next = static_cast<std::uint32_t>(blocks_.size());
    block.successors = {next + 1, next};
    start(i);
    current().strip_guard = true;
    current().end = i + 1;
    current().terminator = Terminator::kFall;
    current().successors = {next + 1};
    closed_ = true;
  }

  std::uint32_t block_of_label(std::uint32_t label) const {
    if (label >= function_.labels.size()) return kNone;
    const std::uint32_t position = function_.labels[label].position;
    return position < block_at_.size() ? block_at_[position] : kNone;
  }

  void resolve() {
    for (const auto& [block, label] : jumps_) {
      const std::uint32_t target = block_of_label(label);
      if (target == kNone)
        blocks_[block].terminator = Terminator::kExit;
      else
        blocks_[block].successors = {target};
    }
    for (const auto& [block, label] : branches_) {
      const std::uint32_t target = block_of_label(label);
      blocks_[block].successors = {target == kNone ? block + 1 : target, block + 1};
    }
    for (const auto& [block, i] : switches_) {
      const ptx::Instruction& instruction = function_.body[i];
      const std::uint32_t list = instruction.operands.size() > 1 ? instruction.operands[1].symbol : kNone;
      if (list >= function_.target_lists.size()) {
        blocks_[block].terminator = Terminator::kExit;
        continue;
      }
      for (std::uint32_t label : function_.target_lists[list].labels) {
        const std::uint32_t target = block_of_label(label);
        if (target != kNone) blocks_[block].successors.push_back(target);
      }
      if (blocks_[block].successors.empty()) blocks_[block].terminator = Terminator::kExit;
    }
    clone_bare_exits();
  }

  /// A branch to a block that only returns is an exit of its own (ptxas predicates it): it must not become the
  /// post-dominator of everything.
  void clone_bare_exits() {
    const std::size_t n = blocks_.size();
    for (std::size_t b = 0; b < n; ++b) {
      const auto is_bare = [&](std::uint32_t s) {
        return blocks_[s].terminator == Terminator::kExit && blocks_[s].begin == blocks_[s].end;
      };
      if (blocks_[b].terminator == Terminator::kJump && is_bare(blocks_[b].successors[0])) {
        // The jump itself stays as the block's counted instruction; the return is counted by the clone.
        blocks_[b].successors[0] = clone(blocks_[b].successors[0]);
      } else if (blocks_[b].terminator == Terminator::kBranch) {
        for (std::size_t k = 0; k < 2; ++k)
          if (is_bare(blocks_[b].successors[k])) blocks_[b].successors[k] = clone(blocks_[b].successors[k]);
      }
    }
  }

  std::uint32_t clone(std::uint32_t block) {
    blocks_.push_back(RawBlock(blocks_[block]));
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }

  const ptx::Function& function_;
  std::vector<RawBlock> blocks_;
  std::vector<std::uint32_t> block_at_;  ///< by instruction: block that starts there
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_, branches_, switches_;
  bool closed_ = false;
};

}  // namespace

FlowGraph build_flow_graph(const ptx::Function& function) {
  FlowGraph graph;
  graph.blocks = Splitter(function).run();
  graph.order = order_blocks(graph.blocks);
  graph.loop_header.assign(graph.blocks.size(), false);
  std::vector<std::uint32_t> rank(graph.blocks.size(), kNone);
  for (std::uint32_t i = 0; i < graph.order.size(); ++i) rank[graph.order[i]] = i;
  for (std::uint32_t b : graph.order)
    for (std::uint32_t s : graph.blocks[b].successors)
      if (rank[s] <= rank[b]) graph.loop_header[s] = true;
  return graph;
}

}  // namespace muscope::code
