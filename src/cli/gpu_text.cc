#include "cli/gpu_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/gpu_json.h"
#include "report/number_format.h"
#include "report/text_page.h"

namespace muscope::cli {
namespace {

using arch::GpuSpec;
using arch::MemoryLevel;
using arch::Sourced;

constexpr std::size_t kInner = 104;  ///< columns inside a box

std::string bytes_text(const Sourced& n) {
  if (!n.known) return "-";
  std::string text = report::format_bytes(static_cast<std::uint64_t>(n.value));
  if (const std::size_t whole = text.find(".0 "); whole != std::string::npos) text.erase(whole, 2);
  return text;
}

std::string rounded(double value) {
  return report::grouped(value, value < 100 && value != static_cast<double>(static_cast<std::int64_t>(value)) ? 1 : 0);
}

std::string rate_text(const Sourced& n) {
  if (!n.known) return "-";
  return n.value >= 10000 ? report::grouped(n.value / 1000, 1) + " TB/s" : rounded(n.value) + " GB/s";
}

/// Gives every source a number when it is first used.
class Sources {
 public:
  /// "m1", "d2", "a3": how it is known, and which source.
  std::string mark(const Sourced& n) {
    if (!n.known) return "";
    const auto found = std::find(seen_.begin(), seen_.end(), n.source);
    const auto at = found - seen_.begin();
    if (found == seen_.end()) seen_.push_back(n.source);
    return fmt::format("{}{}", arch::name_of(n.confidence).front(), at + 1);
  }
  const std::vector<std::string>& all() const { return seen_; }

 private:
  std::vector<std::string> seen_;
};

std::string marked(const std::string& text, const std::string& mark) { return mark.empty() ? text : text + " " + mark; }

class Drawing {
 public:
  explicit Drawing(const GpuSpec& gpu) : gpu_(gpu) {}

  std::string draw(Sources& sources) {
    out_ +=
        fmt::format("    {:<11}{:>14}{:>28}{:>17}   {}\n", "level", "size", "latency", "bandwidth", "who sees a write");
    const std::string sms = gpu_.sm_count.known ? fmt::format("each of {} SMs", gpu_.sm_count.as_int()) : "each SM";
    box(sms, {"registers", "shared", "cluster", "L1", "texture", "constant"}, sources);
    arrow(gpu_.sector_bytes.known
              ? fmt::format("{} B sectors of {} B lines", gpu_.sector_bytes.as_int(), gpu_.line_bytes.as_int())
              : "");
    box("the die", {"L2"}, sources);
    arrow(gpu_.memory_bus_bits.known ? fmt::format("{} bits wide", report::grouped(gpu_.memory_bus_bits.value, 0))
                                     : "");
    box("memory beside the die: global, local, constant, texture data", {"DRAM"}, sources);
    // A hierarchy from a file may name levels of its own.
    const std::vector<std::string> outside = {"peer", "host"};
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    std::vector<std::string> others;
    bool measured_outside = false;
    for (const MemoryLevel& level : gpu_.hierarchy) {
      measured_outside = measured_outside || has(outside, level.name);
      if (!has(drawn_, level.name) && !has(outside, level.name)) others.push_back(level.name);
    }
    if (!others.empty()) box("further levels", others, sources);
    arrow("PCIe or NVLink");
    if (measured_outside)
      box("other GPUs' memory, host memory", outside, sources);
    else
      out_ += "    host memory\n";
    return out_;
  }

 private:
  void arrow(const std::string& what) { out_ += fmt::format("            |{}{}\n", what.empty() ? "" : "  ", what); }

  void box(const std::string& title, const std::vector<std::string>& levels, Sources& sources) {
    out_ += fmt::format("  +- {} {}+\n", title, std::string(kInner - std::min(kInner, title.size() + 3), '-'));
    for (const std::string& name : levels)
      for (const MemoryLevel& level : gpu_.hierarchy)
        if (level.name == name) row(level, sources);
    out_ += "  +" + std::string(kInner, '-') + "+\n";
  }

