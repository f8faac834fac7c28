#include "report/names.h"

#include <array>
#include <span>

namespace muscope::report {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kGrades[] = {"counted", "modelled", "estimated"};
constexpr std::string_view kSpaceWords[] = {"global", "shared", "local", "const", "texture", "surface"};
constexpr std::string_view kKindWords[] = {
    "load", "store", "red", "atom", "matrix load", "matrix store", "async copy", "async copy past L1", "sample"};
constexpr std::string_view kChanges[] = {
    "joined", "part of",      "widened", "duplicates", "dropped",   "unrolled",  "copied",    "unrolled into",
    "became", "in registers", "spilled", "saved",      "swap loop", "reduction", "increment", "warp sum"};
constexpr std::string_view kLocalUses[] = {"none", "array", "spill", "saved"};
constexpr std::string_view kStates[] = {"finished", "faulted", "stopped"};
constexpr std::string_view kTransfers[] = {"host to device", "device to host", "device to device", "host to host",
                                           "memset"};
constexpr std::string_view kMemories[] = {"pageable", "pinned", "mapped", "managed", "device", "none"};
constexpr std::string_view kSeverities[] = {"note", "warning", "error"};

std::string_view word(Words words, std::size_t value) { return value < words.size() ? words[value] : "unknown"; }

template <typename Enum>
std::optional<Enum> value(Words words, std::string_view text) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == text) return static_cast<Enum>(i);
  return {};
}

}  // namespace

std::string_view name_of(Grade grade) { return word(kGrades, static_cast<std::size_t>(grade)); }
std::string_view word_of(trace::Space space) { return word(kSpaceWords, static_cast<std::size_t>(space)); }
std::string_view word_of(trace::Kind kind) { return word(kKindWords, static_cast<std::size_t>(kind)); }
std::string_view word_of(views::CodeChangeKind kind) { return word(kChanges, static_cast<std::size_t>(kind)); }
std::string_view word_of(views::LocalUse use) { return word(kLocalUses, static_cast<std::size_t>(use)); }
std::string_view word_of(views::LaunchState state) { return word(kStates, static_cast<std::size_t>(state)); }
std::string_view word_of(views::TransferKind kind) { return word(kTransfers, static_cast<std::size_t>(kind)); }
std::string_view word_of(views::HostMemory memory) { return word(kMemories, static_cast<std::size_t>(memory)); }
std::string_view word_of(Severity severity) { return word(kSeverities, static_cast<std::size_t>(severity)); }

template <>
std::optional<Grade> enum_of(std::string_view text) {
  return value<Grade>(kGrades, text);
}
template <>
std::optional<trace::Space> enum_of(std::string_view text) {
  return value<trace::Space>(kSpaceWords, text);
}
template <>
std::optional<trace::Kind> enum_of(std::string_view text) {
  return value<trace::Kind>(kKindWords, text);
}
template <>
std::optional<views::CodeChangeKind> enum_of(std::string_view text) {
  return value<views::CodeChangeKind>(kChanges, text);
}
template <>
std::optional<views::LocalUse> enum_of(std::string_view text) {
  return value<views::LocalUse>(kLocalUses, text);
}
template <>
std::optional<views::LaunchState> enum_of(std::string_view text) {
  return value<views::LaunchState>(kStates, text);
}
template <>
std::optional<views::TransferKind> enum_of(std::string_view text) {
  return value<views::TransferKind>(kTransfers, text);
}
template <>
std::optional<views::HostMemory> enum_of(std::string_view text) {
  return value<views::HostMemory>(kMemories, text);
}
template <>
std::optional<Severity> enum_of(std::string_view text) {
  return value<Severity>(kSeverities, text);
}

}  // namespace muscope::report
