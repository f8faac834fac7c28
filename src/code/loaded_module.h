// A PTX module placed in device memory: variables have addresses, kernels are lowered when first asked for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "memory/address_space.h"
#include "ptx/module.h"

namespace muscope::code {

struct Kernel;
struct MachineCode;
class MachineModule;

class LoadedModule {
 public:
  /// A module variable after loading. Constant variables live in device memory too; `bank_offset` is their byte offset
  /// in the 64 KiB constant bank.
  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    ptx::Space space = ptx::Space::kGlobal;
    bool managed = false;
    std::uint64_t bank_offset = 0;
  };

  /// Places and initialises every .global and .const variable. Throws Error: D314 when device memory is used up, D315
  /// when constants exceed 64 KiB. With `machine`, kernels are made from that machine code where it can be executed,
  /// and constants lie as it says. `device`: whose memory it is.
  LoadedModule(std::shared_ptr<const ptx::Module> module, memory::AddressSpace& memory,
               std::shared_ptr<const MachineCode> machine = nullptr, unsigned device = 0);
  ~LoadedModule();

  const Symbol* symbol(std::string_view name) const;
  /// kKeep: another device's module has the variable already, and the program may have written it.
  enum class FirstValue : std::uint8_t { kWrite, kKeep };
  /// Moves a managed variable to host memory at `pointer`, which kernels and host code then both know it by. Before the
  /// first kernel() only.
  void place_managed(std::string_view name, void* pointer, FirstValue first_value = FirstValue::kWrite);

  /// The kernel of that mangled name, lowered at the first call; null when the module has none. Throws Error when it
  /// needs an instruction that muscope does not have.
  std::shared_ptr<const Kernel> kernel(std::string_view mangled);
  std::vector<std::string> kernel_names() const;
  /// What the module's own constants take.
  std::uint64_t constant_bytes() const;
  /// Where the constants start and how many bytes they take, with other banks of the machine code.
  void constant_bank(std::uint64_t& base, std::uint64_t& size) const;
  const ptx::Module& ptx() const { return *module_; }
  /// Why the kernel of that mangled name, once loaded, was made from its PTX though there is machine code; empty else.
  std::string machine_problem(std::string_view mangled) const;

 private:
  void place(const ptx::Variable& variable, const std::string& name);
  void initialise(const ptx::Variable& variable, const Symbol& symbol);
  void apply_initialisers();
  void place_constants(const std::vector<std::pair<const ptx::Variable*, std::string>>& all);
  void take_function_handles();
  void decide_for_all_kernels();
  void load_machine();
  std::shared_ptr<const ptx::Module> module_;
  memory::AddressSpace& memory_;
  unsigned device_;
  std::uint64_t constant_base_ = 0, constant_size_ = 0;
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::map<std::string, std::shared_ptr<const Kernel>, std::less<>> kernels_;
  std::map<std::string, std::string, std::less<>> machine_problems_;
  std::shared_ptr<const MachineCode> machine_code_;
  std::unique_ptr<MachineModule> machine_;
  std::string shared_problem_;  ///< why no kernel may be made from the machine code; empty: each for itself
  mutable std::mutex mutex_;
};

}  // namespace muscope::code
