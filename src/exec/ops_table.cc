// The table of one instruction set level. Compiled once per level, like the families it lists.
#include "exec/op_table.h"
#include "exec/ops_common.h"

namespace muscope::exec::MUSCOPE_ISA {

Handler find_integer(const code::Op& op);
Handler find_bits(const code::Op& op);
Handler find_float(const code::Op& op);
Handler find_half(const code::Op& op);
Handler find_compare(const code::Op& op);
Handler find_convert(const code::Op& op);
Handler find_move(const code::Op& op);
Handler find_memory(const code::Op& op, DataHandler* data);
Handler find_matrix(const code::Op& op);
Handler find_matrix_memory(const code::Op& op);
Handler find_sass_integer(const sass::Instruction& instruction);
Handler find_sass_logic(const sass::Instruction& instruction);
Handler find_sass_float(const sass::Instruction& instruction);
Handler find_sass_convert(const sass::Instruction& instruction);
Handler find_sass_matrix(const sass::Instruction& instruction);

const OpTable kTable = {find_integer,      find_bits,       find_float,      find_half,         find_compare,
                        find_convert,      find_move,       find_memory,     find_matrix,       find_matrix_memory,
                        find_sass_integer, find_sass_logic, find_sass_float, find_sass_convert, find_sass_matrix};

}  // namespace muscope::exec::MUSCOPE_ISA
