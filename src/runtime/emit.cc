#include "runtime/emit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

#include "runtime/run_options.h"

namespace muscope::runtime {
namespace {

// Failure is not the program's business: the folder was writable when the run began.
void write_file(const std::string& path, int flags, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (file < 0) return;
  while (!text.empty()) {
    const ssize_t wrote = write(file, text.data(), text.size());
    if (wrote <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  close(file);
}

}  // namespace

void emit_ptx(std::string_view origin, std::string_view text) {
  const RunOptions& options = RunOptions::of_process();
  if (!options.emits("ptx")) return;
  static std::atomic<int> next{0};
  write_file(fmt::format("{}/{}-{}.ptx", options.emit_dir, getpid(), next.fetch_add(1)), O_TRUNC,
             fmt::format("// {}\n{}\n", origin, text));
}

void emit_kernel(const views::KernelInfo& info) {
  const RunOptions& options = RunOptions::of_process();
  if (!options.emits("kernels")) return;
  std::string text = fmt::format("{}\n  {} registers ({}), {} B shared, {} B local, {} B parameters, from {}\n",
                                 info.name, info.registers, info.registers_source, info.static_shared, info.local_bytes,
                                 info.param_bytes, info.module);
  for (const views::Site& site : info.sites) {
    text += fmt::format("  PTX line {:5}  {}", site.ptx_line, site.text);
    if (site.frame < info.frames.size() && !info.frames[site.frame].file.empty()) {
      text += fmt::format("  {}:{}", info.frames[site.frame].file, info.frames[site.frame].line);
    }
    text += '\n';
  }
  write_file(fmt::format("{}/{}-kernels.txt", options.emit_dir, getpid()), O_APPEND, text);
}

}  // namespace muscope::runtime
