#include "runtime/wide_warp.h"

#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "code/wide_warp.h"
#include "runtime/entry.h"
#include "runtime/program_names.h"

namespace muscope::runtime {
namespace {

/// Lines of the files that kernels come from, read once.
class SourceLines {
 public:
  std::string line(const std::string& file, int number) {
    const auto [entry, added] = files_.try_emplace(file);
    std::vector<std::string>& lines = entry->second;
    if (added) {
      constexpr std::size_t kMostLines = 1'000'000, kLongest = 4096;
      std::ifstream in(file);
      for (std::string text; lines.size() < kMostLines && std::getline(in, text);) {
        if (text.size() > kLongest) text.resize(kLongest);
        lines.push_back(text);
      }
    }
    const auto index = static_cast<std::size_t>(number);
    return number >= 1 && index <= lines.size() ? lines[index - 1] : std::string();
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace

void add_wide_warp_findings(const arch::GpuSpec& gpu, const std::shared_ptr<const code::Kernel>& kernel,
                            views::LaunchRecord& record) {
  const bool wide = gpu.warp_size.known && gpu.warp_size.as_int() > 32;
  if (!kernel || (!wide && gpu.cc_major != 0)) return;
  if (wide) {
    static auto* const mutex = new std::mutex;
    static auto* const known = new std::map<std::shared_ptr<const code::Kernel>, std::vector<views::Finding>>;
    static auto* const lines = new SourceLines;
    const std::lock_guard lock(*mutex);
    const auto [entry, added] = known->try_emplace(kernel);
    if (added)
      entry->second = code::wide_warp_findings(
          *kernel, [](const std::string& file, int number) { return lines->line(file, number); });
    record.findings.insert(record.findings.end(), entry->second.begin(), entry->second.end());
  }
  const std::uint32_t threads = record.block[0] * record.block[1] * record.block[2];
  for (views::Finding& finding :
       code::wide_launch_findings(gpu, threads, kernel->info.static_shared, record.dynamic_shared))
    record.findings.push_back(std::move(finding));
  for (views::Finding& finding : record.findings) finding.hint = in_program_names(finding.hint);
}

}  // namespace muscope::runtime
