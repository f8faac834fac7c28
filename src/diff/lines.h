// The source lines of a kernel, summed over its launches, and which line of one program is which of another.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diff/kernel_group.h"
#include "report/counts.h"

namespace muscope::diff {

/// Where people see a line: at the call in their own code, for code of system headers.
const report::SourcePosition& shown_at(const report::LineReport& line);

/// Gives the text of a source line, or nothing when it is not known.
using SourceText = std::function<std::optional<std::string>(const std::string& file, int line)>;

struct LineSums {
  std::string file;  ///< empty: no line information; `line` is one of the PTX
  int line = 0;
  report::Counts counts;                      ///< of its memory instructions
  std::uint64_t warp_instructions = 0;        ///< all that it executed
  const report::SiteReport* worst = nullptr;  ///< the instruction with most waste; null: none wastes
  std::string accesses;                       ///< "load global 4, store shared 4": what it does, for matching
  std::optional<std::string> text;            ///< without blanks at its ends
};

/// By file and line.
std::vector<LineSums> lines_of(const KernelGroup& group, const SourceText& text);

struct LinePair {
  const LineSums* before = nullptr;  ///< null: new
  const LineSums* after = nullptr;   ///< null: gone
};

/// In the order of the lines; those of one file name are aligned so that as much as possible corresponds: the same
/// text, else the same kinds of accesses. Lines are never crossed.
std::vector<LinePair> match_lines(const std::vector<LineSums>& before, const std::vector<LineSums>& after);

}  // namespace muscope::diff
