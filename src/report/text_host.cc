// Host traffic, problems and notes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/findings.h"
#include "report/kernel_name.h"
#include "report/names.h"
#include "report/number_format.h"
#include "report/text_parts.h"
#include "report/user_place.h"

namespace muscope::report {
namespace {

constexpr std::size_t kTransfersShown = 12;
constexpr std::size_t kProblemsShown = 10;

Style style_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return Style::kRed;
    case Severity::kWarning:
      return Style::kYellow;
    case Severity::kNote:
      break;
  }
  return Style::kBlue;
}

std::string triple(const std::array<std::uint32_t, 3>& value) {
  return fmt::format("({}, {}, {})", value[0], value[1], value[2]);
}

void print_message(Page& page, const Diagnostic& d) {
  const std::string head = fmt::format("{} {}:", word_of(d.severity), d.code);
  std::vector<std::string> lines = wrap(fmt::format("{} {}", head, d.text), page.width() - 4);
  lines.front().replace(0, head.size(), page.styled(head, style_of(d.severity)));
  for (std::size_t i = 0; i < lines.size(); ++i) page.line((i == 0 ? "" : "    ") + lines[i]);
}

void print_help(Page& page, const Diagnostic& d) {
  if (!d.hint.empty()) page.paragraph("  help: ", d.hint, 8);
}

AccessKind access_of_text(std::string_view instruction) {
  if (instruction.starts_with("st")) return AccessKind::kWrite;
  if (instruction.starts_with("atom") || instruction.starts_with("red")) return AccessKind::kUpdate;
  return AccessKind::kRead;
}

/// "main.cu:120", "to_device<float> in ./app": long C++ names are shortened.
std::string caller_text(const std::string& caller, const TextOptions& options) {
  constexpr std::size_t kLongest = 40;
  const std::size_t in = caller.rfind(" in ");
  if (in == std::string::npos) return relative_path(caller, options.directory);
  const std::string_view function = std::string_view(caller).substr(0, in);
  const bool plain = function.size() <= kLongest && function.find('(') == std::string_view::npos;
  return (plain ? std::string(function) : shorten_kernel_name(kernel_base_name(function), kLongest)) +
         caller.substr(in);
}

void print_fault(Page& page, const LaunchReport& launch, const TextOptions& options) {
  const FaultReport& fault = *launch.fault;
  page.line();
  print_message(page, fault.diagnostic);
  page.line(fmt::format("  in {}, launch #{}", shorten_kernel_name(launch.kernel, page.width() - 24), launch.index));
  page.line(fmt::format("  block {}, thread {}", triple(fault.block), triple(fault.thread)));
  const UserPlace place = user_place(fault.at, fault.inlined_at);
  const bool known = place.at->line > 0 || !place.at->file.empty();
  std::string at =
      fmt::format("  at {}", position_text(known ? *place.at : SourcePosition{{}, fault.ptx_line, 0, {}}, options));
  if (!place.at->function.empty()) at += fmt::format(" in {}", place.at->function);
  if (place.depth > 0) at += fmt::format(", which calls {}", callee_text(fault.at, fault.inlined_at));
  for (std::size_t i = place.depth; i < fault.inlined_at.size() && i < place.depth + 3; ++i)
    at += fmt::format(", inlined at {}", position_text(fault.inlined_at[i], options));
  page.line(at);
  if (!place.at->file.empty())
    print_excerpt(page, *place.at, {}, {{{}, access_of_text(fault.instruction), place.at->column}}, options, 8);
  if (!fault.instruction.empty())
    page.line(fault.ptx_line > 0 ? fmt::format("  instruction {} (PTX line {})", fault.instruction, fault.ptx_line)
                                 : fmt::format("  instruction {}", fault.instruction));
  print_help(page, fault.diagnostic);
}

