#include "code/block_order.h"

#include <algorithm>
#include <queue>

#include "code/control_flow.h"

namespace muscope::code {
namespace {

using Index = std::uint32_t;
using List = std::vector<Index>;

constexpr int kMaxLoopDepth = 128;

std::vector<bool> reachable_from(Index start, const std::vector<List>& edges) {
  std::vector<bool> seen(edges.size(), false);
  List work{start};
  seen[start] = true;
  while (!work.empty()) {
    const Index b = work.back();
    work.pop_back();
    for (Index s : edges[b])
      if (!seen[s]) seen[s] = true, work.push_back(s);
  }
  return seen;
}

/// Strongly connected components (Tarjan, without recursion); component numbers by node, in reverse topological order.
class Components {
 public:
  Components(const std::vector<List>& edges, const List& nodes)
      : edges_(edges), number_(edges.size(), kNone), low_(edges.size(), 0), on_stack_(edges.size(), false) {
    component_.assign(edges.size(), kNone);
    for (Index n : nodes)
      if (number_[n] == kNone) visit(n);
  }
  Index of(Index node) const { return component_[node]; }
  Index count() const { return count_; }

 private:
  void visit(Index root) {
    struct Frame {
      Index node;
      std::size_t next;
    };
    std::vector<Frame> frames{{root, 0}};
    enter(root);
    while (!frames.empty()) {
      Frame& f = frames.back();
      if (f.next < edges_[f.node].size()) {
        const Index s = edges_[f.node][f.next++];
        if (number_[s] == kNone) {
          enter(s);
          frames.push_back({s, 0});
        } else if (on_stack_[s]) {
          low_[f.node] = std::min(low_[f.node], number_[s]);
        }
        continue;
      }
      const Index node = f.node;
      frames.pop_back();
      if (!frames.empty()) low_[frames.back().node] = std::min(low_[frames.back().node], low_[node]);
      if (low_[node] == number_[node]) {
        Index member;
        do {
          member = stack_.back();
          stack_.pop_back();
          on_stack_[member] = false;
          component_[member] = count_;
        } while (member != node);
        ++count_;
      }
    }
  }

  void enter(Index node) {
    number_[node] = low_[node] = next_++;
    stack_.push_back(node);
    on_stack_[node] = true;
  }

  const std::vector<List>& edges_;
  std::vector<Index> number_, low_;
  std::vector<bool> on_stack_;
  std::vector<Index> component_;
  List stack_;
  Index next_ = 0, count_ = 0;
};

class Orderer {
 public:
  explicit Orderer(const std::vector<RawBlock>& blocks)
      : edges_(blocks.size()), position_(blocks.size()), post_dominator_(immediate_post_dominators(blocks)) {
    for (Index b = 0; b < blocks.size(); ++b) {
      edges_[b] = blocks[b].successors;
      position_[b] = (std::uint64_t{blocks[b].begin} << 32) | b;
    }
  }

  List run() {
    List nodes;
    const std::vector<bool> live = reachable_from(0, edges_);
    for (Index b = 0; b < edges_.size(); ++b)
      if (live[b]) nodes.push_back(b);
    order_region(nodes, edges_, std::vector<bool>(edges_.size(), false), 0);
    return std::move(result_);
  }

 private:
  /// Appends `nodes` in order. `edges` holds the edges inside the region only; `late` marks nodes that should come
  /// after others that are ready (the loop's own blocks, inside an extended loop).
  void order_region(const List& nodes, const std::vector<List>& region_edges, const std::vector<bool>& late,
                    int depth) {
    // Keep only edges inside the region.
    std::vector<bool> inside(edges_.size(), false);
    for (Index n : nodes) inside[n] = true;
    std::vector<List> edges(edges_.size());
    std::vector<List> predecessors(edges_.size());
    for (Index n : nodes)
      for (Index s : region_edges[n])
        if (inside[s]) edges[n].push_back(s), predecessors[s].push_back(n);
    if (depth > kMaxLoopDepth) {
      List rest = nodes;
      std::sort(rest.begin(), rest.end(), [&](Index a, Index b) { return position_[a] < position_[b]; });
      result_.insert(result_.end(), rest.begin(), rest.end());
      return;
    }
    const Components components(edges, nodes);
    std::vector<List> members(components.count());
    for (Index n : nodes) members[components.of(n)].push_back(n);
    // Units: loops with what leaves them early, or single blocks. Components are numbered in reverse topological order.
    std::vector<Index> unit(edges_.size(), kNone);
    struct Unit {
      List blocks;
      Index header = kNone;    ///< of a loop
      std::vector<bool> loop;  ///< marks the loop's own blocks; empty for single blocks
    };
    std::vector<Unit> units;
    for (Index c = components.count(); c-- > 0;) {
      if (unit[members[c][0]] != kNone) continue;  // already part of an outer loop's early exits
      const Index id = static_cast<Index>(units.size());
      Unit u;
      u.blocks = members[c];
      for (Index b : u.blocks) unit[b] = id;
      const Index first = u.blocks[0];
      const bool is_loop = u.blocks.size() > 1 || std::count(edges[first].begin(), edges[first].end(), first) > 0;
      if (is_loop) {
        u.loop.assign(edges_.size(), false);
        for (Index b : u.blocks) u.loop[b] = true;
        u.header = header_of(u.blocks, u.loop, predecessors);
        extend(u.blocks, u.loop, u.header, edges, predecessors, unit, id);
      }
      units.push_back(std::move(u));
    }
    // Topological order of the units; ties by lateness, then by text.
    std::vector<std::uint32_t> waiting(units.size(), 0);
    std::vector<List> unit_edges(units.size());
    for (Index n : nodes)
      for (Index s : edges[n])
        if (unit[n] != unit[s]) unit_edges[unit[n]].push_back(unit[s]), ++waiting[unit[s]];
    const auto key = [&](Index u) {
      std::uint64_t text = ~std::uint64_t{0};
      bool is_late = false;
      for (Index b : units[u].blocks) text = std::min(text, position_[b]), is_late = is_late || late[b];
      return std::make_pair(is_late, text);
    };
    using Entry = std::pair<std::pair<bool, std::uint64_t>, Index>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (Index u = 0; u < units.size(); ++u)
      if (waiting[u] == 0) ready.push({key(u), u});
    while (!ready.empty()) {
      const Index u = ready.top().second;
      ready.pop();
      emit(units[u].blocks, units[u].header, units[u].loop, edges, depth);
      for (Index v : unit_edges[u])
        if (--waiting[v] == 0) ready.push({key(v), v});
    }
  }

