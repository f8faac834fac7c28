// The memory accesses of a kernel in PTX and in machine code, paired. Internal to compiled.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "cubin/code_image.h"
#include "ptx/module.h"
#include "sass/instruction.h"
#include "views/compiled.h"

namespace muscope::code {

/// Loads, stores and atomics; reductions are atomics.
enum class AccessType : std::uint8_t { kLoad, kStore, kAtomic };

struct MachineAccess {
  sass::Instruction instruction;
  AccessType type = AccessType::kLoad;
  views::LocalUse use = views::LocalUse::kNone;
  bool in_entry = false;  ///< in the kernel itself, not in a function of its section
  int ptx_line = 0;       ///< 0 unknown
};

struct PtxAccess {
  const ptx::Function* function = nullptr;
  const ptx::Instruction* instruction = nullptr;
  AccessType type = AccessType::kLoad;
  ptx::Space space = ptx::Space::kGeneric;
  std::uint32_t bytes = 0;  ///< per lane
  bool in_loop = false;
  bool certain = true;                        ///< false: its line has another access, or an access of another kind
  std::vector<const MachineAccess*> machine;  ///< what was made of it; of a load only loads, of a store only stores
  bool sums_warp = false;                     ///< atomics: votes and bit counts were made of it too

  const ptx::Operand& address() const;
};

struct PairedAccesses {
  std::vector<PtxAccess> ptx;          ///< of the kernel and of the functions in its section
  std::vector<MachineAccess> machine;  ///< by pc
  bool has_lines = false;              ///< the cubin says which PTX lines instructions come from
  bool unplaced[3] = {};               ///< by AccessType: some machine accesses belong to no PTX access
  bool local_in_doubt = false;         ///< some local accesses taken for the program's own may be spills
};

/// Which PTX access each machine access of the kernel's section comes from, and what its local accesses are for.
///
/// Spills. A local access at a constant offset of the stack pointer (R1) whose PTX line is no local or generic access
/// is a spill, and so is any access to a word that such a spill uses. Held against the figures of `ptxas -v` 13.0 for
/// 1,710 compilations of kernels with 24 to 255 registers, 119 of them with spills: equal in all but three, where more
/// local accesses at constant offsets were spills than the rule finds. local_in_doubt is set for those and nine others.
PairedAccesses pair_accesses(std::string_view kernel, const ptx::Module& module, const cubin::CodeImage& image,
                             const cubin::CodeSection& section);

}  // namespace muscope::code
