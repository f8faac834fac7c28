// Measuring with the lab: finding the GPU, compiling the programs, running them, counting what their kernels do.
#pragma once

#include <string>
#include <vector>

#include "lab/catalog.h"
#include "lab/results.h"

namespace muscope::cli {

struct LabRequest {
  std::vector<lab::ProgramPlan> plans;
  bool quick = false;
  int samples = 0;        ///< per row; 0: the program's own number
  bool predict = true;    ///< run the kernels under muscope too
  bool counters = false;  ///< and under Nsight Compute
  std::string folder;     ///< where the programs' files go; exists
};

/// Runs every plan's program and leaves its files in the folder. Throws Error: D792 no GPU, D793 no nvcc, D794 a
/// program does not compile or does not come to its end. Says on stderr which program runs.
void measure(const LabRequest& request);

/// The names of the files in which these programs leave their results.
std::vector<std::string> files_of(const std::vector<lab::ProgramPlan>& plans);

/// What these programs left in a folder. Throws Error D794 when there is nothing of them, and what the readers throw.
std::vector<lab::ProgramResults> read_folder(const std::string& folder, const std::vector<lab::ProgramPlan>& plans);

}  // namespace muscope::cli
