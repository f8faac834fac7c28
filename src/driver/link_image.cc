#include "driver/link_image.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cubin/elf_view.h"

namespace muscope::driver {
namespace {

constexpr std::string_view kUnit = "muscope-unit-";  // before the number of the input, in an entry's object name
constexpr std::size_t kContainerHeader = 16;
constexpr std::size_t kEntryHeader = 80;  // 64, the record of the options, 8 unused
constexpr std::size_t kArchiveHeader = 60;
constexpr std::string_view kArchiveMagic = "!<arch>\n";

template <typename Value>
void put_at(std::string& bytes, std::size_t at, Value value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::size_t round_up(std::size_t value) { return (value + 7) / 8 * 8; }

// Fields as cubin/fatbin.cc reads them.
std::string entry_bytes(const cubin::FatbinEntry& entry, const std::string& unit) {
  std::string payload = cubin::payload(entry);
  if (entry.kind == cubin::EntryKind::kPtx) payload += '\0';
  const std::size_t options_at = kEntryHeader, name_at = options_at + round_up(entry.options.size() + 1);
  const std::size_t header = name_at + round_up(unit.size() + 1);
  const std::size_t body = round_up(payload.size());
  std::string out(header + body, '\0');
  put_at(out, 0, static_cast<std::uint16_t>(entry.raw_kind));
  put_at(out, 2, std::uint16_t{0x101});
  put_at(out, 4, static_cast<std::uint32_t>(header));
  put_at(out, 8, static_cast<std::uint64_t>(body));
  put_at(out, 24, static_cast<std::uint16_t>(entry.version_minor));
  put_at(out, 26, static_cast<std::uint16_t>(entry.version_major));
  put_at(out, 28, static_cast<std::uint32_t>(entry.target.sm));
  put_at(out, 32, static_cast<std::uint32_t>(name_at));
  put_at(out, 36, static_cast<std::uint32_t>(unit.size()));
  constexpr std::uint64_t kArchitectureVariant = 0x100000, kFamilyVariant = 0x200000;
  put_at(out, 40,
         entry.target.variant == 'a'   ? kArchitectureVariant
         : entry.target.variant == 'f' ? kFamilyVariant
                                       : std::uint64_t{0});
  if (!entry.options.empty()) {
    put_at(out, 20, std::uint32_t{64});
    put_at(out, 64, static_cast<std::uint32_t>(options_at));
    put_at(out, 68, static_cast<std::uint32_t>(entry.options.size()));
  }
  std::memcpy(out.data() + options_at, entry.options.data(), entry.options.size());
  std::memcpy(out.data() + name_at, unit.data(), unit.size());
  std::memcpy(out.data() + header, payload.data(), payload.size());
  return out;
}

std::vector<cubin::FatbinEntry> entries_of_object(std::span<const std::uint8_t> bytes) {
  std::string why;
  std::vector<cubin::FatbinEntry> entries;
  const auto elf = cubin::ElfView::parse(bytes, why);
  if (!elf) return entries;
  for (const cubin::ElfSection& section : elf->sections()) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    if (section.offset > bytes.size() || section.size > bytes.size() - section.offset) continue;
    const cubin::Fatbin found = cubin::decode_bytes(bytes.subspan(section.offset, section.size));
    entries.insert(entries.end(), found.entries.begin(), found.entries.end());
  }
  return entries;
}

}  // namespace

std::string make_link_image(const std::vector<std::vector<cubin::FatbinEntry>>& units) {
  std::string body;
  for (std::size_t n = 0; n < units.size(); ++n)
    for (const cubin::FatbinEntry& entry : units[n]) body += entry_bytes(entry, fmt::format("{}{}", kUnit, n));
  std::string out(kContainerHeader, '\0');
  put_at(out, 0, cubin::kContainerMagic);
  put_at(out, 4, std::uint16_t{1});
  put_at(out, 6, static_cast<std::uint16_t>(kContainerHeader));
  put_at(out, 8, static_cast<std::uint64_t>(body.size()));
  return out + body;
}

void separate_units(cubin::Fatbin& image) {
  std::vector<std::vector<cubin::FatbinEntry>> units;
  for (cubin::FatbinEntry& entry : image.entries) {
    if (!entry.object_name.starts_with(kUnit)) return;
    const auto unit = static_cast<std::size_t>(std::atoi(entry.object_name.c_str() + kUnit.size()));
    if (unit > image.entries.size()) return;
    if (units.size() <= unit) units.resize(unit + 1);
    units[unit].push_back(entry);
    units[unit].back().object_name = "input " + std::to_string(unit + 1);
  }
  for (cubin::FatbinEntry& entry : image.entries) entry.object_name.clear();
  if (units.size() < 2) return;
  image.relocatable = true;
  image.units = std::move(units);
  image.entries.clear();
}

std::vector<std::vector<cubin::FatbinEntry>> device_code_of(std::span<const std::uint8_t> bytes) {
  std::vector<std::vector<cubin::FatbinEntry>> units;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kArchiveMagic)) {
    units.push_back(entries_of_object(bytes));
  } else {
    for (std::size_t at = kArchiveMagic.size(); at + kArchiveHeader <= bytes.size();) {
      const auto size =
          static_cast<std::size_t>(std::strtoull(std::string(text.substr(at + 48, 10)).c_str(), nullptr, 10));
      at += kArchiveHeader;
      if (size > bytes.size() - at) break;
      units.push_back(entries_of_object(bytes.subspan(at, size)));
      at += size + size % 2;
    }
  }
  std::erase_if(units, [](const auto& entries) { return entries.empty(); });
  return units;
}

}  // namespace muscope::driver
