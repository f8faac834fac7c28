// atom and red in every space and type (PTX ISA, "atom", "red").
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// The handler of an atomic, or null for operations and types that do not exist or are not supported.
Handler find_atomic(const code::Op& op);

/// Encodes the operation of an atomic for XOp::imm8.
inline constexpr std::uint8_t kPopcInc = 10;  ///< MemoryForm::atomic of ATOMS.POPC.INC
std::uint8_t atomic_operation(const sass::Instruction& i);
std::uint8_t atomic_operation(const ptx::Instruction& instruction);

}  // namespace muscope::exec
