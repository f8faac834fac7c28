// Machine code instruction by instruction: what Nsight Compute's source page of an H200 says of each memory instruction
// of each launch, against the sites of muscope's report; and how many executed accesses carry which grade.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "counters.h"

namespace muscope::counters {

/// Compares the first run of `suite` (run_suite with Code::kMachine) with suite/suite_sass_h200.csv. A "launch" of the
/// comparison is one instruction of one launch ("copyRow_16x16 0x120 LDG.E ..."), a "metric" a column of the table:
///   executed, lanes_on                                      every memory instruction, LDC and textures included
///   tag_requests, sectors, ideal_sectors, excessive_sectors global accesses
///   n_way                                                   shared accesses: wavefronts per instruction, cut to a whole number as ncu
///                                                           prints them
/// An instruction that only one side has, or that is another one there, is told in `problem`.
GroupResult compare_instructions(const GroupResult& suite);

/// Executed memory instructions of warps by how far their numbers can be trusted.
struct GradeShares {
  std::uint64_t counted = 0, modelled = 0, estimated = 0;
  std::uint64_t lines = 0;          ///< lines of launches that have a memory instruction
  std::uint64_t inexact_lines = 0;  ///< of these, those with one that is not counted
  std::map<std::string, std::uint64_t> reasons;  ///< executed instructions by why they are not counted

  std::uint64_t all() const { return counted + modelled + estimated; }
  double inexact_percent() const;
  GradeShares& operator+=(const GradeShares& other);
};

/// Adds up the runs, which must hold the lines of their reports. The grade of an instruction is the lower one of its
/// executed count and of what its requests cost (sectors; wavefronts in shared memory; requests of constants and
/// textures), as the report gives them for its line.
GradeShares grade_shares(std::span<const Reported> runs);

}  // namespace muscope::counters
