#include "cli/run_symbols.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "toolchain/layout.h"
#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope::cli {
namespace {

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

/// A path as the user would type it: relative when it is below the current folder.
std::string short_path(const std::string& path) {
  std::error_code error;
  const auto relative = std::filesystem::relative(path, error);
  const std::string text = relative.string();
  return error || text.empty() || text.starts_with("..") ? path : text;
}

// Functions of the runtime that are templates or inline: cudaMemcpyToSymbol(T&, ...), cudaLaunchKernel<T>.
bool in_cuda_headers(const std::string& file, const std::string& toolkit) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name == "cuda_runtime.h" || name == "cuda_runtime_api.h" || (!toolkit.empty() && file.starts_with(toolkit));
}

}  // namespace

CodePlace parse_addr2line(const std::string& function, const std::string& position) {
  CodePlace place;
  if (function != "??") place.function = function;
  const std::size_t colon = position.rfind(':');
  if (colon == position.npos || position.starts_with("??")) return place;
  // "app.cu:12 (discriminator 3)"; the line is "?" or 0 where it is not known.
  int line = 0;
  std::from_chars(position.data() + colon + 1, position.data() + position.size(), line);
  if (line <= 0) return place;
  place.file = position.substr(0, colon);
  place.line = line;
  return place;
}

std::vector<CodePlace> parse_inlined(const std::string& answers, const std::string& toolkit) {
  std::vector<CodePlace> places;
  std::istringstream lines(answers);
  std::string function, position;
  bool settled = false;
  while (std::getline(lines, function)) {
    if (function.starts_with("0x")) {
      places.emplace_back();
      settled = false;
      continue;
    }
    if (!std::getline(lines, position)) break;
    if (settled || places.empty()) continue;
    places.back() = parse_addr2line(function, position);
    settled = !in_cuda_headers(places.back().file, toolkit);
  }
  return places;
}

void CallSites::want(const views::CodeAddress& address) {
  if (!address.module.empty()) modules_[address.module].try_emplace(address.offset);
}

void CallSites::resolve() {
  if (modules_.empty()) return;
  const auto tool = toolchain::find_addr2line(toolchain::SearchPlaces::from_environment());
  if (!tool) return;
  for (auto& [module, places] : modules_) {
    toolchain::ProcessOptions options;
    for (const auto& [offset, place] : places) options.input += fmt::format("{:#x}\n", offset);
    const toolchain::ProcessResult result =
        toolchain::run_process({tool->path, "-a", "-i", "-f", "-C", "-e", module}, options);
    if (!result.ok()) continue;
    const std::vector<CodePlace> found = parse_inlined(result.out, toolchain::Layout::of_this_program().toolkit);
    auto next = found.begin();
    for (auto& [offset, place] : places)
      if (next != found.end()) place = *next++;
  }
}

std::string CallSites::shown(const std::string& module) const {
  const auto name = names_.find(module);
  return name != names_.end() ? name->second : short_path(module);
}

CodePlace CallSites::place(const views::CodeAddress& address) const {
  CodePlace place;
  if (address.module.empty()) return place;
  if (const auto module = modules_.find(address.module); module != modules_.end()) {
    if (const auto at = module->second.find(address.offset); at != module->second.end()) place = at->second;
  }
  if (place.function.empty() && !address.symbol.empty()) place.function = demangle(address.symbol);
  if (!place.file.empty()) {
    place.text = fmt::format("{}:{}", short_path(place.file), place.line);
  } else if (!place.function.empty() && !address.symbol.empty()) {
    place.text = fmt::format("{}+{:#x} in {}", place.function, address.symbol_offset, shown(address.module));
  } else if (!place.function.empty()) {
    place.text = fmt::format("{} in {}", place.function, shown(address.module));
  } else {
    place.text = fmt::format("{:#x} in {}", address.offset, shown(address.module));
  }
  return place;
}

}  // namespace muscope::cli
