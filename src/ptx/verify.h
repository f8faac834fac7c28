// What every Module promises to its readers, checked. For tests and fuzzing: parse() keeps these promises by itself.
#pragma once

#include <string>

#include "ptx/module.h"

namespace muscope::ptx {

/// The first broken promise ("instruction 3 of 'f': register out of range"), or an empty string.
///
/// Of instructions whose opcode is not kInvalid: guard and operand registers, labels, symbols and positions are valid
/// indices (offsets into nothing do not occur); vectors and pairs hold no vectors. Of everything: chains of call sites
/// point backwards; initialisers and relocations lie inside their variables. Call targets, branch targets and
/// relocations that name nothing stay kNoIndex, with a diagnostic.
std::string find_inconsistency(const Module& module);

}  // namespace muscope::ptx
