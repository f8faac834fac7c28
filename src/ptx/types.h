// PTX's own words: fundamental types (PTX ISA, "Types"), state spaces ("State Spaces"), opcodes and modifiers.
#pragma once

#include <cstdint>
#include <string_view>

namespace muscope::ptx {

/// Fundamental and packed types of PTX.
enum class Type : std::uint8_t {
  kNone,
  kB8, kB16, kB32, kB64, kB128,
  kU8, kU16, kU32, kU64,
  kS8, kS16, kS32, kS64,
  kF16, kF16x2, kBF16, kBF16x2, kTF32, kF32, kF64,
  kE4M3, kE5M2, kE4M3x2, kE5M2x2,
  kPred,
};

/// Size of one value in bytes; 0 for kNone and kPred.
int size_of(Type type);
bool is_float(Type type);
bool is_signed(Type type);  ///< S8..S64
std::string_view name_of(Type type);  ///< "u32"

enum class Space : std::uint8_t { kGeneric, kReg, kConst, kGlobal, kLocal, kParam, kShared };
std::string_view name_of(Space space);

/// Base opcodes: the part of an instruction before the first dot. From the rows of opcodes.inc.
enum class Opcode : std::uint16_t {
  kInvalid,
#define MUSCOPE_OPCODE(name, text) k_##name,
#include "ptx/opcode_names.inc"
#undef MUSCOPE_OPCODE
};
std::string_view name_of(Opcode opcode);

/// Every dotted modifier that some form knows, types and spaces included: ".rn", ".u32", ".global" ...
enum class Mod : std::uint16_t {
  kInvalid,
#define MUSCOPE_MODIFIER(name, text) k_##name,
#include "ptx/modifier_names.inc"
#undef MUSCOPE_MODIFIER
};
std::string_view name_of(Mod mod);  ///< with its leading dot

}  // namespace muscope::ptx
