// What the lab can measure: one entry per experiment, in the order in which it is shown.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::lab {

struct Experiment {
  std::string_view name;     ///< "stride-read"
  std::string_view program;  ///< of lab/ ("patterns") or kernels/ladder/ ("ladder-scan")
  std::string_view summary;  ///< one line
};

std::span<const Experiment> experiments();

/// The experiments whose names contain one of these words, in the order of the list; all for no words. Throws Error
/// D119 for a word that none contains.
std::vector<Experiment> select(const std::vector<std::string>& words);

/// The programs of these experiments, each once, and its experiments' names joined by commas.
struct ProgramPlan {
  std::string program;
  std::string only;  ///< for the program's --only; empty when all of its experiments are wanted
};
std::vector<ProgramPlan> plan(const std::vector<Experiment>& selected);

/// The source of a program below the folder that holds lab/ and kernels/: "lab/patterns.cu", "kernels/ladder/scan.cu".
std::string source_of(std::string_view program);

}  // namespace muscope::lab
