// What ptxas made of a kernel: what of its source's memory accesses became what machine instructions, where registers
// spill, and what a thread needs. Facts of the code, the same for every launch. Found by code::compiled_facts().
#pragma once

#include <cstdint>
#include <vector>

#include "trace/access.h"

namespace muscope::views {

/// What a local access (LDL, STL) of machine code is for.
enum class LocalUse : std::uint8_t {
  kNone,   ///< no local access, or not known
  kArray,  ///< memory that the program names
  kSpill,  ///< a register for which there was no room
  kSaved,  ///< in a function that is called: a register kept for the caller, or a spill; they look alike
};

/// Some instructions of the code, by what one lane moves.
struct CodeAccesses {
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;  ///< of all together
  std::uint32_t each = 0;   ///< of one, where all have the same width; else 0
  bool operator==(const CodeAccesses&) const = default;
};

enum class CodeChangeKind : std::uint8_t {
  kJoined,        ///< fewer, wider ones that move the same bytes
  kPartOf,        ///< none is left: wider ones of other lines move the bytes too
  kWidened,       ///< as many, but wider: they move bytes of other lines too
  kDuplicates,    ///< fewer of the same width: those that are gone had the address of one that is left
  kDropped,       ///< fewer of the same width; why is not known (unused, or the value was there)
  kUnrolled,      ///< more of the same width, each of them in a loop of the PTX
  kCopied,        ///< more of the same width, not in a loop
  kUnrolledInto,  ///< other numbers and widths that move several times the bytes, all of them in loops of the PTX
  kBecame,        ///< other numbers and widths, by several of these
  kInRegisters,   ///< accesses to local variables: none of the kernel is left
  kSpilled,       ///< spill loads or stores; no PTX
  kSaved,         ///< registers kept in a called function
  kSwapLoop,      ///< an atomic became a loop of compare and swap
  kReduction,     ///< an atomic whose result is not used became a reduction
  kIncrement,     ///< an addition of one in shared memory: lanes with one address are counted at once (POPC.INC)
  kWarpSum,       ///< the lanes of a warp are combined first
};

/// What became of the accesses of one source line (with its call sites) to one state space.
struct CodeChange {
  CodeChangeKind kind = CodeChangeKind::kBecame;
  std::uint32_t frame = 0xffffffffu;  ///< index into KernelInfo::frames
  trace::Space space = trace::Space::kGlobal;
  bool generic = false;  ///< the PTX names no state space; `space` says nothing then
  trace::Kind access = trace::Kind::kLoad;
  CodeAccesses ptx, machine;
  bool operator==(const CodeChange&) const = default;
};

struct CompiledFacts {
  bool known = false;                   ///< false: no machine code, and nothing here is
  std::uint32_t spill_store_bytes = 0;  ///< of all spill stores in the code, per thread, as `ptxas -v` counts them
  std::uint32_t spill_load_bytes = 0;
  bool spills_are_floors = false;  ///< some local accesses may be spills too
  std::uint32_t frame_bytes = 0;   ///< local memory of the kernel's own frame, per thread
  std::uint32_t stack_bytes = 0;   ///< with what it calls, as far as known
  std::vector<CodeChange> changes;
  bool operator==(const CompiledFacts&) const = default;
};

}  // namespace muscope::views
