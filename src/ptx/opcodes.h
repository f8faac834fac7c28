// The declarative opcode table: one row per instruction form, in the notation of the PTX ISA manual.
#pragma once

#include <span>
#include <string_view>

#include "ptx/types.h"

namespace muscope::ptx {

/// One form, e.g. {k_ld, "ld{.weak}{.ss}{.cop}{.vec}.type d, [a]", "data-movement-and-conversion-instructions-ld"}.
struct OpcodeRow {
  Opcode opcode;
  std::string_view form;    ///< the manual's line
  std::string_view manual;  ///< anchor in the PTX ISA manual
};

/// All rows, grouped by opcode. Parser, `muscope explain ld` and the supported-instructions page come from them.
std::span<const OpcodeRow> opcode_rows();

}  // namespace muscope::ptx
