// A bounds-checked view of a 64-bit little-endian ELF file: sections, symbols, segments. The bytes may be hostile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::cubin {

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< as stated; `bytes` is empty for NOBITS
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
  std::span<const std::uint8_t> bytes;
};

struct ElfSymbol {
  std::string_view name;
  std::uint8_t type = 0;     ///< STT_FUNC ...
  std::uint8_t binding = 0;  ///< STB_LOCAL ...
  std::uint8_t other = 0;
  std::uint32_t section = 0;  ///< 0 = not defined here
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
};

class ElfView {
 public:
  /// True when the bytes begin like an ELF file.
  static bool looks_like_elf(std::span<const std::uint8_t> bytes);

  /// Reads the headers. No value when they are damaged, with the reason in `why`. Views point into `bytes`.
  static std::optional<ElfView> parse(std::span<const std::uint8_t> bytes, std::string& why);

  std::uint16_t type() const { return type_; }        ///< ET_REL, ET_EXEC, ET_DYN
  std::uint16_t machine() const { return machine_; }  ///< EM_X86_64, EM_CUDA (190)
  std::uint8_t os_abi() const { return os_abi_; }
  std::uint8_t abi_version() const { return abi_version_; }
  std::uint32_t flags() const { return flags_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  /// The first section of that name, or null.
  const ElfSection* find(std::string_view name) const;

  /// Calls `visit(index, symbol)` for each entry of a symbol table section; stops early when it returns false. Entries
  /// whose name is out of bounds have an empty name.
  void for_each_symbol(const ElfSection& table,
                       const std::function<bool(std::uint32_t, const ElfSymbol&)>& visit) const;

  /// The NUL-terminated string at `offset` of a string table; empty when out of bounds, not terminated or longer than
  /// 65,535 characters.
  static std::string_view string_at(std::span<const std::uint8_t> table, std::uint64_t offset);

 private:
  std::span<const std::uint8_t> bytes_;
  std::uint16_t type_ = 0;
  std::uint16_t machine_ = 0;
  std::uint8_t os_abi_ = 0;
  std::uint8_t abi_version_ = 0;
  std::uint32_t flags_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
};

}  // namespace muscope::cubin
