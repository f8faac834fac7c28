// Floating-point arithmetic of machine code: single, double, packed halves, special functions.
#include "exec/op_table.h"
#include "exec/sass_common.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_sass_float(const sass::Instruction&) { return nullptr; }

}  // namespace muscope::exec::MUSCOPE_ISA
