// Basic blocks of machine code: which instructions can be reached, where blocks begin, which begin loops.
#pragma once

#include <cstdint>
#include <vector>

#include "code/machine_input.h"

namespace muscope::code {

struct MachineBlock {
  std::uint32_t first = 0, end = 0;  ///< instruction numbers; end is one past the last
  bool loop_header = false;
};

struct MachineFlow {
  std::vector<sass::Instruction> instructions;  ///< the whole section, decoded; not reached ones are kInvalid
  std::vector<MachineBlock> blocks;             ///< reached ones, in the order of the code
  std::vector<std::uint32_t> block_at;  ///< by instruction number: index of the block that begins there, or kNone
  std::string problem;                  ///< why the code cannot be executed ("no form of ..."); empty when it can
};
inline constexpr std::uint32_t kNoBlock = 0xffffffffu;

MachineFlow find_flow(const MachineInput& input);

/// Whether the path of a warp may end, part, wait or turn at this instruction: the block ends there.
bool ends_block(const sass::Instruction& instruction);

}  // namespace muscope::code
