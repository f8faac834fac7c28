// Wrappers, containers and entries of fat binaries. Field offsets are within the structure named beside them.
#include "cubin/fatbin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "cubin/byte_reader.h"
#include "cubin/elf_view.h"

namespace muscope::cubin {
namespace {

constexpr std::uint64_t kContainerHeader = 16;
constexpr std::uint64_t kMinEntryHeader = 64;
constexpr std::uint64_t kMaxEntryHeader = 1u << 20;  // nvcc's largest seen: 128; options and names can be long
constexpr std::uint64_t kMaxInMemory = 1ull << 32;   // no container is larger: relocations in the program are 32 bits
constexpr std::size_t kMaxUnits = 1u << 16;          // translation units of one -rdc=true program
constexpr std::size_t kPtxPreamble = 4096;           // .version comes after at most some comments

constexpr std::uint64_t kFlagDebug = 0x2;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagArchitectureVariant = 0x100000;  // "90a"
constexpr std::uint64_t kFlagFamilyVariant = 0x200000;        // "100f"

constexpr std::string_view kRebuild =
    "rebuild the program; if it was built with a newer CUDA toolkit, please report it";

[[noreturn]] void corrupt(const std::string& what) {
  fail("D206", "corrupt fat binary: " + what, std::string(kRebuild));
}

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool is_text(std::uint8_t byte) {
  return byte >= 0x20 ? byte != 0x7f : byte == '\n' || byte == '\t' || byte == '\r' || byte == '\f';
}

// PTX begins with blanks and comments, then .version (PTX ISA, "PTX Module Directives").
bool looks_like_ptx(Bytes bytes) {
  const std::string_view text = as_text(bytes.first(std::min(bytes.size(), kPtxPreamble)));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::string_view rest = text.substr(first);
  if (!rest.starts_with("//") && !rest.starts_with("/*") && !rest.starts_with(".version")) return false;
  return text.substr(0, text.find('\0')).find(".version") != std::string_view::npos;
}

// The number after `at`, digits only; -1 when there is none or it is absurd.
int number_at(std::string_view text, std::size_t& at) {
  int value = -1;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < 100000; ++at) {
    value = std::max(value, 0) * 10 + (text[at] - '0');
  }
  return value;
}

// .version and .target of PTX text: enough to choose by, the parser looks closer.
FatbinEntry entry_of_ptx(Bytes text_bytes) {
  FatbinEntry entry;
  entry.kind = EntryKind::kPtx;
  entry.raw_kind = 1;
  entry.stored = text_bytes;
  entry.size = text_bytes.size();
  const std::string_view text = as_text(text_bytes);
  constexpr std::string_view kVersion = ".version";
  constexpr std::string_view kTarget = ".target";
  std::size_t at = text.find(kVersion);
  if (at == std::string_view::npos) return entry;
  at = std::min(text.find_first_not_of(" \t", at + kVersion.size()), text.size());
  entry.version_major = std::max(number_at(text, at), 0);
  if (at < text.size() && text[at] == '.') entry.version_minor = std::max(number_at(text, ++at), 0);
  at = text.find(kTarget, at);
  if (at == std::string_view::npos) return entry;
  at = text.find_first_not_of(" \t", at + kTarget.size());
  if (at == std::string_view::npos || !text.substr(at).starts_with("sm_")) return entry;
  at += 3;
  entry.target.sm = std::max(number_at(text, at), 0);
  if (at < text.size() && (text[at] == 'a' || text[at] == 'f')) entry.target.variant = text[at];
  return entry;
}

FatbinEntry entry_of_cubin(Bytes cubin) {
  FatbinEntry entry;
  entry.kind = EntryKind::kCubin;
  entry.raw_kind = 2;
  entry.stored = cubin;
  entry.size = cubin.size();
  std::string why;
  if (const auto elf = ElfView::parse(cubin, why)) {
    entry.target.sm = static_cast<int>(elf->abi_version() >= 8 ? (elf->flags() >> 8) & 0xff : elf->flags() & 0xff);
  }
  return entry;
}

// A string inside the entry header. nvcc counts NULs at its end too.
std::string header_string(Bytes header, std::uint64_t offset, std::uint64_t length) {
  if (offset == 0 || length == 0 || !inside(header.size(), offset, length)) return {};
  std::string_view text = as_text(header.subspan(offset, length));
  text = text.substr(0, text.find('\0'));
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

Compression compression_of(const FatbinEntry& entry, std::uint64_t compressed_size) {
  if ((entry.flags & kFlagZstd) != 0) return Compression::kZstd;
  if ((entry.flags & kFlagLz4) != 0) return Compression::kLz4;
  // Uncompressed entries state neither size; what states both but has no flag that is known is compressed in a new way.
  if (compressed_size != 0 && entry.size != 0 && entry.size != compressed_size) return Compression::kUnknown;
  return Compression::kNone;
}

// One entry at the start of `rest`; returns its length in the container.
std::uint64_t decode_entry(Bytes rest, FatbinEntry& entry) {
  if (rest.size() < kMinEntryHeader) corrupt(fmt::format("an entry header is cut off after {} bytes", rest.size()));
  const auto header_size = read_at<std::uint32_t>(rest, 4);
  const auto payload_size = read_at<std::uint64_t>(rest, 8);
  if (header_size < kMinEntryHeader || header_size > kMaxEntryHeader)
    corrupt(fmt::format("an entry header of {} bytes", header_size));
  if (!inside(rest.size(), header_size, payload_size)) {
    corrupt(fmt::format("an entry of {} + {} bytes with {} left", header_size, payload_size, rest.size()));
  }
  const Bytes header = rest.first(header_size);
  entry.raw_kind = read_at<std::uint16_t>(header, 0);
  entry.kind = entry.raw_kind == 1 ? EntryKind::kPtx : entry.raw_kind == 2 ? EntryKind::kCubin : EntryKind::kOther;
  const auto compressed_size = read_at<std::uint32_t>(header, 16);
  const auto options_record = read_at<std::uint32_t>(header, 20);
  entry.version_minor = read_at<std::uint16_t>(header, 24);
  entry.version_major = read_at<std::uint16_t>(header, 26);
  entry.flags = read_at<std::uint64_t>(header, 40);
  entry.debug = (entry.flags & kFlagDebug) != 0;
  const char variant = (entry.flags & kFlagFamilyVariant) != 0         ? 'f'
                       : (entry.flags & kFlagArchitectureVariant) != 0 ? 'a'
                                                                       : '\0';
  entry.target = {static_cast<int>(read_at<std::uint32_t>(header, 28) & 0xffff), variant};
  entry.object_name = header_string(header, read_at<std::uint32_t>(header, 32), read_at<std::uint32_t>(header, 36));
  // The record {offset, length} is for ptxas options of PTX; cubins keep binary attributes there.
  if (entry.kind == EntryKind::kPtx && options_record >= kMinEntryHeader && inside(header_size, options_record, 8)) {
    entry.options = header_string(header, read_at<std::uint32_t>(header, options_record),
                                  read_at<std::uint32_t>(header, options_record + 4));
  }
  entry.size = read_at<std::uint64_t>(header, 56);
  entry.compression = compression_of(entry, compressed_size);
  entry.stored = rest.subspan(header_size, payload_size);
  if (entry.compression == Compression::kNone) {
    entry.size = payload_size;
  } else if (compressed_size != 0) {
    if (compressed_size > payload_size)
      corrupt(fmt::format("{} compressed bytes in a payload of {}", compressed_size, payload_size));
    entry.stored = entry.stored.first(compressed_size);  // the rest is padding, which decompressors refuse
  }
  return header_size + payload_size;
}

// The entries of the container at the start of `bytes`, and its length.
std::uint64_t decode_container(Bytes bytes, std::vector<FatbinEntry>& entries) {
  if (bytes.size() < kContainerHeader) corrupt("a container header is cut off");
  const auto header_size = read_at<std::uint16_t>(bytes, 6);
  const auto size = read_at<std::uint64_t>(bytes, 8);
  if (header_size < kContainerHeader) corrupt(fmt::format("a container header of {} bytes", header_size));
  if (!inside(bytes.size(), header_size, size))
    corrupt(fmt::format("a container of {} bytes with {} left", size, bytes.size()));
  Bytes rest = bytes.subspan(header_size, size);
  while (!rest.empty()) {
    // Fewer bytes than any entry, all zero: padding.
    if (rest.size() < kMinEntryHeader && std::all_of(rest.begin(), rest.end(), [](std::uint8_t b) { return b == 0; }))
      break;
    FatbinEntry entry;
    rest = rest.subspan(decode_entry(rest, entry));
    entries.push_back(std::move(entry));
  }
  return header_size + size;
}

bool is_container(Bytes bytes) { return bytes.size() >= 4 && read_at<std::uint32_t>(bytes, 0) == kContainerMagic; }

// ---- memory of the running program: extents come from headers ----

/// Memory of the program, from which an image is read piece by piece.
class ImageMemory {
 public:
  explicit ImageMemory(Readable readable) : readable_(readable) {}

  Bytes bytes(const std::uint8_t* at, std::uint64_t count) const {
    if (!readable_(at, count)) corrupt("it reaches beyond the memory that it lies in");
    return Bytes(at, count);
  }

  Bytes container(const std::uint8_t* at) const {
    const Bytes header = bytes(at, kContainerHeader);
    const auto size = read_at<std::uint64_t>(header, 8);
    if (size > kMaxInMemory) corrupt(fmt::format("a container of {} bytes", size));
    return bytes(at, read_at<std::uint16_t>(header, 6) + size);
  }

  Bytes text(const std::uint8_t* at) const {
    constexpr std::uint64_t kPiece = 4096;  // readable as a whole or not
    std::uint64_t length = 0;
    for (; length < kMaxInMemory; ++length) {
      const bool piece_begins = length == 0 || reinterpret_cast<std::uintptr_t>(at + length) % kPiece == 0;
      if (piece_begins && !readable_(at + length, 1)) break;
      if (!is_text(at[length])) break;
    }
    return Bytes(at, length);
  }

  Bytes cubin(const std::uint8_t* at) const {
    constexpr std::uint64_t kElfHeader = 64;
    constexpr std::uint64_t kSectionHeader = 64;
    constexpr std::uint64_t kProgramHeader = 56;
    const Bytes header = bytes(at, kElfHeader);
    const auto sections = read_at<std::uint64_t>(header, 40);
    const auto segments = read_at<std::uint64_t>(header, 32);
    const auto section_count = read_at<std::uint16_t>(header, 60);
    std::uint64_t end = kElfHeader;
    const auto cover = [&](std::uint64_t offset, std::uint64_t size) {
      if (offset > kMaxInMemory || size > kMaxInMemory) corrupt("a cubin whose headers point outside it");
      end = std::max(end, offset + size);
    };
    cover(sections, section_count * kSectionHeader);
    cover(segments, read_at<std::uint16_t>(header, 56) * kProgramHeader);
    const Bytes table = bytes(at + sections, section_count * kSectionHeader);
    for (unsigned i = 0; i < section_count; ++i) {
      const Bytes section = table.subspan(i * kSectionHeader, kSectionHeader);
      constexpr std::uint32_t kNobits = 8;
      if (read_at<std::uint32_t>(section, 4) != kNobits)
        cover(read_at<std::uint64_t>(section, 24), read_at<std::uint64_t>(section, 32));
    }
    return bytes(at, end);
  }

  std::vector<FatbinEntry> entries(const void* image) const {
    const auto* at = static_cast<const std::uint8_t*>(image);
    if (at == nullptr) corrupt("a null pointer");
    std::vector<FatbinEntry> entries;
    const Bytes start = bytes(at, 4);
    if (is_container(start)) {
      decode_container(container(at), entries);
    } else if (ElfView::looks_like_elf(start)) {
      entries.push_back(entry_of_cubin(cubin(at)));
    } else if (const Bytes ptx = text(at); looks_like_ptx(ptx)) {
      entries.push_back(entry_of_ptx(ptx));
    } else {
      corrupt(fmt::format("neither a container, a cubin nor PTX text (begins with {:#010x})",
                          read_at<std::uint32_t>(start, 0)));
    }
    return entries;
  }

 private:
  Readable readable_;
};

}  // namespace

Fatbin decode_registered(const void* wrapper, Readable readable) {
  const ImageMemory memory(readable);
  const auto* at = static_cast<const std::uint8_t*>(wrapper);
  if (at == nullptr) corrupt("a null pointer");
  Fatbin fatbin;
  if (read_at<std::uint32_t>(memory.bytes(at, 4), 0) != kWrapperMagic) {
    fatbin.entries = memory.entries(at);
    return fatbin;
  }
  const Bytes header = memory.bytes(at, 24);
  const auto version = read_at<std::uint32_t>(header, 4);
  const auto data = read_at<std::uint64_t>(header, 8);
  const auto units = read_at<std::uint64_t>(header, 16);
  if (version != 1 && version != 2) corrupt(fmt::format("a wrapper of version {}", version));
  fatbin.entries = memory.entries(reinterpret_cast<const void*>(data));
  fatbin.relocatable = version == 2;
  if (version == 2 && units != 0) {
    const auto* list = reinterpret_cast<const std::uint8_t*>(units);
    for (std::size_t i = 0; i < kMaxUnits; ++i) {
      const auto unit = read_at<std::uint64_t>(memory.bytes(list + 8 * i, 8), 0);
      if (unit == 0) break;
      fatbin.units.push_back(memory.entries(reinterpret_cast<const void*>(unit)));
    }
  }
  return fatbin;
}

Fatbin decode_available(Bytes bytes, std::vector<Diagnostic>& problems) {
  Fatbin fatbin;
  std::uint64_t at = 0;
  while (at < bytes.size()) {
    const Bytes rest = bytes.subspan(at);
    std::uint64_t used = 8;
    if (is_container(rest)) {
      try {
        used = decode_container(rest, fatbin.entries);
      } catch (const Error& error) {
        problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
      }
    } else if (at == 0 && ElfView::looks_like_elf(rest)) {
      fatbin.entries.push_back(entry_of_cubin(rest));
      used = rest.size();
    } else if (rest[0] != 0 && looks_like_ptx(rest)) {
      const Bytes text = rest.first(static_cast<std::size_t>(std::find(rest.begin(), rest.end(), 0) - rest.begin()));
      fatbin.entries.push_back(entry_of_ptx(text));
      used = text.size();
    }
    // Containers and texts of several translation units lie at multiples of 8.
    at += (used + 7) / 8 * 8;
  }
  return fatbin;
}

Fatbin decode_bytes(Bytes bytes) {
  std::vector<Diagnostic> problems;
  Fatbin fatbin = decode_available(bytes, problems);
  if (!problems.empty()) throw Error(std::move(problems));
  if (fatbin.entries.empty()) corrupt("neither a container, a cubin nor PTX text");
  return fatbin;
}

}  // namespace muscope::cubin
