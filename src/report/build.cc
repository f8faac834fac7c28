// build_report(): from process records to the report.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/occupancy.h"
#include "report/lines.h"
#include "report/metrics.h"
#include "report/notes.h"
#include "report/number_format.h"
#include "report/report.h"
#include "report/user_place.h"
#include "views/samples.h"

namespace muscope::report {
namespace {

Diagnostic warning(std::string code, std::string text, std::string hint, SourceLocation where = {}) {
  Diagnostic d;
  d.severity = Severity::kWarning;
  d.code = std::move(code);
  d.text = std::move(text);
  d.hint = std::move(hint);
  d.where = std::move(where);
  return d;
}

std::uint64_t product(const std::array<std::uint32_t, 3>& extent) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

bool from_machine_code(std::string_view source) {
  return source.find("cubin") != std::string_view::npos || source.find("ptxas") != std::string_view::npos;
}

Metric registers_of(const views::KernelInfo& kernel) {
  Metric metric{std::uint64_t{kernel.registers}, "register/thread", Grade::kCounted, {}};
  if (kernel.registers == 0) {
    metric.grade = Grade::kEstimated;
    metric.reason = "not known";
  } else if (!from_machine_code(kernel.registers_source)) {
    metric.grade = Grade::kEstimated;
    metric.reason = kernel.registers_source.empty() ? "source not recorded" : kernel.registers_source;
  } else if (kernel.registers_source.find("PTX of CUDA") != std::string::npos) {
    metric.grade = Grade::kModelled;
    metric.reason = kernel.registers_source;
  }
  return metric;
}

/// What the driver gives a thread of a kernel that needs fewer. Nsight Compute printed 16 for each of the 46 launches
/// on an H200 whose kernels ptxas gave 8 to 16 registers, and counted occupancy by it; more are given as ptxas says
/// (tests/counters/suite). Other GPUs were not measured.
constexpr std::uint64_t kFewestRegisters = 16;
/// The same where the code may call the driver's functions: all 36 kernels of
/// tests/counters/experiments/system_calls.cu with such calls had the larger of 32 and what ptxas says.
constexpr std::uint64_t kFewestWithCalls = 32;

std::uint64_t launched_registers(std::uint64_t registers, bool calls_driver, const arch::GpuSpec& gpu) {
  if (registers == 0 || gpu.cc_major != 9 || gpu.cc_minor != 0) return registers;
  return std::max(registers, calls_driver ? kFewestWithCalls : kFewestRegisters);
}

SourceLocation location_of(const SourcePosition& at, int ptx_line, const views::KernelInfo& kernel) {
  if (!at.file.empty()) return {at.file, at.line, at.column};
  const int line = at.line > 0 ? at.line : ptx_line;
  if (line <= 0) return {};
  return {kernel.module.empty() ? "PTX" : kernel.module, line, 0};
}

Diagnostic diagnostic_of(const views::Finding& finding, const views::KernelInfo& kernel) {
  const FramePosition where = position_of(kernel, finding.frame);
  Diagnostic d = warning(finding.code, finding.text, finding.hint,
                         location_of(*user_place(where.at, where.inlined_at).at, finding.ptx_line, kernel));
  if (finding.count > 1) d.text += fmt::format(" ({} times)", grouped(finding.count));
  return d;
}

/// Attributes of the launch and what follows from them: sizes, registers, occupancy.
void add_launch_metrics(LaunchReport& launch, const views::LaunchRecord& record, const views::KernelInfo& kernel,
                        const arch::GpuSpec& gpu, const GradeContext& context) {
  const auto add = [&](std::string_view name, MetricValue value) {
    const MetricRow* row = find_metric(name);
    GradeAndReason graded = grade_of(row->grade, context);
    launch.metrics.emplace(name, Metric{value, std::string(row->unit), graded.grade, std::move(graded.reason)});
  };
  const std::uint64_t blocks = product(launch.grid), threads = product(launch.block);
  add("launch__grid_size", blocks);
  add("launch__block_size", threads);
  add("launch__thread_count", blocks * threads);
  // In steps of 16 bytes: 1,064 and 520 bytes count as 1,072 and 528 on an H200 (tests/counters/kernels/async.cu).
  add("launch__shared_mem_per_block_static", (std::uint64_t{launch.static_shared} + 15) / 16 * 16);
  add("launch__shared_mem_per_block_dynamic", std::uint64_t{launch.dynamic_shared});
  if (record.managed_pages > 0) add("muscope__managed_first_touch_pages.sum", record.managed_pages);
  const std::uint64_t registers =
      launched_registers(std::get<std::uint64_t>(launch.registers.value), kernel.calls_driver, gpu);
  if (registers > 0) add("launch__registers_per_thread", registers);

  if (!gpu.max_warps_per_sm.known || !gpu.warp_size.known || gpu.warp_size.value < 1 || threads == 0) return;
  const auto warp = static_cast<std::uint64_t>(gpu.warp_size.as_int());
  add("smsp__warps_launched.sum", blocks * ((threads + warp - 1) / warp));
  constexpr std::uint64_t kLargest = 1u << 30;
  model::LaunchShape shape;
  shape.threads_per_block = static_cast<int>(std::min(threads, kLargest));
  shape.registers_per_thread = static_cast<int>(std::min(registers, kLargest));
  shape.static_shared = launch.static_shared;
  shape.dynamic_shared = launch.dynamic_shared;
  shape.carveout_preference = record.carveout_preference;
  const model::Occupancy occupancy = model::occupancy(gpu, shape);
  const auto add_limit = [&](std::string_view name, int limit) {
    if (limit != model::kNoLimit && limit >= 0) add(name, static_cast<std::uint64_t>(limit));
  };
  add_limit("launch__occupancy_limit_blocks", occupancy.limit_blocks);
  add_limit("launch__occupancy_limit_warps", occupancy.limit_warps);
  add_limit("launch__occupancy_limit_registers", occupancy.limit_registers);
  add_limit("launch__occupancy_limit_shared_mem", occupancy.limit_shared_driver);
  add_limit("launch__occupancy_limit_barriers", occupancy.limit_barriers);
  add_limit("muscope__blocks_per_multiprocessor", occupancy.blocks_per_sm);
  add_limit("sm__maximum_warps_avg_per_active_cycle", occupancy.active_warps);
  add("sm__maximum_warps_per_active_cycle_pct", occupancy.percent);
  const model::Waves waves =
      model::waves(gpu, occupancy, static_cast<std::int64_t>(std::min(blocks, std::uint64_t{1} << 62)));
  if (waves.blocks_per_wave > 0) add("launch__waves_per_multiprocessor", waves.waves);
  if (!occupancy.impossible.empty()) {
    launch.occupancy_limit = occupancy.impossible;
  } else if (!occupancy.full() && !occupancy.limiters.empty()) {
    launch.occupancy_limit = model::name_of(occupancy.limiters.front());
  }
}

/// vprintf with three arguments alone executes 7,462 instructions on an H200 (experiments/system_calls.cu).
constexpr const char* kDriverCode =
    "they call printf, malloc, free or assert on the device, or launch kernels there: the driver's instructions for "
    "that "
    "are not counted";

/// Counts of machine code were compared with counters of an H200 only (docs/accuracy.md).
bool counts_are_proven(const arch::GpuSpec& gpu) { return gpu.cc_major == 9 && gpu.cc_minor == 0; }

CodeReport code_of(const views::KernelInfo& kernel, const LaunchCounts& counted) {
  const views::CompiledFacts& facts = kernel.compiled;
  CodeReport code;
  code.known = facts.known;
  if (!facts.known) return code;
  const auto spilled = [&](std::uint32_t bytes) {
    Metric metric{std::uint64_t{bytes}, "byte/thread", Grade::kCounted, {}};
    if (facts.spills_are_floors) {
      metric.grade = Grade::kEstimated;
      metric.reason = "at least: some local accesses may be spills too";
    }
    return metric;
  };
  code.spill_store_bytes = spilled(facts.spill_store_bytes);
  code.spill_load_bytes = spilled(facts.spill_load_bytes);
  code.frame_bytes = facts.frame_bytes;
  code.stack_bytes = facts.stack_bytes;
  std::multimap<LineKey, CodeChangeReport> sorted;
  for (const views::CodeChange& fact : facts.changes) {
    const FramePosition where = position_of(kernel, fact.frame);
    CodeChangeReport change;
    static_cast<views::CodeChange&>(change) = fact;
    change.at = where.at;
    change.inlined_at = where.inlined_at;
    LineKey key = key_of(where);
    const bool spills = fact.kind == views::CodeChangeKind::kSpilled;
    const auto add_executed = [&](const auto& line) {
      for (const SiteReport& site : line.sites)
        if (site.kind == fact.access && site.local_use == (spills ? views::LocalUse::kSpill : views::LocalUse::kSaved))
          change.executed += site.executed;
    };
    const bool counts = spills || fact.kind == views::CodeChangeKind::kSaved;
    if (counts && !where.at.file.empty()) {
      if (const auto line = counted.lines.find(key); line != counted.lines.end()) add_executed(line->second);
    } else if (counts) {
      // Without a source position it is all that have none, whatever line of PTX they have.
      for (const auto& [other, line] : counted.lines)
        if (line.position.at.file.empty()) add_executed(line);
    }
    sorted.emplace(std::move(key), std::move(change));
  }
  for (auto& [key, change] : sorted) code.changes.push_back(std::move(change));
  return code;
}

void add_barriers(LaunchReport& launch, const views::KernelInfo& kernel) {
  if (!launch.samples) return;
  std::map<std::uint32_t, std::uint32_t> frames;  // by op
  for (const views::WitnessBlock& block : launch.samples->witnesses)
    for (const views::BarrierUse& use : block.barriers.barriers) frames[use.op] = use.frame;
  for (const auto& [op, frame] : frames) {
    const FramePosition where = position_of(kernel, frame);
    launch.barriers.push_back({op, where.at, where.inlined_at});
  }
}

LaunchReport launch_report(const views::LaunchRecord& record, const views::KernelInfo& kernel,
                           const arch::GpuSpec& gpu) {
  LaunchReport launch;
  launch.kernel = kernel.name;
  launch.mangled = kernel.mangled;
  launch.grid = record.grid;
  launch.block = record.block;
  launch.static_shared = kernel.static_shared;
  launch.dynamic_shared = record.dynamic_shared;
  launch.registers = registers_of(kernel);
  launch.registers_source = kernel.registers_source;
  launch.device = record.device;
  launch.stream_problem = kernel.machine_problem;
  if (!kernel.machine_source.empty()) {
    if (launch.stream_problem.empty() && record.driver_calls > 0) launch.stream_problem = kDriverCode;
    const bool certain = launch.stream_problem.empty() && counts_are_proven(gpu);
    launch.stream_grade = certain ? Grade::kCounted : Grade::kModelled;
    launch.stream_source = fmt::format("{} machine code ({})", gpu.sm_text(), kernel.machine_source);
  }
  // MUSA's compiler makes other code of the source than this PTX, and nothing can be held against a card.
  if (gpu.cc_major == 0) launch.stream_grade = Grade::kEstimated;
  launch.state = record.state;
  launch.samples = record.samples;
  add_barriers(launch, kernel);

  const LaunchCounts counted = count_launch(record, kernel);
  GradeContext context{
      launch.stream_grade,           launch.stream_source, launch.registers.grade, launch.registers.reason, &gpu,
      !kernel.machine_source.empty()};
  launch.metrics = compute_metrics(counted.total, context);
  launch.code = code_of(kernel, counted);
  add_launch_metrics(launch, record, kernel, gpu, context);
  std::vector<LineReport> lines;
  lines.reserve(counted.lines.size());
  for (const auto& [key, line] : counted.lines)
    lines.push_back({line.position.at, line.position.inlined_at, compute_metrics(line.counts, context), line.sites});
  launch.lines = std::move(lines);

  if (record.state != views::LaunchState::kFinished) {
    FaultReport fault;
    const FramePosition where = position_of(kernel, record.fault.frame);
    fault.at = where.at;
    fault.inlined_at = where.inlined_at;
    fault.diagnostic = {Severity::kError, record.fault.code, record.fault.text,
                        location_of(*user_place(where.at, where.inlined_at).at, record.fault.ptx_line, kernel),
                        record.fault.hint};
    fault.instruction = record.fault.instruction;
    fault.ptx_line = record.fault.ptx_line;
    fault.block = record.fault.block;
    fault.thread = record.fault.thread;
    launch.diagnostics.push_back(fault.diagnostic);
    launch.fault = std::move(fault);
  }
  for (const views::Finding& finding : record.findings) launch.diagnostics.push_back(diagnostic_of(finding, kernel));
  if (counted.damaged > 0)
    launch.diagnostics.push_back(
        warning("D722",
                fmt::format("{} counts of this launch name instructions that its kernel does not have, "
                            "and were left out",
                            grouped(counted.damaged)),
                "the record of the run is damaged: run again"));
  return launch;
}

bool same(const views::SiteCounts& a, const views::SiteCounts& b) {
  const auto all = [](const views::SiteCounts& s) {
    return std::tie(s.site, s.space, s.kind, s.generic, s.executed, s.lanes, s.requests, s.sectors, s.ideal_sectors,
                    s.lines, s.bytes, s.wavefronts, s.ideal_wavefronts, s.host_sectors, s.distinct_sectors,
                    s.t_wavefronts, s.data_wavefronts, s.sass_ideal_wavefronts, s.sass_wavefronts,
                    s.sass_least_wavefronts, s.worst_cost, s.worst_mask, s.worst_block, s.worst_warp,
                    s.worst_addresses);
  };
  return all(a) == all(b);
}

/// Would both launches have the same report, but for their numbers, streams and samples?
bool same(const views::LaunchRecord& a, const views::LaunchRecord& b) {
  const auto shape = [](const views::LaunchRecord& l) {
    return std::tie(l.kernel, l.grid, l.block, l.dynamic_shared, l.carveout_preference, l.device, l.state,
                    l.managed_pages, l.driver_calls);
  };
  return a.state == views::LaunchState::kFinished && shape(a) == shape(b) && a.findings.empty() && b.findings.empty() &&
         std::equal(a.sites.begin(), a.sites.end(), b.sites.begin(), b.sites.end(),
                    [](const auto& x, const auto& y) { return same(x, y); }) &&
         std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(),
                    [](const views::FrameCounts& x, const views::FrameCounts& y) {
                      return std::tie(x.frame, x.warp_instructions, x.thread_instructions, x.by_kind) ==
                             std::tie(y.frame, y.warp_instructions, y.thread_instructions, y.by_kind);
                    });
}

/// Launches that a next one of the same kernel may equal: the last few that differ.
class AlikeLaunches {
 public:
  /// The report of `record`, which lives as long as this.
  LaunchReport report_of(const views::LaunchRecord& record, const views::KernelInfo& kernel, const arch::GpuSpec& gpu) {
    std::deque<std::pair<const views::LaunchRecord*, LaunchReport>>& seen = seen_[record.kernel];
    for (const auto& [earlier, report] : seen) {
      if (!same(*earlier, record)) continue;
      LaunchReport copy = report;
      copy.samples = record.samples;
      return copy;
    }
    LaunchReport report = launch_report(record, kernel, gpu);
    if (seen.size() == kKept) seen.pop_front();
    seen.emplace_back(&record, report);
    seen.back().second.samples = {};
    return report;
  }

