#include "views/access_samples.h"

#include <algorithm>
#include <bit>

namespace muscope::views {
namespace {

using trace::Kind;
using trace::Space;

bool is_atomic(Kind kind) { return kind == Kind::kAtom || kind == Kind::kRed; }

std::size_t class_of(std::uint64_t address) { return (address >> 2) * 0x9e3779b97f4a7c15u >> 58; }

}  // namespace

std::vector<std::uint64_t> witness_blocks(const std::array<std::uint32_t, 3>& grid) {
  const std::uint64_t all = std::uint64_t{grid[0]} * grid[1] * grid[2];
  std::vector<std::uint64_t> blocks{0, 1, grid[0], all / 2, all - 1};
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  std::erase_if(blocks, [&](std::uint64_t block) { return block >= all; });
  return blocks;
}

AccessSamples::AccessSamples(std::size_t sites, const std::array<std::uint32_t, 3>& grid)
    : rows_(sites * kSpaces), witness_blocks_(witness_blocks(grid)), witnesses_(witness_blocks_.size()) {}

AccessSamples::Row& AccessSamples::row_of(const trace::WarpAccess& access) {
  std::unique_ptr<Row>& row = rows_[access.site * kSpaces + static_cast<std::size_t>(access.space)];
  if (!row) {
    row = std::make_unique<Row>();
    row->space = access.space;
  }
  return *row;
}

void AccessSamples::access(const trace::WarpAccess& access) {
  if (access.mask == 0 || access.space == Space::kTexture || access.space == Space::kSurface) return;
  Row& row = row_of(access);
  row.patterns.add(access);
  if (is_atomic(access.kind)) meet(row, access);
  if (Witness* witness = witness_of(access.block)) witness->add(access);
}

void AccessSamples::barrier(std::uint64_t block, std::uint32_t op, bool plain) {
  if (Witness* witness = witness_of(block)) witness->barrier(op, plain);
}

Witness* AccessSamples::witness_of(std::uint64_t block) {
  if (block == last_block_) return last_witness_;
  last_block_ = block;
  last_witness_ = nullptr;
  const auto found = std::lower_bound(witness_blocks_.begin(), witness_blocks_.end(), block);
  if (found != witness_blocks_.end() && *found == block) {
    std::unique_ptr<Witness>& witness = witnesses_[static_cast<std::size_t>(found - witness_blocks_.begin())];
    if (!witness) witness = std::make_unique<Witness>(block);
    last_witness_ = witness.get();
  }
  return last_witness_;
}

void AccessSamples::meet(Row& row, const trace::WarpAccess& access) {
  AtomicMeetings& m = row.meetings;
  if (row.hot.empty()) row.hot.resize(kHotClasses);
  std::array<std::uint64_t, kGroupLanes> addresses;
  std::size_t count = 0;
  for (GroupMask left = access.mask; left != 0; left &= left - 1)
    addresses[count++] = access.address(static_cast<unsigned>(std::countr_zero(left)));
  for (std::size_t i = 0; i < count; ++i) {
    HotClass& hot = row.hot[class_of(addresses[i])];
    ++hot.lanes;
    hot.low = std::min(hot.low, addresses[i]);
    hot.high = std::max(hot.high, addresses[i]);
  }
  std::uint64_t distinct = 1;
  std::size_t most = count;
  if (access.shape == trace::Shape::kAffine && access.stride != 0) {
    distinct = count;
    most = 1;
  } else if (access.shape == trace::Shape::kScattered) {
    std::sort(addresses.begin(), addresses.begin() + static_cast<std::ptrdiff_t>(count));
    most = 1;
    std::size_t run = 1;
    for (std::size_t i = 1; i < count; ++i) {
      run = addresses[i] == addresses[i - 1] ? run + 1 : 1;
      distinct += run == 1;
      most = std::max(most, run);
    }
  }
  ++m.requests;
  m.lanes += count;
  m.addresses += distinct;
  ++m.by_most[static_cast<std::size_t>(std::bit_width(most - 1))];
}

void AccessSamples::merge(AccessSamples& other) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!other.rows_[i]) continue;
    if (!rows_[i]) {
      rows_[i] = std::move(other.rows_[i]);
      continue;
    }
    Row& to = *rows_[i];
    const Row& from = *other.rows_[i];
    to.patterns.merge(from.patterns);
    to.meetings.requests += from.meetings.requests;
    to.meetings.lanes += from.meetings.lanes;
    to.meetings.addresses += from.meetings.addresses;
    for (std::size_t k = 0; k < to.meetings.by_most.size(); ++k) to.meetings.by_most[k] += from.meetings.by_most[k];
    if (to.hot.empty()) to.hot.resize(from.hot.size());
    for (std::size_t k = 0; k < from.hot.size(); ++k) {
      to.hot[k].lanes += from.hot[k].lanes;
      to.hot[k].low = std::min(to.hot[k].low, from.hot[k].low);
      to.hot[k].high = std::max(to.hot[k].high, from.hot[k].high);
    }
  }
  for (std::size_t i = 0; i < witnesses_.size(); ++i)
    if (other.witnesses_[i]) witnesses_[i] = std::move(other.witnesses_[i]);
}

LaunchSamples AccessSamples::finish() const {
  LaunchSamples out;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i]) continue;
    const Row& row = *rows_[i];
    SiteSamples samples;
    samples.site = static_cast<std::uint32_t>(i / kSpaces);
    samples.space = row.space;
    row.patterns.finish(samples);
    samples.meetings = row.meetings;
    const auto hottest = std::max_element(row.hot.begin(), row.hot.end(),
                                          [](const HotClass& a, const HotClass& b) { return a.lanes < b.lanes; });
    if (hottest != row.hot.end()) {
      samples.meetings.hot_lanes = hottest->lanes;
      samples.meetings.hot_address = hottest->low;
      samples.meetings.hot_is_one = hottest->low == hottest->high;
    }
    out.sites.push_back(std::move(samples));
  }
  for (const auto& witness : witnesses_)
    if (witness) out.witnesses.push_back(witness->finish());
  return out;
}

}  // namespace muscope::views
