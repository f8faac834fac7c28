#include "report/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/kernel_name.h"
#include "report/user_place.h"

namespace muscope::report {
namespace {

constexpr std::size_t kMostReasons = 4;  ///< a program with many kernels may have one for each
constexpr std::size_t kMostNames = 3;
constexpr std::size_t kLongestName = 60;

bool from_machine_code(const LaunchReport& launch) { return launch.stream_source != "PTX stream"; }

/// "a, b and 3 more".
std::string names_text(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), names.size() == kMostNames + 1 ? kMostNames + 1 : kMostNames);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// What was executed, and why not something better.
void add_stream_notes(std::vector<std::string>& notes, const Report& report) {
  bool ptx = false, no_ptxas = false;
  std::vector<std::string> machine_sources, other_releases, doubts;
  std::map<std::string, std::vector<std::string>> fallbacks;  // reason -> kernels
  const auto add = [](std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  };
  for (const LaunchReport& launch : report.launches) {
    if (from_machine_code(launch)) {
      add(machine_sources, launch.stream_source);
      if (launch.stream_problem.starts_with(views::kOtherRelease))
        add(other_releases, launch.stream_problem);
      else if (!launch.stream_problem.empty())
        add(doubts, launch.stream_problem);
    } else {
      ptx = true;
      if (launch.stream_problem == views::kNoPtxas) {
        no_ptxas = true;
      } else if (!launch.stream_problem.empty()) {
        add(fallbacks[launch.stream_problem], shorten_kernel_name(launch.kernel, kLongestName));
      }
    }
  }
  for (const std::string& source : machine_sources)
    notes.push_back(
        fmt::format("{} the {} that was executed.", ptx ? "Counts of some kernels follow" : "Counts follow", source));
  if (!machine_sources.empty() && !(report.gpu.cc_major == 9 && report.gpu.cc_minor == 0))
    notes.push_back(
        "Counts of machine code were compared with the counters of a GPU of compute capability 9.0 only: those of this "
        "one are graded modelled.");
  for (const std::string& why : other_releases)
    notes.push_back(fmt::format(
        "ptxas is not of the CUDA release that wrote the PTX ({}): that release's own could issue other instructions "
        "and use other registers.",
        why));
  for (const std::string& why : doubts)
    notes.push_back(fmt::format("Counts of some kernels are modelled, not counted: {}.", why));
  if (ptx)
    notes.push_back(
        fmt::format("Counts {}follow the PTX that was executed (\"PTX stream\"): addresses are exact, but "
                    "ptxas may merge, drop or widen memory instructions and may spill registers.",
                    machine_sources.empty() ? "" : "of other kernels "));
  if (no_ptxas)
    notes.push_back(
        "With ptxas, of NVIDIA's CUDA toolkit, kernels would be counted from machine code, registers and spills be "
        "exact, and each line say what ptxas made of it.");
  std::size_t more = 0;
  for (const auto& [reason, kernels] : fallbacks) {
    if (static_cast<std::size_t>(std::distance(fallbacks.begin(), fallbacks.find(reason))) >= kMostReasons) {
      more += kernels.size();
    } else {
      notes.push_back(fmt::format("Counted from PTX, not from machine code: {} ({}).", names_text(kernels), reason));
    }
  }
  if (more > 0) notes.push_back(fmt::format("So are {} more kernels, for other reasons (see the JSON report).", more));
}

/// An instruction that waits for others: a load of global memory that the compiler may not keep, or an exchange on
/// condition, executed more than once by a warp.
bool waits(const SiteReport& site, std::uint64_t warps) {
  if (site.space != trace::Space::kGlobal || site.executed <= warps) return false;
  const std::string_view text = site.text;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (site.kind == trace::Kind::kLoad)
    return has(".STRONG.") || has("ld.volatile") || has("ld.relaxed") || has("ld.acquire");
  return site.kind == trace::Kind::kAtom && (has(".CAS") || has(".cas"));
}

/// How often a wait looks is a matter of time: here of the order in which blocks run, on a GPU of the day.
void add_polling_note(std::vector<std::string>& notes, const Report& report) {
  std::vector<std::string> places;
  for (const LaunchReport& launch : report.launches) {
    std::uint64_t blocks = 1, threads = 1;
    for (const std::uint32_t extent : launch.grid) blocks *= extent;
    for (const std::uint32_t extent : launch.block) threads *= extent;
    const std::uint64_t warps = blocks * ((threads + 31) / 32);
    for (const LineReport& line : launch.lines) {
      if (std::none_of(line.sites.begin(), line.sites.end(), [&](const SiteReport& s) { return waits(s, warps); }))
        continue;
      const SourcePosition& at = *user_place(line.at, line.inlined_at).at;
      std::string name = shorten_kernel_name(launch.kernel, kLongestName);
      if (!at.file.empty()) name += fmt::format(" (line {})", at.line);
      if (std::find(places.begin(), places.end(), name) == places.end()) places.push_back(std::move(name));
    }
  }
  if (!places.empty())
    notes.push_back(fmt::format(
        "Loops that wait for other threads may turn another number of times on a GPU, and there from run to "
        "run: the counts of their loads and instructions depend on time, in {}.",
        names_text(places)));
}

}  // namespace

std::vector<std::string> notes_of(const Report& report) {
  std::vector<std::string> notes;
  add_stream_notes(notes, report);
  add_polling_note(notes, report);
  bool no_lines = false, estimated_registers = false;
  for (const LaunchReport& launch : report.launches) {
    estimated_registers = estimated_registers || launch.registers.grade == Grade::kEstimated;
    for (const LineReport& line : launch.lines) no_lines = no_lines || (line.at.file.empty() && !line.sites.empty());
  }
  if (no_lines) notes.push_back("Some code has no line information, its lines are PTX lines: compile with -lineinfo.");
  if (estimated_registers)
    notes.push_back("Registers of some kernels are estimated or not known, and so is their occupancy.");
  if (!report.launches.empty() && report.gpu.global.confidence == arch::Confidence::kAssumed)
    notes.push_back(fmt::format("How {} groups accesses into transactions is assumed, not documented or measured.",
                                report.gpu.full_name.empty() ? report.gpu.name : report.gpu.full_name));
  if (!report.launches.empty() && report.gpu.warp_size.known && report.gpu.warp_size.as_int() > 32)
    notes.push_back(
        fmt::format("A warp has {} lanes: kernels run as on CUDA, in groups of 32, and requests of the groups of a "
                    "warp are counted as one.",
                    report.gpu.warp_size.as_int()));
  return notes;
}

}  // namespace muscope::report
