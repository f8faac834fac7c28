// Samples of a launch to bytes and back (records_io.h).
#include <algorithm>

#include "views/io_parts.h"
#include "views/samples.h"

namespace muscope::views {
namespace {

constexpr std::size_t kPatternFields = 10;

void put(CborWriter& w, const AccessPattern& p) {
  w.array(kPatternFields + p.addresses.size());
  w.unsigned_integer(p.mask);
  w.integer(p.stride);
  w.unsigned_integer(p.count);
  w.unsigned_integer(p.base);
  w.integer(static_cast<std::int64_t>(p.low - p.base));
  w.integer(static_cast<std::int64_t>(p.high - p.base));
  w.unsigned_integer(p.block);
  w.unsigned_integer(p.warp);
  w.unsigned_integer(p.issue);
  w.boolean(p.scattered());
  std::uint64_t before = p.base;  // neighbouring lanes are near each other: differences are short
  for (unsigned lane = 0; lane < p.addresses.size(); ++lane) {
    const bool active = (p.mask >> lane) & 1;
    w.integer(active ? static_cast<std::int64_t>(p.addresses[lane] - before) : 0);
    if (active) before = p.addresses[lane];
  }
}

AccessPattern get_pattern(CborReader& r) {
  AccessPattern p;
  const std::size_t fields = r.array();
  if (fields != kPatternFields && fields != kPatternFields + kGroupLanes) r.bad("array of another length");
  p.mask = r.unsigned_of<std::uint32_t>();
  if (p.mask == 0) r.bad("access without lanes");
  p.stride = r.integer();
  p.count = r.unsigned_integer();
  p.base = r.unsigned_integer();
  p.low = p.base + static_cast<std::uint64_t>(r.integer());
  p.high = p.base + static_cast<std::uint64_t>(r.integer());
  p.block = r.unsigned_integer();
  p.warp = r.unsigned_of<std::uint32_t>();
  p.issue = r.unsigned_integer();
  if (r.boolean() != (fields != kPatternFields)) r.bad("addresses without need");
  std::uint64_t before = p.base;
  if (fields != kPatternFields) p.addresses.assign(kGroupLanes, 0);
  for (unsigned lane = 0; lane < p.addresses.size(); ++lane) {
    const std::int64_t distance = r.integer();
    if (((p.mask >> lane) & 1) == 0) continue;
    before += static_cast<std::uint64_t>(distance);
    p.addresses[lane] = before;
  }
  return p;
}

template <std::size_t N>
void put_fields(CborWriter& w, const std::uint64_t (&values)[N]) {
  for (const std::uint64_t value : values) w.unsigned_integer(value);
}

void put(CborWriter& w, const SiteSamples& s) {
  const AtomicMeetings& m = s.meetings;
  w.array(6 + (m.requests > 0 ? 6 + m.by_most.size() : 0));
  put_fields(w, {s.site, static_cast<std::uint64_t>(s.space), s.requests, s.low, s.high});
  w.array(s.patterns.size());
  for (const AccessPattern& p : s.patterns) put(w, p);
  if (m.requests == 0) return;
  put_fields(w, {m.requests, m.lanes, m.addresses, m.hot_lanes, m.hot_address});
  w.boolean(m.hot_is_one);
  for (const std::uint64_t n : m.by_most) w.unsigned_integer(n);
}

SiteSamples get_site(CborReader& r) {
  SiteSamples s;
  const std::size_t fields = r.array();
  if (fields != 6 && fields != 12 + s.meetings.by_most.size()) r.bad("array of another length");
  s.site = r.unsigned_of<std::uint32_t>();
  s.space = r.enumerator(trace::Space::kSurface);
  s.requests = r.unsigned_integer();
  s.low = r.unsigned_integer();
  s.high = r.unsigned_integer();
  s.patterns = get_list<AccessPattern>(r, get_pattern);
  std::uint64_t counted = 0;
  for (const AccessPattern& p : s.patterns) counted += p.count;
  s.complete = counted == s.requests;
  if (fields == 6) return s;
  AtomicMeetings& m = s.meetings;
  m.requests = r.unsigned_integer();
  m.lanes = r.unsigned_integer();
  m.addresses = r.unsigned_integer();
  m.hot_lanes = r.unsigned_integer();
  m.hot_address = r.unsigned_integer();
  m.hot_is_one = r.boolean();
  for (std::uint64_t& n : m.by_most) n = r.unsigned_integer();
  return s;
}

void put(CborWriter& w, const BarrierNeeds& needs) {
  if (!needs.known) return w.array(0);
  w.array(2);
  w.array(needs.barriers.size());
  for (const BarrierUse& use : needs.barriers) {
    w.array(4);
    w.unsigned_integer(use.op);
    put_frame_index(w, use.frame);
    w.boolean(use.repeats);
    w.unsigned_integer(use.executed);
  }
  w.array(needs.one_of.size());
  for (const std::uint64_t set : needs.one_of) w.unsigned_integer(set);
}

BarrierNeeds get_barriers(CborReader& r) {
  BarrierNeeds needs;
  const std::size_t parts = r.array();
  needs.known = parts != 0;
  if (!needs.known) return needs;
  if (parts != 2) r.bad("array of another length");
  needs.barriers = get_list<BarrierUse>(r, [](CborReader& in) {
    in.array_of(4);
    BarrierUse use;
    use.op = in.unsigned_of<std::uint32_t>();
    use.frame = get_frame_index(in);
    use.repeats = in.boolean();
    use.executed = in.unsigned_integer();
    return use;
  });
  if (needs.barriers.size() > kMostBarriers) r.bad("more barriers than are recorded");
  needs.one_of = get_list<std::uint64_t>(r, [](CborReader& in) { return in.unsigned_integer(); });
  return needs;
}

void put(CborWriter& w, const WitnessBlock& b) {
  w.array(6);
  w.unsigned_integer(b.block);
  w.boolean(b.complete);
  put(w, b.barriers);
  w.array(6);
  put_fields(w, {b.shared.words, b.shared.written, b.shared.own_reads, b.shared.warp_reads, b.shared.block_reads,
                 b.shared.blind_reads});
  w.array(b.requests.size());
  for (const WitnessRequest& request : b.requests) {
    w.array(2);
    w.unsigned_integer(request.site);
    put(w, request.access);
  }
  w.array(b.footprints.size());
  for (const SiteFootprint& f : b.footprints) {
    w.array(6);
    put_fields(w, {f.site, f.touches, f.first_sectors, f.first_bytes, f.again_by_warp, f.stored});
  }
}

WitnessBlock get_witness(CborReader& r) {
  r.array_of(6);
  WitnessBlock b;
  b.block = r.unsigned_integer();
  b.complete = r.boolean();
  b.barriers = get_barriers(r);
  r.array_of(6);
  for (std::uint64_t* value : {&b.shared.words, &b.shared.written, &b.shared.own_reads, &b.shared.warp_reads,
                               &b.shared.block_reads, &b.shared.blind_reads})
    *value = r.unsigned_integer();
  b.requests = get_list<WitnessRequest>(r, [](CborReader& in) {
    in.array_of(2);
    WitnessRequest request;
    request.site = in.unsigned_of<std::uint32_t>();
    request.access = get_pattern(in);
    request.warp = request.access.warp;
    return request;
  });
  b.footprints = get_list<SiteFootprint>(r, [](CborReader& in) {
    in.array_of(6);
    SiteFootprint f;
    f.site = in.unsigned_of<std::uint32_t>();
    for (std::uint64_t* value : {&f.touches, &f.first_sectors, &f.first_bytes, &f.again_by_warp, &f.stored})
      *value = in.unsigned_integer();
    return f;
  });
  return b;
}

}  // namespace

void put(CborWriter& w, const std::shared_ptr<const LaunchSamples>& samples) {
  if (!samples) return w.array(0);
  w.array(2);
  w.array(samples->sites.size());
  for (const SiteSamples& s : samples->sites) put(w, s);
  w.array(samples->witnesses.size());
  for (const WitnessBlock& b : samples->witnesses) put(w, b);
}

std::shared_ptr<const LaunchSamples> get_samples(CborReader& r) {
  const std::size_t parts = r.array();
  if (parts == 0) return nullptr;
  if (parts != 2) r.bad("array of another length");
  auto samples = std::make_shared<LaunchSamples>();
  samples->sites = get_list<SiteSamples>(r, get_site);
  samples->witnesses = get_list<WitnessBlock>(r, get_witness);
  return samples;
}

bool fits(const LaunchSamples& samples, const KernelInfo& kernel) {
  const auto exists = [&](const auto& item) { return item.site < kernel.sites.size(); };
  const auto has_frame = [&](const BarrierUse& use) {
    return use.frame == kNoFrame || use.frame < kernel.frames.size();
  };
  return std::all_of(samples.sites.begin(), samples.sites.end(), exists) &&
         std::all_of(samples.witnesses.begin(), samples.witnesses.end(), [&](const WitnessBlock& b) {
           return std::all_of(b.requests.begin(), b.requests.end(), exists) &&
                  std::all_of(b.footprints.begin(), b.footprints.end(), exists) &&
                  std::all_of(b.barriers.barriers.begin(), b.barriers.barriers.end(), has_frame);
         });
}

}  // namespace muscope::views
