#include "cubin/code_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "cubin/code_reader.h"
#include "cubin/image_parts.h"

namespace muscope::cubin {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kSymbolTable = 2, kRela = 4, kNobits = 8, kRel = 9;  // section types
constexpr std::uint16_t kTypeRelocatable = 1;
constexpr std::uint8_t kObject = 1, kFunction = 2, kSectionSymbol = 3;
constexpr std::uint8_t kCudaObject = 13;         // variables of cubins that are not linked
constexpr std::uint64_t kLargestBank = 1 << 20;  // of a bank without bytes in the file; the hardware has 64 KB
constexpr std::uint64_t kRelEntry = 16, kRelaEntry = 24;
constexpr std::string_view kCodePrefix = ".text.";
constexpr std::string_view kSharedPrefix = ".nv.shared";

template <typename T>
void sort_by_offset(std::vector<T>& entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const T& a, const T& b) { return a.offset < b.offset; });
}

template <typename T>
const T* named(const std::vector<T>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// The last row with row.pc <= pc.
template <typename Row>
const Row* row_at(const std::vector<Row>& rows, std::uint64_t pc) {
  const auto after =
      std::upper_bound(rows.begin(), rows.end(), pc, [](std::uint64_t at, const Row& row) { return at < row.pc; });
  return after == rows.begin() ? nullptr : &*std::prev(after);
}

void copy_sections(CodeReader& reader) {
  CodeImage& image = reader.image;
  const auto copy = [&](const ElfSection& section) {
    reader.section_bytes.take(section.bytes.size());
    return std::vector<std::uint8_t>(section.bytes.begin(), section.bytes.end());
  };
  for (const ElfSection& section : reader.elf.sections()) {
    SectionPlace& place = reader.places.emplace_back();
    std::string_view rest;
    if (section.type == kRel || section.type == kRela) continue;
    if (section.name.starts_with(kCodePrefix)) {
      if (section.bytes.size() != section.size) corrupt_cubin("a code section has no bytes");
      place = {SymbolPlace::kCode, static_cast<std::int32_t>(image.sections.size())};
      CodeSection& code = image.sections.emplace_back();
      code.name = reader.text(section.name.substr(kCodePrefix.size()));
      code.bytes = copy(section);
    } else if (const int bank = constant_bank(section.name, rest); bank >= 0) {
      place = {SymbolPlace::kConstant, static_cast<std::int32_t>(image.constants.size())};
      ConstantData& constant = image.constants.emplace_back();
      constant.bank = bank;
      constant.owner = reader.text(rest.empty() ? rest : rest.substr(1));
      constant.bytes = copy(section);
      if (section.type == kNobits) {
        if (section.size > kLargestBank) corrupt_cubin("a constant bank is too large");
        reader.budget.take(section.size);
        constant.bytes.resize(section.size);
      }
    } else if (section.name == ".nv.global" || section.name == ".nv.global.init") {
      place = {SymbolPlace::kData, static_cast<std::int32_t>(image.data.size())};
      DataSection& data = image.data.emplace_back();
      data.name = std::string(section.name);
      data.size = section.size;
      data.bytes = copy(section);
    } else if (section.name.starts_with(kSharedPrefix)) {
      place.place = SymbolPlace::kShared;
    }
  }
}

void read_symbols(CodeReader& reader, const ElfSection& table) {
  reader.elf.for_each_symbol(table, [&](std::uint32_t, const ElfSymbol& symbol) {
    reader.symbols.push_back(symbol);
    return true;
  });
  for (const ElfSymbol& symbol : reader.symbols) {
    const SectionPlace place = reader.place_of(symbol);
    if (place.index < 0 || symbol.name.empty()) continue;
    const bool is_function = symbol.type == kFunction;
    const bool is_variable = symbol.type == kObject || symbol.type == kCudaObject;
    std::vector<ImageSymbol>* into = nullptr;
    const auto index = static_cast<std::size_t>(place.index);
    if (place.place == SymbolPlace::kCode && is_function) into = &reader.image.sections[index].functions;
    if (place.place == SymbolPlace::kConstant && is_variable) into = &reader.image.constants[index].symbols;
    if (place.place == SymbolPlace::kData && is_variable) into = &reader.image.data[index].symbols;
    if (into == nullptr) continue;
    ImageSymbol& out = into->emplace_back();
    out.name = reader.text(symbol.name);
    out.offset = symbol.value;
    out.size = symbol.size;
    out.is_entry = is_function && (symbol.other & kEntryPoint) != 0;
    out.binding = symbol.binding == 1 ? Binding::kGlobal : symbol.binding == 2 ? Binding::kWeak : Binding::kLocal;
  }
  for (CodeSection& section : reader.image.sections) sort_by_offset(section.functions);
  for (ConstantData& constant : reader.image.constants) sort_by_offset(constant.symbols);
  for (DataSection& data : reader.image.data) sort_by_offset(data.symbols);
}

void read_relocations(CodeReader& reader) {
  for (const ElfSection& section : reader.elf.sections()) {
    if ((section.type != kRel && section.type != kRela) || section.info >= reader.places.size()) continue;
    const SectionPlace place = reader.places[section.info];
    if (place.index < 0) continue;
    const auto index = static_cast<std::size_t>(place.index);
    std::vector<Relocation>* into = place.place == SymbolPlace::kCode       ? &reader.image.sections[index].relocations
                                    : place.place == SymbolPlace::kConstant ? &reader.image.constants[index].relocations
                                                                            : &reader.image.data[index].relocations;
    const std::uint64_t bytes = reader.elf.sections()[section.info].size;
    reader.section_bytes.take(section.bytes.size());
    for (const RawRelocation& raw : relocation_entries(section)) {
      if (raw.offset >= bytes) corrupt_cubin("a relocation lies outside its section");
      const ElfSymbol& symbol = reader.symbol(raw.symbol);
      const SectionPlace target = reader.place_of(symbol);
      reader.budget.take(sizeof(Relocation));
      Relocation& out = into->emplace_back();
      out.offset = raw.offset;
      out.type = raw.type;
      out.place = target.place;
      out.section = target.index;
      out.value = symbol.value;
      out.addend = raw.addend;
      const bool is_section = symbol.type == kSectionSymbol && symbol.section < reader.elf.sections().size();
      out.symbol = reader.text(is_section ? reader.elf.sections()[symbol.section].name : symbol.name);
    }
  }
  for (CodeSection& section : reader.image.sections) sort_by_offset(section.relocations);
  for (ConstantData& constant : reader.image.constants) sort_by_offset(constant.relocations);
  for (DataSection& data : reader.image.data) sort_by_offset(data.relocations);
}

}  // namespace

