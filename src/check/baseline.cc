#include "check/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "diff/kernel_group.h"
#include "report/names.h"

namespace muscope::check {
namespace {

using Json = nlohmann::json;
constexpr auto kReplace = Json::error_handler_t::replace;

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, kReplace); }

std::string number(const report::MetricValue& value) {
  return std::visit([](auto n) { return Json(n).dump(); }, value);
}

[[noreturn]] void wrong(const std::string& file, const std::string& path, std::string_view what) {
  fail("D763", fmt::format("the baseline: {} {}", path.empty() ? "it" : path, what),
       "make it again: muscope check --update-baseline", {file, 0, 0});
}

/// One field of the document, by its path.
class Field {
 public:
  Field(const Json& json, std::string path, const std::string& file)
      : json_(json), path_(std::move(path)), file_(file) {}

  Field at(std::string_view key) const {
    if (!json_.is_object()) wrong(file_, path_, "is not an object");
    const auto found = json_.find(key);
    const std::string path = path_.empty() ? std::string(key) : fmt::format("{}/{}", path_, key);
    if (found == json_.end()) wrong(file_, path, "is missing");
    return {*found, path, file_};
  }
  bool has(std::string_view key) const { return json_.is_object() && json_.contains(key); }
  std::string text() const {
    if (!json_.is_string()) wrong(file_, path_, "is not text");
    return json_.get<std::string>();
  }
  std::uint64_t whole() const {
    if (!json_.is_number_unsigned()) wrong(file_, path_, "is not a whole number of at least 0");
    return json_.get<std::uint64_t>();
  }
  report::MetricValue value() const {
    if (json_.is_number_unsigned()) return json_.get<std::uint64_t>();
    if (!json_.is_number()) wrong(file_, path_, "is not a number");
    return json_.get<double>();
  }
  report::Grade grade() const {
    const auto grade = report::enum_of<report::Grade>(text());
    if (!grade) wrong(file_, path_, "is not a grade");
    return *grade;
  }
  template <typename Use>
  void each(Use use) const {
    if (!json_.is_array()) wrong(file_, path_, "is not a list");
    for (std::size_t i = 0; i < json_.size(); ++i) use(Field(json_[i], fmt::format("{}/{}", path_, i), file_));
  }
  template <typename Use>
  void each_member(Use use) const {
    if (!json_.is_object()) wrong(file_, path_, "is not an object");
    for (auto item = json_.begin(); item != json_.end(); ++item)
      use(item.key(), Field(item.value(), fmt::format("{}/{}", path_, item.key()), file_));
  }

 private:
  const Json& json_;
  std::string path_;
  const std::string& file_;
};

BaselineKernel read_kernel(const Field& node) {
  BaselineKernel kernel;
  kernel.kernel = node.at("kernel").text();
  kernel.counted_from = node.at("counted_from").text();
  kernel.registers_source = node.at("registers_source").text();
  kernel.grade = node.at("grade").grade();
  kernel.launches = node.at("launches").whole();
  node.at("metrics").each_member([&](const std::string& name, const Field& item) {
    BaselineMetric metric;
    if (item.has("sum")) metric.sum = item.at("sum").whole();
    metric.least = item.at("least").value();
    metric.most = item.at("most").value();
    metric.grade = item.at("grade").grade();
    kernel.metrics.emplace(name, metric);
  });
  return kernel;
}

SourceLocation place_of(std::string_view text, std::size_t byte, const std::string& file) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {file, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(before.size() - line_start) + 1};
}

}  // namespace

const BaselineKernel* Baseline::find(std::string_view kernel) const {
  const auto found = std::lower_bound(kernels.begin(), kernels.end(), kernel,
                                      [](const BaselineKernel& k, std::string_view name) { return k.kernel < name; });
  return found != kernels.end() && found->kernel == kernel ? &*found : nullptr;
}

Baseline baseline_of(const report::Report& report) {
  Baseline out;
  out.tool_version = report.tool_version;
  out.gpu = report.gpu.name;
  out.architecture = report.gpu.architecture;
  out.cc = fmt::format("{}.{}", report.gpu.cc_major, report.gpu.cc_minor);
  if (report.gpu.sm_count.known) out.sm_count = report.gpu.sm_count.as_int();
  out.toolchain = report.toolchain;
  for (const diff::KernelGroup& group : diff::kernels_of(report)) {
    BaselineKernel kernel;
    kernel.kernel = group.kernel;
    kernel.counted_from = diff::counted_from(group);
    kernel.registers_source = group.launches.front()->registers_source;
    kernel.grade = diff::stream_grade(group);
    kernel.launches = group.launches.size();
    std::map<std::string_view, bool> names;
    for (const report::LaunchReport* launch : group.launches)
      for (const auto& [name, metric] : launch->metrics) names.emplace(name, true);
    for (const auto& [name, there] : names) {
      const report::MetricRow* row = report::find_metric(name);
      if (row == nullptr || row->name != name || !row->modelled()) continue;
      const diff::MetricTotals totals = diff::totals_of(group, *row);
      BaselineMetric metric;
      if (row->aggregation == report::Aggregation::kAdditive && std::holds_alternative<std::uint64_t>(totals.sum))
        metric.sum = std::get<std::uint64_t>(totals.sum);
      metric.least = totals.least;
      metric.most = totals.most;
      metric.grade = totals.grade;
      kernel.metrics.emplace(name, metric);
    }
    out.kernels.push_back(std::move(kernel));
  }
  std::sort(out.kernels.begin(), out.kernels.end(), [](const auto& a, const auto& b) { return a.kernel < b.kernel; });
  return out;
}

