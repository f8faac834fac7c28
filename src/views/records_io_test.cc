#include "views/records_io.h"

#include <gmock/gmock.h>

#include <chrono>
#include <random>

#include "base/diagnostic.h"
#include "views/cbor.h"

namespace muscope::views {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

KernelInfo sample_kernel(std::uint32_t id) {
  KernelInfo k;
  k.id = id;
  k.name = "copy(float*, const float*, int)";
  k.mangled = "_Z4copyPfPKfi";
  k.module = "copy.ptx";
  k.ptx_target = "sm_90";
  k.static_shared = 4224;
  k.local_bytes = 40;
  k.param_bytes = 20;
  k.registers = 255;
  k.registers_source = "cubin sm_90 in the program";
  k.machine_source = "ptxas 13.0.88";
  k.machine_problem = "its PTX is of CUDA 12.4";
  k.maxntid[0] = 1024, k.maxntid[1] = 2, k.maxntid[2] = 3;
  k.minnctapersm = 2;
  k.frames = {{"copy.cu", 41, 7, "", kNoFrame}, {"inline.cuh", 9, 0, "load(int)", 0}, {"", 188, 0, "", kNoFrame}};
  k.sites = {{"LDG.E.64.CONSTANT R2, [R4.64]", 30, 1, 8, 0x10}, {"st.global.f32", 31, kNoFrame, 4}};
  k.sites[0].local_use = LocalUse::kSaved;
  k.compiled = {true, 584, 692, true, 368, 376, {}};
  k.compiled.changes = {
      {CodeChangeKind::kWarpSum, 1, trace::Space::kTexture, true, trace::Kind::kAtom, {4, 16, 4}, {1, 17, 0}},
      {CodeChangeKind::kSpilled, kNoFrame, trace::Space::kLocal, false, trace::Kind::kStore, {}, {2, 8, 4}}};
  return k;
}

SiteCounts sample_counts() {
  SiteCounts s;
  s.site = 1;
  s.space = trace::Space::kLocal;
  s.kind = trace::Kind::kAtom;
  s.generic = true;
  s.executed = 1, s.lanes = 24, s.requests = 0x100, s.sectors = 0x10000, s.ideal_sectors = 0x1'0000'0000, s.lines = 23;
  s.bytes = ~std::uint64_t{0}, s.wavefronts = 255, s.ideal_wavefronts = 65535, s.host_sectors = 0xffff'ffff;
  s.distinct_sectors = 0x2'0001, s.t_wavefronts = 66, s.data_wavefronts = 0x1'0001, s.sass_wavefronts = 77,
  s.sass_ideal_wavefronts = 0x300, s.sass_least_wavefronts = 0x401;
  return s;
}

LaunchRecord sample_launch(std::uint32_t index, std::uint32_t kernel) {
  LaunchRecord l;
  l.index = index;
  l.kernel = kernel;
  l.grid = {64, 65535, 2};
  l.block = {16, 16, 4};
  l.dynamic_shared = 49152;
  l.carveout_preference = -2;
  l.stream = 0x7fff'1234'5678;
  l.device = 1;
  l.managed_pages = 17;
  l.driver_calls = 18;
  l.wall_seconds = 0.125;
  l.sites = {sample_counts(), sample_counts()};
  l.sites[1].worst_cost = 32;
  l.sites[1].worst_mask = 0x8000'0001u;
  l.sites[1].worst_block = 99;
  l.sites[1].worst_warp = 3;
  for (std::uint32_t i = 0; i < kGroupLanes; ++i) l.sites[1].worst_addresses[i] = 0x4000'0000'0000 + (31 - i) * 4096ull;
  FrameCounts f;
  f.frame = 2;
  f.warp_instructions = 1000;
  f.thread_instructions = 31000;
  for (std::size_t i = 0; i < kInstructionKinds; ++i) f.by_kind[i] = i * i;
  l.frames = {f};
  l.findings = {{"D610", "shared memory read before it was written", "initialise it", 1, 30, 12}};
  return l;
}

void expect_equal(const KernelInfo& a, const KernelInfo& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.mangled, b.mangled);
  EXPECT_EQ(a.module, b.module);
  EXPECT_EQ(a.ptx_target, b.ptx_target);
  EXPECT_EQ(a.static_shared, b.static_shared);
  EXPECT_EQ(a.local_bytes, b.local_bytes);
  EXPECT_EQ(a.param_bytes, b.param_bytes);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.registers_source, b.registers_source);
  EXPECT_EQ(a.machine_source, b.machine_source);
  EXPECT_EQ(a.machine_problem, b.machine_problem);
  EXPECT_THAT(a.maxntid, testing::ElementsAreArray(b.maxntid));
  EXPECT_EQ(a.minnctapersm, b.minnctapersm);
  EXPECT_EQ(a.compiled, b.compiled);
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    EXPECT_EQ(a.frames[i].file, b.frames[i].file);
    EXPECT_EQ(a.frames[i].line, b.frames[i].line);
    EXPECT_EQ(a.frames[i].column, b.frames[i].column);
    EXPECT_EQ(a.frames[i].function, b.frames[i].function);
    EXPECT_EQ(a.frames[i].inlined_at, b.frames[i].inlined_at);
  }
  ASSERT_EQ(a.sites.size(), b.sites.size());
  for (std::size_t i = 0; i < a.sites.size(); ++i) {
    EXPECT_EQ(a.sites[i].text, b.sites[i].text);
    EXPECT_EQ(a.sites[i].ptx_line, b.sites[i].ptx_line);
    EXPECT_EQ(a.sites[i].frame, b.sites[i].frame);
    EXPECT_EQ(a.sites[i].bytes, b.sites[i].bytes);
    EXPECT_EQ(a.sites[i].pc, b.sites[i].pc);
    EXPECT_EQ(a.sites[i].local_use, b.sites[i].local_use);
  }
}

