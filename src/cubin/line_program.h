// Runs the line programs of a cubin (.debug_line, .nv_debug_line_sass): DWARF 2 with one addition of NVIDIA's, records
// of inlining. Tells a visitor what it finds; the bytes may be hostile.
//
// Inlining: extended opcode 0x90 with two ULEB numbers, `context` and `function`. The rows after it, up to the next
// record, are the body of an inlined function. `function` is the offset of its name in .debug_str; `context` is the
// number, from 1 on, of the row in this sequence that is the call (rows count as they are emitted, also several at one
// address). That row's own record tells what the call stands in, and so on outwards. (0, 0): back in the function's own
// text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace muscope::cubin {

struct LineFile {
  std::string_view name;
  std::uint64_t directory = 0;  ///< from 1 on, into LineUnit::directories; 0: that of the compilation
};

/// A header: files and directories that the rows of its sequences refer to.
struct LineUnit {
  std::vector<std::string_view> directories;
  std::vector<LineFile> files;  ///< a row's file number is the index here plus 1
};

struct LineRow {
  std::uint64_t address = 0;
  std::uint64_t file = 0;
  std::int64_t line = 0;
  std::uint64_t context = 0;   ///< of the last inlining record; 0: none
  std::uint64_t function = 0;  ///< of the last inlining record

  bool operator==(const LineRow&) const = default;
};

/// What a line program says, in its order.
struct LineVisitor {
  std::function<void(const LineUnit&)> unit;
  /// Sets the address; `operand_at` is the place of the operand in the section, for relocations. Returns the address.
  std::function<std::uint64_t(std::uint64_t operand_at, std::uint64_t operand)> set_address;
  std::function<void(const LineRow&)> row;
  std::function<void()> end_of_sequence;
};

/// False when the program is damaged; what came before the damage was visited. Takes time in proportion to the bytes.
bool run_line_program(std::span<const std::uint8_t> section, const LineVisitor& visitor);

}  // namespace muscope::cubin
