// The declarative opcode table: one row per instruction form, in the notation of the PTX ISA manual.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ptx/types.h"

namespace muscope::ptx {

/// One form, e.g. {k_ld, "ld{.weak}{.ss}{.cop}.vec.type {d...}, [a]", "data-movement-and-conversion-instructions-ld",
/// ""}.
///
/// Modifiers: `.x` must be there, `{.x}` may; `.x` is the modifier itself or the name of a group of which one member
/// stands, looked up in `groups`, then in modifier_groups.inc. The text may have them in any order, types excepted.
/// Operands: `d` a register, immediate, special register or symbol; `p`, `q` the same for predicates, `{!}c` a
/// predicate that may be negated; `d[|p]` a register with an optional predicate after a bar; `[a]` an address;
/// `[a, c]` a texture-like address; `{d...}` a vector; `{, b}` an optional operand. Slots named d, p (first) or q are
/// written.
struct OpcodeRow {
  Opcode opcode;
  std::string_view form;    ///< the manual's line
  std::string_view manual;  ///< anchor in the PTX ISA manual
  std::string_view groups;  ///< groups of this row alone: ".type = .u32 .s32; .mode = .hi .lo"
};

/// All rows, grouped by opcode. Parser, `muscope explain ld` and the supported-instructions page come from them.
std::span<const OpcodeRow> opcode_rows();

/// The rows of one opcode, in the order in which the parser tries them. Empty for kInvalid.
std::span<const OpcodeRow> find_rows(Opcode opcode);

/// What the engine cannot execute of a row: nothing (empty), all of it ("*"), or the listed texts alone ("add.u16x2
/// add.s16x2"). From not_executed.inc, which a test holds against the engine's handlers.
std::string_view not_executed(const OpcodeRow& row);

/// "https://docs.nvidia.com/cuda/parallel-thread-execution/#" and the row's anchor.
std::string manual_url(const OpcodeRow& row);

/// The members of group `name` (".type") as `row` sees it, separated by blanks; empty when `name` is a modifier itself.
std::string_view group_members(const OpcodeRow& row, std::string_view name);

}  // namespace muscope::ptx
