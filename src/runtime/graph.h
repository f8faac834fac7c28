// Task graphs: nodes of work with what must come before each. Plain data and what can be said of it without a device;
// graph_run.h does the work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/copy.h"
#include "runtime/cuda_abi.h"
#include "runtime/modules.h"

namespace muscope::runtime {

class Graph;

struct KernelWork {
  KernelEntry* kernel = nullptr;
  dim3 grid, block;
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
  std::array<std::uint32_t, 3> cluster{};            ///< zeros: not given
  std::vector<std::vector<std::uint8_t>> arguments;  ///< bytes of each parameter
};
struct CopyWork {
  Area to, from;
  Box box;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
struct FillWork {
  Area to;
  Box box;
  unsigned value = 0;
  unsigned element_bytes = 1;
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct EmptyWork {};
struct RecordWork {
  cudaEvent_t event = nullptr;
};
struct WaitWork {
  cudaEvent_t event = nullptr;
};

/// Memory of an allocation node: given back with the last graph that has the node.
class GraphMemory {
 public:
  explicit GraphMemory(std::uint64_t address) : address_(address) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  std::uint64_t address() const { return address_; }

 private:
  std::uint64_t address_;
};
struct AllocateWork {
  cudaMemAllocNodeParams asked{};
  std::shared_ptr<GraphMemory> memory;
};
/// Nothing to do when it runs: the memory belongs to the graph.
struct FreeWork {
  std::uint64_t address = 0;
};

using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, ChildWork, EmptyWork, RecordWork, WaitWork,
                          AllocateWork, FreeWork>;

cudaGraphNodeType type_of(const Work& work);

struct Node {
  Node(Graph* owner, Work what, std::vector<Node*> needs);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Graph* graph;
  Work work;
  std::vector<Node*> before;  ///< in the order in which the edges were made; no node twice
  bool enabled = true;
};

/// The node behind a program's handle; null when there is none (any more). Thread-safe.
Node* find_node(cudaGraphNode_t handle);
inline cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }

/// A function of the program that is called when the last graph that keeps it is gone (cudaUserObjectCreate).
struct UserObject {
  void* data = nullptr;
  cudaHostFn_t destroy = nullptr;
  std::uint64_t references = 0;
};

/// Not thread-safe: Graphs' lock is held.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Node& add(Work work, std::vector<Node*> before);
  /// With its edges.
  void remove(Node& node);
  /// False when there is that edge already.
  static bool connect(Node& from, Node& to);
  /// False when there is no such edge.
  static bool disconnect(Node& from, Node& to);

  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  std::vector<Node*> roots() const;
  std::vector<Node*> after(const Node& node) const;
  /// Nodes in an order in which each comes after those that it needs, else as they were added; fewer than nodes() when
  /// edges make a circle.
  std::vector<Node*> order() const;
  /// Whether `node` is, or comes before, one of `ends`.
  static bool leads_to(const Node& node, const std::vector<Node*>& ends);

  /// The copy has the same nodes in the same order; child graphs are copied too. `copies`: original -> copy.
  std::shared_ptr<Graph> clone(std::unordered_map<const Node*, Node*>* copies = nullptr) const;
  /// Where the node of the graph that this was cloned from is here; null when it is not.
  Node* copy_of(const Node* original) const;

  std::map<UserObject*, std::uint64_t> kept;  ///< references that this graph holds

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_map<const Node*, Node*> copies_;
};

/// How graph `to` differs from `from`, seen as cudaGraphExecUpdate does: same nodes of same kinds, same edges.
cudaGraphExecUpdateResult compare(const Graph& from, const Graph& to, const Node** differs);

}  // namespace muscope::runtime