 private:
  static constexpr std::size_t kKept = 8;
  std::unordered_map<std::uint32_t, std::deque<std::pair<const views::LaunchRecord*, LaunchReport>>> seen_;
};

/// Null where the kernel has none.
std::shared_ptr<const Listing> listing_of(const views::KernelInfo& kernel) {
  if (kernel.listing.empty()) return nullptr;
  auto listing = std::make_shared<Listing>();
  listing->reserve(kernel.listing.size());
  for (const views::CodeLine& line : kernel.listing) {
    FramePosition where = position_of(kernel, line.frame);
    listing->push_back({line.pc, line.text, std::move(where.at), std::move(where.inlined_at)});
  }
  return listing;
}

ProcessReport process_report(const views::ProcessRecord& record) {
  ProcessReport process;
  process.pid = record.pid;
  process.parent = record.parent;
  process.argv = record.argv;
  process.transfers = record.transfers;
  process.truncated = record.truncated;
  const views::KernelInfo nowhere;
  for (const views::Finding& finding : record.findings) {
    process.diagnostics.push_back(diagnostic_of(finding, nowhere));
    // What was asked for could not be done (--count-from sass).
    if (finding.code == "D508") process.diagnostics.back().severity = Severity::kError;
  }
  if (!record.in_progress.empty())
    process.diagnostics.push_back(warning(
        "D721",
        fmt::format("the process ended while kernel {} was running; what it had counted is lost", record.in_progress),
        "see how the process ended; --timeout stops a launch and keeps its counts"));
  if (record.truncated)
    process.diagnostics.push_back(warning("D720",
                                          "the process was killed while it wrote its records; the last one is lost",
                                          "everything before it is in this report"));
  return process;
}

}  // namespace

