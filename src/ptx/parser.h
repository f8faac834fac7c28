// PTX text -> Module. Hand-written recursive descent; every instruction form is data (opcodes.inc).
// The text is untrusted: any input gives a Module or diagnostics, never a crash, in time linear in its length.
#pragma once

#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "ptx/module.h"

namespace muscope::ptx {

struct ParseResult {
  Module module;
  /// Errors and warnings with lines; an instruction that no row of the table describes is D301 (unknown opcode) or
  /// D302 (known opcode, unknown form: names the offending modifier). Parsing goes on after one, so all are told.
  std::vector<Diagnostic> diagnostics;
  bool ok() const;  ///< no errors
};

/// Parses `text` (a trailing NUL is allowed). `name` is used in messages. An instruction with an error keeps its place
/// in the body with opcode kInvalid, so that a kernel that never reaches it could still be run.
ParseResult parse(std::string_view text, std::string_view name);

}  // namespace muscope::ptx
