#include "arch/gpu_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "arch/nearest.h"
#include "base/diagnostic.h"

namespace muscope::arch {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kHuge = 1e15;
constexpr NumberField kFields[] = {
    {"warp_size", &GpuSpec::warp_size, "lane", 32, 128},
    {"sm_count", &GpuSpec::sm_count, "SM", 1, 65536},
    {"max_threads_per_block", &GpuSpec::max_threads_per_block, "thread", 32, 65536},
    {"max_threads_per_sm", &GpuSpec::max_threads_per_sm, "thread", 32, 65536},
    {"max_warps_per_sm", &GpuSpec::max_warps_per_sm, "warp", 1, 4096},
    {"max_blocks_per_sm", &GpuSpec::max_blocks_per_sm, "block", 1, 4096},
    {"registers_per_sm", &GpuSpec::registers_per_sm, "register", 1, 1 << 30},
    {"registers_per_block", &GpuSpec::registers_per_block, "register", 1, 1 << 30},
    {"max_registers_per_thread", &GpuSpec::max_registers_per_thread, "register", 1, 65536},
    {"register_allocation_unit", &GpuSpec::register_allocation_unit, "register", 1, 65536},
    {"register_subpartitions", &GpuSpec::register_subpartitions, "partition", 1, 64},
    {"shared_per_sm", &GpuSpec::shared_per_sm, "byte", 0, 1 << 30},
    {"shared_per_block", &GpuSpec::shared_per_block, "byte", 0, 1 << 30},
    {"shared_per_block_optin", &GpuSpec::shared_per_block_optin, "byte", 0, 1 << 30},
    {"shared_reserved_per_block", &GpuSpec::shared_reserved_per_block, "byte", 0, 1 << 20},
    {"shared_allocation_unit", &GpuSpec::shared_allocation_unit, "byte", 1, 1 << 20},
    {"barriers_per_sm", &GpuSpec::barriers_per_sm, "barrier", 1, 65536},
    {"l1_bytes", &GpuSpec::l1_bytes, "byte", 0, kHuge},
    {"line_bytes", &GpuSpec::line_bytes, "byte", 1, 65536},
    {"sector_bytes", &GpuSpec::sector_bytes, "byte", 1, 65536},
    {"constant_bytes", &GpuSpec::constant_bytes, "byte", 0, kHuge},
    {"constant_cache_bytes", &GpuSpec::constant_cache_bytes, "byte", 0, kHuge},
    {"l2_bytes", &GpuSpec::l2_bytes, "byte", 0, kHuge},
    {"memory_bytes", &GpuSpec::memory_bytes, "byte", 0, kHuge},
    {"memory_bandwidth_gbs", &GpuSpec::memory_bandwidth_gbs, "GB/s", 0, 1e9},
    {"memory_clock_mhz", &GpuSpec::memory_clock_mhz, "MHz", 0, 1e9},
    {"memory_bus_bits", &GpuSpec::memory_bus_bits, "bit", 1, 1 << 20},
    {"clock_mhz", &GpuSpec::clock_mhz, "MHz", 0, 1e9},
};

struct TextField {
  std::string_view name;
  std::string GpuSpec::* member;
};
constexpr TextField kTexts[] = {{"name", &GpuSpec::name},
                                {"full_name", &GpuSpec::full_name},
                                {"architecture", &GpuSpec::architecture},
                                {"l1_note", &GpuSpec::l1_note}};

struct IntRule {
  std::string_view name;
  int GlobalRules::* member;
  int least;
  int most;
};
constexpr IntRule kGlobalInts[] = {{"load_granularity_l1_on", &GlobalRules::load_granularity_l1_on, 32, 128},
                                   {"load_granularity_l1_off", &GlobalRules::load_granularity_l1_off, 32, 128},
                                   {"store_granularity", &GlobalRules::store_granularity, 32, 128},
                                   {"lanes_per_request_4", &GlobalRules::lanes_per_request_4, 1, 128},
                                   {"lanes_per_request_8", &GlobalRules::lanes_per_request_8, 1, 128},
                                   {"lanes_per_request_16", &GlobalRules::lanes_per_request_16, 1, 128}};
struct BoolRule {
  std::string_view name;
  bool GlobalRules::* member;
};
constexpr BoolRule kGlobalBools[] = {{"l1_caches_global_by_default", &GlobalRules::l1_caches_global_by_default},
                                     {"stores_join_segments", &GlobalRules::stores_join_segments},
                                     {"loads_gather_warp", &GlobalRules::loads_gather_warp}};

Json number_to_json(double value) {
  if (std::nearbyint(value) == value && std::fabs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

Json to_json(const Sourced& number) {
  Json j;
  if (!number.known) return nullptr;
  j["value"] = number_to_json(number.value);
  j["confidence"] = name_of(number.confidence);
  j["source"] = number.source;
  if (!number.note.empty()) j["note"] = number.note;
  return j;
}

/// Reads one file; every complaint names the key.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  GpuSpec read(const Json& j) {
    if (!j.is_object()) bad("a GPU description is a JSON object");
    GpuSpec gpu;
    if (const auto schema = j.find("schema"); schema != j.end() && *schema != "muscope.gpu/1")
      bad(fmt::format("schema is {}, this muscope reads \"muscope.gpu/1\"",
                      schema->dump(-1, ' ', true, Json::error_handler_t::replace)));
    if (const auto base = j.find("base"); base != j.end()) {
      const std::string name = text(*base, "base");
      if (name.find('/') != std::string::npos || name.ends_with(".json")) bad("'base' must be the name of a known GPU");
      gpu = find_gpu(name);
    }
    for (const auto& [key, value] : j.items()) read_key(gpu, key, value);
    if (gpu.name.empty()) bad("'name' is missing");
    return gpu;
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    fail("D111", "GPU description: " + what, "`muscope gpu h200 --json` writes a complete one", {path_, 0, 0});
  }

  void read_key(GpuSpec& gpu, const std::string& key, const Json& value) {
    if (key == "schema" || key == "base") return;
    for (const NumberField& field : kFields)
      if (key == field.name) {
        gpu.*field.member = sourced(value, key, field.least, field.most);
        if (key == "warp_size" && gpu.warp_size.known && gpu.warp_size.as_int() != 32 && gpu.warp_size.as_int() != 64 &&
            gpu.warp_size.as_int() != 128)
          bad("'warp_size' must be 32, 64 or 128");
        return;
      }
    for (const TextField& field : kTexts)
      if (key == field.name) {
        gpu.*field.member = text(value, key);
        return;
      }
    if (key == "compute_capability") return read_compute_capability(gpu, value);
    if (key == "shared_carveouts") return read_carveouts(gpu, value);
    if (key == "global") return read_global(gpu.global, value);
    if (key == "shared") return read_shared(gpu.shared, value);
    if (key == "hierarchy") return read_hierarchy(gpu, value);
    std::vector<std::string> known{"schema", "base",   "compute_capability", "shared_carveouts",
                                   "global", "shared", "hierarchy"};
    for (const NumberField& field : kFields) known.emplace_back(field.name);
    for (const TextField& field : kTexts) known.emplace_back(field.name);
    unknown(key, "", known);
  }

  [[noreturn]] void unknown(const std::string& key, const std::string& inside,
                            const std::vector<std::string>& known) const {
    const std::vector<std::string> near = nearest(key, known, 1);
    bad(fmt::format("unknown key '{}'{}{}", printable(key), inside.empty() ? "" : " in '" + inside + "'",
                    near.empty() ? "" : ", did you mean '" + near.front() + "'?"));
  }

  std::string text(const Json& value, const std::string& key) const {
    if (!value.is_string()) bad(fmt::format("'{}' must be a string", key));
    std::string s = value.get<std::string>();
    if (s.size() > 1000) bad(fmt::format("'{}' is longer than 1000 bytes", key));
    return s;
  }

  double plain_number(const Json& value, const std::string& key, double least, double most) const {
    if (!value.is_number()) bad(fmt::format("'{}' must be a number", key));
    const double x = value.get<double>();
    if (!(x >= least && x <= most)) bad(fmt::format("'{}' is {}, allowed is {} to {}", key, x, least, most));
    return x;
  }

  int integer(const Json& value, const std::string& key, int least, int most) const {
    const double x = plain_number(value, key, least, most);
    if (std::nearbyint(x) != x) bad(fmt::format("'{}' must be a whole number", key));
    return static_cast<int>(x);
  }

  bool truth(const Json& value, const std::string& key) const {
    if (!value.is_boolean()) bad(fmt::format("'{}' must be true or false", key));
    return value.get<bool>();
  }

  Confidence confidence(const Json& value, const std::string& key) const {
    const std::string s = text(value, key);
    for (const Confidence c : {Confidence::kMeasured, Confidence::kDocumented, Confidence::kAssumed})
      if (s == name_of(c)) return c;
    bad(fmt::format("'{}' must be \"measured\", \"documented\" or \"assumed\"", key));
  }

  Sourced sourced(const Json& value, const std::string& key, double least, double most) const {
    Sourced number;
    if (value.is_null()) return number;
    number.known = true;
    number.source = path_;
    if (!value.is_object()) {
      number.value = plain_number(value, key, least, most);
      return number;
    }
    const auto inner = value.find("value");
    if (inner == value.end()) bad(fmt::format("'{}' has no \"value\"", key));
    if (inner->is_null()) return Sourced{};
    number.value = plain_number(*inner, key + ".value", least, most);
    for (const auto& [name, part] : value.items()) {
      if (name == "value") continue;
      if (name == "confidence") {
        number.confidence = confidence(part, key + ".confidence");
      } else if (name == "source") {
        number.source = text(part, key + ".source");
      } else if (name == "note") {
        number.note = text(part, key + ".note");
      } else {
        unknown(name, key, {"value", "confidence", "source", "note"});
      }
    }
    return number;
  }

  void read_compute_capability(GpuSpec& gpu, const Json& value) const {
    const std::string s = text(value, "compute_capability");
    int major = 0, minor = 0;
    char rest = 0;
    if (std::sscanf(s.c_str(), "%3d.%3d%c", &major, &minor, &rest) != 2 || major < 0 || major > 99 || minor < 0 ||
        minor > 99)
      bad("'compute_capability' must look like \"9.0\"");
    gpu.cc_major = major;
    gpu.cc_minor = minor;
  }

  void read_carveouts(GpuSpec& gpu, const Json& value) const {
    if (!value.is_array() || value.size() > 64) bad("'shared_carveouts' must be a list of at most 64 sizes");
    gpu.shared_carveouts.clear();
    for (const Json& size : value) gpu.shared_carveouts.push_back(integer(size, "shared_carveouts", 0, 1 << 30));
    std::sort(gpu.shared_carveouts.begin(), gpu.shared_carveouts.end());
  }

  void read_global(GlobalRules& rules, const Json& value) const {
    if (!value.is_object()) bad("'global' must be an object");
    for (const auto& [name, part] : value.items()) {
      bool done = false;
      for (const IntRule& rule : kGlobalInts)
        if (name == rule.name) {
          const int x = integer(part, "global." + name, rule.least, rule.most);
          if (name.find("granularity") != std::string::npos && x != 32 && x != 64 && x != 128)
            bad(fmt::format("'global.{}' must be 32, 64 or 128", name));
          rules.*rule.member = x;
          done = true;
        }
      for (const BoolRule& rule : kGlobalBools)
        if (name == rule.name) rules.*rule.member = truth(part, "global." + name), done = true;
      if (name == "confidence") rules.confidence = confidence(part, "global.confidence"), done = true;
      if (name == "source") rules.source = text(part, "global.source"), done = true;
      if (done) continue;
      std::vector<std::string> known{"confidence", "source"};
      for (const IntRule& rule : kGlobalInts) known.emplace_back(rule.name);
      for (const BoolRule& rule : kGlobalBools) known.emplace_back(rule.name);
      unknown(name, "global", known);
    }
  }

  void read_shared(SharedRules& rules, const Json& value) const {
    if (!value.is_object()) bad("'shared' must be an object");
    for (const auto& [name, part] : value.items()) {
      if (name == "banks") {
        rules.banks = integer(part, "shared.banks", 32, 32);  // the rules are for 32 banks
      } else if (name == "bank_bytes") {
        rules.bank_bytes = integer(part, "shared.bank_bytes", 4, 8);
        if (rules.bank_bytes != 4 && rules.bank_bytes != 8) bad("'shared.bank_bytes' must be 4 or 8");
      } else if (name == "wide_rules_measured") {
        rules.wide_rules_measured = truth(part, "shared.wide_rules_measured");
      } else if (name == "source") {
        rules.source = text(part, "shared.source");
      } else {
        unknown(name, "shared", {"banks", "bank_bytes", "wide_rules_measured", "source"});
      }
    }
  }

  void read_hierarchy(GpuSpec& gpu, const Json& value) const {
    if (!value.is_array() || value.size() > 64) bad("'hierarchy' must be a list of at most 64 levels");
    gpu.hierarchy.clear();
    for (const Json& level : value) {
      if (!level.is_object()) bad("'hierarchy' must be a list of objects");
      MemoryLevel m;
      for (const auto& [name, part] : level.items()) {
        const std::string key = "hierarchy." + name;
        if (name == "name") {
          m.name = text(part, key);
        } else if (name == "location") {
          m.location = text(part, key);
        } else if (name == "visibility") {
          m.visibility = text(part, key);
        } else if (name == "bytes") {
          m.bytes = sourced(part, key, 0, kHuge);
        } else if (name == "latency_cycles") {
          m.latency_cycles = sourced(part, key, 0, 1e9);
        } else if (name == "bandwidth_gbs") {
          m.bandwidth_gbs = sourced(part, key, 0, 1e9);
        } else {
          unknown(name, "hierarchy", {"name", "location", "visibility", "bytes", "latency_cycles", "bandwidth_gbs"});
        }
      }
      gpu.hierarchy.push_back(std::move(m));
    }
  }

  std::string path_;
};

}  // namespace

