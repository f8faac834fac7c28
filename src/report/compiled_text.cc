#include "report/compiled_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/names.h"
#include "report/number_format.h"

namespace muscope::report {
namespace {

using views::CodeAccesses;
using views::CodeChangeKind;

/// "global load", "load" of a generic address
std::string noun_of(const views::CodeChange& change) {
  const std::string_view verb = change.access == trace::Kind::kStore  ? "store"
                                : change.access == trace::Kind::kLoad ? "load"
                                                                      : "atomic";
  return change.generic ? std::string(verb) : fmt::format("{} {}", word_of(change.space), verb);
}

std::string bytes_text(std::uint32_t bytes) { return counted_noun(bytes, "byte", "bytes"); }

/// "4 global loads of 4 bytes"; "6 global loads (32 bytes)" of several widths
std::string long_text(const CodeAccesses& a, const std::string& noun) {
  const std::string head = counted_noun(a.count, noun, noun + "s");
  return a.each > 0 ? fmt::format("{} of {}", head, bytes_text(a.each))
                    : fmt::format("{} ({})", head, bytes_text(a.bytes));
}

/// "1 of 16"; "3 (32 bytes)"
std::string short_text(const CodeAccesses& a) {
  return a.each > 0 ? fmt::format("{} of {}", grouped(std::uint64_t{a.count}), grouped(std::uint64_t{a.each}))
                    : fmt::format("{} ({})", grouped(std::uint64_t{a.count}), bytes_text(a.bytes));
}

std::string changed_text(const views::CodeChange& c) {
  return fmt::format("{} became {}", long_text(c.ptx, noun_of(c)), short_text(c.machine));
}

std::string dropped_text(const views::CodeChange& c, std::string_view why) {
  const std::uint32_t gone = c.ptx.count - std::min(c.ptx.count, c.machine.count);
  const std::string noun = noun_of(c);
  if (gone == c.ptx.count) return fmt::format("{} dropped{}", counted_noun(gone, noun, noun + "s"), why);
  return fmt::format("{} of {} {}s dropped{}", gone, c.ptx.count, noun, why);
}

}  // namespace

std::string text_of(const views::CodeChange& c) {
  const bool one = c.ptx.count == 1;
  switch (c.kind) {
    case CodeChangeKind::kJoined:
    case CodeChangeKind::kBecame:
      return changed_text(c);
    case CodeChangeKind::kUnrolledInto:
      return "loop unrolled: " + changed_text(c);
    case CodeChangeKind::kPartOf:
      return fmt::format("{} {} of {} at the next addresses", long_text(c.ptx, noun_of(c)),
                         one ? "is part" : "are part", one ? "a wider one" : "wider ones");
    case CodeChangeKind::kWidened:
      return changed_text(c) + ", with others at the next addresses";
    case CodeChangeKind::kDuplicates:
      return dropped_text(c, ": same address as another");
    case CodeChangeKind::kDropped:
      return dropped_text(c, c.access == trace::Kind::kLoad ? " (value known or not used)" : "");
    case CodeChangeKind::kUnrolled:
      return fmt::format("loop unrolled: {} {} in the code {} times", long_text(c.ptx, noun_of(c)),
                         one ? "stands" : "stand", c.machine.count);
    case CodeChangeKind::kCopied:
      return fmt::format("code doubled: {} {} in it {} times", long_text(c.ptx, noun_of(c)), one ? "stands" : "stand",
                         c.machine.count);
    case CodeChangeKind::kInRegisters:
      return fmt::format("{} dropped: the variable is in registers",
                         counted_noun(c.ptx.count, noun_of(c), noun_of(c) + "s"));
    case CodeChangeKind::kSpilled:
      return fmt::format("{} ({})",
                         c.access == trace::Kind::kStore ? counted_noun(c.machine.count, "spill store", "spill stores")
                                                         : counted_noun(c.machine.count, "spill load", "spill loads"),
                         bytes_text(c.machine.bytes));
    case CodeChangeKind::kSaved:
      return fmt::format("{} {} in a called function ({}: kept for the caller, or spilled)",
                         counted_noun(c.machine.count, "register", "registers"),
                         c.access == trace::Kind::kStore ? "stored" : "loaded", bytes_text(c.machine.bytes));
    case CodeChangeKind::kSwapLoop:
      return fmt::format("{} became a compare-and-swap loop (ATOMS.CAST.SPIN)", noun_of(c));
    case CodeChangeKind::kReduction:
      return fmt::format("{} without a used result became a reduction (RED)", noun_of(c));
    case CodeChangeKind::kIncrement:
      return "additions of 1 by lanes with one address are one update (ATOMS.POPC.INC)";
    case CodeChangeKind::kWarpSum:
      return fmt::format("{}: the lanes of a warp are combined first", noun_of(c));
  }
  return {};
}

std::string spill_text(const CodeChangeReport& change) {
  std::string text = text_of(change);
  if (change.executed > 0) text += fmt::format(", executed {} by warps", times_text(change.executed));
  return text;
}

std::vector<const CodeChangeReport*> changes_of(const LaunchReport& launch, const LineReport& line) {
  std::vector<const CodeChangeReport*> found;
  const auto same = [](const SourcePosition& a, const SourcePosition& b) {
    return a.file == b.file && a.line == b.line && a.function == b.function;
  };
  for (const CodeChangeReport& change : launch.code.changes)
    if (!line.at.file.empty() && same(change.at, line.at) &&
        std::equal(change.inlined_at.begin(), change.inlined_at.end(), line.inlined_at.begin(), line.inlined_at.end(),
                   same))
      found.push_back(&change);
  return found;
}

}  // namespace muscope::report
