// What machine_lowering needs to know about one kernel's machine code: plain data, taken from a cubin and from where
// the module lies in memory (machine_module.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sass/instruction.h"
#include "views/records.h"

namespace muscope::code {

struct MachineInput {
  std::vector<sass::Word> words;  ///< the code, relocated for kCodeWindow
  sass::Encoding encoding = sass::Encoding::kHopper;
  std::uint32_t entry = 0;                         ///< byte offset of the kernel in it
  std::vector<std::uint32_t> functions;            ///< offsets of the device functions in it
  std::vector<std::uint32_t> table_targets;        ///< offsets that its jump tables name
  std::map<std::uint64_t, std::string> externals;  ///< addresses given to functions of the device runtime: "vprintf"
  std::uint32_t stack_bytes = 0;                   ///< local memory per thread
  std::uint32_t shared_base = 1024;                ///< where the code expects the first byte of shared memory
  std::uint32_t static_shared = 0;                 ///< bytes, where linking decided them; 0: as the PTX says
  std::uint32_t parameter_offset = 0;              ///< where the parameters begin in constant bank 0
  std::vector<std::uint32_t> parameters;           ///< offset of each from the first one on; empty when not known
  std::uint32_t bank0_bytes = 0;                   ///< of constant bank 0: the driver's words and the parameters
  std::array<std::uint64_t, 32> banks{};           ///< device address of each constant bank's first byte; 0: none
  std::array<std::uint64_t, 32> bank_bytes{};
  std::vector<std::uint32_t> frame_of;  ///< by instruction: row of `frames`, or views::kNoFrame
  std::vector<int> ptx_line_of;         ///< by instruction; 0 unknown
  std::vector<views::Frame> frames;
  /// Whether the executor has a handler for a plain instruction; none: for no one.
  std::function<bool(const sass::Instruction&)> executable;
};

}  // namespace muscope::code
