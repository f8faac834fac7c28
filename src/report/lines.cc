#include "report/lines.h"

#include <algorithm>
#include <tuple>

namespace muscope::report {
namespace {

constexpr std::size_t kDeepestInlining = 256;  ///< a longer chain is a damaged record (perhaps a cycle)

SourcePosition position(const views::Frame& frame) { return {frame.file, frame.line, frame.column, frame.function}; }

LineCounts& line_at(LaunchCounts& launch, FramePosition&& where) {
  LineCounts& line = launch.lines[key_of(where)];
  if (line.sites.empty() && line.position.at.line == 0) line.position = std::move(where);
  return line;
}

bool known(const views::SiteCounts& site) {
  return static_cast<unsigned>(site.space) < kSpaces && static_cast<unsigned>(site.kind) < kKinds;
}

}  // namespace

LineKey key_of(const FramePosition& where) {
  LineKey key{where.at.file, where.at.line, {}, where.at.function};
  for (const SourcePosition& site : where.inlined_at) key.chain.emplace_back(site.file, site.line);
  return key;
}

FramePosition position_of(const views::KernelInfo& kernel, std::uint32_t frame) {
  FramePosition result;
  if (frame >= kernel.frames.size()) return result;
  result.at = position(kernel.frames[frame]);
  std::uint32_t next = kernel.frames[frame].inlined_at;
  while (next < kernel.frames.size() && result.inlined_at.size() < kDeepestInlining) {
    result.inlined_at.push_back(position(kernel.frames[next]));
    next = kernel.frames[next].inlined_at;
  }
  return result;
}

LaunchCounts count_launch(const views::LaunchRecord& launch, const views::KernelInfo& kernel) {
  LaunchCounts result;
  for (const views::SiteCounts& counted : launch.sites) {
    if (counted.site >= kernel.sites.size() || !known(counted)) {
      ++result.damaged;
      continue;
    }
    const views::Site& site = kernel.sites[counted.site];
    FramePosition where = position_of(kernel, site.frame);
    if (where.at.file.empty() && where.at.line == 0) where.at.line = site.ptx_line;
    const int column = where.at.column;
    LineCounts& line = line_at(result, std::move(where));
    line.counts.add(counted);
    result.total.add(counted);
    SiteReport report;
    static_cast<views::SiteCounts&>(report) = counted;
    report.text = site.text;
    report.ptx_line = site.ptx_line;
    report.pc = site.pc;
    report.column = column;
    report.lane_bytes = site.bytes;
    report.local_use = site.local_use;
    line.sites.push_back(std::move(report));
  }
  for (const views::FrameCounts& counted : launch.frames) {
    if (counted.frame != views::kNoFrame && counted.frame >= kernel.frames.size()) {
      ++result.damaged;
      continue;
    }
    line_at(result, position_of(kernel, counted.frame)).counts.add(counted);
    result.total.add(counted);
  }
  for (auto& [key, line] : result.lines)
    std::stable_sort(line.sites.begin(), line.sites.end(), [](const SiteReport& a, const SiteReport& b) {
      return std::tie(a.pc, a.ptx_line, a.site, a.space, a.kind, a.generic) <
             std::tie(b.pc, b.ptx_line, b.site, b.space, b.kind, b.generic);
    });
  return result;
}

}  // namespace muscope::report