void expect_equal(const SiteCounts& a, const SiteCounts& b) {
  EXPECT_EQ(a.site, b.site);
  EXPECT_EQ(a.space, b.space);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.generic, b.generic);
  EXPECT_EQ(a.executed, b.executed);
  EXPECT_EQ(a.lanes, b.lanes);
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(a.sectors, b.sectors);
  EXPECT_EQ(a.ideal_sectors, b.ideal_sectors);
  EXPECT_EQ(a.lines, b.lines);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.wavefronts, b.wavefronts);
  EXPECT_EQ(a.ideal_wavefronts, b.ideal_wavefronts);
  EXPECT_EQ(a.host_sectors, b.host_sectors);
  EXPECT_EQ(a.distinct_sectors, b.distinct_sectors);
  EXPECT_EQ(a.t_wavefronts, b.t_wavefronts);
  EXPECT_EQ(a.data_wavefronts, b.data_wavefronts);
  EXPECT_EQ(a.sass_wavefronts, b.sass_wavefronts);
  EXPECT_EQ(a.sass_ideal_wavefronts, b.sass_ideal_wavefronts);
  EXPECT_EQ(a.sass_least_wavefronts, b.sass_least_wavefronts);
  EXPECT_EQ(a.worst_cost, b.worst_cost);
  EXPECT_EQ(a.worst_mask, b.worst_mask);
  EXPECT_EQ(a.worst_block, b.worst_block);
  EXPECT_EQ(a.worst_warp, b.worst_warp);
  EXPECT_EQ(a.worst_addresses, b.worst_addresses);
}

