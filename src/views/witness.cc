#include "views/witness.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace muscope::views {
namespace {

using trace::Kind;
using trace::Space;

constexpr std::uint64_t kSectorBytes = 32, kWordBytes = 4;

bool writes(Kind kind) { return kind != Kind::kLoad && kind != Kind::kLoadMatrix; }
bool is_atomic(Kind kind) { return kind == Kind::kAtom || kind == Kind::kRed; }

}  // namespace

void Witness::add(const trace::WarpAccess& access) {
  if (full_) return;
  if (access.space == Space::kGlobal) global(access);
  const bool matrix = access.kind == Kind::kLoadMatrix || access.kind == Kind::kStoreMatrix;
  if (matrix || access.copy != nullptr) watch_.give_up();  // lanes touch other bytes, or at another time
  if (access.space == Space::kShared && !matrix) shared(access);
  if (steps_ > kMostSteps) full_ = true;
}

void Witness::touch(Sector& sector, std::uint32_t bytes, bool store, bool atomic, std::uint16_t warp,
                    SiteFootprint& site) {
  std::uint32_t& seen = store ? sector.stored : sector.loaded;
  std::uint16_t& last = store ? sector.store_warp : sector.load_warp;
  ++site.touches;
  site.first_sectors += seen == 0;
  site.first_bytes += static_cast<std::uint64_t>(std::popcount(bytes & ~seen));
  site.again_by_warp += last == warp;
  if (!store) site.stored += sector.stored != 0;
  seen |= bytes;
  last = warp;
  watch_.touch(sector.last, store, atomic, warp, false);
}

void Witness::remember(const trace::WarpAccess& access) {
  WitnessRequest& request = requests_.emplace_back();
  request.site = access.site;
  request.warp = access.warp;
  AccessPattern& p = request.access;
  p.mask = access.mask;
  p.count = 1;
  p.base = access.address(static_cast<unsigned>(std::countr_zero(access.mask)));
  if (access.shape == trace::Shape::kScattered) {
    p.addresses.assign(kGroupLanes, 0);
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      if ((access.mask >> lane) & 1) p.addresses[lane] = access.addresses[lane];
  } else {
    p.base = access.base;
    p.stride = access.shape == trace::Shape::kAffine ? access.stride : 0;
  }
  p.low = p.high = p.base;
  p.block = access.block;
  p.warp = access.warp;
  p.issue = access.issue;
}

void Witness::global(const trace::WarpAccess& access) {
  const auto warp = static_cast<std::uint16_t>(access.warp + 1);
  bool fresh_request = false;
  if (seen_.find_or_add(std::uint64_t{access.site} << 32 | access.warp, fresh_request) != nullptr && fresh_request)
    remember(access);
  // The bytes of each sector, gathered first: lanes of one request touch a sector once.
  struct Part {
    std::uint64_t sector;
    std::uint32_t bytes;
  };
  Part parts[2 * kGroupLanes];
  std::size_t count = 0;
  for (GroupMask left = access.mask; left != 0; left &= left - 1) {
    const std::uint64_t address = access.address(static_cast<unsigned>(std::countr_zero(left)));
    const std::uint64_t inside = address % kSectorBytes;
    const std::uint64_t bits = ((std::uint64_t{1} << std::min<std::uint32_t>(access.bytes, 32)) - 1) << inside;
    for (std::uint64_t part = 0; part < 2; ++part) {
      const auto bytes = static_cast<std::uint32_t>(bits >> (32 * part));
      if (bytes == 0) continue;
      const std::uint64_t sector = address / kSectorBytes + part;
      std::size_t i = count;
      while (i > 0 && parts[i - 1].sector != sector) --i;
      if (i == 0)
        parts[i = count++] = {sector, bytes};
      else
        parts[i - 1].bytes |= bytes;
    }
  }
  if (footprints_.size() <= access.site) footprints_.resize(access.site + 1);
  SiteFootprint& site = footprints_[access.site];
  site.site = access.site;
  for (std::size_t i = 0; i < count; ++i) {
    bool fresh = false;
    Sector* sector = sectors_.find_or_add(parts[i].sector, fresh);
    if (sector == nullptr) {
      full_ = true;
      return;
    }
    touch(*sector, parts[i].bytes, writes(access.kind) && access.copy == nullptr, is_atomic(access.kind), warp, site);
  }
  steps_ += count;
}

void Witness::word(Word& word, bool write, bool read, bool atomic, std::uint32_t thread) {
  const auto id = static_cast<std::uint16_t>(thread + 1);
  const auto warp = static_cast<std::uint16_t>(thread / kGroupLanes + 1);
  const auto writer_warp = static_cast<std::uint16_t>(word.writer == 0 ? 0 : (word.writer - 1) / kGroupLanes + 1);
  if (read) {
    if (word.writer == 0)
      ++use_.blind_reads;
    else if (word.writer == id)
      ++use_.own_reads;
    else if (writer_warp == warp)
      ++use_.warp_reads;
    else
      ++use_.block_reads;
  }
  if (write) {
    ++use_.written;
    word.writer = id;
  }
  watch_.touch(word.last, write, atomic, warp, true);
}

void Witness::shared(const trace::WarpAccess& access) {
  const bool write = writes(access.kind);
  const bool read = access.kind == Kind::kLoad || access.kind == Kind::kAtom || access.kind == Kind::kRed;
  for (GroupMask left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t address = access.address(lane);
    for (std::uint64_t at = address / kWordBytes; at <= (address + access.bytes - 1) / kWordBytes; ++at) {
      bool fresh = false;
      Word* found = words_.find_or_add(at, fresh);
      if (found == nullptr) {
        full_ = true;
        return;
      }
      use_.words += fresh;
      word(*found, write, read, is_atomic(access.kind), access.warp * kGroupLanes + lane);
      ++steps_;
    }
  }
}

WitnessBlock Witness::finish() const {
  WitnessBlock out;
  out.block = block_;
  out.complete = !full_;
  out.requests = requests_;
  std::sort(out.requests.begin(), out.requests.end(), [](const WitnessRequest& a, const WitnessRequest& b) {
    return std::tie(a.site, a.warp) < std::tie(b.site, b.warp);
  });
  for (const SiteFootprint& footprint : footprints_)
    if (footprint.touches > 0) out.footprints.push_back(footprint);
  out.shared = use_;
  out.barriers = watch_.finish();
  if (full_) out.barriers = {.known = false, .barriers = {}, .one_of = {}};
  return out;
}

}  // namespace muscope::views
