// Fuzz target: fat binaries, cubins and programs, whatever their bytes are.
// links: cubin
// corpus: tests/counters/binaries/kernels_*.cubin tests/counters/binaries/vadd_[0-9p-z]*
// tests/counters/binaries/raw_ptx
//
// The first byte chooses the decoder for the bytes after it; files that begin as ELF files and containers do are given
// whole to every decoder, so that ordinary files can be seeds.
#include <cstdlib>
#include <vector>

#include "base/diagnostic.h"
#include "cubin/cubin.h"
#include "cubin/fatbin.h"
#include "cubin/program.h"

namespace {

using muscope::cubin::Bytes;

void fuzz_fatbin(Bytes bytes) {
  std::vector<muscope::Diagnostic> problems;
  const auto fatbin = muscope::cubin::decode_available(bytes, problems);
  for (const auto& entry : fatbin.entries) {
    const bool inside =
        entry.stored.empty() || (entry.stored.data() >= bytes.data() &&
                                 entry.stored.data() + entry.stored.size() <= bytes.data() + bytes.size());
    if (!inside) std::abort();
    try {
      const std::string text = payload(entry);
      if (entry.compression != muscope::cubin::Compression::kNone && text.size() > entry.size) std::abort();
    } catch (const muscope::Error&) {
    }
  }
  const auto choice = choose_ptx(fatbin.entries, 90);
  if (choice.entry != nullptr && choice.entry->kind != muscope::cubin::EntryKind::kPtx) std::abort();
}

void fuzz_cubin(Bytes bytes) {
  try {
    const auto info = muscope::cubin::read_cubin(bytes);
    if (info.target.sm <= 0) std::abort();
  } catch (const muscope::Error&) {
  }
}

void fuzz_program(Bytes bytes) {
  const auto program = muscope::cubin::inspect_program_bytes("program", bytes);
  for (const auto& diagnostic : diagnose(program, {90, nullptr})) {
    if (diagnostic.code.empty() || diagnostic.text.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data, size);
  const Bytes rest = bytes.subspan(1);
  constexpr std::uint8_t kElf = 0x7f;
  constexpr std::uint8_t kContainer = 0x50;
  if (data[0] == kElf || data[0] == kContainer) {
    fuzz_fatbin(bytes);
    fuzz_cubin(bytes);
    fuzz_program(bytes);
  } else if (data[0] % 3 == 0) {
    fuzz_fatbin(rest);
  } else if (data[0] % 3 == 1) {
    fuzz_cubin(rest);
  } else {
    fuzz_program(rest);
  }
  return 0;
}
