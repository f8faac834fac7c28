#include "cli/run_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

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

std::string progress_line(const std::vector<ProcessStatus>& statuses, std::size_t width) {
  // The launch that has been running longest is what the user waits for.
  const ProcessStatus* longest = nullptr;
  std::uint32_t finished = 0;
  for (const ProcessStatus& s : statuses) {
    finished += s.launches;
    if (s.in_launch && (longest == nullptr || s.launch_seconds > longest->launch_seconds)) longest = &s;
  }
  if (longest == nullptr || longest->launch_seconds < kQuietSeconds) return {};
  std::string tail = fmt::format("  {:.0f} s", longest->launch_seconds);
  if (longest->blocks != 0) {
    const std::uint64_t done = std::min(longest->blocks_done, longest->blocks);
    tail = fmt::format("  {:.0f} %{}", 100.0 * static_cast<double>(done) / static_cast<double>(longest->blocks), tail);
  }
  const std::string head = fmt::format("muscope: launch {} ", finished);
  std::string kernel = longest->kernel;
  for (char& c : kernel) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  const std::size_t room = width > head.size() + tail.size() ? width - head.size() - tail.size() : 0;
  if (kernel.size() > room) kernel = room > 3 ? kernel.substr(0, room - 3) + "..." : std::string();
  return (head + kernel + tail).substr(0, width);
}

Progress::Progress(bool wanted) : active_(wanted && ::isatty(STDERR_FILENO) != 0 && !is_dumb()) {}

void Progress::show(const std::vector<ProcessStatus>& statuses) {
  if (!active_) return;
  const std::size_t width = terminal_width(STDERR_FILENO);
  const std::string line = progress_line(statuses, width > 1 ? width - 1 : 0);
  if (line == drawn_) return;
  if (line.empty()) return erase();
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
  drawn_ = line;
}

void Progress::erase() {
  if (drawn_.empty()) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_.clear();
}

}  // namespace muscope::cli
