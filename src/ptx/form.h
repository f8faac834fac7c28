// The rows of the opcode table, compiled at start-up into matchers: which modifiers and operands fit which form.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"
#include "ptx/opcodes.h"

namespace muscope::ptx {

inline constexpr std::size_t kModCount = 0
#define MUSCOPE_MODIFIER(name, text) +1
#include "ptx/modifier_names.inc"
#undef MUSCOPE_MODIFIER
                                         + 1;

/// A place for one modifier of a form.
struct ModSlot {
  std::string_view name;  ///< as in the form: ".type", ".rn"
  std::bitset<kModCount> members;
  bool optional = false;
};

enum class SlotKind : std::uint8_t {
  kScalar,     ///< d, a, b: register that is no predicate, immediate, special register, symbol
  kPredicate,  ///< p, q, {!}c: predicate register or immediate
  kPair,       ///< d|p
  kMaybePair,  ///< d[|p], p[|q]
  kAddress,    ///< [a]
  kTexture,    ///< [a, c]
  kVector,     ///< {a...}
  kLabel,      ///< tgt
  kCall,       ///< the operands of call, which the parser reads by itself
};

struct OperandSlot {
  SlotKind kind = SlotKind::kScalar;
  bool written = false;  ///< a destination: no immediate, but may be `_`
  bool optional = false;
  bool first_predicate = false;  ///< of a pair: p|q rather than d|p
  bool vector_pair = false;      ///< {d...}[|p]
};

/// How a row rejects an instruction, from the farthest miss to the nearest.
struct Mismatch {
  enum class Kind : std::uint8_t { kNone, kModifier, kMissing, kOperands } kind = Kind::kNone;
  std::size_t matched = 0;   ///< modifiers that did fit
  Mod mod = Mod::kInvalid;   ///< kModifier: the one with no place
  std::string_view missing;  ///< kMissing: the slot left empty
};

struct Form {
  const OpcodeRow* row = nullptr;
  std::vector<ModSlot> mods;
  std::vector<OperandSlot> operands;
  bool any_scalar_predicate = false;  ///< .pred may be the type: scalars may be predicates

  /// kNone when `mods` fill this form.
  Mismatch match_mods(std::span<const Mod> mods) const;
  /// `registers` are those of the function, for their types. Wraps single registers in vector slots (mma allows both).
  bool match_operands(std::vector<Operand>& operands, std::span<const Register> registers, bool is_predicate) const;
};

/// The forms of one opcode, in the order of its rows.
std::span<const Form> forms_of(Opcode opcode);

/// Names in rows and groups that modifier_names.inc lacks; empty in a sound table.
std::vector<std::string> unknown_names_in_table();

}  // namespace muscope::ptx
