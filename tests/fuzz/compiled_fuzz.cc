// Fuzz target: what ptxas made of the PTX, of a cubin whose bytes and whose PTX text may be anything.
// links: code
// corpus: tests/counters/binaries/code_*.cubin
#include "base/diagnostic.h"
#include "code/compiled.h"
#include "ptx/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  try {
    const auto image = muscope::cubin::read_code_image(bytes);
    const auto cubin = muscope::cubin::read_cubin(bytes);
    std::string text;
    if (!image.ptx_texts.empty())
      for (const std::string& line : image.ptx_texts.front().lines) text += line + "\n";
    const auto module = muscope::ptx::parse(text, "fuzz").module;
    for (const auto& kernel : cubin.kernels) {
      muscope::views::KernelInfo info;
      info.mangled = kernel.name;
      muscope::code::add_compiled_facts(info, module, image, cubin);
      for (const auto& change : info.compiled.changes)
        if (change.frame != muscope::views::kNoFrame && change.frame >= info.frames.size()) __builtin_trap();
    }
  } catch (const muscope::Error&) {
  }
  return 0;
}