void CopyBudget::take(std::uint64_t bytes) {
  if (!try_take(bytes)) corrupt_cubin("its sections state much more than it holds");
}

const ElfSymbol& CodeReader::symbol(std::uint64_t index) const {
  if (index >= symbols.size()) corrupt_cubin(fmt::format("there is no symbol {}", index));
  return symbols[index];
}

SectionPlace CodeReader::place_of(const ElfSymbol& symbol) const {
  if (symbol.section == 0) return {SymbolPlace::kUndefined, -1};
  return symbol.section < places.size() ? places[symbol.section] : SectionPlace{};
}

std::vector<RawRelocation> relocation_entries(const ElfSection& section) {
  std::vector<RawRelocation> found;
  if (section.type != kRel && section.type != kRela) return found;
  const std::uint64_t size = section.type == kRela ? kRelaEntry : kRelEntry;
  const std::uint64_t count = section.bytes.size() / size;
  found.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes entry = section.bytes.subspan(i * size, size);
    const auto info = read_at<std::uint64_t>(entry, 8);
    // ptxas uses REL entries where the addend is 0: the words hold zeros there.
    found.push_back({read_at<std::uint64_t>(entry, 0), static_cast<std::uint32_t>(info),
                     static_cast<std::uint32_t>(info >> 32), read_at<std::int64_t>(entry, 16)});
  }
  return found;
}

