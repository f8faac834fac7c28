#include "code/registers.h"

#include <algorithm>
#include <map>
#include <queue>

#include "code/operands.h"

namespace muscope::code {
namespace {

using Bits = std::vector<std::uint64_t>;

bool test(const Bits& bits, std::uint32_t i) { return (bits[i >> 6] >> (i & 63)) & 1; }
void set(Bits& bits, std::uint32_t i) { bits[i >> 6] |= std::uint64_t{1} << (i & 63); }

/// Width of a lane. Lanes of another width lie elsewhere in a slot, so only registers of one width may share it: a path
/// that waits must keep its lanes' values while other lanes write theirs.
std::uint32_t lane_bytes_of(ptx::Type type) { return static_cast<std::uint32_t>(std::max(2, ptx::size_of(type))); }

std::uint32_t slots_of(ptx::Type type) {
  const std::uint32_t bytes = lane_bytes_of(type);
  return bytes > 8 ? 4 : bytes > 4 ? 2 : 1;
}

/// Calls f(instruction) for the instructions of a block in order, its terminator last.
template <typename F>
void for_each_instruction(const ptx::Function& function, const RawBlock& block, F&& f) {
  for (std::uint32_t i = block.begin; i < block.end; ++i) f(function.body[i]);
  if (block.source != kNone) f(function.body[block.source]);
}

struct Liveness {
  std::vector<Bits> in, out;
};

Liveness solve(const ptx::Function& function, const FlowGraph& graph) {
  const std::size_t words = (function.registers.size() + 63) / 64 + 1;
  const std::size_t n = graph.blocks.size();
  Liveness live{std::vector<Bits>(n), std::vector<Bits>(n)};
  std::vector<Bits> use(n), def(n);
  std::vector<std::vector<std::uint32_t>> predecessors(n);
  for (std::uint32_t b : graph.order) {
    live.in[b].assign(words, 0), live.out[b].assign(words, 0), use[b].assign(words, 0), def[b].assign(words, 0);
    const RawBlock& block = graph.blocks[b];
    for_each_instruction(function, block, [&](const ptx::Instruction& i) {
      const bool partial = i.guard != ptx::kNoIndex && !block.strip_guard;
      for_each_register(
          i,
          [&](std::uint32_t r) {
            if (!test(def[b], r)) set(use[b], r);
          },
          [&](std::uint32_t r) {
            if (!partial) set(def[b], r);
          });
    });
    if (block.condition != kNone && !test(def[b], block.condition)) set(use[b], block.condition);
    for (std::uint32_t s : block.successors) predecessors[s].push_back(b);
    if (block.terminator == Terminator::kExit)
      for (const ptx::Parameter& p : function.returns)
        if (p.is_register && p.reg < function.registers.size()) set(live.out[b], p.reg);  // the caller reads it
  }
  std::vector<std::uint32_t> work(graph.order.begin(), graph.order.end());  // last first
  std::vector<bool> queued(n, false);
  for (std::uint32_t b : work) queued[b] = true;
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    queued[b] = false;
    Bits& out = live.out[b];
    for (std::uint32_t s : graph.blocks[b].successors)
      for (std::size_t w = 0; w < words; ++w) out[w] |= live.in[s][w];
    bool changed = false;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint64_t in = use[b][w] | (out[w] & ~def[b][w]);
      changed = changed || in != live.in[b][w];
      live.in[b][w] = in;
    }
    if (changed)
      for (std::uint32_t p : predecessors[b])
        if (!queued[p]) queued[p] = true, work.push_back(p);
  }
  return live;
}

struct Interval {
  std::uint32_t first = kNone, last = 0;
  void cover(std::uint32_t at) {
    first = first == kNone ? at : std::min(first, at);
    last = std::max(last, at);
  }
};

}  // namespace

