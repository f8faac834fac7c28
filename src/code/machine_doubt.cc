// What of a kernel's machine code has counts that are not certain.
#include "code/machine_builder.h"

namespace muscope::code {

using sass::Opcode;

std::string doubt_of(const MachineFlow& flow, const Kernel& like) {
  if (like.recursive)
    return "lanes that call one function from several places may meet inside it on hardware: counts are bounds";
  for (const sass::Instruction& i : flow.instructions)
    if (i.opcode == Opcode::kATOMS && i.memory.spin)
      return "shared atomics that are loops of swaps: where several warps collide, hardware takes more rounds";
  for (const sass::Instruction& i : flow.instructions)
    if ((i.opcode == Opcode::kATOMG || i.opcode == Opcode::kREDG) && i.memory.vector > 1)
      return "atomics on vectors: which sectors hardware counts for them was not measured";
  for (const sass::Instruction& i : flow.instructions)
    if (i.opcode == Opcode::kSYNCS)
      return "how often a warp looks whether an mbarrier's phase is over depends on timing: here it waits as one look";
  if (waits_for_others(flow))
    return "a loop waits for what other threads write, or for the clock: how often it turns depends on timing";
  return {};
}

}  // namespace muscope::code