  void row(const MemoryLevel& level, Sources& sources) {
    drawn_.push_back(level.name);
    std::string latency = "-";
    if (level.latency_cycles.known) {
      latency = rounded(level.latency_cycles.value) + " cycles";
      if (gpu_.clock_mhz.known && gpu_.clock_mhz.value > 0)
        latency += fmt::format(" = {:.0f} ns", level.latency_cycles.value * 1000 / gpu_.clock_mhz.value);
    }
    std::string text = fmt::format(
        " {:<11}{:>14}{:>28}{:>17}   {}", level.name.substr(0, 11),
        marked(bytes_text(level.bytes), sources.mark(level.bytes)), marked(latency, sources.mark(level.latency_cycles)),
        marked(rate_text(level.bandwidth_gbs), sources.mark(level.bandwidth_gbs)), level.visibility);
    text.resize(kInner, ' ');
    out_ += "  |" + text + "|\n";
  }

  const GpuSpec& gpu_;
  std::string out_;
  std::vector<std::string> drawn_;
};

struct LimitRow {
  const char* name;
  Sourced GpuSpec::* member;
  bool bytes;
};
constexpr LimitRow kLimits[] = {
    {"lanes per warp", &GpuSpec::warp_size, false},
    {"threads per block", &GpuSpec::max_threads_per_block, false},
    {"threads per SM", &GpuSpec::max_threads_per_sm, false},
    {"warps per SM", &GpuSpec::max_warps_per_sm, false},
    {"blocks per SM", &GpuSpec::max_blocks_per_sm, false},
    {"barriers per SM", &GpuSpec::barriers_per_sm, false},
    {"registers per SM", &GpuSpec::registers_per_sm, false},
    {"registers per block", &GpuSpec::registers_per_block, false},
    {"registers per thread", &GpuSpec::max_registers_per_thread, false},
    {"register unit", &GpuSpec::register_allocation_unit, false},
    {"shared per SM", &GpuSpec::shared_per_sm, true},
    {"shared per block", &GpuSpec::shared_per_block, true},
    {"with opt-in", &GpuSpec::shared_per_block_optin, true},
    {"reserved per block", &GpuSpec::shared_reserved_per_block, true},
    {"shared unit", &GpuSpec::shared_allocation_unit, true},
    {"constant memory", &GpuSpec::constant_bytes, true},
    {"SM clock (MHz)", &GpuSpec::clock_mhz, false},
    {"memory clock (MHz)", &GpuSpec::memory_clock_mhz, false},
};

void limits(const GpuSpec& gpu, Sources& sources, std::string& out) {
  std::vector<std::string> cells;
  for (const LimitRow& row : kLimits) {
    const Sourced& n = gpu.*row.member;
    if (!n.known) continue;
    const std::string value = row.bytes ? bytes_text(n) : rounded(n.value);
    cells.push_back(fmt::format("{:<21}{:>14}", row.name, marked(value, sources.mark(n))));
  }
  const std::size_t rows = (cells.size() + 2) / 3;
  for (std::size_t r = 0; r < rows; ++r) {
    out += "  ";
    for (std::size_t column = 0; column < 3; ++column)
      if (const std::size_t at = column * rows + r; at < cells.size()) out += (column == 0 ? "" : "   ") + cells[at];
    out += '\n';
  }
  if (!gpu.shared_carveouts.empty()) {
    out += "  shared carve-outs (KiB): ";
    for (std::size_t i = 0; i < gpu.shared_carveouts.size(); ++i)
      out += fmt::format("{}{}", i == 0 ? "" : ", ", gpu.shared_carveouts[i] / 1024);
    out += '\n';
  }
}

std::string global_rule(const arch::GlobalRules& r) {
  std::string text = fmt::format("loads move {} B", r.load_granularity_l1_on);
  if (r.load_granularity_l1_on != r.load_granularity_l1_off)
    text += fmt::format(" when cached in L1 ({}), {} B when not",
                        r.l1_caches_global_by_default ? "the default" : "not the default", r.load_granularity_l1_off);
  text +=
      r.stores_join_segments ? "; stores 32, 64 or 128 B of a line" : fmt::format("; stores {} B", r.store_granularity);
  if (r.lanes_per_request_4 != 32 || r.lanes_per_request_8 != 32)
    text += fmt::format("; lanes per request: {}, {}, {} for 4, 8, 16 B", r.lanes_per_request_4, r.lanes_per_request_8,
                        r.lanes_per_request_16);
  return fmt::format("{} [{}: {}]", text, arch::name_of(r.confidence), r.source);
}

void note(report::Page& page, const std::string& name, const std::string& text) {
  if (!text.empty()) page.paragraph("  " + name + ": ", text, 4);
}

}  // namespace

std::string gpu_text(const GpuSpec& gpu) {
  Sources sources;
  report::Page head(110, false);
  head.spread(gpu.full_name, report::Style::kPlain,
              fmt::format("{}, {} {}, {}", gpu.name, gpu.cc_major == 0 ? "MUSA" : "compute capability", gpu.cc_text(),
                          gpu.architecture),
              report::Style::kPlain);
  head.line();
  std::string out = head.text() + Drawing(gpu).draw(sources) + "\n";
  limits(gpu, sources, out);
  report::Page page(110, false);
  page.line();
  page.paragraph("  global memory: ", global_rule(gpu.global), 17);
  page.paragraph("  shared memory: ",
                 fmt::format("{} banks of {} B [{}]", gpu.shared.banks, gpu.shared.bank_bytes, gpu.shared.source), 17);
  note(page, "note", gpu.l1_note);
  page.line();
  bool any = false;
  const auto noted = [&](const std::string& name, const Sourced& n) {
    if (!n.known || n.note.empty()) return;
    note(page, name, n.note);
    any = true;
  };
  for (const MemoryLevel& level : gpu.hierarchy) {
    noted(level.name + " size", level.bytes);
    noted(level.name + " latency", level.latency_cycles);
    noted(level.name + " bandwidth", level.bandwidth_gbs);
  }
  for (const LimitRow& row : kLimits) noted(row.name, gpu.*row.member);
  noted("bus width", gpu.memory_bus_bits);
  if (any) page.line();
  page.line("  m measured, d documented, a assumed; - not known. Sources:");
  for (std::size_t i = 0; i < sources.all().size(); ++i)
    page.paragraph(fmt::format("  {:>3} ", i + 1), sources.all()[i], 6);
  return out + page.text();
}

std::string gpu_list_text(const std::vector<GpuSpec>& gpus) {
  std::string out = fmt::format("  {:<14}{:<36}{:>5}{:>6}{:>11}{:>12}{:>11}{:>10}\n", "name", "GPU", "cc", "SMs",
                                "memory", "bandwidth", "L2", "clock");
  std::string bare;
  for (const GpuSpec& gpu : gpus) {
    if (gpu.full_name.starts_with("any GPU")) {
      bare += (bare.empty() ? "" : ", ") + gpu.name;
      continue;
    }
    out += fmt::format("  {:<14}{:<36}{:>5}{:>6}{:>11}{:>12}{:>11}{:>10}\n", gpu.name, gpu.full_name,
                       gpu.cc_major == 0 ? "mp" + std::to_string(gpu.cc_minor) : gpu.cc_text(),
                       gpu.sm_count.known ? std::to_string(gpu.sm_count.as_int()) : "-", bytes_text(gpu.memory_bytes),
                       rate_text(gpu.memory_bandwidth_gbs), bytes_text(gpu.l2_bytes),
                       gpu.clock_mhz.known ? rounded(gpu.clock_mhz.value) + " MHz" : "-");
  }
  report::Page page(110, false);
  page.line();
  page.paragraph("  compute capabilities: ", bare, 24);
  page.paragraph("  ", "A JSON file works wherever a name does: `muscope gpu h200 --json` writes one.", 2);
  return out + page.text();
}

}  // namespace muscope::cli
