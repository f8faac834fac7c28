#include "exec/op_table.h"

namespace muscope::exec {

const OpTable& op_table() {
  static const OpTable& table = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c")
                                    ? isa_v3::kTable
                                    : isa_v2::kTable;
  return table;
}

}  // namespace muscope::exec
