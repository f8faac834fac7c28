// More hand-made records: one kernel that uses every kind of memory, many launches, a fault with findings.
#pragma once

#include "report/test_records.h"

namespace muscope::report::testing {

/// A long template name, every space, inlining, no-line-information code, host memory, managed memory.
inline views::ProcessRecord everything() {
  using trace::Kind;
  using trace::Space;
  using K = views::InstructionKind;
  views::ProcessRecord process = transpose();
  views::KernelInfo all;
  all.id = 3;
  all.name =
      "void lab::detail::apply<lab::Policy<(int)256, lab::Order<(bool)1> >, float, unsigned int>(float*, "
      "lab::View<const float, (int)3>, cudaTextureObject_t, unsigned int)";
  all.mangled = "_ZN3lab6detail5applyI";
  all.module = "lab.ptx";
  all.registers = 40;
  all.registers_source = "liveness estimate";
  all.frames = {frame("src/lab/apply.cuh", 210, 5),
                frame("src/lab/view.h", 33, 12, 0, "lab::View<const float, 3>::at(int) const")};
  all.sites = {
      {"ld.global.nc.v4.f32", 500, 1, 16}, {"atom.global.add.u32", 510, 0, 4}, {"red.global.add.f32", 511, 0, 4},
      {"ld.const.f32", 520, 0, 4},         {"tex.2d.v4.f32.f32", 530, 0, 16},  {"st.local.f32", 540, 0, 4},
      {"ld.local.f32", 541, 0, 4},         {"atom.shared.add.u32", 550, 0, 4}, {"ld.f32", 560, views::kNoFrame, 4}};
  process.kernels.push_back(all);
  views::LaunchRecord launch;
  launch.kernel = 3;
  launch.grid = {300, 1, 1};
  launch.block = {256, 1, 1};
  launch.dynamic_shared = 40000;
  launch.stream = 0x7f001234;
  launch.managed_pages = 12;
  const auto lane = [](std::uint64_t base, std::uint64_t stride) {
    return [=](unsigned l) { return base + stride * l; };
  };
  views::SiteCounts host =
      SiteOf(0, Space::kGlobal, Kind::kLoad, 2400, 16).sectors(17, 16, 5).example(lane(0x10010, 16));
  host.host_sectors = 400;
  views::SiteCounts generic = SiteOf(8, Space::kGlobal, Kind::kLoad, 2400).sectors(32, 4, 32).example([](unsigned l) {
    return (l * 2654435761u) % 100000 * 4;
  });
  generic.generic = true;
  launch.sites = {host,
                  SiteOf(1, Space::kGlobal, Kind::kAtom, 1200).sectors(32, 1, 1).example(lane(0x20000, 0)),
                  SiteOf(2, Space::kGlobal, Kind::kRed, 1200).sectors(4, 4, 1),
                  SiteOf(3, Space::kConst, Kind::kLoad, 2400).words(7),
                  SiteOf(5, Space::kLocal, Kind::kStore, 9600).sectors(4, 4),
                  SiteOf(6, Space::kLocal, Kind::kLoad, 9600).sectors(32, 4).example(lane(0, 4)),
                  SiteOf(7, Space::kShared, Kind::kAtom, 4800).wavefronts(3, 1).example(lane(0, 4)),
                  generic};
  views::SiteCounts texture = SiteOf(4, Space::kTexture, Kind::kLoad, 2400, 16);
  texture.requests *= 8;
  launch.sites.push_back(texture);
  launch.frames = {
      instructions(0, 120000,
                   {{K::kFp32Fma, 900000}, {K::kFp32Add, 300000}, {K::kInteger, 1200000}, {K::kMemory, 700000}}),
      instructions(1, 12000, {{K::kInteger, 384000}}),
      instructions(views::kNoFrame, 5000, {{K::kMove, 160000}, {K::kConvert, 10000}})};
  for (std::uint32_t i = 0; i < 20; ++i) {
    launch.index = 2 + i;
    if (i == 10) launch.sites[0].executed += 7;  // from here on launches differ
    process.launches.push_back(launch);
  }
  return process;
}

/// naiveRow stopped by an access out of bounds, two findings, a process that was killed while it wrote.
inline views::ProcessRecord faulty() {
  views::ProcessRecord process = transpose();
  views::LaunchRecord& launch = process.launches.front();
  launch.state = views::LaunchState::kFaulted;
  launch.sites.clear();  // which blocks ran is not determined
  launch.frames.clear();
  launch.fault.code = "D601";
  launch.fault.text =
      "global store of 4 bytes at 0x7f2a00400000 is outside every allocation; it is 0 bytes behind the allocation of "
      "4,194,304 bytes at 0x7f2a00000000 that cudaMalloc made in transpose.cu:118";
  launch.fault.hint = "check the index against the size of the array";
  launch.fault.frame = 1;
  launch.fault.ptx_line = 33;
  launch.fault.instruction = "st.global.f32";
  launch.fault.block = {64, 0, 0};
  launch.fault.thread = {3, 15, 0};
  launch.findings = {{"D610", "shared memory is read before it is written", "initialise the tile", 0, 12, 2048}};
  process.launches.back().findings = {{"D611", "barrier in divergent code", "", views::kNoFrame, 77, 1}};
  process.findings = {{"D520", "cudaMemcpyAsync from pageable memory is not asynchronous",
                       "allocate with cudaMallocHost", views::kNoFrame, 0, 3}};
  process.truncated = true;
  process.in_progress = "tiled(float*, const float*, int, int)";
  return process;
}

/// transpose() as its machine code gives it: naiveRow from a cubin, tiled from ptxas of another release, and a third
/// kernel whose code cannot be executed.
inline views::ProcessRecord machine_code() {
  views::ProcessRecord process = transpose();
  views::KernelInfo& naive = process.kernels[0];
  naive.registers_source = naive.machine_source = "cubin sm_90 in the program";
  naive.sites = {{"LDG.E.CONSTANT R5, [R2.64]", 31, 1, 4, 0x90}, {"STG.E [R4.64], R5", 33, 1, 4, 0xd0}};
  naive.sites.push_back({"STL [R1+0x4], R8", 35, 1, 4, 0xe0, views::LocalUse::kSpill});
  process.launches[0].sites.push_back(SiteOf(2, trace::Space::kLocal, trace::Kind::kStore, 32768).sectors(4, 4));
  naive.frames.push_back(frame("/usr/local/cuda/include/sm_20_atomic_functions.hpp", 84, 0));
  naive.frames.back().function = "atomicAdd";
  naive.frames.back().inlined_at = 0;
  using Kind = views::CodeChangeKind;
  naive.compiled = {true, 8, 12, false, 16, 16, {}};
  naive.compiled.changes = {
      {Kind::kSpilled, 1, trace::Space::kLocal, false, trace::Kind::kStore, {}, {2, 8, 4}},
      {Kind::kSpilled, 1, trace::Space::kLocal, false, trace::Kind::kLoad, {}, {3, 12, 4}},
      {Kind::kJoined, 1, trace::Space::kGlobal, false, trace::Kind::kLoad, {4, 16, 4}, {1, 16, 16}},
      {Kind::kReduction, 2, trace::Space::kGlobal, false, trace::Kind::kAtom, {1, 4, 4}, {1, 4, 4}}};
  views::KernelInfo& tiled = process.kernels[1];
  tiled.compiled.known = tiled.compiled.spills_are_floors = true;
  tiled.machine_source = "ptxas 13.0.88";
  tiled.registers_source = "ptxas 13.0.88, PTX of CUDA 12.4";
  tiled.machine_problem = "its PTX was made by CUDA 12.4";
  tiled.sites = {{"LDG.E.CONSTANT R5, [R2.64]", 81, 0, 4, 0x80},
                 {"STS [R9], R5", 82, 0, 4, 0x90},
                 {"LDS R7, [R11]", 90, 1, 4, 0xb0},
                 {"STG.E [R4.64], R7", 91, 1, 4, 0xc0}};
  views::KernelInfo other = transpose().kernels[0];
  other.id = 3;
  other.name = "other(float*, const float*, int, int)";
  other.machine_problem = "an instruction that is not known at 0x40";
  process.kernels.push_back(other);
  views::LaunchRecord third = transpose().launches[0];
  third.index = 2;
  third.kernel = 3;
  process.launches.push_back(third);
  return process;
}

}  // namespace muscope::report::testing
