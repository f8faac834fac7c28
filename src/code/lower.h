// ptx::Module + placed variables -> Kernel: control flow, registers, constants, source positions.
#pragma once

#include <memory>
#include <string_view>

#include "code/kernel.h"
#include "code/loaded_module.h"

namespace muscope::code {

/// Lowers entry `function` (an index into module.functions) and what it calls. Throws Error when the entry has no body
/// or more than 64 KiB of static shared memory per GPU rules cannot be laid out. An instruction that muscope does not
/// have becomes an op with opcode kInvalid: it is an error only when a warp reaches it.
std::shared_ptr<const Kernel> lower(std::shared_ptr<const ptx::Module> module, std::uint32_t function,
                                    const LoadedModule& loaded);

/// The kind of an instruction for the counts per source line.
views::InstructionKind kind_of(const ptx::Instruction& instruction);

}  // namespace muscope::code
