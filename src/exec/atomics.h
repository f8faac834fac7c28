// atom and red in every space and type (PTX ISA, "atom", "red").
#pragma once

#include "exec/warp.h"

namespace muscope::exec {

/// The handler of an atomic, or null for operations and types that do not exist or are not supported.
Handler find_atomic(const code::Op& op);

/// The same for vectors (atom.global.add.v4.f32).
Handler find_vector_atomic(const code::Op& op);

/// Whether vectors of that type can be added to: minima and maxima of halves cannot.
bool can_add_elements(ptx::Type type);
/// Adds `operand` to one element of a vector in global memory and returns what was there. Each element is atomic for
/// itself, the vector is not; f32 flushes subnormals (PTX ISA, "atom").
std::uint32_t add_element(ptx::Type type, std::uint8_t* at, std::uint32_t operand, bool& changed);

/// Encodes the operation of an atomic for XOp::imm8.
inline constexpr std::uint8_t kPopcInc = 10;  ///< MemoryForm::atomic of ATOMS.POPC.INC
std::uint8_t atomic_operation(const sass::Instruction& i);
std::uint8_t atomic_operation(const ptx::Instruction& instruction);

}  // namespace muscope::exec
