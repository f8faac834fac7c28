// Atomic operations on single elements and on ranges of them, outside of atom and red: asynchronous stores and copies.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace muscope::exec {

/// `number` (code::AsyncDetails::reduction) says what becomes of the element at `at` and the operand, atomically.
/// `flushes`: subnormal f32 count as zeros. False for types that have no such operation.
bool reduce_element(ptx::Type type, std::uint8_t number, bool flushes, std::uint8_t* at, const std::uint8_t* operand);

/// The same element by element over `bytes`.
bool reduce_range(ptx::Type type, std::uint8_t number, bool flushes, std::uint8_t* to, const std::uint8_t* from,
                  std::uint64_t bytes);

}  // namespace muscope::exec
