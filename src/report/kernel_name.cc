#include "report/kernel_name.h"

#include <algorithm>
#include <vector>

namespace muscope::report {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

/// Depth of nesting before each character. Arrows and shift operators of `operator` names do not nest.
std::vector<int> depths(std::string_view name) {
  std::vector<int> depth(name.size());
  int level = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool arrow = name[i] == '>' && i > 0 && name[i - 1] == '-';
    if (closes(name[i]) && !arrow && level > 0) --level;
    depth[i] = level;
    if (opens(name[i])) ++level;
  }
  return depth;
}

/// Template arguments at `level` and deeper become "...".
std::string fold_arguments(std::string_view name, int level) {
  const std::vector<int> depth = depths(name);
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' && depth[i] == level && name.find('>', i) != std::string_view::npos) {
      std::size_t end = i + 1;
      while (end < name.size() && !(name[end] == '>' && depth[end] == level)) ++end;
      if (end < name.size() && end - i > 4) {
        out += "<...>";
        i = end;
        continue;
      }
    }
    out += name[i];
  }
  return out;
}

std::string drop_namespaces(std::string_view name) {
  const std::vector<int> depth = depths(name);
  std::size_t start = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i)
    if (name[i] == ':' && name[i + 1] == ':' && depth[i] == 0) start = i + 2;
  return std::string(name.substr(start));
}

}  // namespace

std::string kernel_base_name(std::string_view name) {
  const std::vector<int> depth = depths(name);
  std::size_t end = name.size();
  for (std::size_t i = 1; i < name.size(); ++i)
    if (name[i] == '(' && depth[i] == 0 && name.substr(i, kAnonymous.size()) != kAnonymous) {
      end = i;
      break;
    }
  std::size_t start = 0;
  for (std::size_t i = 0; i < end; ++i)
    if (name[i] == ' ' && depth[i] == 0) start = i + 1;
  return std::string(name.substr(start, end - start));
}

std::string shorten_kernel_name(std::string_view name, std::size_t width) {
  width = std::max<std::size_t>(width, 8);
  // Kernels return nothing; only the names of templates say so.
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (name.size() <= width) return std::string(name);
  std::string text = kernel_base_name(name);
  const std::vector<int> depth = depths(text);
  const int deepest = depth.empty() ? 0 : *std::max_element(depth.begin(), depth.end());
  const std::string full = text;
  for (int level = deepest; text.size() > width && level >= 0; --level) text = fold_arguments(full, level);
  if (text.size() > width) text = drop_namespaces(text);
  if (text.size() <= width) return text;
  const std::size_t tail = (width - 3) / 3, head = width - 3 - tail;
  return text.substr(0, head) + "..." + text.substr(text.size() - tail);
}

}  // namespace muscope::report
