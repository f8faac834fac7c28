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
  bool from_machine_code = false;      ///< the kernel's machine code was executed, not its PTX
};

/// In the order of `forms`. `cubin` is what ptxas made of module_text(forms); empty: the PTX is executed.
std::vector<Outcome> run_forms(std::span<const Form> forms, const std::string& cubin);

/// What ptxas makes of a module. Empty when there is no ptxas, with `problem` filled when there is one that refuses.
std::string assemble(const std::string& text, std::string& problem);
/// The ptxas that assemble() uses: of CUDA 13, since expected bits are those of its code. Empty: there is none.
std::string find_ptxas();

}  // namespace muscope::conformance
