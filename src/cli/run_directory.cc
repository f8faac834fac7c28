#include "cli/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;
using runtime::ProcessPage;

/// A page mapped for a moment.
class MappedPage {
 public:
  explicit MappedPage(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status{};
    if (::fstat(fd, &status) == 0 && static_cast<std::size_t>(status.st_size) >= sizeof(ProcessPage)) {
      void* memory = ::mmap(nullptr, sizeof(ProcessPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (memory != MAP_FAILED) page_ = static_cast<ProcessPage*>(memory);
    }
    ::close(fd);
    // A page that is not finished yet looks like none.
    if (page_ != nullptr && (page_->magic != runtime::kPageMagic || page_->version != runtime::kPageVersion)) unmap();
  }
  ~MappedPage() { unmap(); }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;
  ProcessPage* operator->() const { return page_; }
  explicit operator bool() const { return page_ != nullptr; }

  std::string name() const {
    std::string text;
    for (int attempt = 0; attempt < 100; ++attempt) {
      const std::uint32_t before = page_->name_sequence.load(std::memory_order_acquire);
      char copy[runtime::kNameBytes];
      std::memcpy(copy, page_->name, sizeof copy);
      copy[sizeof copy - 1] = 0;
      text = copy;
      if ((before & 1) == 0 && page_->name_sequence.load(std::memory_order_acquire) == before) break;
    }
    return text;
  }

 private:
  void unmap() {
    if (page_ != nullptr) ::munmap(page_, sizeof(ProcessPage));
    page_ = nullptr;
  }
  ProcessPage* page_ = nullptr;
};

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

views::Spooled read_spool_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  views::Spooled spooled;
  if (fd >= 0 && ::fstat(fd, &status) == 0 && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED) {
      spooled = views::read_spool({static_cast<const char*>(memory), size});
      ::munmap(memory, size);
    } else {
      spooled.problems.push_back(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
    }
  }
  if (fd >= 0) ::close(fd);
  return spooled;
}

ProcessFiles read_process(const std::string& stem) {
  ProcessFiles files;
  files.spooled = read_spool_file(stem + ".spool");
  const MappedPage page(stem + ".page");
  files.counts.resize(files.spooled.transfers.size());
  files.finding_counts.resize(files.spooled.findings.size());
  for (std::size_t i = 0; i < files.finding_counts.size(); ++i) {
    const views::FindingSite& site = files.spooled.findings[i];
    const bool in_page = page && site.slot < runtime::kFindingSlots;
    files.finding_counts[i] = in_page ? page->findings[site.slot].load() : site.finding.count;
  }
  if (!page) return files;
  for (std::size_t i = 0; i < files.counts.size(); ++i) {
    const std::uint32_t slot = files.spooled.transfers[i].slot;
    if (slot >= runtime::kTransferSlots) continue;
    files.counts[i].count = page->transfers[slot].count.load();
    files.counts[i].bytes = page->transfers[slot].bytes.load();
  }
  files.launches_begun = page->begun.load();
  files.launch_unfinished = files.launches_begun != page->finished.load();
  files.kernel = page.name();
  files.lost_records = page->lost_records.load();
  files.lost_errno = page->lost_errno.load();
  if (files.spooled.process.pid == 0) files.spooled.process.pid = page->pid;
  return files;
}

}  // namespace

RunDirectory::RunDirectory() {
  const char* base = std::getenv("TMPDIR");
  std::error_code ignored;
  // Absolute: the processes of the run may change their working directory.
  const fs::path parent = fs::absolute(base != nullptr && base[0] != '\0' ? base : "/tmp", ignored);
  path_ = (parent / "muscope-XXXXXX").string();
  const std::string hint = "set TMPDIR to a folder where files can be made";
  if (::mkdtemp(path_.data()) == nullptr) {
    fail("D124", fmt::format("cannot make a folder in {}: {}", parent.string(), std::strerror(errno)), hint);
  }
  const std::string page_path = path_ + '/' + runtime::kRunPageName;
  const int fd = ::open(page_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = fd < 0 ? errno : ::posix_fallocate(fd, 0, sizeof(runtime::RunPage));
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = ::mmap(nullptr, sizeof(runtime::RunPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) error = errno;
  }
  if (fd >= 0) ::close(fd);
  if (error != 0) {
    fs::remove_all(path_, ignored);
    fail("D124", fmt::format("cannot make a file in {}: {}", parent.string(), std::strerror(error)), hint);
  }
  page_ = static_cast<runtime::RunPage*>(memory);
  page_->version = runtime::kPageVersion;
  page_->magic = runtime::kPageMagic;
}

RunDirectory::~RunDirectory() {
  ::munmap(page_, sizeof(runtime::RunPage));
  std::error_code ignored;
  if (!keep_) fs::remove_all(path_, ignored);
}

std::vector<std::string> RunDirectory::stems() const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".spool") found.push_back((at->path().parent_path() / at->path().stem()).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void RunDirectory::stop() {
  page_->stop.store(1);
  for (const std::string& stem : stems()) {
    const MappedPage page(stem + ".page");
    if (page) page->stop = 1;
  }
}

std::vector<ProcessStatus> RunDirectory::statuses() const {
  std::vector<ProcessStatus> all;
  for (const std::string& stem : stems()) {
    const MappedPage page(stem + ".page");
    if (!page) continue;
    ProcessStatus s;
    s.pid = page->pid;
    s.stem = stem;
    s.launches = page->finished.load();
    const std::uint32_t begun = page->begun.load();
    s.in_launch = begun != s.launches;
    s.launch_index = page->launch_index.load();
    if (begun != 0) s.kernel = page.name();
    s.blocks_done = page->progress.load();
    s.blocks = page->progress_of.load();
    s.launch_seconds = static_cast<double>(monotonic_ns() - page->begun_at.load()) * 1e-9;
    all.push_back(std::move(s));
  }
  std::sort(all.begin(), all.end(), [](const ProcessStatus& a, const ProcessStatus& b) { return a.pid < b.pid; });
  return all;
}

bool RunDirectory::draw(const ProcessStatus& status, const std::string& line) {
  const MappedPage page(status.stem + ".page");
  if (!page) return false;
  page->progress_line.store(runtime::kDrawing);
  const bool runs = page->begun.load() != page->finished.load();
  if (runs) std::fputs(line.c_str(), stderr), std::fflush(stderr);
  page->progress_line.store(runs ? runtime::kDrawn : runtime::kNoLine);
  return runs;
}

void RunDirectory::erase(const std::string& stem) {
  const MappedPage page(stem + ".page");
  std::uint32_t drawn = runtime::kDrawn;
  if (!page || !page->progress_line.compare_exchange_strong(drawn, runtime::kNoLine)) return;
  std::fputs(runtime::kEraseLine, stderr);
  std::fflush(stderr);
}

std::vector<ProcessFiles> RunDirectory::read() const {
  std::vector<ProcessFiles> all;
  for (const std::string& stem : stems()) all.push_back(read_process(stem));
  std::stable_sort(all.begin(), all.end(), [](const ProcessFiles& a, const ProcessFiles& b) {
    return a.spooled.started_ns < b.spooled.started_ns;
  });
  return all;
}

std::uint32_t RunDirectory::lost_processes(int& error) const {
  error = page_->lost_errno.load();
  return page_->lost_processes.load();
}

}  // namespace muscope::cli
