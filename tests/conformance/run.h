// Runs forms under muscope, from their PTX or from machine code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forms.h"

namespace muscope::conformance {

/// What came of one form.
struct Outcome {
  std::vector<std::uint64_t> results;  ///< of all threads, 8 bytes each
  std::string problem;                 ///< why there are none, or why machine code was not used; empty: all is well
};

/// In the order of `forms`. `cubin` is what ptxas made of module_text(forms); empty: the PTX is executed.
std::vector<Outcome> run_forms(std::span<const Form> forms, const std::string& cubin);

/// What ptxas makes of a module. Empty when there is no ptxas, with `problem` filled when there is one that refuses.
std::string assemble(const std::string& text, std::string& problem);
/// The ptxas that assemble() uses: of CUDA 13, since expected bits are those of its code. Empty: there is none.
std::string find_ptxas();

/// Distance in units of the last place between results of that type; 0 for equal bits and for two NaNs.
std::uint64_t distance(const std::string& type, std::uint64_t x, std::uint64_t y);

}  // namespace muscope::conformance