Report build_report(const std::vector<views::ProcessRecord>& processes, const arch::GpuSpec& gpu,
                    const BuildOptions& options) {
  Report report;
  report.tool_version = options.tool_version;
  report.argv = options.argv;
  report.exit_code = options.exit_code;
  report.exit_text = options.exit_text;
  report.gpu = gpu;
  report.toolchain = options.toolchain;
  std::uint32_t earlier = 0;  // launches of the processes before
  for (const views::ProcessRecord& process : processes) {
    const auto process_index = static_cast<std::uint32_t>(report.processes.size());
    std::uint32_t begun = process_index < options.launches_begun.size() ? options.launches_begun[process_index] : 0;
    report.processes.push_back(process_report(process));
    std::unordered_map<std::uint32_t, const views::KernelInfo*> kernels;
    for (const views::KernelInfo& kernel : process.kernels) kernels.emplace(kernel.id, &kernel);
    std::unordered_map<std::uint32_t, std::shared_ptr<const Listing>> listings;
    AlikeLaunches alike;
    std::map<std::uint64_t, std::uint64_t> streams{{0, 0}};
    for (const views::LaunchRecord& record : process.launches) {
      begun = std::max(begun, record.index + 1);
      const auto kernel = kernels.find(record.kernel);
      if (kernel == kernels.end()) {
        report.processes.back().diagnostics.push_back(warning(
            "D722", fmt::format("launch {} names a kernel that was not recorded, and is left out", record.index),
            "the record of the run is damaged: run again"));
        continue;
      }
      LaunchReport launch = alike.report_of(record, *kernel->second, gpu);
      launch.index = earlier + record.index;
      launch.pid = process.pid;
      launch.process = process_index;
      launch.stream = streams.emplace(record.stream, streams.size()).first->second;
      const auto [listing, fresh] = listings.try_emplace(record.kernel);
      if (fresh) listing->second = listing_of(*kernel->second);
      launch.listing = listing->second;
      report.launches.push_back(std::move(launch));
    }
    earlier += begun;
  }
  report.notes = notes_of(report);
  return report;
}

}  // namespace muscope::report
