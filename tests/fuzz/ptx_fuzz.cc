// links: ptx
// corpus: tests/opcodes/*.ptx
//
// Any text gives a Module or diagnostics, and every Module keeps its promises.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptx/parser.h"
#include "ptx/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const muscope::ptx::ParseResult result = muscope::ptx::parse(text, "fuzz.ptx");
  const std::string problem = muscope::ptx::find_inconsistency(result.module);
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  for (const muscope::ptx::Function& function : result.module.functions) {
    for (const muscope::ptx::Instruction& instruction : function.body) {
      if (instruction.text().empty()) std::abort();
    }
  }
  return 0;
}
