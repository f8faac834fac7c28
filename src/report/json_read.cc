// JSON -> report, with messages that name the field that is wrong.
#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/names.h"

namespace muscope::report {
namespace {

using Json = nlohmann::json;

[[noreturn]] void wrong(const std::string& file, const std::string& path, std::string_view what) {
  fail("D703", fmt::format("{}: {}", path.empty() ? "the report" : path, what),
       "the file is damaged or was not written by muscope", {file, 0, 0});
}

/// One value of the document and where it stands ("launches/0/kernel").
class Node {
 public:
  Node(const Json& json, std::string path, const std::string& file)
      : json_(json), path_(std::move(path)), file_(file) {}

  bool has(std::string_view key) const { return json_.is_object() && json_.contains(key); }
  bool null() const { return json_.is_null(); }

  Node at(std::string_view key) const {
    if (!json_.is_object()) wrong(file_, path_, "expected an object");
    const auto found = json_.find(key);
    const std::string path = path_.empty() ? std::string(key) : fmt::format("{}/{}", path_, key);
    if (found == json_.end()) wrong(file_, path, "is missing");
    return {*found, path, file_};
  }

  template <typename Use>
  void each(Use use) const {
    if (!json_.is_array()) wrong(file_, path_, "expected an array");
    for (std::size_t i = 0; i < json_.size(); ++i) use(Node(json_[i], fmt::format("{}/{}", path_, i), file_));
  }
  template <typename Use>
  void each_member(Use use) const {
    if (!json_.is_object()) wrong(file_, path_, "expected an object");
    for (auto item = json_.begin(); item != json_.end(); ++item)
      use(item.key(), Node(item.value(), fmt::format("{}/{}", path_, item.key()), file_));
  }

  std::string raw_text() const {
    if (!json_.is_string()) wrong(file_, path_, "expected text");
    return json_.get<std::string>();
  }
  /// For one line of a message or table: control characters, which could steer a terminal or forge lines, as \x1b.
  std::string text() const {
    std::string out;
    for (const char c : raw_text()) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        out += fmt::format("\\x{:02x}", c);
      else
        out += c;
    }
    return out;
  }
  bool flag() const {
    if (!json_.is_boolean()) wrong(file_, path_, "expected true or false");
    return json_.get<bool>();
  }
  template <typename Int>
  Int integer() const {
    if (json_.is_number_unsigned()) {
      const auto value = json_.get<std::uint64_t>();
      if (value <= static_cast<std::uint64_t>(std::numeric_limits<Int>::max())) return static_cast<Int>(value);
    } else if (json_.is_number_integer() && std::numeric_limits<Int>::is_signed) {
      const auto value = json_.get<std::int64_t>();
      if (value >= static_cast<std::int64_t>(std::numeric_limits<Int>::min())) return static_cast<Int>(value);
    }
    wrong(file_, path_, "expected a whole number that fits");
  }
  std::variant<std::uint64_t, double> number() const {
    if (json_.is_number_unsigned()) return json_.get<std::uint64_t>();
    if (json_.is_number()) return json_.get<double>();
    wrong(file_, path_, "expected a number");
  }
  template <typename Enum>
  Enum word() const {
    const std::string name = text();
    const std::optional<Enum> value = enum_of<Enum>(name);
    if (!value) wrong(file_, path_, fmt::format("'{}' is not one of the words allowed here", name));
    return *value;
  }
  template <typename Int, std::size_t kCount>
  void fill(std::array<Int, kCount>& values) const {
    if (!json_.is_array() || json_.size() != kCount)
      wrong(file_, path_, fmt::format("expected an array of {} numbers", kCount));
    for (std::size_t i = 0; i < kCount; ++i)
      values[i] = Node(json_[i], fmt::format("{}/{}", path_, i), file_).integer<Int>();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    each([&](const Node& node) { all.push_back(node.raw_text()); });
    return all;
  }
  void wrong_here(std::string_view what) const { wrong(file_, path_, what); }

