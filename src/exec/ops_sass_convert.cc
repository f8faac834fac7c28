// Conversions of machine code between number formats.
#include "exec/op_table.h"
#include "exec/sass_common.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_sass_convert(const sass::Instruction&) { return nullptr; }

}  // namespace muscope::exec::MUSCOPE_ISA
