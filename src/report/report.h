// Report: the tree that printers, advice and `diff` read. Its JSON picture is schema muscope.report/1
// (docs/report-schema.md). Built from process records by build_report(); printers compute nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "views/records.h"

namespace muscope::report {

/// How far a number can be trusted (docs/accuracy.md).
enum class Grade {
  kCounted,    ///< follows from executed addresses; equals the hardware counter exactly
  kModelled,   ///< a documented model with a measured error
  kEstimated,  ///< a bound or guess; `reason` says why
};
std::string_view name_of(Grade grade);

struct Metric {
  std::variant<std::uint64_t, double> value = std::uint64_t{0};
  std::string unit;  ///< "sector", "request", "inst", "byte", "%", "block", "warp", "register", ...
  Grade grade = Grade::kCounted;
  std::string reason;  ///< for kModelled and kEstimated; may be empty where the report's notes say it once

  double as_double() const;
  bool operator==(const Metric&) const = default;
};

/// By metric name: ncu's where ncu has one ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), else "muscope__...".
using Metrics = std::map<std::string, Metric, std::less<>>;

struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
  std::string function;
  bool operator==(const SourcePosition&) const = default;
};

/// One memory instruction of a line: what was counted, and which instruction it is.
struct SiteReport : views::SiteCounts {
  std::string text;  ///< PTX: "ld.global.f32"; machine code: "LDG.E R2, [R4.64]"
  int ptx_line = 0;
  std::uint32_t pc = views::kNoPc;  ///< byte offset of the machine instruction in the kernel's code; kNoPc: PTX
  int column = 0;                   ///< in the source line; 0 when not known
  views::LocalUse local_use = views::LocalUse::kNone;
  std::uint8_t lane_bytes = 0;  ///< per lane
};

/// The part of a launch that one source line caused. Lines of a launch sum to the launch, metric by metric.
struct LineReport {
  SourcePosition at;                       ///< file is empty when the program has no line information (line = PTX line)
  std::vector<SourcePosition> inlined_at;  ///< innermost call site first
  Metrics metrics;
  std::vector<SiteReport> sites;  ///< memory instructions of this line, in the order of the code
};

/// The lines of a launch, sorted by file, line, inline chain. Launches that counted the same share them: a program may
/// launch a kernel very many times.
class LineList {
 public:
  using value_type = LineReport;
  using const_iterator = std::vector<LineReport>::const_iterator;

  LineList() = default;
  LineList(std::vector<LineReport> lines) : lines_(std::make_shared<std::vector<LineReport>>(std::move(lines))) {}

  const_iterator begin() const { return all().begin(); }
  const_iterator end() const { return all().end(); }
  std::size_t size() const { return all().size(); }
  bool empty() const { return all().empty(); }
  const LineReport& operator[](std::size_t index) const { return all()[index]; }
  const LineReport& back() const { return all().back(); }

  /// To change this list alone.
  std::vector<LineReport>& edit() {
    if (!lines_ || lines_.use_count() > 1) lines_ = std::make_shared<std::vector<LineReport>>(all());
    return *lines_;
  }
  /// The same for lists that share their lines; null when there are none.
  const void* identity() const { return lines_.get(); }

 private:
  const std::vector<LineReport>& all() const {
    static const std::vector<LineReport> kNone;
    return lines_ ? *lines_ : kNone;
  }
  std::shared_ptr<std::vector<LineReport>> lines_;
};

/// What ptxas made of the accesses of one source line (views/compiled.h).
struct CodeChangeReport : views::CodeChange {  // its `frame` is not used
  SourcePosition at;
  std::vector<SourcePosition> inlined_at;  ///< innermost call site first
  std::uint64_t executed = 0;              ///< kSpilled, kSaved: by warps, in this launch
};

/// What ptxas made of the kernel.
struct CodeReport {
  bool known = false;        ///< false: no machine code, and nothing here is
  Metric spill_store_bytes;  ///< of the spill stores in the code, per thread
  Metric spill_load_bytes;
  std::uint32_t frame_bytes = 0;          ///< local memory of the kernel's own frame, per thread
  std::uint32_t stack_bytes = 0;          ///< with what it calls, as far as known
  std::vector<CodeChangeReport> changes;  ///< by file, line, inline chain
};

/// Why a launch ended early, and where.
struct FaultReport {
  Diagnostic diagnostic;  ///< `where` is the source line, or empty
  SourcePosition at;      ///< file is empty when the program has no line information
  std::vector<SourcePosition> inlined_at;
  std::string instruction;  ///< PTX text
  int ptx_line = 0;
  std::array<std::uint32_t, 3> block{}, thread{};
};

/// One request as it is and as it would be after a change, for a picture. Addresses of inactive lanes are 0.
struct AdvicePicture {
  trace::Space space = trace::Space::kGlobal, after_space = trace::Space::kGlobal;
  trace::Kind kind = trace::Kind::kLoad;
  std::uint32_t lane_bytes = 0, after_lane_bytes = 0;
  GroupMask mask = 0;
  std::array<std::uint64_t, kGroupLanes> before{}, after{};
  bool operator==(const AdvicePicture&) const = default;
};

