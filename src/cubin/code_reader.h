// Inside of read_code_image: what its steps share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cubin/code_image.h"
#include "cubin/elf_view.h"

namespace muscope::cubin {

/// Bytes that may still be copied out of a cubin. Sections and strings of a hostile file can overlap, so that a small
/// file states much more than its size.
class CopyBudget {
 public:
  explicit CopyBudget(std::uint64_t bytes) : left_(bytes) {}

  /// False, and nothing taken, when too little is left.
  bool try_take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  /// Throws Error D207 when too little is left.
  void take(std::uint64_t bytes);

 private:
  std::uint64_t left_;
};

/// Where a section of the ELF file went.
struct SectionPlace {
  SymbolPlace place = SymbolPlace::kOther;
  std::int32_t index = -1;  // in the image's vector for that place
};

struct CodeReader {
  // Entries and strings. Each relocation repeats its symbol's name: about 1 KB for some 40 bytes in template-heavy
  // code.
  static constexpr std::uint64_t kPerFileByte = 32;
  static constexpr std::uint64_t kAtLeast = 1 << 20;

  const ElfView& elf;
  CodeImage& image;
  CopyBudget section_bytes;  // sections do not overlap in files from ptxas and nvlink
  CopyBudget budget;         // everything else
  std::vector<ElfSymbol> symbols;
  std::vector<SectionPlace> places;  // by ELF section

  /// A copy that counts.
  std::string text(std::string_view view) {
    budget.take(view.size());
    return std::string(view);
  }
  /// Throws when the index is out of range.
  const ElfSymbol& symbol(std::uint64_t index) const;
  SectionPlace place_of(const ElfSymbol& symbol) const;
};

/// A relocation entry as it stands in the file, REL or RELA.
struct RawRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;
  std::int64_t addend = 0;
};

/// The entries of all relocation sections that change ELF section `target`.
std::vector<RawRelocation> relocations_of(CodeReader& reader, std::size_t target);
/// The entries of one relocation section; empty for other sections.
std::vector<RawRelocation> relocation_entries(const ElfSection& section);

void read_function_facts(CodeReader& reader);  // code_facts.cc
void read_source_lines(CodeReader& reader);    // code_lines.cc
void read_ptx_lines(CodeReader& reader);       // code_lines.cc

}  // namespace muscope::cubin