void expect_equal(const LaunchRecord& a, const LaunchRecord& b) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.dynamic_shared, b.dynamic_shared);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.carveout_preference, b.carveout_preference);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.fault.code, b.fault.code);
  EXPECT_EQ(a.fault.text, b.fault.text);
  EXPECT_EQ(a.fault.hint, b.fault.hint);
  EXPECT_EQ(a.fault.frame, b.fault.frame);
  EXPECT_EQ(a.fault.ptx_line, b.fault.ptx_line);
  EXPECT_EQ(a.fault.instruction, b.fault.instruction);
  EXPECT_EQ(a.fault.block, b.fault.block);
  EXPECT_EQ(a.fault.thread, b.fault.thread);
  EXPECT_EQ(a.managed_pages, b.managed_pages);
  EXPECT_EQ(a.driver_calls, b.driver_calls);
  EXPECT_EQ(a.wall_seconds, b.wall_seconds);
  ASSERT_EQ(a.sites.size(), b.sites.size());
  for (std::size_t i = 0; i < a.sites.size(); ++i) expect_equal(a.sites[i], b.sites[i]);
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    EXPECT_EQ(a.frames[i].frame, b.frames[i].frame);
    EXPECT_EQ(a.frames[i].warp_instructions, b.frames[i].warp_instructions);
    EXPECT_EQ(a.frames[i].thread_instructions, b.frames[i].thread_instructions);
    EXPECT_EQ(a.frames[i].by_kind, b.frames[i].by_kind);
  }
  ASSERT_EQ(a.findings.size(), b.findings.size());
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    EXPECT_EQ(a.findings[i].code, b.findings[i].code);
    EXPECT_EQ(a.findings[i].text, b.findings[i].text);
    EXPECT_EQ(a.findings[i].hint, b.findings[i].hint);
    EXPECT_EQ(a.findings[i].frame, b.findings[i].frame);
    EXPECT_EQ(a.findings[i].ptx_line, b.findings[i].ptx_line);
    EXPECT_EQ(a.findings[i].count, b.findings[i].count);
  }
}

template <typename T>
std::string encoded(const T& value) {
  std::string out;
  encode(out, value);
  return out;
}

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.diagnostics().front().code + ": " + e.diagnostics().front().text;
  }
  return "no error";
}

