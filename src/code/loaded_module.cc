#include "code/loaded_module.h"

#include <algorithm>
#include <cstring>

#include "base/diagnostic.h"
#include "code/kernel.h"
#include "code/lower.h"
#include "code/machine_lowering.h"
#include "code/machine_module.h"

namespace muscope::code {
namespace {

constexpr std::uint64_t kConstantBankBytes = 64 * 1024;  // CUDA C++ Programming Guide, "Technical Specifications"
constexpr std::uint64_t kMaxVariable = std::uint64_t{1} << 40;

std::uint64_t align_up(std::uint64_t value, int alignment) {
  const std::uint64_t a = alignment <= 1 ? 1 : static_cast<std::uint64_t>(alignment);
  return (value + a - 1) / a * a;
}

/// Kernels have one number in PTX and machine code.
bool is_device_function(const ptx::Module& module, std::uint32_t function) {
  return function >= module.functions.size() || !module.functions[function].is_entry;
}

bool holds_function(const ptx::Module& module, const ptx::Relocation& r) {
  return r.symbol_kind == ptx::SymbolKind::kFunction && is_device_function(module, r.symbol);
}

bool holds_functions(const ptx::Module& module, const ptx::Variable& variable) {
  return std::any_of(variable.relocations.begin(), variable.relocations.end(),
                     [&](const ptx::Relocation& r) { return holds_function(module, r); });
}

/// Is a function's address taken, or a function called by address?
bool passes_functions(const ptx::Module& module, const ptx::Instruction& instruction) {
  const bool call = instruction.opcode == ptx::Opcode::k_call;
  for (std::size_t n = 0; n < instruction.operands.size(); ++n) {
    const ptx::Operand& operand = instruction.operands[n];
    const bool callee = call && n == ptx::CallOperands::kCallee;
    if (callee ? operand.kind == ptx::OperandKind::kRegister
               : operand.symbol_kind == ptx::SymbolKind::kFunction && is_device_function(module, operand.symbol))
      return true;
  }
  return false;
}

bool passes_functions(const ptx::Module& module) {
  const auto in_body = [&](const ptx::Function& f) {
    return std::any_of(f.body.begin(), f.body.end(),
                       [&](const ptx::Instruction& i) { return passes_functions(module, i); });
  };
  return std::any_of(module.variables.begin(), module.variables.end(),
                     [&](const ptx::Variable& v) { return holds_functions(module, v); }) ||
         std::any_of(module.functions.begin(), module.functions.end(), in_body);
}

}  // namespace

LoadedModule::LoadedModule(std::shared_ptr<const ptx::Module> module, memory::AddressSpace& memory,
                           std::shared_ptr<const MachineCode> machine, unsigned device)
    : module_(std::move(module)), memory_(memory), device_(device), machine_code_(std::move(machine)) {
  std::vector<std::pair<const ptx::Variable*, std::string>> all;
  for (const ptx::Variable& v : module_->variables) all.push_back({&v, v.name});
  for (const ptx::Function& f : module_->functions)
    for (const ptx::Variable& v : f.variables) all.push_back({&v, f.name + "::" + v.name});
  place_constants(all);
  for (const auto& [v, name] : all)
    if (v->space == ptx::Space::kGlobal && v->linkage != ptx::Linkage::kExtern && v->size > 0) place(*v, name);
  apply_initialisers();
  if (machine_code_) {
    take_function_handles();
    constant_size_ += MachineModule::extra_bytes(*machine_code_);
    if (passes_functions(*module_)) decide_for_all_kernels();
  }
}

// Not before the first kernel is wanted: managed variables may move until then.
void LoadedModule::load_machine() {
  if (machine_code_ && !machine_ && shared_problem_.empty())
    machine_ = std::make_unique<MachineModule>(machine_code_, *this, memory_, constant_base_, constant_bytes());
}

// PTX and machine code number functions in different ways. Where such numbers may go from kernel to kernel, all must be
// of one kind.
void LoadedModule::decide_for_all_kernels() {
  const MachineModule trial(machine_code_, *this, memory_, constant_base_, constant_bytes());
  for (std::uint32_t i = 0; i < module_->functions.size() && shared_problem_.empty(); ++i) {
    const ptx::Function& function = module_->functions[i];
    if (!function.is_entry || !function.has_body) continue;
    try {
      const auto like = lower(module_, i, *this);
      MachineInput input;
      std::string problem;
      if (trial.input_of(function.name, input, problem)) problem = lower_machine(input, *like).problem;
      if (!problem.empty())
        shared_problem_ = problem + ", of " + like->info.name + "; kernels that may share function pointers are alike";
    } catch (const Error&) {
      // Cannot be launched at all.
    }
  }
  if (shared_problem_.empty()) return;
  for (const ptx::Variable& v : module_->variables)
    if (holds_functions(*module_, v))
      if (const auto at = symbols_.find(v.name); at != symbols_.end()) initialise(v, at->second);
}

// Constants share one bank: offsets first, then one allocation. Machine code knows where each lies.
void LoadedModule::place_constants(const std::vector<std::pair<const ptx::Variable*, std::string>>& all) {
  const cubin::ConstantData* fixed = machine_code_ ? machine_code_->image.constant(3, "") : nullptr;
  if (fixed) constant_size_ = fixed->bytes.size();
  for (const auto& [v, name] : all) {
    if (v->space != ptx::Space::kConst || v->linkage == ptx::Linkage::kExtern) continue;
    Symbol& symbol = symbols_[name];
    symbol.space = v->space;
    symbol.size = v->size;
    const cubin::ImageSymbol* known = nullptr;
    if (fixed)
      for (const cubin::ImageSymbol& s : fixed->symbols)
        if (s.name == v->name) known = &s;
    if (known) {
      symbol.bank_offset = known->offset;
      continue;
    }
    constant_size_ = align_up(constant_size_, v->alignment);
    symbol.bank_offset = constant_size_;
    constant_size_ += std::min(v->size, kMaxVariable);
    if (constant_size_ > kConstantBankBytes)
      fail("D315", "the constants of this module take more than 64 KiB", "move '" + name + "' to global memory",
           {module_->name, v->ptx_line, 0});
  }
  const std::uint64_t bytes =
      constant_size_ + (machine_code_ ? MachineModule::extra_bytes(*machine_code_) : std::uint64_t{0});
  if (bytes == 0) return;
  constant_base_ = memory_.allocate(bytes, memory::Kind::kModule, device_);
  if (constant_base_ == 0)
    fail("D314", "no device memory left for the constants of " + module_->name,
         "choose a GPU with more memory (--gpu)");
  for (auto& [name, symbol] : symbols_) symbol.address = constant_base_ + symbol.bank_offset;
}

// Machine code calls functions by numbers of its own: variables that hold function pointers start with those.
void LoadedModule::take_function_handles() {
  const std::vector<std::uint64_t> sections = MachineModule::section_addresses(*machine_code_);
  // In linked code the data hold relocations in place of handles.
  const auto address_at = [&](const std::vector<cubin::Relocation>& relocations, std::uint64_t offset) {
    for (const cubin::Relocation& r : relocations)
      if (r.offset == offset && r.place == cubin::SymbolPlace::kCode && r.section >= 0 &&
          static_cast<std::size_t>(r.section) < sections.size())
        return sections[static_cast<std::size_t>(r.section)] + r.value + static_cast<std::uint64_t>(r.addend);
    return std::uint64_t{0};
  };
  for (const ptx::Variable& v : module_->variables) {
    const auto at = symbols_.find(v.name);
    if (!holds_functions(*module_, v) || at == symbols_.end() || at->second.address == 0) continue;
    auto* bytes = static_cast<std::uint8_t*>(memory_.host_pointer(at->second.address));
    const auto take = [&](const auto& from) {
      for (const cubin::ImageSymbol& s : from.symbols)
        if (s.name == v.name && s.offset + v.size <= from.bytes.size())
          for (const ptx::Relocation& r : v.relocations)
            if (holds_function(*module_, r) && r.offset + 8 <= v.size) {
              const std::uint64_t address = address_at(from.relocations, s.offset + r.offset);
              std::memcpy(bytes + r.offset, &address, 8);
              if (address == 0) std::memcpy(bytes + r.offset, from.bytes.data() + s.offset + r.offset, 8);
            }
    };
    for (const cubin::DataSection& section : machine_code_->image.data) take(section);
    if (const cubin::ConstantData* bank = machine_code_->image.constant(3, "")) take(*bank);
  }
}

LoadedModule::~LoadedModule() {
  for (const auto& [name, symbol] : symbols_)
    if (symbol.space == ptx::Space::kGlobal && memory_.in_device_range(symbol.address)) memory_.release(symbol.address);
  if (constant_base_ != 0) memory_.release(constant_base_);
}

void LoadedModule::place(const ptx::Variable& variable, const std::string& name) {
  Symbol symbol;
  symbol.space = variable.space;
  symbol.size = variable.size;
  symbol.managed = variable.managed;
  symbol.address = variable.size <= kMaxVariable ? memory_.allocate(variable.size, memory::Kind::kModule, device_) : 0;
  if (symbol.address == 0)
    fail("D314", "no device memory left for variable '" + name + "'",
         "choose a GPU with more memory (--gpu) or a smaller array", {module_->name, variable.ptx_line, 0});
  symbols_[name] = symbol;
}

void LoadedModule::initialise(const ptx::Variable& variable, const Symbol& symbol) {
  if (symbol.address == 0) return;
  auto* bytes = static_cast<std::uint8_t*>(memory_.host_pointer(symbol.address));
  if (!variable.bytes.empty())
    std::memcpy(bytes, variable.bytes.data(), std::min<std::uint64_t>(variable.bytes.size(), symbol.size));
  for (const ptx::Relocation& r : variable.relocations) {
    std::uint64_t value = 0;
    if (r.symbol_kind == ptx::SymbolKind::kFunction) {
      value = kFunctionWindow + std::uint64_t{r.symbol} * 16;
    } else if (r.symbol < module_->variables.size()) {
      const Symbol* target = this->symbol(module_->variables[r.symbol].name);
      if (target) value = target->address;
    }
    value = (value + static_cast<std::uint64_t>(r.addend)) >> (r.shift & 63);
    const std::uint64_t size = r.size == 1 ? 1 : r.size == 4 ? 4 : 8;
    if (r.offset + size <= symbol.size) std::memcpy(bytes + r.offset, &value, size);
  }
}

void LoadedModule::apply_initialisers() {
  for (const ptx::Variable& v : module_->variables)
    if (const auto at = symbols_.find(v.name); at != symbols_.end()) initialise(v, at->second);
  for (const ptx::Function& f : module_->functions)
    for (const ptx::Variable& v : f.variables)
      if (const auto at = symbols_.find(f.name + "::" + v.name); at != symbols_.end()) initialise(v, at->second);
}

const LoadedModule::Symbol* LoadedModule::symbol(std::string_view name) const {
  const auto at = symbols_.find(name);
  return at == symbols_.end() ? nullptr : &at->second;
}

void LoadedModule::place_managed(std::string_view name, void* pointer, FirstValue first_value) {
  const auto at = symbols_.find(name);
  if (at == symbols_.end()) return;
  Symbol& symbol = at->second;
  if (first_value == FirstValue::kWrite) std::memcpy(pointer, memory_.host_pointer(symbol.address), symbol.size);
  memory_.release(symbol.address);
  symbol.address = reinterpret_cast<std::uint64_t>(pointer);
  symbol.managed = true;
  // Known already where muscope itself, or the module of another device, put it there.
  if (memory_.find(symbol.address).id == 0) memory_.add_host(pointer, symbol.size, memory::Kind::kManaged);
  // Pointers to it inside other variables follow.
  for (const ptx::Variable& v : module_->variables)
    if (!v.relocations.empty())
      if (const auto other = symbols_.find(v.name); other != symbols_.end()) initialise(v, other->second);
  if (machine_code_ && shared_problem_.empty()) take_function_handles();
}

std::shared_ptr<const Kernel> LoadedModule::kernel(std::string_view mangled) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(mangled); known != kernels_.end()) return known->second;
  const std::uint32_t index = module_->find_function(mangled);
  if (index == ptx::kNoIndex || !module_->functions[index].is_entry) return nullptr;
  auto made = lower(module_, index, *this);
  load_machine();
  if (!shared_problem_.empty()) machine_problems_[std::string(mangled)] = shared_problem_;
  if (machine_) {
    MachineInput input;
    std::string& problem = machine_problems_[std::string(mangled)];
    if (machine_->input_of(std::string(mangled), input, problem)) {
      LoweredMachine machine = lower_machine(input, *made);
      problem = machine.kernel ? machine.doubt : machine.problem;
      if (machine.kernel) made = machine.kernel;
    }
  }
  kernels_[std::string(mangled)] = made;
  return made;
}

std::string LoadedModule::machine_problem(std::string_view mangled) const {
  const std::lock_guard lock(mutex_);
  const auto known = machine_problems_.find(mangled);
  return known == machine_problems_.end() ? std::string() : known->second;
}

std::vector<std::string> LoadedModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function& f : module_->functions)
    if (f.is_entry && f.has_body) names.push_back(f.name);
  return names;
}

std::uint64_t LoadedModule::constant_bytes() const {
  return constant_size_ - (machine_code_ ? MachineModule::extra_bytes(*machine_code_) : std::uint64_t{0});
}

void LoadedModule::constant_bank(std::uint64_t& base, std::uint64_t& size) const {
  base = constant_base_;
  size = constant_size_;
}

}  // namespace muscope::code
