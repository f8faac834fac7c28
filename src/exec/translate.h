// Device addresses to host memory, with the checks that hardware makes: the slow half of memory access.
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// Finds the allocation for [low, high) of the active lanes and stores it in the worker's record of op->site. When no
/// single allocation holds all of it, checks every lane: lanes inside mapped granules go on (and are noted as a
/// finding), the first lane outside makes a fault. Returns false on a fault. `addresses` has one address per lane.
bool resolve_global(Warp& w, const XOp* op, const std::uint64_t* addresses, std::uint32_t bytes, std::uint64_t* host);

/// The bank of ld.const (`param` false) or of kernel parameters: device addresses [low, low + bytes), bytes at `host`.
void read_only_bank(const Warp& w, bool param, std::uint64_t& low, std::uint64_t& bytes, std::uint64_t& host);

/// Faults of a memory op; both set Worker::fault and Warp::stop.
void fault_misaligned(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, const char* space);
void fault_outside(Warp& w, const XOp* op, unsigned lane, std::uint64_t address, const char* space,
                   const std::string& detail);

/// Any other fault of the lowest active lane.
const XOp* raise(Warp& w, const XOp* op, Outcome outcome, std::string code, std::string text, std::string hint);

/// Notes something once per op, with a count.
void note(Warp& w, const XOp* op, const char* code, const std::string& text, const char* hint);

/// Managed memory that a kernel touches: pages first touched by the device are counted per launch.
void touch_managed(Warp& w, const memory::Allocation& allocation, std::uint64_t low, std::uint64_t high);

}  // namespace muscope::exec
