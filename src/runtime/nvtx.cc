// NVTX, the annotations of programs, taken as a tool does: the header-only library in the program loads what
// NVTX_INJECTION64_PATH names and hands over the places of its functions. Layouts and numbers are those of NVTX 3
// (nvtxDetail/nvtxTypes.h, nvToolsExt.h in CUDA 13.0).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/entry.h"
#include "runtime/selection.h"

namespace muscope::runtime {
namespace {

constexpr std::uint32_t kCallbacksTable = 1, kCore = 1, kCore2 = 5;  // NVTX_ETID_CALLBACKS, NVTX_CB_MODULE_*
constexpr std::int32_t kAscii = 1, kUnicode = 2, kRegistered = 3;    // nvtxMessageType_t

/// nvtxEventAttributes_t
struct Attributes {
  std::uint16_t version, size;
  std::uint32_t category;
  std::int32_t colour_type;
  std::uint32_t colour;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};
static_assert(offsetof(Attributes, message) == 40);

using ModuleTable = void***;
struct Callbacks {
  std::size_t bytes;
  int (*module_functions)(std::uint32_t module, ModuleTable* table, unsigned* count);
};

/// UTF-8 of a wide string.
std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) {
    const auto c = static_cast<std::uint32_t>(*text);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | c >> 12);
      out += static_cast<char>(0x80 | (c >> 6 & 63));
      out += static_cast<char>(0x80 | (c & 63));
    } else {
      out += static_cast<char>(0xf0 | (c >> 18 & 7));
      out += static_cast<char>(0x80 | (c >> 12 & 63));
      out += static_cast<char>(0x80 | (c >> 6 & 63));
      out += static_cast<char>(0x80 | (c & 63));
    }
  }
  return out;
}
std::string narrow(const char* text) { return text != nullptr ? text : ""; }

/// Domains and registered strings are handles to names, kept as long as the process lives.
class Names {
 public:
  static Names& of_process() {
    static auto* const names = new Names;
    return *names;
  }
  const std::string* keep(std::string name) {
    const std::lock_guard lock(mutex_);
    names_.push_back(std::make_unique<std::string>(std::move(name)));
    handles_.insert(names_.back().get());
    return names_.back().get();
  }
  /// Empty for what is no handle of ours.
  std::string text(const void* handle) {
    const std::lock_guard lock(mutex_);
    return handles_.contains(handle) ? *static_cast<const std::string*>(handle) : std::string();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::set<const void*> handles_;
};
const std::string* keep(std::string name) { return Names::of_process().keep(std::move(name)); }

std::string message_of(const Attributes* a) {
  if (a == nullptr || a->size < sizeof(Attributes) || a->message == nullptr) return {};
  if (a->message_type == kAscii) return static_cast<const char*>(a->message);
  if (a->message_type == kUnicode) return narrow(static_cast<const wchar_t*>(a->message));
  return a->message_type == kRegistered ? Names::of_process().text(a->message) : std::string();
}

int push(const void* domain, const std::string& name) {
  Ranges& ranges = Ranges::of_process();
  ranges.push(domain, name);
  return ranges.depth(domain) - 1;
}
int pop(const void* domain) {
  Ranges& ranges = Ranges::of_process();
  ranges.pop(domain);
  return ranges.depth(domain);
}

int push_attributes(const Attributes* a) { return push(nullptr, message_of(a)); }
int push_text(const char* text) { return push(nullptr, narrow(text)); }
int push_wide(const wchar_t* text) { return push(nullptr, narrow(text)); }
int pop_default() { return pop(nullptr); }
std::uint64_t start_attributes(const Attributes* a) { return Ranges::of_process().start(nullptr, message_of(a)); }
std::uint64_t start_text(const char* text) { return Ranges::of_process().start(nullptr, narrow(text)); }
std::uint64_t start_wide(const wchar_t* text) { return Ranges::of_process().start(nullptr, narrow(text)); }
void end(std::uint64_t handle) { Ranges::of_process().end(handle); }

std::uint64_t domain_start(const void* domain, const Attributes* a) {
  return Ranges::of_process().start(domain, message_of(a));
}
void domain_end(const void*, std::uint64_t handle) { Ranges::of_process().end(handle); }
int domain_push(const void* domain, const Attributes* a) { return push(domain, message_of(a)); }
int domain_pop(const void* domain) { return pop(domain); }
template <typename Char>
const void* domain_string(const void*, const Char* text) {
  return keep(narrow(text));
}
template <typename Char>
const void* domain_create(const Char* text) {
  const std::string* const name = keep(narrow(text));
  Ranges::of_process().name_domain(name, *name);
  return name;
}

struct Slot {
  std::uint32_t module;
  unsigned index;  ///< NVTX_CBID_CORE_*, NVTX_CBID_CORE2_*
  void* function;
};

template <typename F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

/// What NVTX calls. Returns 1 when the tool is ready.
MUSCOPE_EXPORT int InitializeInjectionNvtx2(const void* (*export_table)(std::uint32_t)) {
  const auto* const callbacks =
      export_table != nullptr ? static_cast<const Callbacks*>(export_table(kCallbacksTable)) : nullptr;
  if (callbacks == nullptr || callbacks->bytes < sizeof(Callbacks) || callbacks->module_functions == nullptr) return 0;
  const Slot slots[] = {{kCore, 4, address(start_attributes)},
                        {kCore, 5, address(start_text)},
                        {kCore, 6, address(start_wide)},
                        {kCore, 7, address(end)},
                        {kCore, 8, address(push_attributes)},
                        {kCore, 9, address(push_text)},
                        {kCore, 10, address(push_wide)},
                        {kCore, 11, address(pop_default)},
                        {kCore2, 2, address(domain_start)},
                        {kCore2, 3, address(domain_end)},
                        {kCore2, 4, address(domain_push)},
                        {kCore2, 5, address(domain_pop)},
                        {kCore2, 10, address(domain_string<char>)},
                        {kCore2, 11, address(domain_string<wchar_t>)},
                        {kCore2, 12, address(domain_create<char>)},
                        {kCore2, 13, address(domain_create<wchar_t>)}};
  for (const Slot& slot : slots) {
    ModuleTable table = nullptr;
    unsigned count = 0;
    if (callbacks->module_functions(slot.module, &table, &count) == 0 || table == nullptr) return 0;
    if (slot.index < count && table[slot.index] != nullptr) *table[slot.index] = slot.function;
  }
  return 1;
}

}  // namespace muscope::runtime
