#include "runtime/spool_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>

#include "runtime/raw_io.h"

namespace muscope::runtime {
namespace {

constexpr std::size_t kMaxPendingBytes = std::size_t{64} << 20;
constexpr std::uint64_t kRetryAfter = 500'000'000;  // ns

/// While it lives, SIGXFSZ of this thread is held back; one that came is taken away at the end.
class HoldSizeSignal {
 public:
  explicit HoldSizeSignal(bool active) : active_(active) {
    if (!active_) return;
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~HoldSizeSignal() {
    if (!active_) return;
    const KeepErrno keep;
    constexpr timespec kNow{};
    if (!was_pending_) sigtimedwait(&set_, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HoldSizeSignal(const HoldSizeSignal&) = delete;
  HoldSizeSignal& operator=(const HoldSizeSignal&) = delete;

 private:
  bool active_;
  bool was_pending_ = false;
  sigset_t set_{};
  sigset_t before_{};
};

/// Writes all of `data` at `offset`. 0 or an errno value.
int write_all(long fd, std::string_view data, std::uint64_t offset) {
  while (!data.empty()) {
    const long written = raw_pwrite(fd, data.data(), data.size(), offset);
    if (written == -EINTR) continue;
    if (written < 0) return static_cast<int>(-written);
    if (written == 0) return ENOSPC;
    data.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

/// Blocks for the whole file are taken now: a mapped hole on a full disk would be a SIGBUS later. 0 or an errno value.
int reserve(long fd, std::size_t size) {
  const long result = raw_result(::syscall(SYS_fallocate, fd, 0, 0L, static_cast<long>(size)));
  if (result == 0) return 0;
  if (result != -EOPNOTSUPP && result != -ENOSYS) return static_cast<int>(-result);
  return write_all(fd, std::string(size, '\0'), 0);
}

void* map_shared(long fd, std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(fd), 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// The page of the whole run; null when there is none.
RunPage* map_run_page(const std::string& dir) {
  const long fd = raw_open((dir + '/' + kRunPageName).c_str(), O_RDWR);
  if (fd < 0) return nullptr;
  struct stat status{};
  auto* page =
      ::fstat(static_cast<int>(fd), &status) == 0 && static_cast<std::size_t>(status.st_size) >= sizeof(RunPage)
          ? static_cast<RunPage*>(map_shared(fd, sizeof(RunPage)))
          : nullptr;
  raw_close(fd);
  return page != nullptr && page->magic == kPageMagic && page->version == kPageVersion ? page : nullptr;
}

void unlink_quietly(const std::string& path) { ::syscall(SYS_unlink, path.c_str()); }

}  // namespace

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void SpoolFile::create(const std::string& dir) {
  const KeepErrno keep;
  pid_ = ::getpid();
  dir_ = dir;
  RunPage* run = dir.empty() ? nullptr : map_run_page(dir);
  int error = 0;
  if (run != nullptr) {
    rlimit limit{};
    size_limited_ = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    const HoldSizeSignal hold(size_limited_);
    run->processes.fetch_add(1);
    for (int n = 0; error == 0; ++n) {
      const std::string stem = fmt::format("{}/{}.{}", dir, pid_, n);
      const long fd = raw_open((stem + ".spool").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
      if (fd == -EEXIST) continue;
      if (fd < 0) {
        error = static_cast<int>(-fd);
        break;
      }
      raw_close(fd);
      path_ = stem + ".spool";
      const long page_fd = raw_open((stem + ".page").c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
      if (page_fd < 0) {
        error = static_cast<int>(-page_fd);
        break;
      }
      error = reserve(page_fd, sizeof(ProcessPage));
      if (error == 0) page_ = static_cast<ProcessPage*>(map_shared(page_fd, sizeof(ProcessPage)));
      if (error == 0 && page_ == nullptr) error = ENOMEM;
      raw_close(page_fd);
      if (error != 0) unlink_quietly(stem + ".page");
      break;
    }
    enabled_ = error == 0;
    if (error != 0) {
      int none = 0;
      run->lost_errno.compare_exchange_strong(none, error);
      run->lost_processes.fetch_add(1);
    }
  }
  if (page_ == nullptr) {
    void* memory = ::mmap(nullptr, sizeof(ProcessPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    page_ = static_cast<ProcessPage*>(memory);
  }
  page_->version = kPageVersion;
  page_->pid = pid_;
  if (run != nullptr && run->stop.load() != 0) page_->stop = 1;
  std::atomic_thread_fence(std::memory_order_release);
  page_->magic = kPageMagic;
  if (error != 0) warn(error);
  // `run` stays mapped for a moment only: a process has no further use for it.
  if (run != nullptr) ::munmap(run, sizeof(RunPage));
}

int SpoolFile::write_pending() {
  const HoldSizeSignal hold(size_limited_);
  const long fd = raw_open(path_.c_str(), O_WRONLY);
  if (fd < 0) return static_cast<int>(-fd);
  const int error = write_all(fd, pending_, size_);
  if (error == 0) {
    size_ += pending_.size();
    pending_.clear();
    pending_frames_ = 0;
  } else {
    raw_truncate(fd, size_);
  }
  raw_close(fd);
  return error;
}

void SpoolFile::append(std::string_view frame) {
  if (!enabled_) return;
  if (::getpid() != pid_) {
    enabled_ = false;
    return;
  }
  if (pending_.size() + frame.size() > kMaxPendingBytes && pending_frames_ != 0) {
    ++dropped_frames_;
  } else {
    pending_.append(frame);
    ++pending_frames_;
  }
  if (retry_at_ != 0 && monotonic_ns() < retry_at_) {
    page_->lost_records.store(dropped_frames_ + pending_frames_);
    return;
  }
  flush();
}

void SpoolFile::flush() {
  if (!enabled_ || pending_frames_ == 0 || ::getpid() != pid_) return;
  const int error = write_pending();
  retry_at_ = error == 0 ? 0 : monotonic_ns() + kRetryAfter;
  page_->lost_records.store(dropped_frames_ + pending_frames_);
  if (error == 0) return;
  int none = 0;
  page_->lost_errno.compare_exchange_strong(none, error);
  if (error == ENOENT || error == ENOTDIR) {
    enabled_ = false;  // the run is over and its directory gone; this process outlives it
    return;
  }
  warn(error);
}

void SpoolFile::warn(int error) {
  if (warned_) return;
  warned_ = true;
  const std::string text = fmt::format(
      "warning D732: this process cannot write its record to {}: {}; the report will be incomplete\n"
      "  help: free space there, or set TMPDIR to a folder with more (muscope explain D732)\n",
      dir_, std::strerror(error));
  raw_stderr(text.data(), text.size());
}

}  // namespace muscope::runtime
