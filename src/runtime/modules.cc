#include "runtime/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/diagnostic.h"
#include "code/compiled.h"
#include "ptx/parser.h"
#include "runtime/emit.h"
#include "runtime/entry.h"
#include "runtime/host_object.h"
#include "runtime/host_probe.h"
#include "runtime/machine_only.h"
#include "runtime/module_link.h"
#include "runtime/runtime.h"
#include "sass/instruction.h"

namespace muscope::runtime {
namespace {

int sm_of(const arch::GpuSpec& gpu) { return gpu.cc_major * 10 + gpu.cc_minor; }

// One module out of the PTX of each translation unit, or of the only one.
ptx::Module parse_and_tell(const std::string& text, const std::string& name) {
  ptx::ParseResult result = ptx::parse(text, name);
  for (const Diagnostic& d : result.diagnostics) {
    // Unknown instructions are told when a kernel that has them is loaded; other errors mean that code is missing.
    if (d.severity != Severity::kError || d.code == "D301" || d.code == "D302") continue;
    throw Error(result.diagnostics);
  }
  return std::move(result.module);
}

// A translation unit of an -rdc=true program that has only machine code, or only the compiler's intermediate form
// (-dlto).
void tell_part_without_ptx(const std::string& program, const std::vector<cubin::FatbinEntry>& unit) {
  std::string name;
  for (const cubin::FatbinEntry& entry : unit)
    if (!entry.object_name.empty()) name = " (" + entry.object_name + ")";
  tell("D208",
       program + " was linked from several files, and the device code of one" + name + " has no PTX, only " +
           cubin::describe(unit) + ": its kernels, functions and variables are missing",
       "compile every file with PTX in it: nvcc -dc -arch=sm_90, without -dlto");
}

/// The device runtime that nvcc links to programs whose kernels launch kernels (libcudadevrt): it has PTX of few
/// architectures, and one source for all. Its functions carry the file's name.
bool is_device_runtime(const ChosenPtx::Part& part) {
  return part.text.find("cuda_device_runtime_cu_") != std::string_view::npos;
}

/// Does the program hold machine code for this GPU that was compiled from its source for another virtual architecture
/// than the chosen PTX? Kernels may then differ in everything (__CUDA_ARCH__), and a real GPU runs the machine code.
bool differs_by_source(const FatBinary& binary, const ChosenPtx& chosen, int sm) {
  const cubin::FatbinEntry* const entry = cubin::choose_cubin(binary.fatbin.entries, sm);
  if (entry == nullptr || chosen.parts.empty()) return false;
  int made_for = 0;
  try {
    const std::string bytes = cubin::payload(*entry);
    made_for = cubin::read_cubin({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}).virtual_sm;
  } catch (const Error&) {
    return false;  // nothing can be done with it; told where it is read
  }
  return made_for != 0 && std::any_of(chosen.parts.begin(), chosen.parts.end(), [made_for](const ChosenPtx::Part& p) {
           return p.entry->target.sm != made_for && !is_device_runtime(p);
         });
}

bool all_decodes(const code::MachineCode& code) {
  const auto encoding = code.image.target.sm >= 90 ? sass::Encoding::kHopper : sass::Encoding::kAmpere;
  for (const cubin::CodeSection& section : code.image.sections) {
    for (std::size_t pc = 0; pc + sizeof(sass::Word) <= section.bytes.size(); pc += sizeof(sass::Word)) {
      sass::Word word;
      std::memcpy(&word, section.bytes.data() + pc, sizeof word);
      if (sass::decode(word, static_cast<std::uint32_t>(pc), encoding).opcode == sass::Opcode::kInvalid) return false;
    }
  }
  return true;
}

/// In the place of the PTX: a module around the machine code. False when that cannot be.
bool take_machine_code_alone(FatBinary& binary, std::vector<ptx::Module>& modules) {
  try {
    if (!all_decodes(*binary.machine.code)) return false;
    const std::string name = binary.machine.code->source + " of " + binary.program;
    ptx::Module module = parse_and_tell(ptx_frame(*binary.machine.code), name);
    modules.clear();
    modules.push_back(std::move(module));
    binary.ptx_name = name;
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Modules& Modules::of_process() {
  static Modules* const modules = new Modules;
  return *modules;
}

FatBinary* Modules::add_binary(const void* wrapper, int toolkit) {
  auto binary = std::make_unique<FatBinary>();
  binary->wrapper = wrapper;
  binary->toolkit = toolkit;
  binary->program = object_of(wrapper);
  const std::lock_guard lock(mutex_);
  binaries_.push_back(std::move(binary));
  return binaries_.back().get();
}

void Modules::add_kernel(FatBinary& binary, const void* host, std::string_view mangled) {
  auto kernel = std::make_unique<KernelEntry>();
  kernel->binary = &binary;
  kernel->host = host;
  kernel->mangled = mangled;
  kernel->id = next_kernel_.fetch_add(1);
  const std::lock_guard lock(mutex_);
  kernels_[host] = kernel.get();
  kernels_[kernel.get()] = kernel.get();  // __cudaGetKernel hands this out
  binary.kernels.push_back(std::move(kernel));
}

FatBinary& Modules::add_image(const cubin::Fatbin& image, const std::string& name) {
  auto binary = std::make_unique<FatBinary>();
  binary->program = name;
  binary->fatbin = image;
  binary->decoded = true;
  const auto keep = [&](cubin::FatbinEntry& entry) {
    const std::string& copy =
        binary->bytes.emplace_back(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
    entry.stored = {reinterpret_cast<const std::uint8_t*>(copy.data()), copy.size()};
  };
  for (cubin::FatbinEntry& entry : binary->fatbin.entries) keep(entry);
  for (auto& unit : binary->fatbin.units)
    for (cubin::FatbinEntry& entry : unit) keep(entry);
  const std::lock_guard lock(mutex_);
  binaries_.push_back(std::move(binary));
  return *binaries_.back();
}

KernelEntry* Modules::kernel_named(Runtime& runtime, FatBinary& binary, std::string_view name, int device) {
  const std::vector<std::string> names = load(runtime, binary, device).kernel_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return nullptr;
  const std::lock_guard lock(mutex_);
  for (const auto& kernel : binary.kernels)
    if (kernel->mangled == name) return kernel.get();
  auto kernel = std::make_unique<KernelEntry>();
  kernel->binary = &binary;
  kernel->mangled = name;
  kernel->id = next_kernel_.fetch_add(1);
  kernels_[kernel.get()] = kernel.get();
  binary.kernels.push_back(std::move(kernel));
  return binary.kernels.back().get();
}

void Modules::discard(FatBinary& binary) {
  const std::lock_guard lock(mutex_);
  const std::lock_guard binary_lock(binary.mutex);
  for (const auto& kernel : binary.kernels) {
    kernels_.erase(kernel.get());
    const std::lock_guard kernel_lock(kernel->mutex);
    kernel->loaded.clear();
  }
  binary.loaded.clear();
  binary.module.reset();
  binary.machine = {};
  binary.fatbin = {};
  binary.bytes.clear();
}

VariableEntry& Modules::add_variable(FatBinary& binary, const void* host, std::string_view name, std::size_t size,
                                     bool constant) {
  auto variable = std::make_unique<VariableEntry>();
  variable->binary = &binary;
  variable->host = host;
  variable->name = name;
  variable->size = size;
  variable->constant = constant;
  const std::lock_guard lock(mutex_);
  variables_[host] = variable.get();
  binary.variables.push_back(std::move(variable));
  return *binary.variables.back();
}

KernelEntry* Modules::find_kernel(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(host);
  return found == kernels_.end() ? nullptr : found->second;
}

VariableEntry* Modules::find_variable(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto found = variables_.find(host);
  if (found != variables_.end()) return found->second;
  // Host code names nvcc's managed variables by the address that they were given.
  const auto managed = std::find_if(variables_.begin(), variables_.end(), [host](const auto& entry) {
    return entry.second->managed_placed && entry.second->managed_pointer != nullptr &&
           *entry.second->managed_pointer == host;
  });
  return managed == variables_.end() ? nullptr : managed->second;
}

// Chooses and parses the PTX. The binary's mutex is held.
void Modules::decode(Runtime& runtime, FatBinary& binary) {
  if (binary.module) return;
  if (!binary.decoded) {
    binary.fatbin = cubin::decode_registered(binary.wrapper, host_readable);
    binary.decoded = true;
  }
  const int sm = sm_of(runtime.gpu());
  std::vector<std::vector<cubin::FatbinEntry>> units = binary.fatbin.units;
  if (!binary.fatbin.relocatable) units = {binary.fatbin.entries};
  std::vector<ptx::Module> modules;
  ChosenPtx chosen;
  std::deque<std::string> texts;  // of the chosen parts
  std::vector<const std::vector<cubin::FatbinEntry>*> without_ptx;
  for (const auto& unit : units) {
    const cubin::PtxChoice choice = cubin::choose_ptx(unit, sm);
    if (choice.entry == nullptr) {
      without_ptx.push_back(&unit);
      chosen.incomplete = true;
      continue;
    }
    const std::string target = "sm_" + cubin::to_string(choice.entry->target);
    std::string name = "PTX " + target + " of " + binary.program;
    if (units.size() > 1)
      name += " (" +
              (choice.entry->object_name.empty() ? "part " + std::to_string(modules.size() + 1)
                                                 : choice.entry->object_name) +
              ")";
    // Where there is machine code for this GPU, a real one takes that (as of the toolkit's own device library).
    // No PTX is made for MUSA GPUs: any stands for their own code.
    if (choice.not_for_target && runtime.gpu().cc_major != 0 && cubin::choose_cubin(unit, sm) == nullptr) {
      tell("D505",
           name + " was made for a later GPU than " + runtime.gpu().full_name + " (" + runtime.gpu().sm_text() + ")",
           "it runs, but a real one could not: choose a newer GPU with --gpu, or compile for " +
               runtime.gpu().sm_text());
    }
    const std::string& text = texts.emplace_back(cubin::payload(*choice.entry));
    chosen.parts.push_back({choice.entry, text});
    chosen.not_for_target = chosen.not_for_target || choice.not_for_target;
    emit_ptx(name, text);
    modules.push_back(parse_and_tell(text, name));
    binary.ptx_sm = choice.entry->target.sm;
    binary.ptx_name = name;
  }
  // The device runtime brings PTX of its own: not that of the program.
  if (!without_ptx.empty() && std::all_of(chosen.parts.begin(), chosen.parts.end(), is_device_runtime)) modules.clear();
  if (modules.empty()) {
    binary.machine = choose_machine_code(binary.fatbin, {}, sm, RunOptions::of_process());
    if (binary.machine.code) {
      binary.only_machine_code = true;
      binary.ptx_name = binary.machine.code->source + " of " + binary.program;
      modules.push_back(parse_and_tell(ptx_frame(*binary.machine.code), binary.ptx_name));
    }
  }
  if (modules.empty()) {
    const bool fits = cubin::choose_cubin(binary.fatbin.entries, sm) != nullptr;
    const std::string why = fits ? binary.machine.problem : std::string();
    fail("D503",
         binary.program + " has no PTX for its kernels, only " + cubin::describe(binary.fatbin.entries) +
             (why.empty() ? "" : ", and " + why),
         "compile with PTX in it: nvcc -arch=" + runtime.gpu().sm_text() +
             " (or CMake's CMAKE_CUDA_ARCHITECTURES without \"-real\")");
  }
  const bool ptx_alone = !binary.only_machine_code;
  if (ptx_alone) binary.machine = choose_machine_code(binary.fatbin, chosen, sm, RunOptions::of_process());
  // Linked machine code has what files without PTX had.
  const bool partial = ptx_alone && !without_ptx.empty();
  if (partial && binary.machine.code && take_machine_code_alone(binary, modules)) binary.only_machine_code = true;
  if (partial && !binary.only_machine_code)
    for (const auto* unit : without_ptx) tell_part_without_ptx(binary.program, *unit);
  const bool differs = ptx_alone && !binary.only_machine_code && differs_by_source(binary, chosen, sm);
  if (differs && binary.machine.code && take_machine_code_alone(binary, modules)) binary.only_machine_code = true;
  if (differs && !binary.only_machine_code) {
    // What the program is told of its kernels must be true of those that run.
    binary.machine.code = nullptr;
    if (binary.machine.problem.empty() && RunOptions::of_process().count_from != CountFrom::kPtx)
      binary.machine.problem = "the cubin was made from other source than the PTX";
  } else if (binary.machine.code) {
    binary.cubin = std::make_unique<cubin::CubinInfo>(binary.machine.code->info);
    binary.cubin_name = binary.machine.code->source;
    if (!binary.machine.other_release.empty()) binary.cubin_name += ", PTX of CUDA " + binary.machine.other_release;
  } else if (const cubin::FatbinEntry* const entry = cubin::choose_cubin(binary.fatbin.entries, sm)) {
    try {
      const std::string bytes = cubin::payload(*entry);
      binary.cubin = std::make_unique<cubin::CubinInfo>(
          cubin::read_cubin({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
      binary.cubin_name = "cubin sm_" + cubin::to_string(entry->target) + " in the program";
    } catch (const Error&) {
      // Registers are then estimated; the PTX is what runs.
    }
  }
  binary.module = std::make_shared<const ptx::Module>(link_modules(std::move(modules), binary.program));
}

namespace {

/// Managed variables are the same memory on every device, and have one address for kernels and host code.
void place_managed(Runtime& runtime, code::LoadedModule& module, VariableEntry& variable) {
  using FirstValue = code::LoadedModule::FirstValue;
  const auto first_value = variable.managed_placed ? FirstValue::kKeep : FirstValue::kWrite;
  if (variable.managed_in_place) {
    module.place_managed(variable.name, const_cast<void*>(variable.host), first_value);
  } else if (variable.managed_pointer != nullptr) {
    if (!variable.managed_placed) {
      const auto* const symbol = module.symbol(variable.name);
      if (symbol == nullptr) return;
      const std::uint64_t address = runtime.memory().allocate(symbol->size, memory::Kind::kManaged);
      if (address == 0)
        fail("D314", "no memory left for the managed variable '" + variable.name + "'",
             "choose a GPU with more memory (--gpu) or a smaller variable");
      *variable.managed_pointer = reinterpret_cast<void*>(address);
    }
    module.place_managed(variable.name, *variable.managed_pointer, first_value);
  } else {
    return;
  }
  variable.managed_placed = true;
}

}  // namespace

code::LoadedModule& Modules::load(Runtime& runtime, FatBinary& binary, int device) {
  const std::lock_guard lock(binary.mutex);
  decode(runtime, binary);
  const auto at = static_cast<std::size_t>(device);
  if (binary.loaded.size() <= at) binary.loaded.resize(at + 1);
  if (!binary.loaded[at]) {
    binary.loaded[at] = std::make_unique<code::LoadedModule>(binary.module, runtime.memory(), binary.machine.code,
                                                             static_cast<unsigned>(device));
    for (const auto& variable : binary.variables) place_managed(runtime, *binary.loaded[at], *variable);
  }
  return *binary.loaded[at];
}

namespace {

/// The most registers that a kernel's bounds leave a thread, as ptxas takes them: .maxnreg, or what lets .minnctapersm
/// blocks of .maxntid threads fit into the 65,536 of a multiprocessor, in steps of 8 ((1024) to 64, (1024, 2) to 32,
/// nvcc 13.0.88). 255 without bounds.
std::uint32_t registers_allowed(const ptx::Module& module, const std::string& mangled) {
  constexpr std::uint32_t kMost = 255, kRegisterFile = 65536, kStep = 8, kWarp = 32;
  const std::uint32_t index = module.find_function(mangled);
  if (index == ptx::kNoIndex) return kMost;
  const ptx::Function& f = module.functions[index];
  if (f.maxnreg != 0) return std::min(f.maxnreg, kMost);
  const auto& extent = f.reqntid[0] != 0 ? f.reqntid : f.maxntid;
  if (extent[0] == 0) return kMost;
  std::uint64_t threads = 1;
  for (const std::uint32_t e : extent) threads = std::min<std::uint64_t>(threads * std::max(e, 1u), kRegisterFile);
  threads = (threads + kWarp - 1) / kWarp * kWarp * std::max<std::uint64_t>(f.minnctapersm, 1);
  const auto most = static_cast<std::uint32_t>(kRegisterFile / std::min<std::uint64_t>(threads, kRegisterFile));
  return std::clamp(most / kStep * kStep, kStep, kMost);
}

}  // namespace

std::shared_ptr<const code::Kernel> Modules::load(Runtime& runtime, KernelEntry& kernel, int device) {
  const std::lock_guard lock(kernel.mutex);
  const auto at = static_cast<std::size_t>(device);
  if (kernel.loaded.size() <= at) kernel.loaded.resize(at + 1);
  if (!kernel.loaded[at]) {
    code::LoadedModule& module = load(runtime, *kernel.binary, device);
    std::shared_ptr<const code::Kernel> code = module.kernel(kernel.mangled);
    const MachineChoice& machine = kernel.binary->machine;
    const bool from_machine = code && code->machine_code;
    const std::string problem = !machine.code || (from_machine && !machine.problem.empty())
                                    ? machine.problem
                                    : module.machine_problem(kernel.mangled);
    if (code && !from_machine && kernel.binary->only_machine_code)
      fail("D509", "kernel " + code->info.name + " has only machine code, which cannot be executed: " + problem,
           "build it with PTX too: nvcc -arch=sm_90; modules with -fatbin or -ptx in place of -cubin");
    if (code && !from_machine && RunOptions::of_process().count_from == CountFrom::kMachine)
      fail("D508", "kernel " + code->info.name + " cannot be counted from machine code: " + problem,
           "without --count-from sass it is counted from its PTX");
    kernel.loaded[at] = std::move(code);
    if (kernel.loaded[at] && !kernel.info) {
      kernel.info = std::make_shared<views::KernelInfo>(kernel.loaded[at]->info);
      views::KernelInfo& info = *kernel.info;
      info.id = kernel.id;
      if (info.module.empty()) info.module = kernel.binary->ptx_name;
      if (const cubin::CubinKernel* const code = machine_code(kernel)) {
        info.registers = code->registers;
        info.registers_source = kernel.binary->cubin_name;
      } else if (info.registers == 0) {
        const std::uint32_t most = registers_allowed(*kernel.binary->module, kernel.mangled);
        info.registers = std::min(kernel.loaded[at]->estimated_registers, most);
        info.registers_source = "liveness estimate";
      }
      if (from_machine) info.machine_source = machine.code->source;
      info.machine_problem = problem;
      if (machine.code) code::add_compiled_facts(info, *kernel.binary->module, machine.code->image, machine.code->info);
      emit_kernel(info);
    }
  }
  return kernel.loaded[at];
}

const cubin::CubinKernel* Modules::machine_code(const KernelEntry& kernel) {
  return kernel.binary->cubin ? kernel.binary->cubin->kernel(kernel.mangled) : nullptr;
}

code::LoadedModule::Symbol Modules::load(Runtime& runtime, VariableEntry& variable, int device) {
  const auto* const symbol = load(runtime, *variable.binary, device).symbol(variable.name);
  return symbol ? *symbol : code::LoadedModule::Symbol{};
}

void Modules::unload(int device) {
  const std::lock_guard lock(mutex_);
  const auto at = static_cast<std::size_t>(device);
  for (const auto& binary : binaries_) {
    for (const auto& kernel : binary->kernels) {
      const std::lock_guard kernel_lock(kernel->mutex);
      if (at < kernel->loaded.size()) kernel->loaded[at] = nullptr;
    }
    // Host code may still hold the address of managed variables.
    const bool managed = std::any_of(binary->variables.begin(), binary->variables.end(), [](const auto& v) {
      return v->managed_pointer != nullptr || v->managed_in_place;
    });
    const std::lock_guard binary_lock(binary->mutex);
    if (!managed && at < binary->loaded.size()) binary->loaded[at] = nullptr;
  }
}

void Modules::init_managed(Runtime& runtime, FatBinary& binary) {
  const bool any = std::any_of(binary.variables.begin(), binary.variables.end(),
                               [](const auto& v) { return v->managed_pointer != nullptr || v->managed_in_place; });
  if (any) load(runtime, binary, runtime.current_device().index());
}

}  // namespace muscope::runtime
