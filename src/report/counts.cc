#include "report/counts.h"

namespace muscope::report {

AccessSums& AccessSums::operator+=(const AccessSums& other) {
  executed += other.executed;
  lanes += other.lanes;
  requests += other.requests;
  sectors += other.sectors;
  ideal_sectors += other.ideal_sectors;
  lines += other.lines;
  bytes += other.bytes;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  host_sectors += other.host_sectors;
  distinct_sectors += other.distinct_sectors;
  t_wavefronts += other.t_wavefronts;
  data_wavefronts += other.data_wavefronts;
  sass_wavefronts += other.sass_wavefronts;
  sass_ideal_wavefronts += other.sass_ideal_wavefronts;
  sass_least_wavefronts += other.sass_least_wavefronts;
  excess_sectors += other.excess_sectors;
  excess_distinct += other.excess_distinct;
  conflicts += other.conflicts;
  sass_conflicts += other.sass_conflicts;
  bank_conflicts += other.bank_conflicts;
  replays += other.replays;
  return *this;
}

AccessSums sums_of(const views::SiteCounts& site) {
  const auto beyond = [](std::uint64_t more, std::uint64_t less) { return more > less ? more - less : 0; };
  AccessSums sums;
  sums.executed = site.executed;
  sums.lanes = site.lanes;
  sums.requests = site.requests;
  sums.sectors = site.sectors;
  sums.ideal_sectors = site.ideal_sectors;
  sums.lines = site.lines;
  sums.bytes = site.bytes;
  sums.wavefronts = site.wavefronts;
  sums.ideal_wavefronts = site.ideal_wavefronts;
  sums.host_sectors = site.host_sectors;
  sums.distinct_sectors = site.distinct_sectors;
  sums.t_wavefronts = site.t_wavefronts;
  sums.data_wavefronts = site.data_wavefronts;
  sums.sass_wavefronts = site.sass_wavefronts;
  sums.sass_ideal_wavefronts = site.sass_ideal_wavefronts;
  sums.sass_least_wavefronts = site.sass_least_wavefronts;
  sums.excess_sectors = beyond(site.sectors, site.ideal_sectors);
  sums.excess_distinct = beyond(site.distinct_sectors, site.ideal_sectors);
  sums.conflicts = beyond(site.wavefronts, site.ideal_wavefronts);
  sums.sass_conflicts = beyond(site.sass_wavefronts, site.sass_ideal_wavefronts);
  sums.bank_conflicts = beyond(site.sass_wavefronts, site.sass_least_wavefronts);
  sums.replays = beyond(site.requests, site.executed);
  return sums;
}

void Counts::add(const views::SiteCounts& site) {
  const auto space = static_cast<std::size_t>(site.space), kind = static_cast<std::size_t>(site.kind);
  if (space < kSpaces && kind < kKinds) access_[space][kind][site.generic ? 1 : 0] += sums_of(site);
}

void Counts::add(const views::FrameCounts& frame) {
  for (std::size_t kind = 0; kind < by_kind_.size(); ++kind) by_kind_[kind] += frame.by_kind[kind];
  warp_instructions_ += frame.warp_instructions;
  thread_instructions_ += frame.thread_instructions;
}

Counts& Counts::operator+=(const Counts& other) {
  for (std::size_t space = 0; space < kSpaces; ++space)
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      for (std::size_t generic = 0; generic < 2; ++generic)
        access_[space][kind][generic] += other.access_[space][kind][generic];
  for (std::size_t kind = 0; kind < by_kind_.size(); ++kind) by_kind_[kind] += other.by_kind_[kind];
  warp_instructions_ += other.warp_instructions_;
  thread_instructions_ += other.thread_instructions_;
  return *this;
}

AccessSums Counts::of(AccessClass wanted) const {
  AccessSums sums;
  for (std::size_t space = 0; space < kSpaces; ++space) {
    if (((wanted.spaces >> space) & 1) == 0) continue;
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      if (((wanted.kinds >> kind) & 1) == 0) continue;
      if (wanted.addressing != AccessClass::Addressing::kGeneric) sums += access_[space][kind][0];
      if (wanted.addressing != AccessClass::Addressing::kNamed) sums += access_[space][kind][1];
    }
  }
  return sums;
}

}  // namespace muscope::report
