#include "views/records_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "base/diagnostic.h"
#include "views/cbor.h"
#include "views/io_parts.h"

namespace muscope::views {
namespace {

template <std::size_t N, typename T>
void put(CborWriter& w, const std::array<T, N>& values) {
  w.array(N);
  for (const T v : values) w.unsigned_integer(v);
}

template <typename T, std::size_t N>
void get(CborReader& r, std::array<T, N>& values) {
  r.array_of(N);
  for (T& v : values) v = r.unsigned_of<T>();
}

// A numeric field of SiteCounts each, in the order of the record.
constexpr std::uint64_t SiteCounts::* kSiteSums[] = {&SiteCounts::executed,
                                                     &SiteCounts::lanes,
                                                     &SiteCounts::requests,
                                                     &SiteCounts::sectors,
                                                     &SiteCounts::ideal_sectors,
                                                     &SiteCounts::lines,
                                                     &SiteCounts::bytes,
                                                     &SiteCounts::wavefronts,
                                                     &SiteCounts::ideal_wavefronts,
                                                     &SiteCounts::host_sectors,
                                                     &SiteCounts::distinct_sectors,
                                                     &SiteCounts::t_wavefronts,
                                                     &SiteCounts::data_wavefronts,
                                                     &SiteCounts::sass_wavefronts,
                                                     &SiteCounts::sass_ideal_wavefronts,
                                                     &SiteCounts::sass_least_wavefronts};
constexpr std::size_t kSiteFields = 4 + std::size(kSiteSums);
constexpr std::size_t kExampleFields = 4 + kGroupLanes;

void put(CborWriter& w, const SiteCounts& s) {
  w.array(kSiteFields + (s.worst_cost != 0 ? kExampleFields : 0));
  w.unsigned_integer(s.site);
  w.unsigned_integer(static_cast<std::uint64_t>(s.space));
  w.unsigned_integer(static_cast<std::uint64_t>(s.kind));
  w.boolean(s.generic);
  for (const auto member : kSiteSums) w.unsigned_integer(s.*member);
  if (s.worst_cost == 0) return;
  w.unsigned_integer(s.worst_cost);
  w.unsigned_integer(s.worst_mask);
  w.unsigned_integer(s.worst_block);
  w.unsigned_integer(s.worst_warp);
  // Neighbouring lanes are near each other: differences are short.
  std::uint64_t before = 0;
  for (const std::uint64_t address : s.worst_addresses) {
    w.integer(static_cast<std::int64_t>(address - before));
    before = address;
  }
}

SiteCounts get_site_counts(CborReader& r) {
  SiteCounts s;
  const std::size_t fields = r.array();
  if (fields != kSiteFields && fields != kSiteFields + kExampleFields) r.bad("array of another length");
  s.site = r.unsigned_of<std::uint32_t>();
  s.space = r.enumerator(trace::Space::kSurface);
  s.kind = r.enumerator(trace::Kind::kSample);
  s.generic = r.boolean();
  for (const auto member : kSiteSums) s.*member = r.unsigned_integer();
  if (fields == kSiteFields) return s;
  s.worst_cost = r.unsigned_of<std::uint32_t>();
  s.worst_mask = r.unsigned_of<std::uint32_t>();
  s.worst_block = r.unsigned_integer();
  s.worst_warp = r.unsigned_of<std::uint32_t>();
  std::uint64_t before = 0;
  for (std::uint64_t& address : s.worst_addresses) {
    before += static_cast<std::uint64_t>(r.integer());
    address = before;
  }
  return s;
}

void put(CborWriter& w, const FrameCounts& f) {
  w.array(3 + kInstructionKinds);
  put_frame_index(w, f.frame);
  w.unsigned_integer(f.warp_instructions);
  w.unsigned_integer(f.thread_instructions);
  for (const std::uint64_t n : f.by_kind) w.unsigned_integer(n);
}

FrameCounts get_frame_counts(CborReader& r) {
  r.array_of(3 + kInstructionKinds);
  FrameCounts f;
  f.frame = get_frame_index(r);
  f.warp_instructions = r.unsigned_integer();
  f.thread_instructions = r.unsigned_integer();
  for (std::uint64_t& n : f.by_kind) n = r.unsigned_integer();
  return f;
}

void put(CborWriter& w, const Finding& f) {
  w.array(6);
  w.text(f.code);
  w.text(f.text);
  w.text(f.hint);
  put_frame_index(w, f.frame);
  w.unsigned_integer(not_negative(f.ptx_line));
  w.unsigned_integer(f.count);
}

Finding get_finding(CborReader& r) {
  r.array_of(6);
  Finding f;
  f.code = r.text();
  f.text = r.text();
  f.hint = r.text();
  f.frame = get_frame_index(r);
  f.ptx_line = r.positive_int();
  f.count = r.unsigned_integer();
  return f;
}

void put(CborWriter& w, const FaultRecord& f) {
  w.array(8);
  w.text(f.code);
  w.text(f.text);
  w.text(f.hint);
  put_frame_index(w, f.frame);
  w.unsigned_integer(not_negative(f.ptx_line));
  w.text(f.instruction);
  put(w, f.block);
  put(w, f.thread);
}

FaultRecord get_fault(CborReader& r) {
  r.array_of(8);
  FaultRecord f;
  f.code = r.text();
  f.text = r.text();
  f.hint = r.text();
  f.frame = get_frame_index(r);
  f.ptx_line = r.positive_int();
  f.instruction = r.text();
  get(r, f.block);
  get(r, f.thread);
  return f;
}

constexpr int kCarveoutShift = 2;  // preferences begin at -2

void put(CborWriter& w, const LaunchRecord& l) {
  w.array(16);
  w.unsigned_integer(l.index);
  w.unsigned_integer(l.kernel);
  put(w, l.grid);
  put(w, l.block);
  w.unsigned_integer(l.dynamic_shared);
  w.unsigned_integer(not_negative(l.carveout_preference + kCarveoutShift));
  w.unsigned_integer(l.stream);
  w.unsigned_integer(not_negative(l.device));
  w.unsigned_integer(static_cast<std::uint64_t>(l.state));
  if (l.state == LaunchState::kFinished) {
    w.array(0);
  } else {
    put(w, l.fault);
  }
  w.unsigned_integer(l.managed_pages);
  w.unsigned_integer(l.driver_calls);
  w.real(l.wall_seconds);
  w.array(l.sites.size());
  for (const SiteCounts& s : l.sites) put(w, s);
  w.array(l.frames.size());
  for (const FrameCounts& f : l.frames) put(w, f);
  w.array(l.findings.size());
  for (const Finding& f : l.findings) put(w, f);
  put(w, l.samples);
}

LaunchRecord get_launch(CborReader& r) {
  r.array_of(16);
  LaunchRecord l;
  l.index = r.unsigned_of<std::uint32_t>();
  l.kernel = r.unsigned_of<std::uint32_t>();
  get(r, l.grid);
  get(r, l.block);
  l.dynamic_shared = r.unsigned_of<std::uint32_t>();
  l.carveout_preference = r.positive_int() - kCarveoutShift;
  l.stream = r.unsigned_integer();
  l.device = r.positive_int();
  l.state = r.enumerator(LaunchState::kStopped);
  if (l.state == LaunchState::kFinished) {
    r.array_of(0);
  } else {
    l.fault = get_fault(r);
  }
  l.managed_pages = r.unsigned_integer();
  l.driver_calls = r.unsigned_integer();
  l.wall_seconds = r.real();
  l.sites = get_list<SiteCounts>(r, get_site_counts);
  l.frames = get_list<FrameCounts>(r, get_frame_counts);
  l.findings = get_list<Finding>(r, get_finding);
  l.samples = get_samples(r);
  return l;
}

void put(CborWriter& w, const ProcessStart& s) {
  w.array(5);
  w.unsigned_integer(s.version);
  w.integer(s.pid);
  w.integer(s.parent);
  w.unsigned_integer(s.started_ns);
  put(w, s.argv);
}

ProcessStart get_start(CborReader& r) {
  r.array_of(5);
  ProcessStart s;
  s.version = r.unsigned_of<std::uint32_t>();
  s.pid = r.integer();
  s.parent = r.integer();
  s.started_ns = r.unsigned_integer();
  s.argv = get_texts(r);
  return s;
}

void put_address(CborWriter& w, std::string_view module, std::uint64_t offset, std::string_view symbol,
                 std::uint64_t symbol_offset) {
  w.array(4);
  w.text(module);
  w.unsigned_integer(offset);
  w.text(symbol);
  w.unsigned_integer(symbol_offset);
}

CodeAddress get_address(CborReader& r) {
  r.array_of(4);
  CodeAddress a;
  a.module = r.text();
  a.offset = r.unsigned_integer();
  a.symbol = r.text();
  a.symbol_offset = r.unsigned_integer();
  return a;
}

void put(CborWriter& w, const TransferSite& t) {
  w.array(6);
  w.unsigned_integer(t.slot);
  w.unsigned_integer(static_cast<std::uint64_t>(t.kind));
  w.unsigned_integer(static_cast<std::uint64_t>(t.host_memory));
  w.boolean(t.async);
  w.text(t.api);
  put_address(w, t.caller.module, t.caller.offset, t.caller.symbol, t.caller.symbol_offset);
}

TransferSite get_transfer_site(CborReader& r) {
  r.array_of(6);
  TransferSite t;
  t.slot = r.unsigned_of<std::uint32_t>();
  t.kind = r.enumerator(TransferKind::kMemset);
  t.host_memory = r.enumerator(HostMemory::kNone);
  t.async = r.boolean();
  t.api = r.text();
  t.caller = get_address(r);
  return t;
}

void put(CborWriter& w, const TransferRecord& t) {
  w.array(7);
  w.unsigned_integer(static_cast<std::uint64_t>(t.kind));
  w.unsigned_integer(static_cast<std::uint64_t>(t.host_memory));
  w.boolean(t.async);
  w.unsigned_integer(t.count);
  w.unsigned_integer(t.bytes);
  w.text(t.api);
  w.text(t.caller);
}

TransferRecord get_transfer(CborReader& r) {
  r.array_of(7);
  TransferRecord t;
  t.kind = r.enumerator(TransferKind::kMemset);
  t.host_memory = r.enumerator(HostMemory::kNone);
  t.async = r.boolean();
  t.count = r.unsigned_integer();
  t.bytes = r.unsigned_integer();
  t.api = r.text();
  t.caller = r.text();
  return t;
}

void put(CborWriter& w, const FindingView& f) {
  w.array(6);
  w.unsigned_integer(f.slot);
  w.text(f.code);
  w.text(f.text);
  w.text(f.hint);
  w.unsigned_integer(f.count);
  put_address(w, f.module, f.offset, f.symbol, f.symbol_offset);
}

void put(CborWriter& w, const FindingSite& f) {
  put(w, FindingView{f.slot, f.finding.code, f.finding.text, f.finding.hint, f.finding.count, f.at.module, f.at.symbol,
                     f.at.offset, f.at.symbol_offset});
}

FindingSite get_finding_site(CborReader& r) {
  r.array_of(6);
  FindingSite f;
  f.slot = r.unsigned_of<std::uint32_t>();
  f.finding.code = r.text();
  f.finding.text = r.text();
  f.finding.hint = r.text();
  f.finding.count = r.unsigned_integer();
  f.at = get_address(r);
  return f;
}

template <typename T, typename Read>
T decode(std::string_view bytes, Read read) {
  CborReader r(bytes);
  T value = read(r);
  r.expect_end();
  return value;
}

template <typename T>
void encode_item(std::string& out, const T& value) {
  CborWriter w(out);
  put(w, value);
}

}  // namespace

void encode(std::string& out, const ProcessStart& value) { encode_item(out, value); }
void encode(std::string& out, const KernelInfo& value) { encode_item(out, value); }
void encode(std::string& out, const LaunchRecord& value) { encode_item(out, value); }
void encode(std::string& out, const TransferSite& value) { encode_item(out, value); }
void encode(std::string& out, const FindingSite& value) { encode_item(out, value); }
void encode(std::string& out, const FindingView& value) { encode_item(out, value); }

void encode(std::string& out, const ProcessRecord& p) {
  CborWriter w(out);
  w.array(9);
  w.integer(p.pid);
  w.integer(p.parent);
  put(w, p.argv);
  w.array(p.kernels.size());
  for (const KernelInfo& k : p.kernels) put(w, k);
  w.array(p.launches.size());
  for (const LaunchRecord& l : p.launches) put(w, l);
  w.array(p.transfers.size());
  for (const TransferRecord& t : p.transfers) put(w, t);
  w.array(p.findings.size());
  for (const Finding& f : p.findings) put(w, f);
  w.boolean(p.truncated);
  w.text(p.in_progress);
}

ProcessStart decode_start(std::string_view bytes) { return decode<ProcessStart>(bytes, get_start); }
KernelInfo decode_kernel(std::string_view bytes) { return decode<KernelInfo>(bytes, get_kernel); }
LaunchRecord decode_launch(std::string_view bytes) { return decode<LaunchRecord>(bytes, get_launch); }
TransferSite decode_transfer_site(std::string_view bytes) { return decode<TransferSite>(bytes, get_transfer_site); }
FindingSite decode_finding(std::string_view bytes) { return decode<FindingSite>(bytes, get_finding_site); }

ProcessRecord decode_process(std::string_view bytes) {
  CborReader r(bytes);
  ProcessRecord p;
  r.array_of(9);
  p.pid = r.integer();
  p.parent = r.integer();
  p.argv = get_texts(r);
  p.kernels = get_list<KernelInfo>(r, get_kernel);
  p.launches = get_list<LaunchRecord>(r, get_launch);
  p.transfers = get_list<TransferRecord>(r, get_transfer);
  p.findings = get_list<Finding>(r, get_finding);
  p.truncated = r.boolean();
  p.in_progress = r.text();
  r.expect_end();
  std::unordered_map<std::uint32_t, const KernelInfo*> kernels;
  for (const KernelInfo& k : p.kernels) kernels.emplace(k.id, &k);
  for (const LaunchRecord& l : p.launches) {
    const auto k = kernels.find(l.kernel);
    if (k == kernels.end()) r.bad("launch of an unknown kernel");
    if (!fits(l, *k->second)) r.bad("launch that does not fit its kernel");
  }
  return p;
}

bool fits(const LaunchRecord& launch, const KernelInfo& kernel) {
  const auto frame_exists = [&](std::uint32_t frame) { return frame == kNoFrame || frame < kernel.frames.size(); };
  return std::all_of(launch.sites.begin(), launch.sites.end(),
                     [&](const SiteCounts& s) { return s.site < kernel.sites.size(); }) &&
         std::all_of(launch.frames.begin(), launch.frames.end(),
                     [&](const FrameCounts& f) { return frame_exists(f.frame); }) &&
         std::all_of(launch.findings.begin(), launch.findings.end(),
                     [&](const Finding& f) { return frame_exists(f.frame); }) &&
         (!launch.samples || fits(*launch.samples, kernel)) && frame_exists(launch.fault.frame);
}

}  // namespace muscope::views
