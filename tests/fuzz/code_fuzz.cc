// Fuzz target: machine code with its line tables, relocations and attributes, whatever the bytes are.
// links: cubin
// corpus: tests/counters/binaries/code_*.cubin tests/counters/binaries/kernels_75.cubin
//
// Files that begin as ELF files do are read whole; other bytes are line programs.
#include <cstdlib>

#include "base/diagnostic.h"
#include "cubin/code_image_check.h"
#include "cubin/line_program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  if (size > 0 && data[0] == 0x7f) {
    try {
      auto image = muscope::cubin::read_code_image(bytes);
      if (!muscope::cubin::first_disorder(image).empty()) std::abort();
      muscope::cubin::apply_everywhere(image);
    } catch (const muscope::Error&) {
    }
    return 0;
  }
  std::size_t rows = 0;
  muscope::cubin::LineVisitor visitor;
  visitor.unit = [](const muscope::cubin::LineUnit&) {};
  visitor.set_address = [](std::uint64_t, std::uint64_t operand) { return operand; };
  visitor.row = [&](const muscope::cubin::LineRow&) { ++rows; };
  visitor.end_of_sequence = [] {};
  muscope::cubin::run_line_program(bytes, visitor);
  if (rows > size) std::abort();
  return 0;
}
