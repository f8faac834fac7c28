// Blocks, their order, post-dominators: the shapes that control_flow.h describes.
#include "code/control_flow.h"

#include <algorithm>
#include <map>

#include "code/block_order.h"
#include "code/test_module.h"

namespace muscope::code::testing {
namespace {

/// A function of labelled blocks: each label's block stores its letter's number, so that blocks can be told apart.
struct Graph {
  std::shared_ptr<const ptx::Module> module;
  FlowGraph flow;
  /// Labels in the order of the graph, by the first instruction of their block.
  std::string order;
  /// Labels that are loop headers.
  std::string headers;
};

Graph graph_of(const std::string& body) {
  Graph g;
  g.module = parse(".visible .entry k(.param .u32 n)\n{ .reg .b32 %r<9>; .reg .pred %p<9>;\n" + body + "\n}");
  const ptx::Function& f = function(*g.module, "k");
  g.flow = build_flow_graph(f);
  std::map<std::uint32_t, char> label;
  for (const ptx::Label& l : f.labels)
    if (l.name.size() == 1) label.emplace(l.position, l.name[0]);
  std::string seen;
  for (std::uint32_t b : g.flow.order) {
    const RawBlock& block = g.flow.blocks[b];
    const auto at = label.find(block.begin);
    if (at == label.end() || seen.find(at->second) != std::string::npos) continue;
    seen += at->second;
    g.order += at->second;
    if (g.flow.loop_header[b]) g.headers += at->second;
  }
  return g;
}

const std::string kWork = "add.u32 %r1, %r1, 1;";

TEST(FlowGraph, EveryReachableBlockOnceEntryFirst) {
  const Graph g = graph_of("A: " + kWork + " @%p1 bra C;\nB: " + kWork + " bra D;\nC: " + kWork +
                           "\nD: ret;\nE: " + kWork + " bra D;");
  EXPECT_EQ(g.order, "ABCD") << "E cannot be reached";
  std::vector<std::uint32_t> sorted = g.flow.order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
  EXPECT_EQ(g.flow.order[0], 0u);
}

TEST(FlowGraph, TextOrderIsNotTrusted) {
  // The join stands before one of its sides in the text.
  EXPECT_EQ(graph_of("A: " + kWork + " @%p1 bra C; bra B;\nD: " + kWork + " ret;\nB: " + kWork +
                     " bra D;\nC: " + kWork + " bra D;")
                .order,
            "ABCD");
}

TEST(FlowGraph, LoopsAreContiguous) {
  // Code after the loop stands inside it in the text.
  const Graph g =
      graph_of("A: " + kWork + "\nB: " + kWork + " @%p1 bra X;\nC: " + kWork + " @%p2 bra B;\nX: " + kWork + " ret;");
  EXPECT_EQ(g.order, "ABCX");
  EXPECT_EQ(g.headers, "B");
  const Graph nested = graph_of("A: " + kWork + "\nB: " + kWork + "\nC: " + kWork + " @%p1 bra C;\nD: " + kWork +
                                " @%p2 bra B;\nE: ret;");
  EXPECT_EQ(nested.order, "ABCDE");
  EXPECT_EQ(nested.headers, "BC");
  const Graph rotated =
      graph_of("A: " + kWork + " bra D;\nX: " + kWork + " ret;\nD: " + kWork + " @%p1 bra X;\nE: " + kWork + " bra D;");
  EXPECT_EQ(rotated.order, "ADEX");
  EXPECT_EQ(rotated.headers, "D");
}

TEST(FlowGraph, WayOutOfALoopComesBeforeItsLatch) {
  // if (found) { work; break; }: lanes that found something do their work before the others go round again.
  const Graph g = graph_of("A: " + kWork + "\nB: " + kWork + " @%p1 bra F;\nL: " + kWork + " @%p2 bra B;\nX: " + kWork +
                           " ret;\nF: " + kWork + " bra X;");
  EXPECT_EQ(g.order, "ABFLX");
  // Not so for what follows the loop for everyone.
  const Graph all = graph_of("A: " + kWork + "\nB: " + kWork + " @%p2 bra B;\nX: " + kWork + "\nY: " + kWork + " ret;");
  EXPECT_EQ(all.order, "ABXY");
}

TEST(FlowGraph, SwitchesAndTheirTables) {
  const Graph g = graph_of("A: " + kWork + "\nT: .branchtargets D, C, D, B;\nbrx.idx %r1, T;\nB: " + kWork +
                           " bra E;\nC: " + kWork + "\nD: " + kWork + "\nE: ret;");
  EXPECT_EQ(g.order, "ABCDE");
  const RawBlock& a = g.flow.blocks[g.flow.order[0]];
  EXPECT_EQ(a.terminator, Terminator::kSwitch);
  ASSERT_EQ(a.successors.size(), 4u);
  EXPECT_EQ(a.successors[0], a.successors[2]);
}

TEST(FlowGraph, GuardedExitsAndCallsBecomeBranches) {
  const Graph g = graph_of("A: " + kWork + " @%p1 ret;\nB: " + kWork + "\nC: @!%p2 bar.sync 0;\nD: " + kWork + " ret;");
  EXPECT_EQ(g.order, "ABCD");
  bool stripped = false;
  for (const RawBlock& b : g.flow.blocks)
    if (b.strip_guard) {
      stripped = true;
      EXPECT_EQ(b.end - b.begin, 1u);
    }
  EXPECT_TRUE(stripped);
  // Label C leads to the branch, not behind it.
  const Graph loop = graph_of("A: " + kWork + "\nC: @%p2 bar.sync 0;\nD: " + kWork + " @%p1 bra C;\nE: ret;");
  for (const RawBlock& b : loop.flow.blocks)
    if (b.terminator == Terminator::kBranch && b.source != kNone &&
        function(*loop.module, "k").body[b.source].opcode == ptx::Opcode::k_bra) {
      EXPECT_FALSE(loop.flow.blocks[b.successors[0]].strip_guard);
    }
}

TEST(FlowGraph, RunningOffTheEndReturns) {
  const Graph g = graph_of("A: " + kWork + " @%p1 bra B; " + kWork + "\nB: " + kWork);
  EXPECT_EQ(g.flow.blocks[g.flow.order.back()].terminator, Terminator::kExit);
  const Graph empty = graph_of("");
  EXPECT_EQ(empty.flow.blocks[empty.flow.order.back()].terminator, Terminator::kExit);
}

TEST(FlowGraph, EndlessAndIrreducibleLoopsHaveAnOrder) {
  EXPECT_EQ(graph_of("A: " + kWork + "\nB: " + kWork + " bra B;").order, "AB");
  // Two entries into one loop.
  const Graph g = graph_of("A: " + kWork + " @%p1 bra C;\nB: " + kWork + "\nC: " + kWork + " @%p2 bra B;\nD: ret;");
  EXPECT_EQ(g.order.size(), 4u);
  EXPECT_EQ(g.order.front(), 'A');
  EXPECT_EQ(g.order.back(), 'D');
}

TEST(FlowGraph, DeepNestingIsBounded) {
  // 400 loops inside one another, and a chain of 20,000 branches.
  std::string deep, chain;
  for (int k = 0; k < 400; ++k) deep += "L" + std::to_string(k) + ": " + kWork + "\n";
  for (int k = 400; k-- > 0;) deep += "@%p1 bra L" + std::to_string(k) + ";\n";
  EXPECT_GE(graph_of(deep + "ret;").flow.order.size(), 800u);
  for (int k = 0; k < 20000; ++k)
    chain += "@%p1 bra M" + std::to_string(k) + "; " + kWork + "\nM" + std::to_string(k) + ": " + kWork + "\n";
  EXPECT_GE(graph_of(chain + "ret;").flow.order.size(), 40000u);
}

TEST(PostDominators, OfADiamondALoopAndEarlyReturns) {
  // 0 -> 1, 2 -> 3; 3 is a loop with itself; 4 the exit; 5 an early return from 1.
  std::vector<RawBlock> blocks(6);
  const auto set = [&](std::uint32_t b, std::vector<std::uint32_t> successors) {
    blocks[b].begin = blocks[b].end = b;
    blocks[b].successors = std::move(successors);
    blocks[b].terminator = blocks[b].successors.empty()       ? Terminator::kExit
                           : blocks[b].successors.size() == 1 ? Terminator::kFall
                                                              : Terminator::kBranch;
  };
  set(0, {1, 2}), set(1, {3}), set(2, {3}), set(3, {3, 4}), set(4, {}), set(5, {});
  blocks[4].begin = 10;  // the last in the text is the exit
  std::vector<std::uint32_t> ipdom = immediate_post_dominators(blocks);
  EXPECT_EQ(ipdom[0], 3u);
  EXPECT_EQ(ipdom[1], 3u);
  EXPECT_EQ(ipdom[2], 3u);
  EXPECT_EQ(ipdom[3], 4u);
  EXPECT_EQ(ipdom[4], kNone);
  set(1, {5, 3});
  blocks[4].begin = 10;
  ipdom = immediate_post_dominators(blocks);
  EXPECT_EQ(ipdom[0], 3u) << "an early return does not move the point where the others meet";
  EXPECT_EQ(ipdom[1], 3u);
  EXPECT_EQ(ipdom[5], kNone);
}

}  // namespace
}  // namespace muscope::code::testing
