#include "runtime/static_redirect.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cubin/elf_view.h"
#include "cubin/static_runtime.h"
#include "runtime/api_table.h"

__thread int muscope_runtime_copy = 0;

namespace muscope::runtime {
namespace {

constexpr std::size_t kJump = 5;   // jmp rel32
constexpr std::size_t kStep = 32;  // one entry of the table of far jumps

int g_static_copies = 0;  ///< objects with a static runtime so far
constexpr std::uint64_t kReach = 0x7000'0000;
constexpr std::uint64_t kPage = 4096;

bool is_runtime_name(std::string_view name) { return name.starts_with("cuda") || name.starts_with("__cuda"); }

// A page near `address`, so that a short jump reaches it; null when none is free.
std::uint8_t* page_near(std::uint64_t address, std::size_t bytes) {
  for (std::uint64_t distance = std::uint64_t{1} << 20; distance < kReach; distance += distance / 2) {
    for (const bool below : {true, false}) {
      if (below && distance > address) continue;
      const std::uint64_t wanted = (below ? address - distance : address + distance) / kPage * kPage;
      void* const got =
          mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (got == MAP_FAILED) continue;
      const auto at = reinterpret_cast<std::uint64_t>(got);
      if ((at > address ? at - address : address - at) < kReach) return static_cast<std::uint8_t*>(got);
      munmap(got, bytes);
    }
  }
  return nullptr;
}

// Makes every function of one object jump to ours, by way of a table near it.
std::size_t patch(std::uint64_t base, const std::vector<StaticFunction>& functions, int major) {
  const std::size_t bytes = (functions.size() * kStep + kPage - 1) / kPage * kPage;
  std::uint8_t* const table = page_near(base + functions.front().address, bytes);
  if (table == nullptr) return 0;
  const std::int32_t copy = g_static_copies < kMostStaticCopies ? ++g_static_copies : 0;
  // The same distance in every thread, since the engine is there from the start.
  const auto variable = static_cast<std::int32_t>(reinterpret_cast<const char*>(&muscope_runtime_copy) -
                                                  static_cast<const char*>(__builtin_thread_pointer()));
  std::size_t done = 0;
  for (const StaticFunction& function : functions) {
    void* const ours = api_function(function.name, major);
    if (ours == nullptr || function.room < kJump) continue;
    std::uint8_t* const entry = table + done * kStep;
    const std::uint8_t say[] = {0x64, 0xc7, 0x04, 0x25};                               // movl $copy, %fs:variable
    const std::uint8_t far_jump[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x0f, 0x0b};  // jmp *2(%rip); ud2; address
    std::uint8_t* out = entry;
    const auto put = [&out](const void* bytes, std::size_t count) {
      std::memcpy(out, bytes, count);
      out += count;
    };
    put(say, sizeof say);
    put(&variable, sizeof variable);
    put(&copy, sizeof copy);
    put(far_jump, sizeof far_jump);
    put(&ours, sizeof ours);
    const std::uint64_t at = base + function.address;
    const auto distance = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(entry) - (at + kJump));
    if (distance != static_cast<std::int32_t>(distance)) continue;
    auto* const page = reinterpret_cast<void*>(at / kPage * kPage);
    if (mprotect(page, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 &&
        mprotect(page, kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
      continue;
    const auto relative = static_cast<std::int32_t>(distance);
    auto* const code = reinterpret_cast<std::uint8_t*>(at);
    code[0] = 0xe9;
    std::memcpy(code + 1, &relative, sizeof relative);
    if (mprotect(page, 2 * kPage, PROT_READ | PROT_EXEC) != 0) mprotect(page, kPage, PROT_READ | PROT_EXEC);
    ++done;
  }
  mprotect(table, bytes, PROT_READ | PROT_EXEC);
  return done;
}

std::size_t redirect_object(const char* path, std::uint64_t base) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t done = 0;
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      int major = 0;
      const auto functions = static_functions({static_cast<const std::uint8_t*>(mapped), bytes}, major);
      if (!functions.empty()) done = patch(base, functions, major);
      munmap(mapped, bytes);
    }
  }
  close(file);
  return done;
}

int visit_object(dl_phdr_info* info, std::size_t, void* data) {
  const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  // The C library's own objects, the kernel's, and ours have no CUDA in them.
  const std::string_view file = name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
  for (const std::string_view known :
       {"linux-vdso", "ld-linux", "libc.so", "libm.so", "libmuscope", "libcudart.so", "libstdc++", "libgcc_s"}) {
    if (file.starts_with(known)) return 0;
  }
  *static_cast<std::size_t*>(data) +=
      redirect_object(name.empty() ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr);
  return 0;
}

__attribute__((constructor)) void redirect_when_loaded() {
  try {
    redirect_static_runtimes();
  } catch (...) {
    // The program then runs with its own runtime and finds no GPU, which `muscope run` explains.
  }
}

}  // namespace

std::vector<StaticFunction> static_functions(std::span<const std::uint8_t> file, int& major) {
  std::vector<StaticFunction> found;
  std::string why;
  const auto elf = cubin::ElfView::parse(file, why);
  if (!elf || elf->machine() != EM_X86_64 || (elf->type() != ET_EXEC && elf->type() != ET_DYN)) return found;
  const auto stripped = [&] {
    major = cubin::kKnownStaticRuntime;
    std::vector<StaticFunction> all;
    for (const cubin::StrippedFunction& f : cubin::find_stripped_runtime(*elf))
      all.push_back({std::string(f.name), f.address, f.room});
    return all;
  };
  const cubin::ElfSection* const table = elf->find(".symtab");
  if (table == nullptr) return stripped();
  std::vector<std::uint64_t> starts;
  bool registers = false;
  major = 13;
  elf->for_each_symbol(*table, [&](std::uint32_t, const cubin::ElfSymbol& symbol) {
    if (symbol.section == 0 || symbol.type != STT_FUNC) return true;
    starts.push_back(symbol.value);
    if (!is_runtime_name(symbol.name)) return true;
    registers |= symbol.name == "__cudaRegisterFatBinary";
    // A runtime is linked in whole: these stand in every one of 12, and in every one of 11.
    if (symbol.name == "cudaGetDeviceProperties_v2") major = 12;
    if (symbol.name == "__cudaRegisterTexture") major = 11;
    found.push_back({std::string(symbol.name), symbol.value, 0});
    return true;
  });
  // A program may have functions of its own that are called like that, but not that one.
  if (!registers) return stripped();
  std::sort(starts.begin(), starts.end());
  for (StaticFunction& function : found) {
    const auto next = std::upper_bound(starts.begin(), starts.end(), function.address);
    function.room = next == starts.end() ? kJump : *next - function.address;
  }
  return found;
}

std::size_t redirect_static_runtimes() {
  std::size_t done = 0;
  dl_iterate_phdr(visit_object, &done);
  return done;
}

}  // namespace muscope::runtime