 private:
  const Json& json_;
  std::string path_;
  const std::string& file_;
};

SourcePosition read_position(const Node& node) {
  SourcePosition at{node.at("file").text(), node.at("line").integer<int>(), node.at("column").integer<int>(), {}};
  if (node.has("function")) at.function = node.at("function").text();
  return at;
}

std::vector<SourcePosition> read_positions(const Node& node) {
  std::vector<SourcePosition> all;
  node.each([&](const Node& item) { all.push_back(read_position(item)); });
  return all;
}

Metric read_metric(const Node& node) {
  Metric metric{node.at("value").number(), node.at("unit").text(), node.at("grade").word<Grade>(), {}};
  if (node.has("reason")) metric.reason = node.at("reason").text();
  return metric;
}

Metrics read_metrics(const Node& node) {
  Metrics metrics;
  node.each_member([&](const std::string& name, const Node& item) { metrics.emplace(name, read_metric(item)); });
  return metrics;
}

Diagnostic read_diagnostic(const Node& node) {
  Diagnostic d;
  d.severity = node.at("severity").word<Severity>();
  d.code = node.at("code").text();
  d.text = node.at("text").text();
  if (node.has("at")) {
    const Node at = node.at("at");
    d.where = {at.at("file").text(), at.at("line").integer<int>(), at.at("column").integer<int>()};
  }
  if (node.has("help")) d.hint = node.at("help").text();
  return d;
}

std::vector<Diagnostic> read_diagnostics(const Node& node) {
  std::vector<Diagnostic> all;
  node.each([&](const Node& item) { all.push_back(read_diagnostic(item)); });
  return all;
}

SiteReport read_site(const Node& node) {
  SiteReport site;
  site.text = node.at("instruction").text();
  site.ptx_line = node.at("ptx_line").integer<int>();
  if (node.has("local_use")) site.local_use = node.at("local_use").word<views::LocalUse>();
  if (node.has("pc")) site.pc = node.at("pc").integer<std::uint32_t>();
  site.column = node.at("column").integer<int>();
  site.site = node.at("site").integer<std::uint32_t>();
  site.space = node.at("space").word<trace::Space>();
  site.kind = node.at("kind").word<trace::Kind>();
  site.generic = node.at("generic").flag();
  site.lane_bytes = node.at("lane_bytes").integer<std::uint8_t>();
  const auto count = [&](std::string_view key) { return node.at(key).integer<std::uint64_t>(); };
  site.executed = count("executed");
  site.lanes = count("lanes");
  site.requests = count("requests");
  site.sectors = count("sectors");
  site.ideal_sectors = count("ideal_sectors");
  site.lines = count("lines");
  site.bytes = count("bytes");
  site.wavefronts = count("wavefronts");
  site.ideal_wavefronts = count("ideal_wavefronts");
  site.host_sectors = count("host_sectors");
  // Added later: reports without them are read, too.
  const auto later = [&](std::string_view key, std::uint64_t absent) { return node.has(key) ? count(key) : absent; };
  site.distinct_sectors = later("distinct_sectors", site.space == trace::Space::kGlobal ? site.sectors : 0);
  site.t_wavefronts = later("t_wavefronts", 0);
  site.data_wavefronts = later("data_wavefronts", 0);
  site.sass_wavefronts = later("sass_wavefronts", site.wavefronts);
  site.sass_ideal_wavefronts = later("sass_ideal_wavefronts", site.ideal_wavefronts);
  site.sass_least_wavefronts = later("sass_least_wavefronts", site.ideal_wavefronts);
  if (node.has("worst")) {
    const Node worst = node.at("worst");
    site.worst_cost = worst.at("cost").integer<std::uint32_t>();
    site.worst_block = worst.at("block").integer<std::uint64_t>();
    site.worst_warp = worst.at("warp").integer<std::uint32_t>();
    unsigned lane = 0;
    const Node addresses = worst.at("addresses");
    addresses.each([&](const Node& address) {
      if (lane >= kGroupLanes) addresses.wrong_here("more addresses than lanes");
      if (!address.null()) {
        site.worst_mask |= 1u << lane;
        site.worst_addresses[lane] = address.integer<std::uint64_t>();
      }
      ++lane;
    });
  }
  return site;
}

LineReport read_line(const Node& node) {
  LineReport line;
  line.at = read_position(node);
  if (node.has("inlined_at")) line.inlined_at = read_positions(node.at("inlined_at"));
  line.metrics = read_metrics(node.at("metrics"));
  node.at("sites").each([&](const Node& site) { line.sites.push_back(read_site(site)); });
  return line;
}

FaultReport read_fault(const Node& node) {
  FaultReport fault;
  fault.diagnostic = read_diagnostic(node);
  fault.at = read_position(node.at("source"));
  fault.inlined_at = read_positions(node.at("inlined_at"));
  fault.instruction = node.at("instruction").text();
  fault.ptx_line = node.at("ptx_line").integer<int>();
  node.at("block").fill(fault.block);
  node.at("thread").fill(fault.thread);
  return fault;
}

/// Addresses of 32 lanes, null where a lane takes no part; `mask` gets those that do.
std::array<std::uint64_t, kGroupLanes> read_lanes(const Node& node, GroupMask& mask) {
  std::array<std::uint64_t, kGroupLanes> addresses{};
  unsigned lane = 0;
  mask = 0;
  node.each([&](const Node& address) {
    if (lane < kGroupLanes && !address.null()) {
      addresses[lane] = address.integer<std::uint64_t>();
      mask |= GroupMask{1} << lane;
    }
    ++lane;
  });
  return addresses;
}

AdvicePicture read_picture(const Node& node) {
  AdvicePicture picture;
  picture.space = node.at("space").word<trace::Space>();
  picture.after_space = node.at("after_space").word<trace::Space>();
  picture.kind = node.at("kind").word<trace::Kind>();
  picture.lane_bytes = node.at("lane_bytes").integer<std::uint32_t>();
  picture.after_lane_bytes = node.at("after_lane_bytes").integer<std::uint32_t>();
  picture.before = read_lanes(node.at("before"), picture.mask);
  GroupMask after = 0;
  picture.after = read_lanes(node.at("after"), after);
  return picture;
}

AdviceReport read_advice(const Node& node) {
  AdviceReport advice;
  const auto real = [&](const char* key) {
    return std::visit([](auto n) { return static_cast<double>(n); }, node.at(key).number());
  };
  advice.code = node.at("code").text();
  advice.title = node.at("title").text();
  advice.text = node.at("text").text();
  advice.change = node.at("change").text();
  if (node.has("bound")) advice.bound = node.at("bound").text();
  if (node.has("unit")) {
    advice.unit = node.at("unit").text();
    advice.before = real("before");
    advice.after = real("after");
  }
  advice.grade = node.at("grade").word<Grade>();
  if (node.has("reason")) advice.reason = node.at("reason").text();
  advice.saves = real("saves");
  if (node.has("at")) advice.at = read_position(node.at("at"));
  if (node.has("inlined_at")) advice.inlined_at = read_positions(node.at("inlined_at"));
  if (node.has("sites"))
    node.at("sites").each([&](const Node& site) { advice.sites.push_back(site.integer<std::uint32_t>()); });
  if (node.has("picture")) advice.picture = read_picture(node.at("picture"));
  return advice;
}

views::CodeAccesses read_accesses(const Node& node) {
  return {node.at("instructions").integer<std::uint32_t>(), node.at("bytes").integer<std::uint32_t>(),
          node.at("each").integer<std::uint32_t>()};
}

CodeReport read_code(const Node& node) {
  CodeReport code;
  code.known = true;
  code.spill_store_bytes = read_metric(node.at("spill_store_bytes"));
  code.spill_load_bytes = read_metric(node.at("spill_load_bytes"));
  code.frame_bytes = node.at("frame_bytes").integer<std::uint32_t>();
  code.stack_bytes = node.at("stack_bytes").integer<std::uint32_t>();
  node.at("changes").each([&](const Node& item) {
    CodeChangeReport change;
    change.at = read_position(item.at("at"));
    if (item.has("inlined_at")) change.inlined_at = read_positions(item.at("inlined_at"));
    change.kind = item.at("kind").word<views::CodeChangeKind>();
    change.generic = item.at("space").text() == "generic";
    if (!change.generic) change.space = item.at("space").word<trace::Space>();
    change.access = item.at("access").word<trace::Kind>();
    change.ptx = read_accesses(item.at("ptx"));
    change.machine = read_accesses(item.at("machine"));
    if (item.has("executed")) change.executed = item.at("executed").integer<std::uint64_t>();
    code.changes.push_back(std::move(change));
  });
  return code;
}

LaunchReport read_launch(const Node& node, std::size_t processes) {
  LaunchReport launch;
  launch.index = node.at("index").integer<std::uint32_t>();
  launch.process = node.at("process").integer<std::uint32_t>();
  if (launch.process >= processes) node.at("process").wrong_here("there is no such process");
  launch.pid = launch.process;
  launch.kernel = node.at("kernel").text();
  launch.mangled = node.at("mangled").text();
  node.at("grid").fill(launch.grid);
  node.at("block").fill(launch.block);
  launch.static_shared = node.at("shared").at("static").integer<std::uint32_t>();
  launch.dynamic_shared = node.at("shared").at("dynamic").integer<std::uint32_t>();
  launch.registers = read_metric(node.at("registers"));
  launch.registers_source = node.at("registers").at("source").text();
  launch.stream = node.at("stream").integer<std::uint64_t>();
  launch.device = node.at("device").integer<int>();
  launch.state = node.at("state").word<views::LaunchState>();
  launch.stream_source = node.at("counted_from").at("source").text();
  launch.stream_grade = node.at("counted_from").at("grade").word<Grade>();
  if (node.at("counted_from").has("problem")) launch.stream_problem = node.at("counted_from").at("problem").text();
  launch.occupancy_limit = node.at("occupancy_limit").text();
  launch.metrics = read_metrics(node.at("metrics"));
  if (node.has("code")) launch.code = read_code(node.at("code"));
  node.at("lines").each([&](const Node& line) { launch.lines.edit().push_back(read_line(line)); });
  if (node.has("fault")) launch.fault = read_fault(node.at("fault"));
  node.at("advice").each([&](const Node& advice) { launch.advice.push_back(read_advice(advice)); });
  launch.diagnostics = read_diagnostics(node.at("diagnostics"));
  return launch;
}

ProcessReport read_process(const Node& node) {
  ProcessReport process;
  process.pid = node.at("index").integer<std::int64_t>();
  const Node parent = node.at("parent");
  process.parent = parent.null() ? -1 : parent.integer<std::int64_t>();
  process.argv = node.at("argv").texts();
  process.truncated = node.at("truncated").flag();
  node.at("transfers").each([&](const Node& item) {
    views::TransferRecord transfer;
    transfer.kind = item.at("kind").word<views::TransferKind>();
    transfer.host_memory = item.at("host_memory").word<views::HostMemory>();
    transfer.async = item.at("async").flag();
    transfer.count = item.at("count").integer<std::uint64_t>();
    transfer.bytes = item.at("bytes").integer<std::uint64_t>();
    transfer.api = item.at("api").text();
    transfer.caller = item.at("caller").text();
    process.transfers.push_back(std::move(transfer));
  });
  process.diagnostics = read_diagnostics(node.at("diagnostics"));
  return process;
}

arch::GpuSpec read_gpu(const Node& node) {
  arch::GpuSpec gpu;
  gpu.name = node.at("name").text();
  gpu.full_name = node.at("full_name").text();
  gpu.architecture = node.at("architecture").text();
  const std::string cc = node.at("cc").text();
  const std::size_t dot = cc.find('.');
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 3 && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (dot == std::string::npos || !digits(std::string_view(cc).substr(0, dot)) ||
      !digits(std::string_view(cc).substr(dot + 1)))
    node.at("cc").wrong_here("expected a compute capability like 9.0");
  gpu.cc_major = std::atoi(cc.substr(0, dot).c_str());
  gpu.cc_minor = std::atoi(cc.substr(dot + 1).c_str());
  const auto sourced = [&](std::string_view key, arch::Sourced& field) {
    const Node value = node.at(key);
    if (value.null()) return;
    field.value = value.integer<int>();
    field.known = true;
    field.source = "report";
  };
  sourced("sm_count", gpu.sm_count);
  sourced("warp_size", gpu.warp_size);
  gpu.shared.banks = node.at("shared_banks").integer<int>();
  gpu.shared.bank_bytes = node.at("shared_bank_bytes").integer<int>();
  return gpu;
}

Sources read_sources(const Node& node) {
  Sources sources;
  node.each([&](const Node& file) {
    std::map<int, std::string>& lines = sources[file.at("file").text()];
    file.at("lines").each(
        [&](const Node& line) { lines[line.at("line").integer<int>()] = line.at("text").raw_text(); });
  });
  return sources;
}

}  // namespace

