// Building blocks of the metric table: access classes and the few shapes that a definition can have. Each template is
// a plain function of Counts, so a table row can hold its address.
#pragma once

#include "report/metrics.h"

namespace muscope::report::formulas {

using trace::Kind;
using trace::Space;
using Value = std::optional<MetricValue>;
using Field = std::uint64_t AccessSums::*;

constexpr std::uint8_t bit(Space space) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(space)); }
constexpr std::uint16_t bit(Kind kind) { return static_cast<std::uint16_t>(1u << static_cast<unsigned>(kind)); }
inline constexpr std::uint8_t kEverySpace = (1u << kSpaces) - 1;
inline constexpr std::uint16_t kEveryKind = (1u << kKinds) - 1;
inline constexpr std::uint16_t kAtomics = bit(Kind::kRed) | bit(Kind::kAtom);
inline constexpr std::uint16_t kAsyncCopies = bit(Kind::kCopy) | bit(Kind::kCopyAround);

constexpr AccessClass in(Space space, Kind kind) { return {bit(space), bit(kind)}; }
constexpr AccessClass in(Space space, std::uint16_t kinds = kEveryKind) { return {bit(space), kinds}; }
constexpr AccessClass named(AccessClass c) { return {c.spaces, c.kinds, AccessClass::Addressing::kNamed}; }
constexpr AccessClass generic(Kind kind) { return {kEverySpace, bit(kind), AccessClass::Addressing::kGeneric}; }
constexpr AccessClass generic_atomics() { return {kEverySpace, kAtomics, AccessClass::Addressing::kGeneric}; }

/// Factor times the sum of a field.
template <AccessClass kClass, Field kField, std::uint64_t kFactor = 1>
Value total(const Counts& counts) {
  const AccessSums sums = counts.of(kClass);
  if (sums.executed == 0) return {};
  return sums.*kField * kFactor;
}

/// kScale * numerator / (kUnit * denominator).
template <AccessClass kClass, Field kNumerator, Field kDenominator, int kScale = 1, int kUnit = 1>
Value ratio(const Counts& counts) {
  const AccessSums sums = counts.of(kClass);
  if (sums.*kDenominator == 0) return {};
  return kScale * static_cast<double>(sums.*kNumerator) / (kUnit * static_cast<double>(sums.*kDenominator));
}

/// Thread instructions of one kind, or of several (with weights of 1).
template <views::InstructionKind... kKind>
Value threads(const Counts& counts) {
  const std::uint64_t sum = (counts.threads(kKind) + ...);
  if (sum == 0) return {};
  return sum;
}

/// Floating-point operations: a fused multiply-add is two.
template <views::InstructionKind kAdd, views::InstructionKind kMul, views::InstructionKind kFma>
Value flops(const Counts& counts) {
  const std::uint64_t sum = counts.threads(kAdd) + counts.threads(kMul) + 2 * counts.threads(kFma);
  if (sum == 0) return {};
  return sum;
}

}  // namespace muscope::report::formulas