std::string to_json(const Baseline& b) {
  std::string out = fmt::format(
      "{{\n \"schema\": \"{}\",\n \"tool\": {{\"name\":\"muscope\",\"version\":{}}},\n"
      " \"gpu\": {{\"name\":{},\"architecture\":{},\"cc\":{},\"sm_count\":{}}},\n \"toolchain\": {},\n \"kernels\": [",
      kBaselineSchema, quoted(b.tool_version), quoted(b.gpu), quoted(b.architecture), quoted(b.cc), b.sm_count,
      quoted(b.toolchain));
  for (std::size_t i = 0; i < b.kernels.size(); ++i) {
    const BaselineKernel& k = b.kernels[i];
    out += fmt::format(
        "{}\n  {{\n   \"kernel\": {},\n   \"counted_from\": {},\n   \"registers_source\": {},\n   \"grade\": \"{}\",\n"
        "   \"launches\": {},\n   \"metrics\": {{",
        i == 0 ? "" : ",", quoted(k.kernel), quoted(k.counted_from), quoted(k.registers_source),
        report::name_of(k.grade), k.launches);
    bool first = true;
    for (const auto& [name, metric] : k.metrics) {
      out += fmt::format("{}\n    {}: {{", first ? "" : ",", quoted(name));
      if (metric.sum) out += fmt::format("\"sum\":{},", *metric.sum);
      out += fmt::format("\"least\":{},\"most\":{},\"grade\":\"{}\"}}", number(metric.least), number(metric.most),
                         report::name_of(metric.grade));
      first = false;
    }
    out += "\n   }\n  }";
  }
  out += "\n ]\n}\n";
  return out;
}

Baseline read_baseline(std::string_view text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    fail("D763", "the baseline is not JSON", "make it again: muscope check --update-baseline",
         place_of(text, e.byte, file));
  } catch (const Json::exception&) {  // numbers that are too large: without a place
    fail("D763", "the baseline holds a number that is too large", "make it again: muscope check --update-baseline",
         {file, 0, 0});
  }
  const Field root(json, "", file);
  if (const std::string schema = root.at("schema").text(); schema != kBaselineSchema)
    wrong(file, "schema", fmt::format("is not {}", kBaselineSchema));
  Baseline out;
  out.tool_version = root.at("tool").at("version").text();
  out.gpu = root.at("gpu").at("name").text();
  out.architecture = root.at("gpu").at("architecture").text();
  out.cc = root.at("gpu").at("cc").text();
  const std::uint64_t sms = root.at("gpu").at("sm_count").whole();
  out.sm_count = static_cast<std::int64_t>(std::min<std::uint64_t>(sms, std::numeric_limits<std::int64_t>::max()));
  out.toolchain = root.at("toolchain").text();
  root.at("kernels").each([&](const Field& node) { out.kernels.push_back(read_kernel(node)); });
  std::sort(out.kernels.begin(), out.kernels.end(), [](const auto& a, const auto& b) { return a.kernel < b.kernel; });
  for (std::size_t i = 1; i < out.kernels.size(); ++i)
    if (out.kernels[i].kernel == out.kernels[i - 1].kernel) wrong(file, "kernels", "names a kernel twice");
  return out;
}

std::vector<std::string> incomparable(const Baseline& before, const Baseline& now) {
  std::vector<std::string> out;
  const auto differs = [&](std::string_view what, const std::string& was, const std::string& is) {
    if (was != is)
      out.push_back(
          fmt::format("{} was {}, is {}", what, was.empty() ? "not known" : was, is.empty() ? "not known" : is));
  };
  const auto gpu_text = [](const Baseline& b) {
    return fmt::format("{} (compute capability {}, {}, {} SMs)", b.gpu, b.cc, b.architecture, b.sm_count);
  };
  if (before.gpu != now.gpu) {
    differs("the GPU", before.gpu, now.gpu);
  } else {
    differs("the GPU", gpu_text(before), gpu_text(now));
  }
  differs("the toolchain", before.toolchain, now.toolchain);
  for (const BaselineKernel& kernel : now.kernels) {
    const BaselineKernel* was = before.find(kernel.kernel);
    if (was == nullptr) continue;
    const auto about = [&](std::string_view what) { return fmt::format("{} of {}", what, kernel.kernel); };
    differs(about("what was counted"), was->counted_from, kernel.counted_from);
    // A better grade comes from the program: it no longer does what was modelled.
    if (was->counted_from == kernel.counted_from && was->grade < kernel.grade)
      differs(about("the grade"), std::string(report::name_of(was->grade)), std::string(report::name_of(kernel.grade)));
    differs(about("the source of the registers"), was->registers_source, kernel.registers_source);
  }
  return out;
}

}  // namespace muscope::check