Report from_json(std::string_view text, std::string_view name, Sources* sources) {
  const std::string file(name);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    fail("D701", "the report is not JSON: " + std::string(error.what()), "name a file that `muscope run --json` wrote",
         {file, 0, 0});
  }
  const Node root(json, {}, file);
  if (!root.has("schema") || !json["schema"].is_string() || json["schema"] != kReportSchema)
    fail("D702", fmt::format("the file is not a report of schema {}", kReportSchema),
         root.has("schema") && json["schema"].is_string()
             ? json["schema"].get<std::string>().starts_with("muscope.lab/")
                   ? "it holds results of muscope lab: `muscope lab --from FILE --html PAGE` shows them"
                   : fmt::format("it says \"{}\"; write it again with this muscope", json["schema"].get<std::string>())
             : "name a file that `muscope run --json` wrote",
         {file, 0, 0});

  Report report;
  report.tool_version = root.at("tool").at("version").text();
  const Node program = root.at("program");
  report.argv = program.at("argv").texts();
  report.exit_code = program.at("exit").integer<int>();
  report.exit_text = program.at("exit_text").text();
  report.toolchain = program.at("toolchain").text();
  report.gpu = read_gpu(root.at("gpu"));
  root.at("notes").each([&](const Node& node) { report.notes.push_back(node.text()); });
  report.diagnostics = read_diagnostics(root.at("diagnostics"));
  root.at("processes").each([&](const Node& process) { report.processes.push_back(read_process(process)); });
  root.at("launches").each([&](const Node& launch) {
    report.launches.push_back(read_launch(launch, report.processes.size()));
  });
  if (sources != nullptr && root.has("sources")) *sources = read_sources(root.at("sources"));
  return report;
}

}  // namespace muscope::report
