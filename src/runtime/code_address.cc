#include "runtime/code_address.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>

#include "runtime/raw_io.h"

namespace muscope::runtime {

views::CodeAddress code_address(const void* return_address) {
  views::CodeAddress at;
  if (return_address == nullptr) return at;
  const KeepErrno keep;
  // The call is the instruction before the one it returns to.
  const char* address = static_cast<const char*>(return_address) - 1;
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return at;
  at.offset = reinterpret_cast<std::uint64_t>(address) - map->l_addr;
  if (map->l_name == nullptr || map->l_name[0] == '\0') {
    // The program itself: its name in the link map is empty, and argv[0] may be relative to a folder left since.
    char path[PATH_MAX];
    const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
    if (size > 0) at.module.assign(path, static_cast<std::size_t>(size));
  } else {
    at.module = map->l_name;
  }
  if (info.dli_sname != nullptr) {
    at.symbol = info.dli_sname;
    at.symbol_offset = reinterpret_cast<std::uint64_t>(address) - reinterpret_cast<std::uint64_t>(info.dli_saddr);
  }
  return at;
}

}  // namespace muscope::runtime
