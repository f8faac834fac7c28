#include "code/machine_module.h"

#include <algorithm>
#include <cstring>

#include "code/kernel.h"
#include "code/loaded_module.h"
#include "code/source_frames.h"
#include "code/system_functions.h"

namespace muscope::code {
namespace {

constexpr std::uint64_t kBankAlignment = 256;
/// Addresses given to functions of the device runtime: beyond those of PTX functions.
constexpr std::uint64_t kExternalWindow = kFunctionWindow + (std::uint64_t{1} << 38);
constexpr std::uint64_t kCodeAlignment = 128;
constexpr std::uint32_t kStackAlignment = 16;
constexpr std::uint32_t kDriverWords = 0x210;  // of constant bank 0, sm_90: before, they are fewer

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr int kHopper = 90;  ///< compute capability

/// Variables that several files have under one name, each its own: what compilers add (texts of printf, tables of sin
/// and cos). Names of the program's own static variables are made unique by nvcc. Sorted.
std::vector<std::string> private_names(const cubin::CodeImage& image) {
  std::vector<std::string> names, twice;
  for (const cubin::DataSection& data : image.data)
    for (const cubin::ImageSymbol& symbol : data.symbols)
      if (symbol.binding == cubin::Binding::kLocal) names.push_back(symbol.name);
  std::sort(names.begin(), names.end());
  for (std::size_t n = 1; n < names.size(); ++n)
    if (names[n] == names[n - 1]) twice.push_back(names[n]);
  return twice;
}

}  // namespace

std::uint64_t MachineModule::extra_bytes(const MachineCode& code) {
  std::uint64_t bytes = kBankAlignment;
  for (const cubin::ConstantData& c : code.image.constants)
    if (c.bank != 3) bytes += round_up(c.bytes.size(), kBankAlignment);
  if (!private_names(code.image).empty())
    for (const cubin::DataSection& data : code.image.data) bytes += round_up(data.size, kBankAlignment);
  return bytes;
}

MachineModule::MachineModule(std::shared_ptr<const MachineCode> code, const LoadedModule& module,
                             memory::AddressSpace& memory, std::uint64_t bank3, std::uint64_t bank3_bytes)
    : code_(std::move(code)), image_(code_->image), address_(section_addresses(*code_)) {
  cubin::Placement at;
  at.sections = address_;
  std::uint64_t next = round_up(bank3 + bank3_bytes, kBankAlignment);
  for (const cubin::ConstantData& c : image_.constants) {
    if (c.bank == 3) continue;
    bank_address_[{c.bank, c.owner}] = next;
    next += round_up(c.bytes.size(), kBankAlignment);
  }
  bank_address_[{3, ""}] = bank3;
  const std::vector<std::string> twice = private_names(image_);
  if (!twice.empty())
    for (const cubin::DataSection& data : image_.data) {
      at.data.push_back(next);
      next += round_up(data.size, kBankAlignment);
    }
  at.address = [&](std::string_view symbol) -> std::optional<std::uint64_t> {
    if (std::binary_search(twice.begin(), twice.end(), symbol)) return std::nullopt;  // at.data knows which
    if (const LoadedModule::Symbol* known = module.symbol(symbol)) return known->address;
    return external_address(symbol);
  };
  at.kernel = [&](std::string_view symbol) -> std::optional<std::uint64_t> {
    const std::uint32_t index = module.ptx().find_function(symbol);
    if (index == ptx::kNoIndex || !module.ptx().functions[index].is_entry) return std::nullopt;
    return kFunctionWindow + std::uint64_t{index} * 16;  // as PTX names it
  };
  for (const cubin::RelocationProblem& p : cubin::apply_relocations(image_, at))
    problems_.try_emplace(p.section, p.why);
  const auto copy = [&](std::uint64_t to, const std::vector<std::uint8_t>& bytes) {
    if (!bytes.empty()) std::memcpy(memory.host_pointer(to), bytes.data(), bytes.size());
  };
  for (const cubin::ConstantData& c : image_.constants)
    if (c.bank != 3) copy(bank_address_.at({c.bank, c.owner}), c.bytes);
  for (std::size_t n = 0; n < at.data.size(); ++n) copy(at.data[n], image_.data[n].bytes);
}

// Functions of the driver that muscope does not have get an address too: kernels that do not call them can be executed.
std::optional<std::uint64_t> MachineModule::external_address(std::string_view symbol) {
  const auto all = system_functions();
  if (!symbol.starts_with(kSystemCall) &&
      std::none_of(all.begin(), all.end(), [&](const SystemFunction& f) { return f.name == symbol; }))
    return std::nullopt;
  for (const auto& [address, name] : externals_)
    if (name == symbol) return address;
  const std::uint64_t address = kExternalWindow + 16 * externals_.size();
  externals_[address] = symbol;
  return address;
}

std::vector<std::uint64_t> MachineModule::section_addresses(const MachineCode& code) {
  const auto size = [](const cubin::CodeSection& section) { return round_up(section.bytes.size(), kCodeAlignment); };
  std::uint64_t next = kCodeWindow;
  for (const cubin::CodeSection& section : code.image.sections)
    if (code.info.kernel(section.name) != nullptr) next = std::max(next, kCodeWindow + size(section));
  std::vector<std::uint64_t> addresses;
  for (const cubin::CodeSection& section : code.image.sections) {
    const bool kernel = code.info.kernel(section.name) != nullptr;
    addresses.push_back(kernel ? kCodeWindow : next);
    if (!kernel) next += size(section);
  }
  return addresses;
}

void MachineModule::add_section(std::size_t index, const std::string& kernel, std::uint32_t ptx_text, MachineInput& out,
                                std::map<std::array<std::int64_t, 3>, std::uint32_t>& known) const {
  const cubin::CodeSection& section = image_.sections[index];
  const auto place = static_cast<std::uint32_t>(address_[index] - kCodeWindow);
  // What lies between is never reached.
  out.words.resize(place / 16);
  out.frame_of.resize(out.words.size(), views::kNoFrame);
  out.ptx_line_of.resize(out.words.size(), 0);
  for (std::size_t n = 0; n + 16 <= section.bytes.size(); n += 16) {
    sass::Word word;
    std::memcpy(&word.lo, section.bytes.data() + n, 8);
    std::memcpy(&word.hi, section.bytes.data() + n + 8, 8);
    out.words.push_back(word);
    const cubin::FrameRow* row = cubin::line_at(section, n);
    out.frame_of.push_back(row ? frame_row(*row, out, known) : views::kNoFrame);
    const cubin::PtxRow* ptx = cubin::ptx_line_at(section, n);
    out.ptx_line_of.push_back(ptx && ptx->text == ptx_text ? static_cast<int>(ptx->line) : 0);
  }
  for (const cubin::ImageSymbol& f : section.functions) {
    if (f.name == kernel)
      out.entry = static_cast<std::uint32_t>(f.offset);
    else
      out.functions.push_back(place + static_cast<std::uint32_t>(f.offset));
  }
  if (const cubin::FunctionFacts* facts = image_.facts_of(section.name))
    for (const cubin::IndirectBranch& branch : facts->branches)
      for (const std::uint64_t target : branch.targets)
        out.table_targets.push_back(place + static_cast<std::uint32_t>(target));
}

std::uint32_t MachineModule::frame_row(const cubin::FrameRow& row, MachineInput& out,
                                       std::map<std::array<std::int64_t, 3>, std::uint32_t>& known) const {
  if (row.line == 0 || row.file >= image_.files.size()) return views::kNoFrame;
  auto [at, fresh] = known.try_emplace({row.file, row.line, row.frame}, 0);
  if (!fresh) return at->second;
  views::Frame frame;
  frame.file = image_.files[row.file];
  frame.line = static_cast<int>(row.line);
  if (row.frame >= 0 && static_cast<std::size_t>(row.frame) < image_.frames.size()) {
    const cubin::InlineFrame& call = image_.frames[static_cast<std::size_t>(row.frame)];
    frame.function = demangle(call.function);
    // Chains are finite: a frame stands after the one it was inlined into.
    frame.inlined_at = frame_row({row.pc, call.file, call.line, call.inlined_at}, out, known);
  }
  const auto index = static_cast<std::uint32_t>(out.frames.size());
  out.frames.push_back(std::move(frame));
  known[{row.file, row.line, row.frame}] = index;
  return index;
}

bool MachineModule::input_of(const std::string& mangled, MachineInput& out, std::string& problem) const {
  const cubin::CodeSection* section = image_.section(mangled);
  const cubin::CubinKernel* kernel = code_->info.kernel(mangled);
  const cubin::FunctionFacts* facts = image_.facts_of(mangled);
  if (section == nullptr || kernel == nullptr || facts == nullptr) {
    problem = "the machine code does not have this kernel";
    return false;
  }
  cubin::CubinKernel stated = *kernel;
  stated.stack_bytes = std::max(stated.stack_bytes, facts->stack_bytes);
  if (problem = cubin::impossible_resources(stated); !problem.empty()) {
    problem = "the machine code is damaged: " + problem;
    return false;
  }
  for (const std::string& name :
       {std::string(".text.") + section->name, std::string(".nv.constant4"), std::string(".nv.constant2.") + mangled})
    if (const auto bad = problems_.find(name); bad != problems_.end()) {
      problem = bad->second;
      return false;
    }
  for (std::size_t n = 0; n < image_.sections.size(); ++n) {
    const std::string& function = image_.sections[n].name;
    if (address_[n] == kCodeWindow) continue;
    if (const auto bad = problems_.find(".text." + function); bad != problems_.end()) {
      problem = bad->second;
      return false;
    }
    if (image_.constant(2, function) != nullptr) {
      problem = "a function with constants of its own, '" + function + "'";
      return false;
    }
  }
  std::map<std::array<std::int64_t, 3>, std::uint32_t> known;
  const std::uint32_t text = section->ptx_lines.empty() ? 0 : section->ptx_lines.front().text;
  add_section(static_cast<std::size_t>(section - image_.sections.data()), mangled, text, out, known);
  for (std::size_t n = 0; n < image_.sections.size(); ++n)
    if (address_[n] != kCodeWindow) add_section(n, mangled, text, out, known);
  out.externals = externals_;
  out.executable = code_->executable;
  const std::uint32_t stack = std::max({kernel->stack_bytes, kernel->frame_bytes, facts->stack_bytes});
  out.stack_bytes = static_cast<std::uint32_t>(round_up(stack, kStackAlignment));
  const bool linked = std::any_of(address_.begin(), address_.end(), [](std::uint64_t a) { return a != kCodeWindow; });
  if (linked) out.static_shared = kernel->static_shared;
  if (image_.target.sm < kHopper) {
    out.encoding = sass::Encoding::kAmpere;
    out.shared_base = 0;  // such code does not see the system's part of shared memory
  }
  out.parameter_offset = kernel->parameter_offset != 0 ? kernel->parameter_offset : facts->parameter_offset;
  for (const cubin::KernelParameter& parameter : facts->parameters) {
    if (parameter.ordinal >= facts->parameters.size()) continue;
    out.parameters.resize(facts->parameters.size());
    out.parameters[parameter.ordinal] = parameter.offset;
  }
  // The driver's words are there for every kernel, also where the cubin states no parameters.
  out.bank0_bytes = std::max({kernel->constant0_bytes, out.parameter_offset + kernel->parameter_bytes, kDriverWords});
  for (const cubin::ConstantData& c : image_.constants) {
    if (c.bank <= 0 || static_cast<std::size_t>(c.bank) >= out.banks.size()) continue;
    if (!c.owner.empty() && c.owner != mangled) continue;
    const auto bank = static_cast<std::size_t>(c.bank);
    out.banks[bank] = bank_address_.at({c.bank, c.bank == 3 ? std::string() : c.owner});
    out.bank_bytes[bank] = c.bytes.size();
  }
  return true;
}

}  // namespace muscope::code
