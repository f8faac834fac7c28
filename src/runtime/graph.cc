#include "runtime/graph.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "runtime/memory_calls.h"
#include "runtime/runtime.h"

namespace muscope::runtime {
namespace {

struct LiveNodes {
  std::mutex mutex;
  std::unordered_set<const void*> nodes;
};
// Never destroyed: programs give graphs back in destructors of their own.
LiveNodes& live_nodes() {
  static auto* const live = new LiveNodes;
  return *live;
}

}  // namespace

GraphMemory::~GraphMemory() {
  release(Runtime::get(), address_, [](const Block& block) { return block.source == Source::kGraph; });
}

Node::Node(Graph* owner, Work what, std::vector<Node*> needs)
    : graph(owner), work(std::move(what)), before(std::move(needs)) {
  const std::lock_guard lock(live_nodes().mutex);
  live_nodes().nodes.insert(this);
}

Node::~Node() {
  const std::lock_guard lock(live_nodes().mutex);
  live_nodes().nodes.erase(this);
}

Node* find_node(cudaGraphNode_t handle) {
  const std::lock_guard lock(live_nodes().mutex);
  return live_nodes().nodes.contains(handle) ? reinterpret_cast<Node*>(handle) : nullptr;
}

cudaGraphNodeType type_of(const Work& work) {
  static constexpr cudaGraphNodeType kTypes[] = {
      cudaGraphNodeTypeKernel,   cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset,      cudaGraphNodeTypeHost,
      cudaGraphNodeTypeGraph,    cudaGraphNodeTypeEmpty,  cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,
      cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemFree};
  static_assert(std::size(kTypes) == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

Node& Graph::add(Work work, std::vector<Node*> before) {
  nodes_.push_back(std::make_unique<Node>(this, std::move(work), std::move(before)));
  return *nodes_.back();
}

void Graph::remove(Node& node) {
  for (const auto& other : nodes_) std::erase(other->before, &node);
  std::erase_if(copies_, [&](const auto& pair) { return pair.second == &node; });
  std::erase_if(nodes_, [&](const auto& owned) { return owned.get() == &node; });
}

bool Graph::connect(Node& from, Node& to) {
  if (std::find(to.before.begin(), to.before.end(), &from) != to.before.end()) return false;
  to.before.push_back(&from);
  return true;
}

bool Graph::disconnect(Node& from, Node& to) { return std::erase(to.before, &from) > 0; }

std::vector<Node*> Graph::roots() const {
  std::vector<Node*> roots;
  for (const auto& node : nodes_) {
    if (node->before.empty()) roots.push_back(node.get());
  }
  return roots;
}

std::vector<Node*> Graph::after(const Node& node) const {
  std::vector<Node*> after;
  for (const auto& other : nodes_) {
    if (std::find(other->before.begin(), other->before.end(), &node) != other->before.end())
      after.push_back(other.get());
  }
  return after;
}

std::vector<Node*> Graph::order() const {
  std::unordered_map<const Node*, std::size_t> place;
  for (std::size_t n = 0; n < nodes_.size(); ++n) place[nodes_[n].get()] = n;
  std::vector<std::vector<std::size_t>> after(nodes_.size());
  std::vector<std::size_t> missing(nodes_.size());
  std::map<std::size_t, Node*> ready;  // by place, so that the order is the same every time
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    missing[n] = nodes_[n]->before.size();
    for (const Node* before : nodes_[n]->before) after[place.at(before)].push_back(n);
    if (missing[n] == 0) ready[n] = nodes_[n].get();
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    const auto [n, node] = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(node);
    for (const std::size_t next : after[n]) {
      if (--missing[next] == 0) ready[next] = nodes_[next].get();
    }
  }
  return order;
}

bool Graph::leads_to(const Node& node, const std::vector<Node*>& ends) {
  std::vector<const Node*> open(ends.begin(), ends.end());
  std::unordered_set<const Node*> seen;
  while (!open.empty()) {
    const Node* const at = open.back();
    open.pop_back();
    if (at == &node) return true;
    if (!seen.insert(at).second) continue;
    open.insert(open.end(), at->before.begin(), at->before.end());
  }
  return false;
}

std::shared_ptr<Graph> Graph::clone(std::unordered_map<const Node*, Node*>* copies) const {
  auto out = std::make_shared<Graph>();
  for (const auto& node : nodes_) {
    Work work = node->work;
    if (auto* const child = std::get_if<ChildWork>(&work)) child->graph = child->graph->clone();
    Node& copy = out->add(std::move(work), {});
    copy.enabled = node->enabled;
    out->copies_[node.get()] = &copy;
  }
  for (const auto& node : nodes_) {
    for (Node* const before : node->before) out->copies_.at(node.get())->before.push_back(out->copies_.at(before));
  }
  if (copies != nullptr) *copies = out->copies_;
  return out;
}

Node* Graph::copy_of(const Node* original) const {
  const auto found = copies_.find(original);
  return found == copies_.end() ? nullptr : found->second;
}

cudaGraphExecUpdateResult compare(const Graph& from, const Graph& to, const Node** differs) {
  *differs = nullptr;
  if (from.nodes().size() != to.nodes().size()) return cudaGraphExecUpdateErrorTopologyChanged;
  std::unordered_map<const Node*, const Node*> pairs;
  for (std::size_t n = 0; n < from.nodes().size(); ++n) pairs[from.nodes()[n].get()] = to.nodes()[n].get();
  for (const auto& node : from.nodes()) {
    const Node* const other = pairs.at(node.get());
    *differs = other;
    if (node->before.size() != other->before.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (const Node* before : node->before) {
      const Node* const wanted = pairs.at(before);
      if (std::find(other->before.begin(), other->before.end(), wanted) == other->before.end())
        return cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (type_of(node->work) != type_of(other->work)) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      const Node* inner = nullptr;
      const auto result = compare(*child->graph, *std::get<ChildWork>(other->work).graph, &inner);
      if (result != cudaGraphExecUpdateSuccess) return result;
    }
  }
  *differs = nullptr;
  return cudaGraphExecUpdateSuccess;
}

}  // namespace muscope::runtime
