#include "code/source_frames.h"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace muscope::code {
namespace {

constexpr int kMaxInlineDepth = 200;

/// The name that the source gave to a kernel of internal linkage. nvcc 13 makes of `_Z1kv` in k.cu
/// `__nv_static_25__0123abcd_4_k_cu_4567cdef__Z1kv`: the number is the length of what stands between `_` and `_` after
/// it. clang 19 appends `__static__` or `__intern__` and an id of the unit.
std::string_view without_unit(std::string_view name) {
  constexpr std::string_view kPrefix = "__nv_static_";
  if (name.starts_with(kPrefix)) {
    std::size_t length = 0;
    const char* const begin = name.data() + kPrefix.size();
    const char* const end = name.data() + name.size();
    const auto [after, error] = std::from_chars(begin, end, length);
    const auto left = static_cast<std::size_t>(end - after);
    if (error != std::errc() || left < 3 || length > left - 3 || after[0] != '_' || after[length + 1] != '_')
      return name;
    return {after + length + 2, left - length - 2};
  }
  if (name.starts_with("_Z"))
    for (const std::string_view mark : {"__static__", "__intern__"})
      if (const std::size_t at = name.rfind(mark); at != std::string_view::npos) return name.substr(0, at);
  return name;
}

}  // namespace

std::string demangle(const std::string& name) {
  int status = 0;
  const std::string own(without_unit(name));
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(own.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : own.starts_with("_Z") ? name : own;
}

std::uint32_t SourceFrames::of(const ptx::Instruction& instruction) {
  if (instruction.loc < module_.locs.size()) return of_loc(instruction.loc, 0);
  auto [at, fresh] = by_ptx_line_.try_emplace(instruction.ptx_line);
  if (fresh) {
    at->second = static_cast<std::uint32_t>(frames_.size());
    views::Frame frame;
    frame.line = instruction.ptx_line;
    frames_.push_back(frame);
  }
  return at->second;
}

std::uint32_t SourceFrames::of_loc(std::uint32_t loc, int depth) {
  if (loc >= module_.locs.size() || depth > kMaxInlineDepth) return views::kNoFrame;
  if (const auto known = by_loc_.find(loc); known != by_loc_.end()) return known->second;
  const ptx::Loc& l = module_.locs[loc];
  views::Frame frame;
  frame.file = l.file < module_.files.size() ? module_.files[l.file] : std::string();
  frame.line = l.line;
  frame.column = l.column;
  if (!l.function.empty()) frame.function = demangle(l.function);
  if (l.inlined_at != ptx::kNoIndex) frame.inlined_at = of_loc(l.inlined_at, depth + 1);
  const std::uint32_t index = static_cast<std::uint32_t>(frames_.size());
  frames_.push_back(std::move(frame));
  by_loc_[loc] = index;
  return index;
}

}  // namespace muscope::code