void print_plain(Page& page, const Diagnostic& d, std::string_view context, const TextOptions& options) {
  page.line();
  print_message(page, d);
  std::string at;
  if (!d.where.file.empty()) at = fmt::format("at {}", position_text({d.where.file, d.where.line, 0, {}}, options));
  if (!context.empty()) at += fmt::format("{}in {}", at.empty() ? "" : " ", context);
  if (!at.empty()) page.paragraph("  ", at, 4);
  print_help(page, d);
}

}  // namespace

void print_transfers(Page& page, const Report& report, const TextOptions& options) {
  for (std::size_t index = 0; index < report.processes.size(); ++index) {
    const ProcessReport& process = report.processes[index];
    if (process.transfers.empty()) continue;
    std::vector<const views::TransferRecord*> transfers;
    std::uint64_t host_bytes = 0;
    for (const views::TransferRecord& transfer : process.transfers) {
      transfers.push_back(&transfer);
      if (transfer.kind == views::TransferKind::kHostToDevice || transfer.kind == views::TransferKind::kDeviceToHost)
        host_bytes += transfer.bytes;
    }
    std::stable_sort(transfers.begin(), transfers.end(),
                     [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
    page.line();
    Table table;
    table.remark_style = Style::kDim;
    table.heading({report.processes.size() > 1 ? fmt::format("host traffic of process {} [counted]", index)
                                               : "host traffic [counted]",
                   "calls", "bytes", "per call", "host side"});
    for (std::size_t i = 0; i < transfers.size() && i < kTransfersShown; ++i) {
      const views::TransferRecord& t = *transfers[i];
      std::string label = fmt::format("{}{}", word_of(t.kind), t.async ? ", async" : "");
      std::string remark = fmt::format("{}{}{}", t.api, t.caller.empty() ? "" : ", ", caller_text(t.caller, options));
      table.row({std::move(label), grouped(t.count), format_bytes(t.bytes),
                 t.count == 0 ? "-" : format_bytes(t.bytes / t.count),
                 t.host_memory == views::HostMemory::kNone ? "-" : std::string(word_of(t.host_memory))},
                std::move(remark));
    }
    table.print(page, 0);
    if (transfers.size() > kTransfersShown)
      page.line(fmt::format("  and {} more kinds", transfers.size() - kTransfersShown));
    if (host_bytes > 0) page.line(fmt::format("  {} crossed the bus", format_bytes(host_bytes)));
  }
}

void print_problems(Page& page, const Report& report, const TextOptions& options) {
  std::size_t shown = 0, left_out = 0;
  const auto room = [&] { return shown < kProblemsShown ? (++shown, true) : (++left_out, false); };
  for (const LaunchReport& launch : report.launches)
    if (launch.fault && room()) print_fault(page, launch, options);
  for (const RepeatedFinding& finding : findings_of(report)) {
    if (!room()) continue;
    std::string context = finding.first_place;
    if (finding.launches > 1)
      context += fmt::format(" and {} more", counted_noun(finding.launches - 1, "launch", "launches"));
    print_plain(page, finding.diagnostic, context, options);
  }
  for (std::size_t index = 0; index < report.processes.size(); ++index)
    for (const Diagnostic& d : report.processes[index].diagnostics)
      if (room()) print_plain(page, d, report.processes.size() > 1 ? fmt::format("process {}", index) : "", options);
  for (const Diagnostic& d : report.diagnostics)
    if (room()) print_plain(page, d, {}, options);
  if (left_out > 0) {
    page.line();
    page.line(fmt::format("and {} (the JSON report has all)", counted_noun(left_out, "more message", "more messages")));
  }
}

void print_notes(Page& page, const Report& report) {
  page.line();
  for (const std::string& note : report.notes) page.paragraph(page.styled("note: ", Style::kDim), note, 6, Style::kDim);
  page.paragraph(
      page.styled("grades: ", Style::kDim),
      "[counted] equals the hardware's counter; [modelled] follows a documented model; [estimated] is a bound or "
      "a guess (muscope explain grades).",
      8, Style::kDim);
}

}  // namespace muscope::report
