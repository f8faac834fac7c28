// find_gpu and gpu_names: the catalogue by name, compute capability or file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "arch/catalogue.h"
#include "arch/gpu_json.h"
#include "arch/nearest.h"
#include "base/diagnostic.h"

namespace muscope::arch {
namespace {

/// Lower case, without '-', '_', spaces and the maker's and product lines' names: "NVIDIA GeForce RTX 3090" is
/// "rtx3090".
std::string canonical(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c != '-' && c != '_' && c != ' ') out += c;
  }
  for (const std::string_view prefix : {"nvidia", "geforce", "tesla", "moorethreads", "mtt"})
    if (out.starts_with(prefix) && out.size() > prefix.size()) out.erase(0, prefix.size());
  return out;
}

bool matches(const CatalogueEntry& entry, const std::string& wanted) {
  if (canonical(entry.spec.name) == wanted) return true;
  if (entry.bare) {
    const std::string digits = std::to_string(entry.spec.cc_major) + std::to_string(entry.spec.cc_minor);
    const std::string dotted = entry.spec.cc_text();
    if (wanted == dotted || wanted == "cc" + dotted || wanted == "cc" + digits || wanted == "compute" + digits)
      return true;
    // sm_90a, sm_100f: the same hardware with architecture-specific instructions.
    if (wanted == "sm" + digits + "a" || wanted == "sm" + digits + "f") return true;
  }
  return std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& a) { return canonical(a) == wanted; });
}

GpuSpec from_file(const std::string& path) {
  constexpr std::size_t kMost = 1 << 20;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) {
    text.resize(kMost + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  }
  if (in.bad() || (!in && text.empty()))
    fail("D116", "cannot read the GPU description",
         "give a GPU's name (`muscope gpu` lists them) or a readable JSON file", {path, 0, 0});
  if (text.size() > kMost) fail("D111", "GPU description is larger than 1 MiB", {}, {path, 0, 0});
  return gpu_from_json(text, path);
}

}  // namespace

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    Catalogue c;
    add_fermi(c);
    add_kepler(c);
    add_maxwell(c);
    add_pascal(c);
    add_volta_turing(c);
    add_ampere_ada(c);
    add_hopper(c);
    add_blackwell(c);
    add_moore_threads(c);
    Catalogue ordered;
    for (const bool bare : {false, true})
      std::copy_if(c.begin(), c.end(), std::back_inserter(ordered),
                   [&](const CatalogueEntry& e) { return e.bare == bare; });
    return ordered;
  }();
  return all;
}

GpuSpec find_gpu(std::string_view name) {
  const std::string wanted = canonical(name);
  for (const CatalogueEntry& entry : catalogue())
    if (matches(entry, wanted)) return entry.spec;
  if (name.find('/') != std::string_view::npos || name.ends_with(".json")) return from_file(std::string(name));
  std::vector<std::string> names = gpu_names();
  for (const CatalogueEntry& entry : catalogue()) names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  const std::vector<std::string> near = nearest(name, names, 3);
  fail("D110", fmt::format("unknown GPU '{}'", printable(name)),
       near.empty() ? "`muscope gpu` lists the known ones; a JSON file works too"
                    : fmt::format("did you mean {}? `muscope gpu` lists all", fmt::join(near, ", ")));
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) names.push_back(entry.spec.name);
  return names;
}

}  // namespace muscope::arch
