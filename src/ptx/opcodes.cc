#include "ptx/opcodes.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace muscope::ptx {
namespace {

constexpr auto kRows = std::to_array<OpcodeRow>({
#define MUSCOPE_FORM(opcode, form, manual, groups) OpcodeRow{Opcode::k_##opcode, form, manual, groups},
#include "ptx/opcodes.inc"
#undef MUSCOPE_FORM
});

struct Group {
  std::string_view name;
  std::string_view members;
};

constexpr std::array kGroups = {
#define MUSCOPE_GROUP(name, members) Group{name, members},
#include "ptx/modifier_groups.inc"
#undef MUSCOPE_GROUP
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Range {
  std::size_t begin = 0;
  std::size_t size = 0;
};

}  // namespace

std::span<const OpcodeRow> opcode_rows() { return kRows; }

std::span<const OpcodeRow> find_rows(Opcode opcode) {
  static const std::vector<Range> ranges = [] {
    std::vector<Range> out;
    for (std::size_t i = 0; i < kRows.size(); ++i) {
      const auto index = static_cast<std::size_t>(kRows[i].opcode);
      if (index >= out.size()) out.resize(index + 1);
      if (out[index].size == 0) out[index].begin = i;
      ++out[index].size;
    }
    return out;
  }();
  const auto index = static_cast<std::size_t>(opcode);
  if (index >= ranges.size() || ranges[index].size == 0) return {};
  return opcode_rows().subspan(ranges[index].begin, ranges[index].size);
}

std::string_view not_executed(const OpcodeRow& row) {
  static const std::unordered_map<std::string_view, std::string_view> forms = {
#define MUSCOPE_NOT_EXECUTED(form, what) {form, what},
#include "ptx/not_executed.inc"
#undef MUSCOPE_NOT_EXECUTED
  };
  const auto found = forms.find(row.form);
  return found == forms.end() ? std::string_view{} : found->second;
}

std::string manual_url(const OpcodeRow& row) {
  return "https://docs.nvidia.com/cuda/parallel-thread-execution/#" + std::string(row.manual);
}

std::string_view group_members(const OpcodeRow& row, std::string_view name) {
  std::string_view rest = row.groups;
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string_view entry = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && trim(entry.substr(0, equals)) == name)
      return trim(entry.substr(equals + 1));
  }
  for (const Group& group : kGroups) {
    if (group.name == name) return group.members;
  }
  return {};
}

}  // namespace muscope::ptx
