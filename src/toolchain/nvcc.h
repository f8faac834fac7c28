// Command lines of the nvcc path: line information, a shared CUDA runtime that muscope can take the place of, and PTX
// of the wanted architecture beside its machine code.
#pragma once

#include <string>
#include <vector>

#include "toolchain/flags.h"
#include "toolchain/tools.h"

namespace muscope::toolchain {

/// An nvcc and what it compiles for.
struct NvccSetup {
  Tool nvcc;
  int architecture = 90;  ///< one that this nvcc supports
};

/// -arch and -gencode words: the user's own, completed by PTX where they ask for machine code only; else those of
/// the setup.
std::vector<std::string> nvcc_targets(const NvccSetup& setup, const Flags& flags);

/// One source to an object, with its dependency list.
std::vector<std::string> nvcc_object_command(const NvccSetup& setup, const Flags& flags, const Input& input,
                                             const std::string& object, const std::string& dependency_file);

/// Objects and libraries to a program.
std::vector<std::string> nvcc_link_command(const NvccSetup& setup, const Flags& flags,
                                           const std::vector<std::string>& files, const std::string& output);

/// `muscope cc --toolchain nvcc`: the user's own command line with what muscope needs added.
std::vector<std::string> nvcc_stand_in_command(const Tool& nvcc, const std::vector<std::string>& args,
                                               const Flags& flags);

}  // namespace muscope::toolchain
