// Reads the sections that ptxas writes beside the code. Attribute numbers and layouts: established with the cubins of
// ptxas 13.0 for sm_75 to sm_120 in tests/counters/binaries, whose figures `ptxas -v` states (kernels.tsv).
#include "cubin/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "cubin/byte_reader.h"
#include "cubin/elf_view.h"
#include "cubin/image_parts.h"

namespace muscope::cubin {
namespace {

using Bytes = std::span<const std::uint8_t>;
using SectionsByName = std::unordered_map<std::string_view, const ElfSection*>;

constexpr std::uint16_t kTypeRelocatable = 1;
constexpr std::uint8_t kSymbolObject = 1;
constexpr std::uint8_t kSymbolFunction = 2;
constexpr std::uint32_t kSymbolTable = 2;
constexpr std::uint32_t kSystemShared = 1024;  // bytes in every .nv.shared.<kernel> from sm_90 on
constexpr int kFirstWithSystemShared = 90;

std::array<std::uint32_t, 3> three(Bytes payload) {
  return {read_at<std::uint32_t>(payload, 0), read_at<std::uint32_t>(payload, 4), read_at<std::uint32_t>(payload, 8)};
}

// Whether the first unit of .debug_line (DWARF 2) lists a file.
bool lists_files(Bytes line_program) {
  constexpr std::size_t kHeader = 14;  // up to opcode_base
  const auto opcode_base = read_at<std::uint8_t>(line_program, kHeader);
  std::size_t at = kHeader + std::max<std::size_t>(opcode_base, 1);
  while (at < line_program.size() && line_program[at] != 0) {  // include directories
    const auto end = std::find(line_program.begin() + static_cast<std::ptrdiff_t>(at), line_program.end(), 0);
    at = static_cast<std::size_t>(end - line_program.begin()) + 1;
  }
  return at + 1 < line_program.size() && line_program[at + 1] != 0;
}

bool has_bytes(const SectionsByName& sections, std::string_view name) {
  const auto found = sections.find(name);
  return found != sections.end() && found->second->size != 0;
}

void add_variable(CubinInfo& info, const ElfSymbol& symbol, const ElfSection& section) {
  CubinVariable variable;
  variable.name = std::string(symbol.name);
  variable.offset = symbol.value;
  variable.size = symbol.size;
  std::string_view rest;
  const int bank = constant_bank(section.name, rest);
  if (bank >= 0 && rest.empty()) {
    variable.space = CubinVariable::Space::kConstant;
    variable.bank = bank;
  } else if (section.name != ".nv.global" && section.name != ".nv.global.init") {
    return;
  }
  info.variables.push_back(std::move(variable));
}

void read_kernel_sections(CubinKernel& kernel, int sm, const SectionsByName& sections) {
  const auto find = [&](std::string_view prefix) -> const ElfSection* {
    const auto found = sections.find(std::string(prefix) + kernel.name);
    return found == sections.end() ? nullptr : found->second;
  };
  if (const ElfSection* code = find(".text.")) {
    kernel.code_bytes = code->size;
    // Before sm_90 the register count also stands here; a second source for cubins without .nv.info.
    if (kernel.registers == 0 && sm < kFirstWithSystemShared) kernel.registers = code->info >> 24;
  }
  if (const ElfSection* shared = find(".nv.shared.")) {
    const bool with_system = sm >= kFirstWithSystemShared && shared->size >= kSystemShared;
    kernel.reserved_shared = with_system ? kSystemShared : 0;
    kernel.static_shared =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(shared->size - kernel.reserved_shared, UINT32_MAX));
  }
  if (const ElfSection* bank = find(".nv.constant0.")) {
    kernel.constant0_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bank->size, UINT32_MAX));
  }
  const ElfSection* info = find(".nv.info.");
  if (info == nullptr) return;
  for_each_attribute(info->bytes, [&](std::uint8_t attribute, Bytes payload) {
    switch (attribute) {
      case kMaxThreads:
        kernel.max_threads = three(payload);
        break;
      case kRequiredThreads:
        kernel.required_threads = three(payload);
        break;
      case kParameterSize:
        kernel.parameter_bytes = read_at<std::uint16_t>(payload, 0);
        break;
      case kParameterBank:
        kernel.parameter_offset = read_at<std::uint16_t>(payload, 4);
        break;
      case kBarrierCount:
        kernel.barriers = payload[0];
        break;
      default:
        break;
    }
  });
}

/// Of a note of .note.nv.cuinfo: sizes of name ("NVIDIA Corp") and content, kind, name, and then 16-bit numbers, the
/// second of which is the virtual architecture (cubins of nvcc 13.0.88 for compute_75 to compute_120 made for sm_90).
int virtual_target(Bytes note) {
  constexpr std::uint32_t kNameSize = 12, kKind = 1000;
  constexpr std::size_t kContent = 24;
  if (note.size() < kContent + 4 || read_at<std::uint32_t>(note, 0) != kNameSize ||
      read_at<std::uint32_t>(note, 4) < 4 || read_at<std::uint32_t>(note, 8) != kKind)
    return 0;
  return read_at<std::uint16_t>(note, kContent + 2);
}

}  // namespace

