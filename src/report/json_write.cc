// Report -> JSON.
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/compiled_text.h"
#include "report/json.h"
#include "report/names.h"

namespace muscope::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kOneLine = 200;  ///< values that are no longer than this stand on one line

Json json_of(const SourcePosition& at) {
  Json json{{"file", at.file}, {"line", at.line}, {"column", at.column}};
  if (!at.function.empty()) json["function"] = at.function;
  return json;
}

Json json_of(const std::vector<SourcePosition>& positions) {
  Json json = Json::array();
  for (const SourcePosition& at : positions) json.push_back(json_of(at));
  return json;
}

Json json_of(const Metric& metric) {
  Json json;
  std::visit([&](auto number) { json["value"] = number; }, metric.value);
  json["unit"] = metric.unit;
  json["grade"] = name_of(metric.grade);
  if (!metric.reason.empty()) json["reason"] = metric.reason;
  return json;
}

Json json_of(const Metrics& metrics) {
  Json json = Json::object();
  // Names of a map are different: operator[] would search for each among those before it.
  auto& members = json.get_ref<Json::object_t&>();
  members.reserve(metrics.size());
  for (const auto& [name, metric] : metrics) members.emplace_back(name, json_of(metric));
  return json;
}

Json json_of(const Diagnostic& d) {
  Json json{{"severity", word_of(d.severity)}, {"code", d.code}, {"text", d.text}};
  if (!d.where.file.empty()) json["at"] = {{"file", d.where.file}, {"line", d.where.line}, {"column", d.where.column}};
  if (!d.hint.empty()) json["help"] = d.hint;
  return json;
}

Json json_of(const std::vector<Diagnostic>& diagnostics) {
  Json json = Json::array();
  for (const Diagnostic& d : diagnostics) json.push_back(json_of(d));
  return json;
}

Json json_of(const SiteReport& site) {
  Json json{{"instruction", site.text},
            {"ptx_line", site.ptx_line},
            {"column", site.column},
            {"site", site.site},
            {"space", word_of(site.space)},
            {"kind", word_of(site.kind)},
            {"generic", site.generic},
            {"lane_bytes", site.lane_bytes},
            {"executed", site.executed},
            {"lanes", site.lanes},
            {"requests", site.requests},
            {"sectors", site.sectors},
            {"ideal_sectors", site.ideal_sectors},
            {"lines", site.lines},
            {"bytes", site.bytes},
            {"wavefronts", site.wavefronts},
            {"ideal_wavefronts", site.ideal_wavefronts},
            {"host_sectors", site.host_sectors},
            {"distinct_sectors", site.distinct_sectors},
            {"t_wavefronts", site.t_wavefronts},
            {"data_wavefronts", site.data_wavefronts},
            {"sass_wavefronts", site.sass_wavefronts},
            {"sass_ideal_wavefronts", site.sass_ideal_wavefronts},
            {"sass_least_wavefronts", site.sass_least_wavefronts}};
  if (site.pc != views::kNoPc) json["pc"] = site.pc;
  if (site.local_use != views::LocalUse::kNone) json["local_use"] = word_of(site.local_use);
  if (site.worst_cost > 0) {
    Json addresses = Json::array();
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      addresses.push_back((site.worst_mask >> lane) & 1 ? Json(site.worst_addresses[lane]) : Json(nullptr));
    json["worst"] = {{"cost", site.worst_cost},
                     {"block", site.worst_block},
                     {"warp", site.worst_warp},
                     {"addresses", std::move(addresses)}};
  }
  return json;
}

Json json_of(const LineReport& line) {
  Json json = json_of(line.at);
  if (!line.inlined_at.empty()) json["inlined_at"] = json_of(line.inlined_at);
  json["metrics"] = json_of(line.metrics);
  json["sites"] = Json::array();
  for (const SiteReport& site : line.sites) json["sites"].push_back(json_of(site));
  return json;
}

Json json_of(const FaultReport& fault) {
  Json json = json_of(fault.diagnostic);
  json["source"] = json_of(fault.at);
  json["inlined_at"] = json_of(fault.inlined_at);
  json["instruction"] = fault.instruction;
  json["ptx_line"] = fault.ptx_line;
  json["block"] = fault.block;
  json["thread"] = fault.thread;
  return json;
}

Json json_of(const views::CodeAccesses& accesses) {
  return {{"instructions", accesses.count}, {"bytes", accesses.bytes}, {"each", accesses.each}};
}

Json json_of(const CodeReport& code) {
  Json json{{"spill_store_bytes", json_of(code.spill_store_bytes)},
            {"spill_load_bytes", json_of(code.spill_load_bytes)},
            {"frame_bytes", code.frame_bytes},
            {"stack_bytes", code.stack_bytes},
            {"changes", Json::array()}};
  for (const CodeChangeReport& change : code.changes) {
    Json one{{"at", json_of(change.at)}};
    if (!change.inlined_at.empty()) one["inlined_at"] = json_of(change.inlined_at);
    one["kind"] = word_of(change.kind);
    one["space"] = change.generic ? "generic" : word_of(change.space);
    one["access"] = word_of(change.access);
    one["ptx"] = json_of(change.ptx);
    one["machine"] = json_of(change.machine);
    if (change.executed > 0) one["executed"] = change.executed;
    one["text"] = text_of(change);
    json["changes"].push_back(std::move(one));
  }
  return json;
}

