#include "cli/run_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace muscope::cli {
namespace {

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb" || term[0] == '\0';
}

}  // namespace

std::size_t terminal_width(int fd) {
  if (::isatty(fd) == 0) return 0;
  winsize size{};
  constexpr std::size_t kDefault = 80;
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefault;
}

bool may_colour(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(fd) != 0 && !is_dumb() && (no_color == nullptr || no_color[0] == '\0');
}

const ProcessStatus* longest_launch(const std::vector<ProcessStatus>& statuses) {
  const ProcessStatus* longest = nullptr;
  for (const ProcessStatus& s : statuses) {
    if (!s.in_launch || s.launch_seconds < kQuietSeconds) continue;
    if (longest == nullptr || s.launch_seconds > longest->launch_seconds) longest = &s;
  }
  return longest;
}

const ProcessStatus* ShortLaunches::look(const std::vector<ProcessStatus>& statuses, double now) {
  std::uint64_t finished = 0;
  const ProcessStatus* running = nullptr;
  for (const ProcessStatus& s : statuses) {
    finished += s.launches;
    if (s.in_launch && running == nullptr) running = &s;
  }
  if (running != nullptr || finished != finished_) {
    if (now - last_ >= kPauseSeconds) since_ = now;
    last_ = now;
  }
  finished_ = finished;
  return seconds() >= kQuietSeconds ? running : nullptr;
}

std::string progress_line(const ProcessStatus& status, std::uint32_t finished, std::size_t width, double busy_seconds) {
  std::string tail = fmt::format("  {:.0f} s", status.launch_seconds);
  if (busy_seconds > 0) {
    tail = fmt::format("  {:.0f} s of short launches", busy_seconds);
  } else if (status.blocks != 0) {
    const std::uint64_t done = std::min(status.blocks_done, status.blocks);
    tail = fmt::format("  {:.0f} %{}", 100.0 * static_cast<double>(done) / static_cast<double>(status.blocks), tail);
  }
  const std::string head = fmt::format("muscope: launch {} ", finished);
  std::string kernel = status.kernel;
  for (char& c : kernel) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  const std::size_t room = width > head.size() + tail.size() ? width - head.size() - tail.size() : 0;
  if (kernel.size() > room) kernel = room > 3 ? kernel.substr(0, room - 3) + "..." : std::string();
  return (head + kernel + tail).substr(0, width);
}

Progress::Progress(RunDirectory& run, bool wanted)
    : run_(run), active_(wanted && ::isatty(STDERR_FILENO) != 0 && !is_dumb()) {}

void Progress::update() {
  if (!active_) return;
  const std::vector<ProcessStatus> statuses = run_.statuses();
  const ProcessStatus* quick = short_launches_.look(
      statuses, std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
  const ProcessStatus* longest = longest_launch(statuses);
  const bool is_short = longest == nullptr;
  if (is_short) longest = quick;
  if (longest == nullptr) return erase();
  if (longest->stem != stem_) erase();
  std::uint32_t finished = 0;
  for (const ProcessStatus& s : statuses) finished += s.launches;
  const std::size_t width = terminal_width(STDERR_FILENO);
  std::string line =
      progress_line(*longest, finished, width > 1 ? width - 1 : 0, is_short ? short_launches_.seconds() : 0);
  if (line == drawn_ && !is_short) return;
  stem_ = longest->stem;
  drawn_ = run_.draw(*longest, "\r" + line + "\033[K") ? std::move(line) : std::string();
}

void Progress::erase() {
  if (!stem_.empty()) run_.erase(stem_);
  stem_.clear();
  drawn_.clear();
}

}  // namespace muscope::cli
