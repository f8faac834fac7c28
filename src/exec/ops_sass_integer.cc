// Integer arithmetic of machine code: adds, multiplies, shifts, comparisons, minima.
#include "exec/op_table.h"
#include "exec/sass_common.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_sass_integer(const sass::Instruction&) { return nullptr; }

}  // namespace muscope::exec::MUSCOPE_ISA
