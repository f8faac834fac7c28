// Which entry of a fat binary to use for a GPU.
#include <fmt/format.h>

#include <tuple>

#include "cubin/fatbin.h"

namespace muscope::cubin {
namespace {

bool runs_on(const SmTarget& target, int sm) {
  switch (target.variant) {
    case 'a':
      return target.sm == sm;
    case 'f':
      return target.sm / 10 == sm / 10 && target.sm <= sm;
    default:
      return target.sm <= sm;
  }
}

bool is_tegra(int sm) { return sm == 53 || sm == 62 || sm == 72 || sm == 87 || sm == 101 || sm == 110; }

int specificity(const SmTarget& target) { return target.variant == 'a' ? 2 : target.variant == 'f' ? 1 : 0; }

auto rank(const FatbinEntry& entry) {
  return std::tuple(entry.target.sm, specificity(entry.target), entry.version_major, entry.version_minor);
}

auto rank_of_target(const FatbinEntry& entry) { return std::tuple(entry.target.sm, specificity(entry.target)); }

std::string_view name_of(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "";
    case Compression::kLz4:
      return " (LZ4)";
    case Compression::kZstd:
      return " (zstd)";
    case Compression::kUnknown:
      return " (unknown compression)";
  }
  return "";
}

}  // namespace

bool runs_machine_code(const SmTarget& target, int sm) {
  if (target.sm == sm) return true;
  if (target.variant == 'a' || is_tegra(target.sm) || is_tegra(sm)) return false;
  return target.sm / 10 == sm / 10 && target.sm < sm;
}

PtxChoice choose_ptx(std::span<const FatbinEntry> entries, int sm) {
  const FatbinEntry* best = nullptr;
  const FatbinEntry* oldest = nullptr;
  for (const FatbinEntry& entry : entries) {
    if (entry.kind != EntryKind::kPtx) continue;
    if (oldest == nullptr || rank(entry) < rank(*oldest)) oldest = &entry;
    if (runs_on(entry.target, sm) && (best == nullptr || rank(entry) > rank(*best))) best = &entry;
  }
  if (best != nullptr) return {best, false};
  return {oldest, oldest != nullptr};
}

const FatbinEntry* choose_cubin(std::span<const FatbinEntry> entries, int sm, const SmTarget* like) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& entry : entries) {
    if (entry.kind != EntryKind::kCubin || !runs_machine_code(entry.target, sm)) continue;
    if (like != nullptr && entry.target != *like) continue;
    if (best == nullptr || rank_of_target(entry) > rank_of_target(*best)) best = &entry;
  }
  return best;
}

std::string describe(std::span<const FatbinEntry> entries) {
  std::string text;
  for (const FatbinEntry& entry : entries) {
    if (!text.empty()) text += ", ";
    const char* kind = entry.kind == EntryKind::kPtx ? "PTX" : entry.kind == EntryKind::kCubin ? "SASS" : "unknown";
    text += fmt::format("{} {}{}", kind, to_string(entry.target), name_of(entry.compression));
  }
  return text;
}

}  // namespace muscope::cubin