Json lanes_of(GroupMask mask, const std::array<std::uint64_t, kGroupLanes>& addresses) {
  Json json = Json::array();
  for (unsigned lane = 0; lane < kGroupLanes; ++lane)
    json.push_back((mask >> lane) & 1 ? Json(addresses[lane]) : Json(nullptr));
  return json;
}

Json json_of(const AdvicePicture& picture) {
  return {{"space", word_of(picture.space)},
          {"after_space", word_of(picture.after_space)},
          {"kind", word_of(picture.kind)},
          {"lane_bytes", picture.lane_bytes},
          {"after_lane_bytes", picture.after_lane_bytes},
          {"before", lanes_of(picture.mask, picture.before)},
          {"after", lanes_of(picture.mask, picture.after)}};
}

Json json_of(const AdviceReport& advice) {
  Json json{{"code", advice.code}, {"title", advice.title}, {"text", advice.text}, {"change", advice.change}};
  if (!advice.bound.empty()) json["bound"] = advice.bound;
  if (!advice.unit.empty()) {
    json["unit"] = advice.unit;
    json["before"] = advice.before;
    json["after"] = advice.after;
  }
  json["grade"] = name_of(advice.grade);
  if (!advice.reason.empty()) json["reason"] = advice.reason;
  json["saves"] = advice.saves;
  if (advice.at.line > 0) json["at"] = json_of(advice.at);
  if (!advice.inlined_at.empty()) json["inlined_at"] = json_of(advice.inlined_at);
  if (!advice.sites.empty()) json["sites"] = advice.sites;
  if (advice.picture) json["picture"] = json_of(*advice.picture);
  return json;
}

Json json_of(const LineList& lines) {
  Json json = Json::array();
  for (const LineReport& line : lines) json.push_back(json_of(line));
  return json;
}

/// Without lines their place holds null.
Json json_of(const LaunchReport& launch, bool with_lines = true) {
  Json registers = json_of(launch.registers);
  registers["source"] = launch.registers_source;
  Json json{{"index", launch.index},
            {"process", launch.process},
            {"kernel", launch.kernel},
            {"mangled", launch.mangled},
            {"grid", launch.grid},
            {"block", launch.block},
            {"shared", {{"static", launch.static_shared}, {"dynamic", launch.dynamic_shared}}},
            {"registers", std::move(registers)},
            {"stream", launch.stream},
            {"device", launch.device},
            {"state", word_of(launch.state)},
            {"counted_from", {{"source", launch.stream_source}, {"grade", name_of(launch.stream_grade)}}},
            {"occupancy_limit", launch.occupancy_limit},
            {"metrics", json_of(launch.metrics)}};
  if (!launch.stream_problem.empty()) json["counted_from"]["problem"] = launch.stream_problem;
  if (launch.code.known) json["code"] = json_of(launch.code);
  json["lines"] = with_lines ? json_of(launch.lines) : Json(nullptr);
  if (launch.fault) json["fault"] = json_of(*launch.fault);
  json["advice"] = Json::array();
  for (const AdviceReport& advice : launch.advice) json["advice"].push_back(json_of(advice));
  json["diagnostics"] = json_of(launch.diagnostics);
  return json;
}

Json json_of(const views::TransferRecord& transfer) {
  return {{"kind", word_of(transfer.kind)}, {"host_memory", word_of(transfer.host_memory)},
          {"async", transfer.async},        {"count", transfer.count},
          {"bytes", transfer.bytes},        {"api", transfer.api},
          {"caller", transfer.caller}};
}

/// The parent's place in the list, null when it is not in there.
Json parent_of(const Report& report, const ProcessReport& process) {
  for (std::size_t i = 0; i < report.processes.size(); ++i)
    if (&report.processes[i] != &process && report.processes[i].pid == process.parent) return i;
  return nullptr;
}

Json json_of(const Report& report, std::size_t index) {
  const ProcessReport& process = report.processes[index];
  Json json{{"index", index}, {"parent", parent_of(report, process)}, {"argv", process.argv}};
  json["truncated"] = process.truncated;
  json["transfers"] = Json::array();
  for (const views::TransferRecord& transfer : process.transfers) json["transfers"].push_back(json_of(transfer));
  json["diagnostics"] = json_of(process.diagnostics);
  return json;
}

Json json_of(const arch::GpuSpec& gpu) {
  return {{"name", gpu.name},
          {"full_name", gpu.full_name},
          {"architecture", gpu.architecture},
          {"cc", std::to_string(gpu.cc_major) + "." + std::to_string(gpu.cc_minor)},
          {"sm_count", gpu.sm_count.known ? Json(gpu.sm_count.as_int()) : Json(nullptr)},
          {"warp_size", gpu.warp_size.known ? Json(gpu.warp_size.as_int()) : Json(nullptr)},
          {"shared_banks", gpu.shared.banks},
          {"shared_bank_bytes", gpu.shared.bank_bytes}};
}