/// What a rule of advice/ says about a launch (filled by the advice pass; printers only show it).
struct AdviceReport {
  std::string code;                        ///< "A101"
  std::string title;                       ///< of the rule: "neighbouring lanes are a stride apart"
  std::string text;                        ///< what was seen, with figures
  std::string change;                      ///< what to do about it
  std::string bound;                       ///< what limits the gain: "the waste is in L1 look-ups only"; may be empty
  SourcePosition at;                       ///< the user's line (user_place.h); line 0: about the whole launch
  std::vector<SourcePosition> inlined_at;  ///< of `at`, innermost call site first
  std::vector<std::uint32_t> sites;        ///< memory instructions it is about
  /// The metric that the change would move, for the sites it touches; unit is empty where nothing can be said.
  std::string unit;  ///< "sectors", "wavefronts", "requests", "constant requests", "% occupancy", ...
  double before = 0, after = 0;
  Grade grade = Grade::kCounted;  ///< of `after`
  std::string reason;             ///< how `after` was found
  /// For ranking only: cycles of one SM's memory pipes that the change would save, roughly. Predicted time takes this
  /// place where it is known.
  double saves = 0;
  std::optional<AdvicePicture> picture;  ///< the most frequent request of the first site, replayed
};

/// One machine instruction of a kernel.
struct ListedInstruction {
  std::uint32_t pc = 0;  ///< byte offset in the kernel's code
  std::string text;
  SourcePosition at;
  std::vector<SourcePosition> inlined_at;  ///< innermost call site first
};
using Listing = std::vector<ListedInstruction>;

/// A barrier that recorded blocks passed.
struct BarrierPosition {
  std::uint32_t op = 0;  ///< as in views::BarrierUse
  SourcePosition at;
  std::vector<SourcePosition> inlined_at;  ///< innermost call site first
};

struct LaunchReport {
  std::uint32_t index = 0;  ///< over the whole run, from 0
  std::int64_t pid = 0;
  std::uint32_t process = 0;  ///< index into Report::processes
  std::string kernel;         ///< demangled
  std::string mangled;
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t static_shared = 0, dynamic_shared = 0;
  Metric registers;
  std::string registers_source;
  std::uint64_t stream = 0;  ///< 0 = default stream; others numbered from 1 as they first appear in the process
  int device = 0;
  views::LaunchState state = views::LaunchState::kFinished;
  /// How far counts of instructions and accesses can be trusted: what was executed is the PTX, or the machine code,
  /// which is what the GPU issues. metrics.cc grades by it.
  Grade stream_grade = Grade::kModelled;
  std::string stream_source = "PTX stream";  ///< or "sm_90 machine code (ptxas 13.0.88)"
  std::string stream_problem;                ///< as views::KernelInfo::machine_problem
  CodeReport code;
  std::shared_ptr<const Listing> listing;  ///< shared by the launches of a kernel; null without; not in the JSON report
  std::string occupancy_limit;  ///< "registers", "shared memory", "warps", "blocks", ... ; empty when not known
  /// Totals. Absent: a count of 0 of something that did not occur, or a ratio without a denominator.
  Metrics metrics;
  LineList lines;
  std::optional<FaultReport> fault;     ///< when the launch did not finish
  std::vector<Diagnostic> diagnostics;  ///< the fault's first, then findings
  std::vector<AdviceReport> advice;     ///< best first
  /// What advice replays; recorded for the first launches of a kernel, and no part of the JSON report. Null without.
  std::shared_ptr<const views::LaunchSamples> samples;
  std::vector<BarrierPosition> barriers;  ///< of `samples`, by op
};

struct ProcessReport {
  std::int64_t pid = 0;
  std::int64_t parent = 0;
  std::vector<std::string> argv;
  std::vector<views::TransferRecord> transfers;
  std::vector<Diagnostic> diagnostics;
  bool truncated = false;  ///< was killed while it wrote its records
};

struct Report {
  std::string tool_version;
  std::vector<std::string> argv;  ///< of the program
  int exit_code = 0;              ///< of the program; 128 + n when signal n ended it
  std::string exit_text;          ///< "exited with 0", "killed by SIGSEGV"
  arch::GpuSpec gpu;
  std::string toolchain;  ///< "nvcc 13.0.88", "clang 19.1.7", "as built"
  std::vector<ProcessReport> processes;
  std::vector<LaunchReport> launches;
  std::vector<std::string> notes;  ///< said once: "events are host time, not GPU time"
  std::vector<Diagnostic> diagnostics;
};

struct BuildOptions {
  std::vector<std::string> argv;
  int exit_code = 0;
  std::string exit_text;
  std::string toolchain;
  std::string tool_version;
  /// Launches that each process began, recorded or not; missing ones: as many as are recorded.
  std::vector<std::uint32_t> launches_begun;
};

/// Applies the metric definitions (metrics.h) to what was counted. `processes` in order of their first launch.
/// Launches are numbered over the whole run in that order, those that were not recorded (`run --launches`) included.
/// Records that refer to kernels or frames that do not exist
/// (a damaged spool) become diagnostics, never a crash.
Report build_report(const std::vector<views::ProcessRecord>& processes, const arch::GpuSpec& gpu,
                    const BuildOptions& options);

}  // namespace muscope::report
