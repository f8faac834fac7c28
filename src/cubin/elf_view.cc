#include "cubin/elf_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cubin/byte_reader.h"

namespace muscope::cubin {
namespace {

constexpr std::uint64_t kElfHeader = 64;
constexpr std::uint64_t kSectionHeader = 64;
constexpr std::uint64_t kSegmentHeader = 56;
constexpr std::uint64_t kSymbol = 24;
constexpr std::uint32_t kNobits = 8;
constexpr std::uint64_t kLongestName = 1 << 16;  // many symbols may share one name without end: each search stays short
constexpr std::uint32_t kExtendedIndex = 0xffff;  // SHN_XINDEX

using Bytes = std::span<const std::uint8_t>;

ElfSection section_at(Bytes bytes, std::uint64_t at) {
  ElfSection section;
  section.type = read_at<std::uint32_t>(bytes, at + 4);
  section.flags = read_at<std::uint64_t>(bytes, at + 8);
  section.address = read_at<std::uint64_t>(bytes, at + 16);
  section.offset = read_at<std::uint64_t>(bytes, at + 24);
  section.size = read_at<std::uint64_t>(bytes, at + 32);
  section.link = read_at<std::uint32_t>(bytes, at + 40);
  section.info = read_at<std::uint32_t>(bytes, at + 44);
  section.entry_size = read_at<std::uint64_t>(bytes, at + 56);
  if (section.type != kNobits && inside(bytes.size(), section.offset, section.size)) {
    section.bytes = bytes.subspan(section.offset, section.size);
  }
  return section;
}

}  // namespace

bool ElfView::looks_like_elf(Bytes bytes) { return bytes.size() >= 4 && std::memcmp(bytes.data(), "\177ELF", 4) == 0; }

std::string_view ElfView::string_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const char* begin = reinterpret_cast<const char*>(table.data() + offset);
  const void* end = std::memchr(begin, 0, std::min<std::uint64_t>(table.size() - offset, kLongestName));
  if (end == nullptr) return {};
  return {begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin)};
}

std::optional<ElfView> ElfView::parse(Bytes bytes, std::string& why) {
  const auto refuse = [&](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  if (!looks_like_elf(bytes)) return refuse("it does not begin like an ELF file");
  if (bytes.size() < kElfHeader) return refuse("the ELF header is cut off");
  if (bytes[4] != 2) return refuse("it is not a 64-bit ELF file");
  if (bytes[5] != 1) return refuse("it is not little-endian");
  ElfView elf;
  elf.bytes_ = bytes;
  elf.os_abi_ = bytes[7];
  elf.abi_version_ = bytes[8];
  elf.type_ = read_at<std::uint16_t>(bytes, 16);
  elf.machine_ = read_at<std::uint16_t>(bytes, 18);
  elf.flags_ = read_at<std::uint32_t>(bytes, 48);

  const auto segments = read_at<std::uint64_t>(bytes, 32);
  const auto segment_count = read_at<std::uint16_t>(bytes, 56);
  if (segment_count != 0 && read_at<std::uint16_t>(bytes, 54) != kSegmentHeader)
    return refuse("unknown size of segment headers");
  if (!inside(bytes.size(), segments, segment_count * kSegmentHeader))
    return refuse("the segment headers lie outside the file");
  for (unsigned i = 0; i < segment_count; ++i) {
    const std::uint64_t at = segments + i * kSegmentHeader;
    elf.segments_.push_back({read_at<std::uint32_t>(bytes, at), read_at<std::uint64_t>(bytes, at + 8),
                             read_at<std::uint64_t>(bytes, at + 16), read_at<std::uint64_t>(bytes, at + 32)});
  }

  const auto sections = read_at<std::uint64_t>(bytes, 40);
  if (sections == 0) return elf;  // allowed: a program without section headers
  if (read_at<std::uint16_t>(bytes, 58) != kSectionHeader) return refuse("unknown size of section headers");
  // More than 65,279 sections: the count and the index of the names stand in the first section header (ELF gABI).
  std::uint64_t count = read_at<std::uint16_t>(bytes, 60);
  std::uint32_t names = read_at<std::uint16_t>(bytes, 62);
  if (!inside(bytes.size(), sections, kSectionHeader)) return refuse("the section headers lie outside the file");
  if (count == 0) count = read_at<std::uint64_t>(bytes, sections + 32);
  if (names == kExtendedIndex) names = read_at<std::uint32_t>(bytes, sections + 40);
  if (count > bytes.size() / kSectionHeader || !inside(bytes.size(), sections, count * kSectionHeader)) {
    return refuse(fmt::format("{} section headers do not fit into the file", count));
  }
  elf.sections_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    ElfSection section = section_at(bytes, sections + i * kSectionHeader);
    if (section.type != 0 && section.type != kNobits && !inside(bytes.size(), section.offset, section.size)) {
      return refuse(fmt::format("section {} lies outside the file", i));
    }
    elf.sections_.push_back(section);
  }
  if (names >= count && count != 0) return refuse("the section names are missing");
  for (std::uint64_t i = 0; i < count; ++i) {
    elf.sections_[i].name =
        string_at(elf.sections_[names].bytes, read_at<std::uint32_t>(bytes, sections + i * kSectionHeader));
  }
  return elf;
}

const ElfSection* ElfView::find(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

void ElfView::for_each_symbol(const ElfSection& table,
                              const std::function<bool(std::uint32_t, const ElfSymbol&)>& visit) const {
  const Bytes names = table.link < sections_.size() ? sections_[table.link].bytes : Bytes{};
  const std::uint64_t count = table.bytes.size() / kSymbol;
  for (std::uint64_t i = 0; i < count && i <= 0xffffffffu; ++i) {
    const Bytes entry = table.bytes.subspan(i * kSymbol, kSymbol);
    ElfSymbol symbol;
    symbol.name = string_at(names, read_at<std::uint32_t>(entry, 0));
    symbol.type = entry[4] & 0xf;
    symbol.binding = entry[4] >> 4;
    symbol.other = entry[5];
    symbol.section = read_at<std::uint16_t>(entry, 6);
    symbol.value = read_at<std::uint64_t>(entry, 8);
    symbol.size = read_at<std::uint64_t>(entry, 16);
    if (!visit(static_cast<std::uint32_t>(i), symbol)) return;
  }
}

}  // namespace muscope::cubin