RegisterMap assign_registers(const ptx::Function& function, const FlowGraph& graph, const std::vector<bool>& skip) {
  const std::uint32_t count = static_cast<std::uint32_t>(function.registers.size());
  const Liveness live = solve(function, graph);
  std::vector<Interval> intervals(count);
  std::uint32_t position = 0;
  for (std::uint32_t b : graph.order) {
    const RawBlock& block = graph.blocks[b];
    const std::uint32_t start = position++;
    for_each_instruction(function, block, [&](const ptx::Instruction& i) {
      for_each_register(
          i, [&](std::uint32_t r) { intervals[r].cover(position); },
          [&](std::uint32_t r) { intervals[r].cover(position); });
      ++position;
    });
    if (block.condition != kNone) intervals[block.condition].cover(position);
    const std::uint32_t end = position++;
    for (std::size_t w = 0; w < live.in[b].size(); ++w) {
      for (std::uint64_t left = live.in[b][w]; left; left &= left - 1)
        intervals[w * 64 + static_cast<unsigned>(__builtin_ctzll(left))].cover(start);
      for (std::uint64_t left = live.out[b][w]; left; left &= left - 1)
        intervals[w * 64 + static_cast<unsigned>(__builtin_ctzll(left))].cover(end);
    }
  }

  // The caller writes all parameters before the first instruction.
  for (const ptx::Parameter& p : function.params)
    if (p.is_register && p.reg < count && intervals[p.reg].first != kNone) intervals[p.reg].cover(0);

  RegisterMap map;
  map.place.assign(count, Place{});
  // Predicates first: four bytes each, no sharing.
  std::uint32_t predicate_bytes = 0;
  for (std::uint32_t r = 0; r < count; ++r)
    if (function.registers[r].type == ptx::Type::kPred && intervals[r].first != kNone) {
      map.place[r] = Place{predicate_bytes};
      predicate_bytes += 4;
    }
  std::uint32_t slot = (predicate_bytes + kSlotBytes - 1) / kSlotBytes;
  map.predicate_slots = slot;
  for (std::uint32_t s = 0; s < slot; ++s) map.zero_slots.push_back(s * kSlotBytes);

  std::vector<std::uint32_t> by_start;
  for (std::uint32_t r = 0; r < count; ++r)
    if (intervals[r].first != kNone && function.registers[r].type != ptx::Type::kPred && !skip[r])
      by_start.push_back(r);
  std::sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(intervals[a].first, a) < std::tie(intervals[b].first, b);
  });
  using Active = std::pair<std::uint32_t, std::uint32_t>;  // last use, register
  std::priority_queue<Active, std::vector<Active>, std::greater<>> active;
  std::map<std::uint32_t, std::vector<std::uint32_t>> free_slots;  // by width of a lane
  std::uint32_t in_use = 0;
  for (std::uint32_t r : by_start) {
    // A slot is free only after the instruction that reads it last: handlers may write a result before they have read
    // every lane of a source of another width.
    while (!active.empty() && active.top().first < intervals[r].first) {
      const std::uint32_t old = active.top().second;
      active.pop();
      const std::uint32_t size = slots_of(function.registers[old].type);
      free_slots[lane_bytes_of(function.registers[old].type)].push_back(map.place[old].bits / kSlotBytes);
      in_use -= size;
    }
    const std::uint32_t size = slots_of(function.registers[r].type);
    std::uint32_t at;
    if (auto& list = free_slots[lane_bytes_of(function.registers[r].type)]; !list.empty())
      at = list.back(), list.pop_back();
    else
      at = slot, slot += size;
    map.place[r] = Place{at * kSlotBytes};
    active.push({intervals[r].last, r});
    in_use += size;
    map.pressure = std::max(map.pressure, in_use);
  }
  map.frame_bytes = slot * kSlotBytes;
  // Registers alive at the entry may be read before they are written: zeroed for repeatable results.
  const Bits& entry = live.in[graph.order.empty() ? 0 : graph.order[0]];
  for (std::uint32_t r = 0; r < count; ++r)
    if (!graph.order.empty() && test(entry, r) && map.place[r].exists() &&
        function.registers[r].type != ptx::Type::kPred)
      for (std::uint32_t s = 0; s < slots_of(function.registers[r].type); ++s)
        map.zero_slots.push_back(map.place[r].bits + s * kSlotBytes);
  return map;
}

}  // namespace muscope::code