TEST(Cbor, WritesTheExamplesOfTheStandard) {  // RFC 8949, appendix A
  const auto bytes = [](auto&& write) {
    std::string out;
    CborWriter w(out);
    write(w);
    return out;
  };
  EXPECT_EQ(bytes([](CborWriter& w) { w.unsigned_integer(23); }), "\x17");
  EXPECT_EQ(bytes([](CborWriter& w) { w.unsigned_integer(24); }), "\x18\x18");
  EXPECT_EQ(bytes([](CborWriter& w) { w.unsigned_integer(1000); }), "\x19\x03\xe8");
  EXPECT_EQ(bytes([](CborWriter& w) { w.unsigned_integer(1000000); }), std::string("\x1a\x00\x0f\x42\x40", 5));
  EXPECT_EQ(bytes([](CborWriter& w) { w.unsigned_integer(18446744073709551615u); }),
            "\x1b\xff\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_EQ(bytes([](CborWriter& w) { w.integer(-1000); }), "\x39\x03\xe7");
  EXPECT_EQ(bytes([](CborWriter& w) { w.real(1.1); }), "\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a");
  EXPECT_EQ(bytes([](CborWriter& w) { w.text("IETF"); }), "\x64IETF");
  EXPECT_EQ(bytes([](CborWriter& w) { w.array(3); }), "\x83");
  EXPECT_EQ(bytes([](CborWriter& w) { w.boolean(true); }), "\xf5");
}

TEST(Cbor, ReadsExtremesAndRejectsTheRest) {
  const auto integer = [](std::string_view s) { return CborReader(s).integer(); };
  EXPECT_EQ(integer({"\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", 9}), std::numeric_limits<std::int64_t>::min());
  EXPECT_THAT(error_of([&] { integer({"\x3b\x80\x00\x00\x00\x00\x00\x00\x00", 9}); }), HasSubstr("out of range"));
  EXPECT_THAT(error_of([] { CborReader("\x19\x03").unsigned_integer(); }), HasSubstr("cut off"));
  EXPECT_THAT(error_of([] { CborReader("\x9b\xff\xff\xff\xff\xff\xff\xff\xff").array(); }), HasSubstr("longer"));
  EXPECT_THAT(error_of([] { CborReader("\x7b\xff\xff\xff\xff\xff\xff\xff\xff").text(); }), HasSubstr("cut off"));
  EXPECT_THAT(error_of([] { CborReader("\x9f").array(); }), HasSubstr("length code"));
  EXPECT_THAT(error_of([] { CborReader("").boolean(); }), HasSubstr("missing"));
}

TEST(RecordsIo, KernelsComeBack) {
  const KernelInfo k = sample_kernel(3);
  expect_equal(k, decode_kernel(encoded(k)));
  expect_equal(KernelInfo{}, decode_kernel(encoded(KernelInfo{})));
}

TEST(RecordsIo, LaunchesComeBack) {
  const LaunchRecord l = sample_launch(7, 3);
  expect_equal(l, decode_launch(encoded(l)));

  LaunchRecord faulted = l;
  faulted.state = LaunchState::kFaulted;
  faulted.fault = {"D601", "load outside", "check bounds", 2, 30, "ld.global.f32", {1, 2, 3}, {4, 5, 6}};
  expect_equal(faulted, decode_launch(encoded(faulted)));
}

TEST(RecordsIo, ProcessesComeBack) {
  ProcessRecord p;
  p.pid = 4711;
  p.parent = 1;
  p.argv = {"./app", "", "a b"};
  p.kernels = {sample_kernel(0)};
  p.launches = {sample_launch(0, 0), sample_launch(1, 0)};
  p.transfers = {{TransferKind::kMemset, HostMemory::kNone, true, 3, 4096, "cudaMemsetAsync", "suite.cu:120"}};
  p.findings = {{"D510", "text", "hint", kNoFrame, 0, 2}};
  p.truncated = true;
  p.in_progress = "spin(int*)";
  const ProcessRecord q = decode_process(encoded(p));
  EXPECT_EQ(q.pid, 4711);
  EXPECT_EQ(q.parent, 1);
  EXPECT_THAT(q.argv, ElementsAre("./app", "", "a b"));
  ASSERT_THAT(q.kernels, SizeIs(1));
  ASSERT_THAT(q.launches, SizeIs(2));
  expect_equal(p.launches[1], q.launches[1]);
  ASSERT_THAT(q.transfers, SizeIs(1));
  EXPECT_EQ(q.transfers[0].kind, TransferKind::kMemset);
  EXPECT_EQ(q.transfers[0].host_memory, HostMemory::kNone);
  EXPECT_TRUE(q.transfers[0].async);
  EXPECT_EQ(q.transfers[0].bytes, 4096u);
  EXPECT_EQ(q.transfers[0].caller, "suite.cu:120");
  ASSERT_THAT(q.findings, SizeIs(1));
  EXPECT_EQ(q.findings[0].count, 2u);
  EXPECT_TRUE(q.truncated);
  EXPECT_EQ(q.in_progress, "spin(int*)");
}

TEST(RecordsIo, StartsAndSitesComeBack) {
  ProcessStart start{kSpoolVersion, 12, -1, 99, {"./app"}};
  const ProcessStart s = decode_start(encoded(start));
  EXPECT_EQ(s.pid, 12);
  EXPECT_EQ(s.parent, -1);
  EXPECT_EQ(s.started_ns, 99u);
  EXPECT_THAT(s.argv, ElementsAre("./app"));

  const TransferSite site{5,    TransferKind::kDeviceToHost, HostMemory::kPinned,
                          true, "cudaMemcpyAsync",           {"/bin/app", 0x11f3, "main", 19}};
  const TransferSite t = decode_transfer_site(encoded(site));
  EXPECT_EQ(t.slot, 5u);
  EXPECT_EQ(t.kind, TransferKind::kDeviceToHost);
  EXPECT_EQ(t.host_memory, HostMemory::kPinned);
  EXPECT_EQ(t.caller.module, "/bin/app");
  EXPECT_EQ(t.caller.offset, 0x11f3u);
  EXPECT_EQ(t.caller.symbol, "main");
  EXPECT_EQ(t.caller.symbol_offset, 19u);

  const FindingSite finding{kNoSlot, {"D590", "host reads", "copy", kNoFrame, 0, 4}, {"/bin/app", 8, "f", 2}};
  const FindingSite f = decode_finding(encoded(finding));
  EXPECT_EQ(f.slot, kNoSlot);
  EXPECT_EQ(f.finding.text, "host reads");
  EXPECT_EQ(f.finding.count, 4u);
  EXPECT_EQ(f.at.symbol, "f");
}

TEST(RecordsIo, RejectsWhatPointsNowhere) {
  KernelInfo cyclic = sample_kernel(0);
  cyclic.frames[0].inlined_at = 1;
  EXPECT_THAT(error_of([&] { decode_kernel(encoded(cyclic)); }),
              HasSubstr("D733: damaged record: cyclic inline chain"));
  KernelInfo self = sample_kernel(0);
  self.frames[2].inlined_at = 2;
  EXPECT_THAT(error_of([&] { decode_kernel(encoded(self)); }), HasSubstr("cyclic"));
  KernelInfo outside = sample_kernel(0);
  outside.sites[0].frame = 3;
  EXPECT_THAT(error_of([&] { decode_kernel(encoded(outside)); }), HasSubstr("frame index out of range"));
  KernelInfo change = sample_kernel(0);
  change.compiled.changes[0].frame = 3;
  EXPECT_THAT(error_of([&] { decode_kernel(encoded(change)); }), HasSubstr("frame index out of range"));

  ProcessRecord p;
  p.kernels = {sample_kernel(0)};
  p.launches = {sample_launch(0, 1)};
  EXPECT_THAT(error_of([&] { decode_process(encoded(p)); }), HasSubstr("unknown kernel"));
  p.launches = {sample_launch(0, 0)};
  p.launches[0].sites[0].site = 2;
  EXPECT_THAT(error_of([&] { decode_process(encoded(p)); }), HasSubstr("does not fit"));
}

TEST(RecordsIo, LongChainsAreNotCycles) {
  KernelInfo k;
  for (std::uint32_t i = 0; i < 100'000; ++i) k.frames.push_back({"a.cu", 1, 0, "", i == 0 ? kNoFrame : i - 1});
  EXPECT_THAT(decode_kernel(encoded(k)).frames, SizeIs(100'000));
}

TEST(RecordsIo, EveryTruncationIsAnError) {
  const std::string kernel = encoded(sample_kernel(0));
  for (std::size_t n = 0; n < kernel.size(); ++n) EXPECT_THROW(decode_kernel(kernel.substr(0, n)), Error) << n;
  const std::string launch = encoded(sample_launch(0, 0));
  for (std::size_t n = 0; n < launch.size(); ++n) EXPECT_THROW(decode_launch(launch.substr(0, n)), Error) << n;
  EXPECT_THROW(decode_launch(launch + '\0'), Error);
}

TEST(RecordsIo, DamagedBytesGiveARecordOrAnError) {
  std::mt19937 random(1);
  const std::string kernel = encoded(sample_kernel(0)), launch = encoded(sample_launch(0, 0));
  std::size_t rejected = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (const std::string* original : {&kernel, &launch}) {
      std::string bytes = *original;
      for (auto n = 1 + random() % 3; n > 0; --n) bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        original == &kernel ? static_cast<void>(decode_kernel(bytes)) : static_cast<void>(decode_launch(bytes));
      } catch (const Error&) {
        ++rejected;
      }
    }
  }
  EXPECT_GT(rejected, 1000u);
}

std::string sample_spool(std::uint32_t launches) {
  std::string spool;
  append_frame(spool, FrameType::kStart, encoded(ProcessStart{kSpoolVersion, 12, 1, 99, {"./app"}}));
  append_frame(spool, FrameType::kKernel, encoded(sample_kernel(0)));
  for (std::uint32_t i = 0; i < launches; ++i) {
    const std::size_t start = begin_frame(spool, FrameType::kLaunch);
    encode(spool, sample_launch(i, 0));
    end_frame(spool, start);
  }
  return spool;
}

TEST(SpoolFile, ChecksumIsTheCommonCrc) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(crc32(""), 0u);
  EXPECT_EQ(crc32("The quick brown fox jumps over the lazy dog"), 0x414fa339u);
}

TEST(SpoolFile, ReadsWhatWasWritten) {
  const Spooled s = read_spool(sample_spool(3));
  EXPECT_EQ(s.process.pid, 12);
  EXPECT_THAT(s.process.argv, ElementsAre("./app"));
  EXPECT_THAT(s.process.kernels, SizeIs(1));
  ASSERT_THAT(s.process.launches, SizeIs(3));
  EXPECT_EQ(s.process.launches[2].index, 2u);
  EXPECT_FALSE(s.process.truncated);
  EXPECT_THAT(s.problems, IsEmpty());
}

TEST(SpoolFile, TornTailLosesOnlyTheLastRecord) {
  const std::string two = sample_spool(2), three = sample_spool(3);
  for (std::size_t n = two.size() + 1; n < three.size(); n += 7) {
    const Spooled s = read_spool(std::string_view(three).substr(0, n));
    EXPECT_THAT(s.process.launches, SizeIs(2)) << n;
    EXPECT_TRUE(s.process.truncated) << n;
    EXPECT_THAT(s.problems, IsEmpty()) << n;
  }
}

TEST(SpoolFile, ContradictionsAreNamedAndSkipped) {
  std::string spool = sample_spool(1);
  append_frame(spool, FrameType::kLaunch, encoded(sample_launch(1, 77)));
  append_frame(spool, FrameType::kKernel, encoded(sample_kernel(0)));
  append_frame(spool, static_cast<FrameType>(200), "");
  append_frame(spool, FrameType::kLaunch, encoded(sample_launch(2, 0)));
  const Spooled s = read_spool(spool);
  EXPECT_THAT(s.process.launches, SizeIs(2));
  EXPECT_THAT(s.problems,
              ElementsAre(HasSubstr("unknown kernel"), HasSubstr("described twice"), HasSubstr("unknown type 200")));
  EXPECT_FALSE(s.process.truncated);
}

TEST(SpoolFile, ADamagedRecordEndsTheReading) {
  std::string spool = sample_spool(3);
  spool[spool.size() - 5] = static_cast<char>(spool[spool.size() - 5] ^ 1);
  const Spooled s = read_spool(spool);
  EXPECT_THAT(s.process.launches, SizeIs(2));
  EXPECT_TRUE(s.process.truncated);
}

TEST(SpoolFile, AnyBytesAreReadWithoutACrash) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 400, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_THAT(read_spool(bytes).process.launches, IsEmpty());
  }
  EXPECT_TRUE(read_spool(std::string(100, '\0')).process.truncated);
  EXPECT_FALSE(read_spool("").process.truncated);
}

TEST(SpoolFile, ThousandsOfLaunchesAreQuick) {
  std::string launch;
  LaunchRecord l = sample_launch(0, 0);
  l.sites.assign(40, l.sites[1]);
  encode(launch, l);
  std::string spool = sample_spool(0);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5000; ++i) {
    const std::size_t start = begin_frame(spool, FrameType::kLaunch);
    encode(spool, l);
    end_frame(spool, start);
  }
  const Spooled s = read_spool(spool);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_THAT(s.process.launches, SizeIs(5000));
  EXPECT_LT(took.count(), 10.0);  // 0.4 s in an optimised build; the sanitizers take ten times that
  RecordProperty("milliseconds", static_cast<int>(took.count() * 1000));
}

}  // namespace
}  // namespace muscope::views
