// Command lines of Moore Threads' compiler: mcc is clang with options of its own, so what it takes differs from nvcc's.
#pragma once

#include <string>
#include <vector>

namespace muscope::toolchain {

/// Whether these words were written for mcc: a .mu file, -x musa, -mtgpu, or an architecture mp_...
bool is_for_mcc(const std::vector<std::string>& words);

/// The same in nvcc's spelling: options that clang takes for the host (-fPIC, -Wall, -march=...) go behind -Xcompiler,
/// those for MUSA's code generator (-mllvm X, -Od3, -mathx-...) and -U__CUDA__, which only mcc's own headers need, are
/// taken away; `left_out` gets them.
std::vector<std::string> from_mcc(const std::vector<std::string>& words, std::vector<std::string>& left_out);

}  // namespace muscope::toolchain
