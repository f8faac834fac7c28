// PTX's own words: fundamental types (PTX ISA, "Types"), state spaces ("State Spaces"), opcodes and modifiers.
#pragma once

#include <cstdint>
#include <string_view>

namespace muscope::ptx {

/// Fundamental and packed types of PTX.
enum class Type : std::uint8_t {
  kNone,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kTF32,
  kF32,
  kF64,
  kE4M3,
  kE5M2,
  kE4M3x2,
  kE5M2x2,
  kPred,
  kU16x2,
  kS16x2,
  kF32x2,
  kE2M1,
  kE2M1x2,
  kE2M3,
  kE2M3x2,
  kE3M2,
  kE3M2x2,
  kUE8M0,
  kUE8M0x2,
  kB1,
  kU2,
  kS2,
  kU4,
  kS4,  ///< elements of matrices and of cvt.pack, never of a register
  kTexref,
  kSamplerref,
  kSurfref,  ///< opaque types of variables and parameters
};

/// Size of one value in bytes; 0 for kNone, kPred and what is smaller than a byte; 8 for the opaque types (a handle).
int size_of(Type type);
bool is_float(Type type);
bool is_signed(Type type);            ///< S8..S64
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

/// The enumerators are k_ and the name, with `::` and other odd characters as `_`: k_ld, k_u32, k_2d, k_L2_128B,
/// k_shared_cta. kInvalid when there is none of that name. `name` of a modifier has its leading dot.
Opcode find_opcode(std::string_view name);
Mod find_mod(std::string_view name);
/// Type::kNone for a modifier that is no type.
Type type_of(Mod mod);
Type find_type(std::string_view name);  ///< "u32", without a dot
/// The state space that a modifier names (".shared::cta" is kShared), Space::kGeneric for one that names none.
Space space_of(Mod mod);

}  // namespace muscope::ptx
