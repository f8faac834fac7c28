// What the allocation functions of the API share.
#pragma once

#include <cstdint>

#include "runtime/blocks.h"
#include "runtime/cuda_abi.h"
#include "runtime/graph.h"

namespace muscope::runtime {

class Runtime;

/// Allocates on the current device and writes the address to `pointer`; a null pointer for 0 bytes.
/// cudaErrorInvalidValue, cudaErrorMemoryAllocation.
cudaError_t allocate(Runtime& runtime, void** pointer, std::uint64_t bytes, Source source, unsigned flags);

/// Memory for an allocation node; its address goes to asked.dptr.
cudaError_t allocate_for_graph(Runtime& runtime, cudaMemAllocNodeParams& asked, AllocateWork& work);

/// Gives back the block at `address` if `accept` takes it. False when there is no such block.
bool release(Runtime& runtime, std::uint64_t address, bool (*accept)(const Block&));

}  // namespace muscope::runtime
