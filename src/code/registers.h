// Slots for the registers of one function: liveness over the ordered blocks, then a linear scan.
#pragma once

#include <cstdint>
#include <vector>

#include "code/control_flow.h"
#include "code/kernel.h"
#include "ptx/module.h"

namespace muscope::code {

struct RegisterMap {
  std::vector<Place> place;  ///< by register; none for those never used or replaced by a constant
  std::uint32_t frame_bytes = 0;
  std::vector<std::uint32_t> zero_slots;  ///< frame offsets (of kSlotBytes) that may be read before they are written
  std::uint32_t predicate_slots = 0;      ///< the first slots hold predicates
  std::uint32_t pressure = 0;             ///< most 32-bit registers live at once, per thread
};

/// `skip[r]` marks registers that need no slot (their value is a constant place).
/// Registers of one lane width share slots. That is safe although lanes diverge: every write is masked, so each lane
/// has registers of its own, and for one lane ordinary liveness holds.
RegisterMap assign_registers(const ptx::Function& function, const FlowGraph& graph, const std::vector<bool>& skip);

}  // namespace muscope::code
