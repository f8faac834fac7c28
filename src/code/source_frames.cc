#include "code/source_frames.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace muscope::code {
namespace {

constexpr int kMaxInlineDepth = 200;

}  // namespace

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
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