  void emit(const List& blocks, Index header, const std::vector<bool>& loop, const std::vector<List>& edges,
            int depth) {
    if (header == kNone) {
      result_.push_back(blocks[0]);
      return;
    }
    std::vector<List> inner(edges_.size());
    for (Index b : blocks)
      for (Index s : edges[b])
        if (s != header) inner[b].push_back(s);
    order_region(blocks, inner, loop, depth + 1);
  }

  /// The block through which the loop is entered: of those with predecessors outside, the first in the text.
  Index header_of(const List& blocks, const std::vector<bool>& loop, const std::vector<List>& predecessors) const {
    Index best = kNone;
    for (Index b : blocks) {
      const bool entered =
          b == 0 || std::any_of(predecessors[b].begin(), predecessors[b].end(), [&](Index p) { return !loop[p]; });
      if (entered && (best == kNone || position_[b] < position_[best])) best = b;
    }
    if (best != kNone) return best;
    return *std::min_element(blocks.begin(), blocks.end(),
                             [&](Index a, Index b) { return position_[a] < position_[b]; });
  }

  /// Adds to a loop the blocks outside it that run before its common exit and are reached only from it.
  void extend(List& blocks, const std::vector<bool>& loop, Index header, const std::vector<List>& edges,
              const std::vector<List>& predecessors, std::vector<Index>& unit, Index id) const {
    Index common_exit = header;
    while (common_exit != kNone && loop[common_exit]) common_exit = post_dominator_[common_exit];
    if (common_exit == kNone) return;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (Index s : edges[blocks[i]]) {
        if (unit[s] == id || s == common_exit || unit[s] != kNone) continue;
        const bool only_from_here =
            std::all_of(predecessors[s].begin(), predecessors[s].end(), [&](Index p) { return unit[p] == id; });
        if (only_from_here) unit[s] = id, blocks.push_back(s);
      }
  }

  std::vector<List> edges_;
  std::vector<std::uint64_t> position_;
  List post_dominator_;
  List result_;
};

}  // namespace

std::vector<Index> immediate_post_dominators(const std::vector<RawBlock>& blocks) {
  const Index n = static_cast<Index>(blocks.size());
  std::vector<List> forward(n), backward(n);
  for (Index b = 0; b < n; ++b)
    for (Index s : blocks[b].successors) forward[b].push_back(s), backward[s].push_back(b);
  const std::vector<bool> live = reachable_from(0, forward);
  Index exit = kNone;
  for (Index b = 0; b < n; ++b)
    if (live[b] && blocks[b].terminator == Terminator::kExit &&
        (exit == kNone || blocks[b].begin >= blocks[exit].begin))
      exit = b;
  std::vector<Index> result(n, kNone);
  if (exit == kNone) return result;
  // Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.
  List postorder;
  std::vector<Index> number(n, kNone);
  {
    std::vector<bool> seen(n, false);
    std::vector<std::pair<Index, std::size_t>> stack{{exit, 0}};
    seen[exit] = true;
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      if (next < backward[b].size()) {
        const Index p = backward[b][next++];
        if (!seen[p]) seen[p] = true, stack.push_back({p, 0});
      } else {
        number[b] = static_cast<Index>(postorder.size());
        postorder.push_back(b);
        stack.pop_back();
      }
    }
  }
  result[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = postorder.size(); i-- > 0;) {
      const Index b = postorder[i];
      if (b == exit) continue;
      Index meet = kNone;
      for (Index s : forward[b]) {
        if (number[s] == kNone || result[s] == kNone) continue;
        if (meet == kNone) {
          meet = s;
          continue;
        }
        Index x = s, y = meet;
        while (x != y) {
          while (number[x] < number[y]) x = result[x];
          while (number[y] < number[x]) y = result[y];
        }
        meet = x;
      }
      if (meet != result[b]) result[b] = meet, changed = true;
    }
  }
  result[exit] = kNone;
  return result;
}

std::vector<Index> order_blocks(const std::vector<RawBlock>& blocks) { return Orderer(blocks).run(); }

}  // namespace muscope::code
