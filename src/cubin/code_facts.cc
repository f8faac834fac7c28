// The attributes of .nv.info.<function> that help to execute it. image_parts.h has their numbers and layouts.
#include <algorithm>

#include "cubin/code_reader.h"
#include "cubin/image_parts.h"

namespace muscope::cubin {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::string_view kPrefix = ".nv.info.";

void append_pcs(CodeReader& reader, Bytes payload, std::vector<std::uint64_t>& pcs) {
  reader.budget.take(payload.size() * 2);
  for (std::size_t at = 0; at + 4 <= payload.size(); at += 4) pcs.push_back(read_at<std::uint32_t>(payload, at));
}

KernelParameter parameter_of(Bytes payload, bool wide) {
  constexpr unsigned kSizeShift = 18;
  const auto last = read_at<std::uint32_t>(payload, 8);
  KernelParameter parameter;
  parameter.ordinal = read_at<std::uint16_t>(payload, 4);
  parameter.offset = read_at<std::uint16_t>(payload, 6);
  parameter.size = wide ? last & 0xffff : last >> kSizeShift;
  return parameter;
}

void append_branches(CodeReader& reader, Bytes payload, std::vector<IndirectBranch>& branches) {
  std::uint64_t at = 0;
  while (inside(payload.size(), at, 12)) {
    reader.budget.take(sizeof(IndirectBranch));
    IndirectBranch& branch = branches.emplace_back();
    branch.pc = read_at<std::uint32_t>(payload, at);
    const std::uint64_t count = read_at<std::uint32_t>(payload, at + 8);
    if (!inside(payload.size(), at + 12, count * 4)) corrupt_cubin("a table of branch targets is cut off");
    append_pcs(reader, payload.subspan(at + 12, count * 4), branch.targets);
    at += 12 + count * 4;
  }
}

void read_attribute(CodeReader& reader, FunctionFacts& facts, std::uint8_t attribute, Bytes payload) {
  switch (attribute) {
    case kParameter:
    case kParameterWide:
      reader.budget.take(sizeof(KernelParameter));
      facts.parameters.push_back(parameter_of(payload, attribute == kParameterWide));
      break;
    case kParameterSize:
      facts.parameter_bytes = read_at<std::uint16_t>(payload, 0);
      break;
    case kParameterBank:
      facts.parameter_offset = read_at<std::uint16_t>(payload, 4);
      break;
    case kExits:
      append_pcs(reader, payload, facts.exits);
      break;
    case kWarpWide:
      append_pcs(reader, payload, facts.warp_wide);
      break;
    case kCooperative:
      append_pcs(reader, payload, facts.cooperative);
      break;
    case kSystemCalls:
      append_pcs(reader, payload, facts.system_calls);
      break;
    case kIndirectBranches:
      append_branches(reader, payload, facts.branches);
      break;
    case kExterns:
      for (std::size_t at = 0; at + 4 <= payload.size(); at += 4) {
        reader.budget.take(sizeof(std::string));
        facts.externs.push_back(reader.text(reader.symbol(read_at<std::uint32_t>(payload, at)).name));
      }
      break;
    default:
      break;
  }
}

// .nv.info: figures of functions by symbol.
void read_module_attributes(CodeReader& reader, Bytes info) {
  std::unordered_map<std::string_view, FunctionFacts*> by_name;
  for (FunctionFacts& facts : reader.image.facts) by_name.emplace(facts.name, &facts);
  for_each_attribute(info, [&](std::uint8_t attribute, Bytes payload) {
    const auto index = read_at<std::uint32_t>(payload, 0);
    if (payload.size() < 8 || index >= reader.symbols.size()) return;
    const auto found = by_name.find(reader.symbols[index].name);
    if (found == by_name.end()) return;
    const auto value = read_at<std::uint32_t>(payload, 4);
    if (attribute == kFrameSize) found->second->frame_bytes = value;
    if (attribute == kMinStackSize || attribute == kMaxStackSize)
      found->second->stack_bytes = std::max(found->second->stack_bytes, value);
  });
}

}  // namespace

void read_function_facts(CodeReader& reader) {
  for (const ElfSection& section : reader.elf.sections()) {
    if (!section.name.starts_with(kPrefix)) continue;
    reader.section_bytes.take(section.bytes.size());
    reader.budget.take(sizeof(FunctionFacts));
    FunctionFacts& facts = reader.image.facts.emplace_back();
    facts.name = reader.text(section.name.substr(kPrefix.size()));
    for_each_attribute(section.bytes, [&](std::uint8_t attribute, Bytes payload) {
      read_attribute(reader, facts, attribute, payload);
    });
    std::sort(facts.parameters.begin(), facts.parameters.end(),
              [](const KernelParameter& a, const KernelParameter& b) { return a.offset < b.offset; });
    std::stable_sort(facts.branches.begin(), facts.branches.end(),
                     [](const IndirectBranch& a, const IndirectBranch& b) { return a.pc < b.pc; });
  }
  if (const ElfSection* info = reader.elf.find(".nv.info")) read_module_attributes(reader, info->bytes);
}

}  // namespace muscope::cubin