std::vector<RawRelocation> relocations_of(CodeReader& reader, std::size_t target) {
  std::vector<RawRelocation> all;
  for (const ElfSection& section : reader.elf.sections()) {
    if ((section.type != kRel && section.type != kRela) || section.info != target) continue;
    reader.section_bytes.take(section.bytes.size());
    const std::vector<RawRelocation> more = relocation_entries(section);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::string_view ImageSymbol::function() const {
  if (!name.starts_with('$')) return name;
  const std::size_t second = name.find('$', 1);
  return second == std::string::npos ? std::string_view(name) : std::string_view(name).substr(second + 1);
}

const ImageSymbol* CodeSection::function_at(std::uint64_t pc) const {
  // A kernel's symbol spans its whole section; the functions inside begin later.
  const auto after = std::upper_bound(functions.begin(), functions.end(), pc,
                                      [](std::uint64_t at, const ImageSymbol& f) { return at < f.offset; });
  return after == functions.begin() || pc >= bytes.size() ? nullptr : &*std::prev(after);
}

const CodeSection* CodeImage::section(std::string_view name) const {
  if (const CodeSection* found = named(sections, name)) return found;
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const CodeSection& s) { return named(s.functions, name) != nullptr; });
  return found == sections.end() ? nullptr : &*found;
}

const FunctionFacts* CodeImage::facts_of(std::string_view function) const { return named(facts, function); }

const ConstantData* CodeImage::constant(int bank, std::string_view owner) const {
  const auto found = std::find_if(constants.begin(), constants.end(),
                                  [&](const ConstantData& c) { return c.bank == bank && c.owner == owner; });
  return found == constants.end() ? nullptr : &*found;
}

const ConstantData* CodeImage::bank_of(int bank, std::string_view owner) const {
  const ConstantData* own = constant(bank, owner);
  return own != nullptr ? own : constant(bank, {});
}

const FrameRow* line_at(const CodeSection& section, std::uint64_t pc) { return row_at(section.lines, pc); }
const PtxRow* ptx_line_at(const CodeSection& section, std::uint64_t pc) { return row_at(section.ptx_lines, pc); }

std::vector<SourcePlace> inline_chain(const CodeImage& image, const FrameRow& row) {
  std::vector<SourcePlace> chain;
  std::uint32_t file = row.file;
  std::uint32_t line = row.line;
  std::int32_t frame = row.frame;
  while (frame >= 0 && static_cast<std::size_t>(frame) < image.frames.size()) {
    const InlineFrame& inlined = image.frames[static_cast<std::size_t>(frame)];
    chain.push_back({inlined.function, file, line});
    file = inlined.file;
    line = inlined.line;
    if (inlined.inlined_at >= frame) break;  // cannot be in an image that was read
    frame = inlined.inlined_at;
  }
  chain.push_back({{}, file, line});
  return chain;
}

CodeImage read_code_image(Bytes cubin) {
  std::string why;
  const std::optional<ElfView> elf = ElfView::parse(cubin, why);
  if (!elf) corrupt_cubin(why);
  if (elf->machine() != kMachineCuda)
    corrupt_cubin(fmt::format("it holds code for machine {}, not for a GPU (190)", elf->machine()));
  CodeImage image;
  const ElfSection* compat = elf->find(".nv.compat");
  image.target = cubin_target(*elf, compat != nullptr ? compat->bytes : Bytes{});
  if (image.target.sm == 0) corrupt_cubin("it names no architecture");
  image.relocatable = elf->type() == kTypeRelocatable;
  const auto table = std::find_if(elf->sections().begin(), elf->sections().end(),
                                  [](const ElfSection& section) { return section.type == kSymbolTable; });
  if (table == elf->sections().end()) corrupt_cubin("it has no symbol table");

  CodeReader reader{.elf = *elf,
                    .image = image,
                    .section_bytes = CopyBudget(cubin.size()),
                    .budget = CopyBudget(CodeReader::kPerFileByte * cubin.size() + CodeReader::kAtLeast),
                    .symbols = {},
                    .places = {}};
  copy_sections(reader);
  read_symbols(reader, *table);
  read_relocations(reader);
  read_function_facts(reader);
  read_source_lines(reader);
  read_ptx_lines(reader);
  return image;
}

}  // namespace muscope::cubin
