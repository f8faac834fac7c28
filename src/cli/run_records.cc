#include "cli/run_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "cli/run_symbols.h"
#include "runtime/kernel_pattern.h"

namespace muscope::cli {
namespace {

Diagnostic warning(std::string_view code, std::string text, std::string hint) {
  Diagnostic d;
  d.severity = Severity::kWarning;
  d.code = code;
  d.text = std::move(text);
  d.hint = std::move(hint);
  return d;
}

/// Selection as the processes themselves applied it; theirs saves the counting, this one is what holds.
class Selection {
 public:
  explicit Selection(const RunRequest& request) : launches_(request.launches) {
    std::string why;
    kernel_ = runtime::KernelPattern::compile(request.kernel, why);
  }
  bool keeps(const views::LaunchRecord& launch, const std::string& kernel) const {
    if (launch.state != views::LaunchState::kFinished) return true;
    return launches_.contains(launch.index) && (!kernel_ || kernel_->matches(kernel));
  }

 private:
  runtime::LaunchRange launches_;
  std::shared_ptr<const runtime::KernelPattern> kernel_;
};

const views::KernelInfo* kernel_of(const views::ProcessRecord& process, std::uint32_t id) {
  const auto found = std::find_if(process.kernels.begin(), process.kernels.end(),
                                  [id](const views::KernelInfo& k) { return k.id == id; });
  return found == process.kernels.end() ? nullptr : &*found;
}

void add_transfers(views::ProcessRecord& process, const ProcessFiles& files, const CallSites& sites) {
  // Call sites in one source line, or that have no name, are one to the reader.
  std::map<std::tuple<views::TransferKind, views::HostMemory, bool, std::string, std::string>, std::size_t> index;
  for (std::size_t i = 0; i < files.spooled.transfers.size(); ++i) {
    const views::TransferSite& site = files.spooled.transfers[i];
    if (files.counts[i].count == 0) continue;
    const std::string caller = sites.place(site.caller).text;
    const auto [at, fresh] =
        index.try_emplace({site.kind, site.host_memory, site.async, site.api, caller}, process.transfers.size());
    if (fresh) {
      process.transfers.push_back({site.kind, site.host_memory, site.async, 0, 0, site.api, caller});
    }
    process.transfers[at->second].count += files.counts[i].count;
    process.transfers[at->second].bytes += files.counts[i].bytes;
  }
}

void add_findings(views::ProcessRecord& process, const ProcessFiles& files, const CallSites& sites) {
  for (std::size_t i = 0; i < files.spooled.findings.size(); ++i) {
    const views::FindingSite& site = files.spooled.findings[i];
    views::Finding finding = site.finding;
    finding.count = std::max<std::uint64_t>(files.finding_counts[i], 1);
    finding.frame = views::kNoFrame;
    const CodePlace place = sites.place(site.at);
    if (!place.file.empty() && !place.function.empty()) {
      finding.text += fmt::format(", in {} at {}", place.function, place.text);
    } else if (!place.text.empty()) {
      finding.text += fmt::format(", in {}", place.text);
    }
    process.findings.push_back(std::move(finding));
  }
}

}  // namespace

RunRecords gather_records(std::vector<ProcessFiles> files, const RunRequest& request, std::uint32_t lost_processes,
                          int lost_errno, const ProgramName& program) {
  RunRecords out;
  CallSites sites;
  if (!program.path.empty()) sites.call(program.path, program.name);
  for (const ProcessFiles& f : files) {
    for (const views::TransferSite& t : f.spooled.transfers) sites.want(t.caller);
    for (const views::FindingSite& s : f.spooled.findings) sites.want(s.at);
  }
  sites.resolve();

  const Selection selection(request);
  for (ProcessFiles& f : files) {
    views::ProcessRecord process = std::move(f.spooled.process);
    out.launches += f.launches_begun;
    out.launches_begun.push_back(f.launches_begun);
    if (f.launch_unfinished) process.in_progress = f.kernel;
    std::map<std::uint32_t, std::string> names;
    for (const views::KernelInfo& k : process.kernels) names.emplace(k.id, k.name);
    std::erase_if(process.launches, [&](const views::LaunchRecord& l) { return !selection.keeps(l, names[l.kernel]); });
    out.recorded += static_cast<std::uint32_t>(process.launches.size());
    out.faulted |= std::any_of(process.launches.begin(), process.launches.end(),
                               [](const views::LaunchRecord& l) { return l.state == views::LaunchState::kFaulted; });
    add_transfers(process, f, sites);
    add_findings(process, f, sites);
    out.incomplete |= std::any_of(process.findings.begin(), process.findings.end(),
                                  [](const views::Finding& finding) { return finding.code == "D508"; });
    if (f.lost_records != 0) {
      out.incomplete = true;
      out.diagnostics.push_back(
          warning("D732",
                  fmt::format("process {} could not write {} of its records: {}", process.pid, f.lost_records,
                              std::strerror(f.lost_errno)),
                  "free space in the folder of temporary files, or set TMPDIR to another; then run again"));
    }
    for (const std::string& problem : f.spooled.problems) {
      out.incomplete = true;
      out.diagnostics.push_back(warning("D733", fmt::format("process {}: {}", process.pid, problem),
                                        "the record was left out; run again, and report it if it stays"));
    }
    out.processes.push_back(std::move(process));
  }
  if (lost_processes != 0) {
    out.incomplete = true;
    out.diagnostics.push_back(warning(
        "D732",
        fmt::format("{} {} could not record anything: {}", lost_processes,
                    lost_processes == 1 ? "process of the run" : "processes of the run", std::strerror(lost_errno)),
        "free space in the folder of temporary files, or set TMPDIR to another; then run again"));
  }
  return out;
}

std::string stopped_launch_text(const std::vector<views::ProcessRecord>& processes) {
  for (const views::ProcessRecord& p : processes) {
    for (const views::LaunchRecord& l : p.launches) {
      if (l.state != views::LaunchState::kStopped) continue;
      const views::KernelInfo* kernel = kernel_of(p, l.kernel);
      std::string text = fmt::format("kernel {} (launch {})", kernel != nullptr ? kernel->name : "?", l.index);
      const bool has_frame = kernel != nullptr && l.fault.frame < kernel->frames.size();
      if (has_frame && !kernel->frames[l.fault.frame].file.empty()) {
        text += fmt::format(" at {}:{}", kernel->frames[l.fault.frame].file, kernel->frames[l.fault.frame].line);
      } else if (l.fault.ptx_line > 0) {
        text += fmt::format(" at PTX line {}", l.fault.ptx_line);
      }
      if (!l.fault.instruction.empty()) text += fmt::format(", `{}`", l.fault.instruction);
      return text;
    }
  }
  for (const views::ProcessRecord& p : processes) {
    if (!p.in_progress.empty()) return fmt::format("kernel {}", p.in_progress);
  }
  return {};
}

}  // namespace muscope::cli
