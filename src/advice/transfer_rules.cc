// A601: copies from and to pageable memory. A602: host memory that kernels read over the bus. A603: managed memory that
// a kernel is the first to touch.
#include <fmt/format.h>

#include <algorithm>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/rules.h"
#include "report/number_format.h"

namespace muscope::advice {
namespace {

constexpr std::uint64_t kWorthPinning = 8u << 20;  ///< bytes of one call site; pinning itself costs time
constexpr std::uint64_t kSmallZeroCopy = 4096;     ///< sectors of host memory that are not worth a word
constexpr std::uint64_t kManyRewrites = 8;
constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

void find_pageable_copies(const report::Report& report, std::size_t process, Advices& out) {
  for (const views::TransferRecord& t : report.processes[process].transfers) {
    if (t.host_memory != views::HostMemory::kPageable || t.bytes < kWorthPinning) continue;
    if (t.kind != views::TransferKind::kHostToDevice && t.kind != views::TransferKind::kDeviceToHost) continue;
    report::AdviceReport advice;
    advice.text = fmt::format("{} {} {} of pageable memory{}", t.api,
                              t.kind == views::TransferKind::kHostToDevice ? "reads" : "writes",
                              report::format_bytes(t.bytes), t.caller.empty() ? "" : ", at " + t.caller);
    if (t.count > 1) advice.text += fmt::format(", in {} calls", report::grouped(t.count));
    advice.change = fmt::format(
        "allocate it with cudaMallocHost, or register it with cudaHostRegister: pageable memory is copied twice, "
        "through a pinned buffer{}",
        t.async ? ", and an asynchronous copy waits for the first of them" : "");
    advice.bound = "pinning takes time too: worth it for memory that is copied more than once";
    advice.grade = report::Grade::kEstimated;
    advice.reason = "copies are counted, not timed";
    out.push_back(std::move(advice));
  }
}

void find_rewritten_symbols(const report::Report& report, std::size_t process, Advices& out) {
  const auto launches = static_cast<std::uint64_t>(std::count_if(
      report.launches.begin(), report.launches.end(), [&](const auto& launch) { return launch.process == process; }));
  for (const views::TransferRecord& t : report.processes[process].transfers) {
    if (t.api.find("ToSymbol") == std::string::npos || t.count < kManyRewrites || 2 * t.count < launches) continue;
    report::AdviceReport advice;
    advice.text = fmt::format("{} writes {} each time, {} for {}{}", t.api, report::format_bytes(t.bytes / t.count),
                              report::times_text(t.count), report::counted_noun(launches, "launch", "launches"),
                              t.caller.empty() ? "" : ", at " + t.caller);
    advice.change = "pass the values as kernel parameters: they travel with the launch and are read like constants";
    advice.unit = "copies";
    advice.before = static_cast<double>(t.count);
    advice.after = 0;
    advice.reason = "copies of this call site";
    out.push_back(std::move(advice));
  }
}

void find_zero_copy(const Context& context, Advices& out) {
  std::vector<const Site*> sites;
  std::uint64_t sectors = 0, touches = 0, first = 0;
  for (const Site& site : context.sites())
    if (site.counts->host_sectors > 0) {
      sites.push_back(&site);
      sectors += site.counts->host_sectors;
    }
  if (sectors <= kSmallZeroCopy) return;
  for (const views::WitnessBlock& block : context.samples().witnesses)
    for (const views::SiteFootprint& f : block.footprints)
      for (const Site* site : sites)
        if (site->counts->site == f.site) touches += f.touches, first += f.first_sectors;
  std::stable_sort(sites.begin(), sites.end(),
                   [](const Site* a, const Site* b) { return a->counts->host_sectors > b->counts->host_sectors; });
  report::AdviceReport advice = advice_at(context, sites);
  advice.text = fmt::format("{} of host memory cross the bus in this launch{}", report::format_bytes(32 * sectors),
                            touches > 2 * first && first > 0
                                ? fmt::format(", sectors {:.1f} times each within a block",
                                              static_cast<double>(touches) / static_cast<double>(first))
                                : "");
  advice.change =
      "copy the data to device memory first (cudaMemcpyAsync), unless each byte is used once and copying cannot "
      "overlap";
  advice.unit = "host sectors";
  advice.before = static_cast<double>(sectors);
  advice.after = 0;
  advice.saves = advice.before * 8;
  out.push_back(std::move(advice));
}

void find_first_touch(const Context& context, Advices& out) {
  const std::uint64_t pages = context.count("muscope__managed_first_touch_pages.sum");
  if (pages == 0) return;
  report::AdviceReport advice = advice_at(context, {});
  const std::uint64_t bytes = pages * kPageBytes;
  advice.text = fmt::format(
      "this launch is the first to touch {} of managed memory after the host ({}; {} of 64 KiB, {} of 2 MiB): each is "
      "fetched when a warp faults on it",
      report::counted_noun(pages, "page", "pages"), report::format_bytes(bytes),
      report::counted_noun((bytes + 65535) / 65536, "block", "blocks"),
      report::grouped((bytes + (2u << 20) - 1) / (2u << 20)));
  advice.change =
      "call cudaMemPrefetchAsync on it before the launch, or use cudaMalloc and a copy; on GPUs that share memory with "
      "the "
      "host, cudaStreamAttachMemAsync";
  advice.unit = "pages";
  advice.before = static_cast<double>(pages);
  advice.after = 0;
  advice.saves = advice.before;
  out.push_back(std::move(advice));
}

}  // namespace muscope::advice
