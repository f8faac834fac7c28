#include "report/kernel_name.h"

#include <algorithm>
#include <map>
#include <set>
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

/// A name in parts: what stands before its template arguments, and these.
struct NameParts {
  std::string head;
  std::vector<std::string> arguments;
};

NameParts parts_of(std::string_view name) {
  const std::string base = kernel_base_name(name);
  const std::vector<int> depth = depths(base);
  NameParts parts;
  const std::size_t open = base.find('<');
  parts.head = drop_namespaces(base.substr(0, open));
  if (open == std::string::npos) return parts;
  std::size_t start = open + 1;
  for (std::size_t i = start; i < base.size(); ++i) {
    const bool end = base[i] == '>' && depth[i] == 0;
    if (!end && !(base[i] == ',' && depth[i] == 1)) continue;
    std::string argument = base.substr(start, i - start);
    argument.erase(0, std::min(argument.find_first_not_of(' '), argument.size()));
    parts.arguments.push_back(std::move(argument));
    start = i + 1;
    if (end) break;
  }
  return parts;
}

/// Names that would look the same, by the template arguments in which they differ; empty where that does not help.
std::vector<std::string> told_apart(const std::vector<NameParts>& names, std::size_t width) {
  const std::size_t count = names.front().arguments.size();
  std::vector<bool> differs(count);
  for (const NameParts& name : names) {
    if (name.arguments.size() != count) return {};
    for (std::size_t i = 0; i < count; ++i)
      if (name.arguments[i] != names.front().arguments[i]) differs[i] = true;
  }
  std::vector<std::string> texts;
  for (const NameParts& name : names) {
    std::string inner;
    for (std::size_t i = 0; i < count; ++i) {
      if (!differs[i] && i > 0 && !differs[i - 1]) continue;  // one mark for several
      inner += (inner.empty() ? "" : ", ") + (differs[i] ? name.arguments[i] : std::string("..."));
    }
    constexpr std::size_t kLeastOfHead = 10;
    const std::size_t room = width - std::min(width, inner.size() + 2);
    std::string head = name.head;
    if (head.size() > room) {
      if (room < kLeastOfHead) return {};
      head = head.substr(0, room - 3) + "...";
    }
    texts.push_back(head + '<' + inner + '>');
  }
  return texts;
}

}  // namespace

std::vector<std::string> shorten_kernel_names(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (const std::string& name : names) {
    out.push_back(shorten_kernel_name(name, width));
    alike[out.back()].push_back(out.size() - 1);
  }
  for (const auto& [text, places] : alike) {
    std::vector<std::string> different;  // in the order of the rows
    for (const std::size_t place : places)
      if (std::find(different.begin(), different.end(), names[place]) == different.end())
        different.push_back(names[place]);
    if (different.size() < 2) continue;
    std::vector<NameParts> parts;
    for (const std::string& name : different) parts.push_back(parts_of(name));
    std::vector<std::string> texts = told_apart(parts, width);
    if (std::set<std::string>(texts.begin(), texts.end()).size() < different.size()) {
      texts.clear();
      for (std::size_t i = 1; i <= different.size(); ++i) {
        const std::string number = " #" + std::to_string(i);
        texts.push_back(text.substr(0, width - std::min(width, number.size())) + number);
      }
    }
    for (const std::size_t place : places) {
      const auto which = std::find(different.begin(), different.end(), names[place]) - different.begin();
      out[place] = texts[static_cast<std::size_t>(which)];
    }
  }
  return out;
}

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