Json json_of(const Sources& sources) {
  Json json = Json::array();
  for (const auto& [file, lines] : sources) {
    Json texts = Json::array();
    for (const auto& [line, text] : lines) texts.push_back({{"line", line}, {"text", text}});
    json.push_back({{"file", file}, {"lines", std::move(texts)}});
  }
  return json;
}

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Whether the text of the value is no longer than about `room`, which is used up.
bool short_enough(const Json& json, std::size_t& room) {
  const auto take = [&](std::size_t characters) {
    if (characters > room) return false;
    room -= characters;
    return true;
  };
  if (json.is_string()) return take(json.get_ref<const std::string&>().size() + 3);
  if (!json.is_structured()) return take(7);
  if (!take(2)) return false;
  if (json.is_object()) {
    for (auto item = json.begin(); item != json.end(); ++item)
      if (!take(item.key().size() + 3) || !short_enough(*item, room)) return false;
  } else {
    for (const Json& item : json)
      if (!short_enough(item, room)) return false;
  }
  return true;
}

/// Short values and arrays of numbers on one line, others a member a line.
void write(std::string& out, const Json& json, std::size_t indent) {
  std::size_t room = kOneLine;
  const bool numbers = json.is_array() && std::none_of(json.begin(), json.end(), [](const Json& item) {
                         return item.is_structured() || item.is_string();
                       });
  if (!json.is_structured() || json.empty() || numbers || short_enough(json, room)) {
    out += compact(json);
    return;
  }
  const bool object = json.is_object();
  out += object ? "{\n" : "[\n";
  for (auto item = json.begin(); item != json.end();) {
    out.append(indent + 1, ' ');
    if (object) out += compact(Json(item.key())) + ": ";
    write(out, *item, indent + 1);
    out += ++item == json.end() ? "\n" : ",\n";
  }
  out.append(indent, ' ');
  out += object ? '}' : ']';
}

/// Writes launches; lines that several of them share are put into words once.
class LaunchWriter {
 public:
  void write_launch(std::string& out, const LaunchReport& launch) {
    // More than one line holds: each has its kernel's name and metrics.
    const Json json = json_of(launch, false);
    out += "{\n";
    for (auto item = json.begin(); item != json.end();) {
      out.append(kIndent + 1, ' ');
      out += compact(Json(item.key())) + ": ";
      if (item.key() == "lines") {
        out += text_of(launch.lines);
      } else {
        write(out, *item, kIndent + 1);
      }
      out += ++item == json.end() ? "\n" : ",\n";
    }
    out.append(kIndent, ' ');
    out += '}';
  }

 private:
  static constexpr std::size_t kIndent = 2, kKept = 32;

  const std::string& text_of(const LineList& lines) {
    for (const auto& [identity, text] : texts_)
      if (identity == lines.identity()) return text;
    if (texts_.size() == kKept) texts_.pop_front();
    std::string& text = texts_.emplace_back(lines.identity(), std::string()).second;
    write(text, json_of(lines), kIndent + 1);
    return text;
  }

  std::deque<std::pair<const void*, std::string>> texts_;
};

constexpr std::size_t kPart = 1 << 20;  ///< bytes that are handed on at a time

}  // namespace

std::string launch_to_json(const LaunchReport& launch) { return compact(json_of(launch)); }

std::string to_json(const Report& report, const Sources& sources) {
  std::string all;
  write_json(report, sources, [&](std::string_view part) { all += part; });
  return all;
}

void write_json(const Report& report, const Sources& sources, const std::function<void(std::string_view)>& sink) {
  Json json{{"schema", kReportSchema},
            {"tool", {{"name", "muscope"}, {"version", report.tool_version}}},
            {"program",
             {{"argv", report.argv},
              {"exit", report.exit_code},
              {"exit_text", report.exit_text},
              {"toolchain", report.toolchain}}},
            {"gpu", json_of(report.gpu)},
            {"notes", report.notes},
            {"diagnostics", json_of(report.diagnostics)}};
  json["processes"] = Json::array();
  for (std::size_t i = 0; i < report.processes.size(); ++i) json["processes"].push_back(json_of(report, i));
  if (!sources.empty()) json["sources"] = json_of(sources);

  // Launches are written one by one: a run may have very many.
  std::string out = "{\n";
  for (const auto& [key, value] : json.items()) {
    out += ' ' + compact(Json(key)) + ": ";
    write(out, value, 1);
    out += ",\n";
  }
  out += " \"launches\": [";
  LaunchWriter launches;
  for (std::size_t i = 0; i < report.launches.size(); ++i) {
    out += i == 0 ? "\n  " : ",\n  ";
    launches.write_launch(out, report.launches[i]);
    if (out.size() < kPart) continue;
    sink(out);
    out.clear();
  }
  out += report.launches.empty() ? "]\n}" : "\n ]\n}";
  out += '\n';
  sink(out);
}

}  // namespace muscope::report
