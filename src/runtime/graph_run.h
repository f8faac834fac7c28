// Doing the work of graph nodes in a stream.
#pragma once

#include "runtime/graph.h"

namespace muscope::runtime {

class Runtime;

/// Puts one node's work into the stream, or into the graph that the stream is captured for.
cudaError_t run_work(Runtime& runtime, const Work& work, cudaStream_t stream);

/// The whole graph, node after node in an order that its edges allow. Stops at the first error.
cudaError_t run_graph(Runtime& runtime, const Graph& graph, cudaStream_t stream);

}  // namespace muscope::runtime
