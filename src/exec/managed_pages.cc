#include "exec/managed_pages.h"

#include <mutex>
#include <unordered_set>

namespace muscope::exec {
namespace {

struct Pages {
  std::mutex mutex;
  std::unordered_set<std::uint64_t> on_device;  ///< page numbers
};

Pages& pages() {
  static Pages& instance = *new Pages;  // never destroyed: calls after exit are tolerated
  return instance;
}

}  // namespace

std::uint64_t mark_resident(const memory::Allocation& allocation, std::uint64_t low, std::uint64_t high) {
  // Most accesses hit a page that this thread has just seen.
  thread_local std::uint64_t last_id = 0, last_page = ~std::uint64_t{0};
  const std::uint64_t first = low / kManagedPage, last = (high - 1) / kManagedPage;
  if (first == last && first == last_page && allocation.id == last_id) return 0;
  std::uint64_t fresh = 0;
  Pages& p = pages();
  const std::lock_guard lock(p.mutex);
  for (std::uint64_t page = first; page <= last; ++page) fresh += p.on_device.insert(page).second;
  last_id = allocation.id;
  last_page = last;
  return fresh;
}

void move_pages(std::uint64_t address, std::uint64_t bytes, bool to_device) {
  if (bytes == 0) return;
  Pages& p = pages();
  const std::lock_guard lock(p.mutex);
  for (std::uint64_t page = address / kManagedPage; page <= (address + bytes - 1) / kManagedPage; ++page) {
    if (to_device)
      p.on_device.insert(page);
    else
      p.on_device.erase(page);
  }
}

}  // namespace muscope::exec