std::span<const NumberField> number_fields() { return kFields; }

std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kDocumented:
      return "documented";
    case Confidence::kAssumed:
      break;
  }
  return "assumed";
}

std::string gpu_to_json(const GpuSpec& gpu) {
  Json j;
  j["schema"] = "muscope.gpu/1";
  for (const TextField& field : kTexts)
    if (field.name != "l1_note") j[std::string(field.name)] = gpu.*field.member;
  j["compute_capability"] = fmt::format("{}.{}", gpu.cc_major, gpu.cc_minor);
  for (const NumberField& field : kFields) j[std::string(field.name)] = to_json(gpu.*field.member);
  j["shared_carveouts"] = gpu.shared_carveouts;
  j["l1_note"] = gpu.l1_note;
  Json& global = j["global"];
  for (const IntRule& rule : kGlobalInts) global[std::string(rule.name)] = gpu.global.*rule.member;
  for (const BoolRule& rule : kGlobalBools) global[std::string(rule.name)] = gpu.global.*rule.member;
  global["confidence"] = name_of(gpu.global.confidence);
  global["source"] = gpu.global.source;
  j["shared"] = {{"banks", gpu.shared.banks},
                 {"bank_bytes", gpu.shared.bank_bytes},
                 {"wide_rules_measured", gpu.shared.wide_rules_measured},
                 {"source", gpu.shared.source}};
  Json& levels = j["hierarchy"] = Json::array();
  for (const MemoryLevel& level : gpu.hierarchy)
    levels.push_back({{"name", level.name},
                      {"location", level.location},
                      {"visibility", level.visibility},
                      {"bytes", to_json(level.bytes)},
                      {"latency_cycles", to_json(level.latency_cycles)},
                      {"bandwidth_gbs", to_json(level.bandwidth_gbs)}});
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

GpuSpec gpu_from_json(std::string_view text, const std::string& path) {
  Json j;
  try {
    j = Json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    std::string what = e.what();
    if (const std::size_t colon = what.find("] "); colon != std::string::npos) what = what.substr(colon + 2);
    fail("D111", "GPU description is not JSON: " + printable(what.substr(0, 200)),
         "`muscope gpu h200 --json` writes a complete one", {path, 0, 0});
  }
  return Reader(path).read(j);
}

}  // namespace muscope::arch
