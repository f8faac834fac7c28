// Logic, moves, selection, predicates and exchanges between lanes of machine code.
#include "exec/op_table.h"
#include "exec/sass_common.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_sass_logic(const sass::Instruction&) { return nullptr; }

}  // namespace muscope::exec::MUSCOPE_ISA
