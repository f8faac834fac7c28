// Counts: what a piece of a run (a site, a line, a launch) executed, summed by access class. Metrics are functions of
// this, so they mean the same for a line as for a launch.
#pragma once

#include <array>
#include <cstdint>

#include "views/records.h"

namespace muscope::report {

/// Sums over the executions of some accesses; fields as in views::SiteCounts.
struct AccessSums {
  std::uint64_t executed = 0;
  std::uint64_t lanes = 0;
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t ideal_sectors = 0;
  std::uint64_t lines = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t ideal_wavefronts = 0;
  std::uint64_t host_sectors = 0;
  std::uint64_t distinct_sectors = 0;
  std::uint64_t t_wavefronts = 0;
  std::uint64_t data_wavefronts = 0;
  std::uint64_t sass_wavefronts = 0;
  std::uint64_t sass_ideal_wavefronts = 0;
  std::uint64_t sass_least_wavefronts = 0;
  // Differences are taken per site, so that they stay additive over lines.
  std::uint64_t excess_sectors = 0;   ///< sectors - ideal_sectors
  std::uint64_t excess_distinct = 0;  ///< distinct_sectors - ideal_sectors
  std::uint64_t conflicts = 0;        ///< wavefronts - ideal_wavefronts
  std::uint64_t sass_conflicts = 0;   ///< sass_wavefronts - sass_ideal_wavefronts
  std::uint64_t bank_conflicts = 0;   ///< sass_wavefronts - sass_least_wavefronts
  std::uint64_t replays = 0;          ///< requests - executed (constant memory)

  AccessSums& operator+=(const AccessSums& other);
  bool operator==(const AccessSums&) const = default;
};

/// The sums of one site.
AccessSums sums_of(const views::SiteCounts& site);

inline constexpr unsigned kSpaces = 6;  ///< trace::Space
inline constexpr unsigned kKinds = 9;   ///< trace::Kind

/// A set of accesses: one or all spaces, some kinds, generic instructions or not.
struct AccessClass {
  enum class Addressing : std::uint8_t { kAny, kNamed, kGeneric };
  std::uint8_t spaces = 0;  ///< bit per trace::Space
  std::uint16_t kinds = 0;  ///< bit per trace::Kind
  Addressing addressing = Addressing::kAny;
};

class Counts {
 public:
  void add(const views::SiteCounts& site);
  void add(const views::FrameCounts& frame);
  Counts& operator+=(const Counts& other);

  AccessSums of(AccessClass wanted) const;
  std::uint64_t threads(views::InstructionKind kind) const { return by_kind_[static_cast<std::size_t>(kind)]; }
  std::uint64_t warp_instructions() const { return warp_instructions_; }
  std::uint64_t thread_instructions() const { return thread_instructions_; }

  bool operator==(const Counts&) const = default;

 private:
  std::array<std::array<std::array<AccessSums, 2>, kKinds>, kSpaces> access_{};
  std::array<std::uint64_t, views::kInstructionKinds> by_kind_{};
  std::uint64_t warp_instructions_ = 0;
  std::uint64_t thread_instructions_ = 0;
};

}  // namespace muscope::report