const CubinKernel* CubinInfo::kernel(std::string_view name) const {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const CubinKernel& k) { return k.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

std::string impossible_resources(const CubinKernel& kernel) {
  constexpr std::uint32_t kKiB = 1024;
  const struct {
    std::uint64_t stated, most;
    std::string_view what;
  } limits[] = {
      {kernel.registers, 256, "registers per thread"},
      {std::max(kernel.frame_bytes, kernel.stack_bytes), 512 * kKiB, "bytes of local memory per thread"},
      {std::uint64_t{kernel.static_shared} + kernel.reserved_shared, 228 * kKiB, "bytes of shared memory per block"},
      {kernel.barriers, 16, "barriers"},
      {std::max(kernel.constant0_bytes, kernel.parameter_offset + kernel.parameter_bytes), 64 * kKiB,
       "bytes of constant bank 0"},
  };
  for (const auto& limit : limits)
    if (limit.stated > limit.most)
      return fmt::format("it states {} {}, no GPU has more than {}", limit.stated, limit.what, limit.most);
  return {};
}

CubinInfo read_cubin(Bytes bytes) {
  std::string why;
  const std::optional<ElfView> elf = ElfView::parse(bytes, why);
  if (!elf) corrupt_cubin(why);
  if (elf->machine() != kMachineCuda)
    corrupt_cubin(fmt::format("it holds code for machine {}, not for a GPU (190)", elf->machine()));

  SectionsByName sections;
  const ElfSection* symbols = nullptr;
  for (const ElfSection& section : elf->sections()) {
    sections.emplace(section.name, &section);
    if (symbols == nullptr && section.type == kSymbolTable) symbols = &section;
  }
  CubinInfo info;
  const auto compat = sections.find(".nv.compat");
  info.target = cubin_target(*elf, compat == sections.end() ? Bytes{} : compat->second->bytes);
  if (info.target.sm == 0) corrupt_cubin("it names no architecture");
  info.relocatable = elf->type() == kTypeRelocatable;
  if (const auto note = sections.find(".note.nv.cuinfo"); note != sections.end())
    info.virtual_sm = virtual_target(note->second->bytes);
  info.ptx_map = has_bytes(sections, ".nv_debug_line_sass");
  if (const auto lines = sections.find(".debug_line"); lines != sections.end())
    info.line_info = lists_files(lines->second->bytes);
  for (const ElfSection& section : elf->sections()) {
    std::string_view rest;
    const int bank = constant_bank(section.name, rest);
    if (bank >= 0 && rest.empty()) info.constant_banks.push_back({bank, section.size});
  }
  if (symbols == nullptr) corrupt_cubin("it has no symbol table");

  struct Found {
    std::uint32_t section = 0;
    CubinKernel kernel;
  };
  std::vector<Found> found;
  std::unordered_map<std::uint32_t, std::size_t> by_symbol;
  elf->for_each_symbol(*symbols, [&](std::uint32_t index, const ElfSymbol& symbol) {
    if (symbol.section == 0 || symbol.name.empty()) return true;
    if (symbol.type == kSymbolFunction && (symbol.other & kEntryPoint) != 0) {
      by_symbol.emplace(index, found.size());
      found.push_back({symbol.section, {}});
      found.back().kernel.name = std::string(symbol.name);
    } else if (symbol.type == kSymbolObject && symbol.section < elf->sections().size()) {
      add_variable(info, symbol, elf->sections()[symbol.section]);
    }
    return true;
  });

  if (const auto global = sections.find(".nv.info"); global != sections.end()) {
    for_each_attribute(global->second->bytes, [&](std::uint8_t attribute, Bytes payload) {
      const auto owner = by_symbol.find(read_at<std::uint32_t>(payload, 0));
      if (payload.size() < 8 || owner == by_symbol.end()) return;
      CubinKernel& kernel = found[owner->second].kernel;
      const auto value = read_at<std::uint32_t>(payload, 4);
      switch (attribute) {
        case kRegisterCount:
          kernel.registers = value;
          break;
        case kFrameSize:
          kernel.frame_bytes = value;
          break;
        case kMinStackSize:
        case kMaxStackSize:
          kernel.stack_bytes = std::max(kernel.stack_bytes, value);
          break;
        default:
          break;
      }
    });
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.section < b.section; });
  for (Found& f : found) {
    read_kernel_sections(f.kernel, info.target.sm, sections);
    info.kernels.push_back(std::move(f.kernel));
  }
  return info;
}

}  // namespace muscope::cubin
