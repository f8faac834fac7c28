// The handlers of one instruction set level. Each family maps an op to its handler, or null when it has none.
#pragma once

#include "code/kernel.h"
#include "exec/warp.h"

namespace muscope::exec {

struct OpTable {
  Handler (*integer)(const code::Op&);
  Handler (*bits)(const code::Op&);
  Handler (*floating)(const code::Op&);
  Handler (*half)(const code::Op&);
  Handler (*compare)(const code::Op&);
  Handler (*convert)(const code::Op&);
  Handler (*move)(const code::Op&);
  Handler (*memory)(const code::Op&, DataHandler* data);
  Handler (*matrix)(const code::Op&);
  Handler (*matrix_memory)(const code::Op&);
  // Machine instructions (code::OpKind::kSass).
  Handler (*sass_integer)(const sass::Instruction&);
  Handler (*sass_logic)(const sass::Instruction&);
  Handler (*sass_float)(const sass::Instruction&);
  Handler (*sass_convert)(const sass::Instruction&);
  Handler (*sass_matrix)(const sass::Instruction&);
};

/// The best level this machine has: x86-64-v3 (AVX2, FMA, BMI2, F16C) or the baseline.
const OpTable& op_table();

namespace isa_v2 {
extern const OpTable kTable;
}
namespace isa_v3 {
extern const OpTable kTable;
}

}  // namespace muscope::exec
