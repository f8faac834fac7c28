// A cubin's machine code placed beside its module: constant banks in device memory, relocations applied, and per kernel
// what machine_lowering needs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "code/machine_input.h"
#include "cubin/code_image.h"
#include "cubin/cubin.h"
#include "memory/address_space.h"

namespace muscope::code {

class LoadedModule;

/// The machine code that belongs to a PTX module: read from a cubin that the program carries or that ptxas wrote.
struct MachineCode {
  cubin::CodeImage image;
  cubin::CubinInfo info;
  std::string source;  ///< "cubin sm_90 in the program", "ptxas 13.0"
  /// Whether the executor has a handler for an instruction (exec::can_execute).
  std::function<bool(const sass::Instruction&)> executable;
};

class MachineModule {
 public:
  /// `bank3` is the device address of the module's constants, laid out as the cubin says, with room for `extra_bytes()`
  /// behind `bank3_bytes`.
  MachineModule(std::shared_ptr<const MachineCode> code, const LoadedModule& module, memory::AddressSpace& memory,
                std::uint64_t bank3, std::uint64_t bank3_bytes);

  /// Bytes of the other constant banks.
  static std::uint64_t extra_bytes(const MachineCode& code);

  /// Address of each code section: kernels lie at kCodeWindow, functions with sections of their own (code linked by
  /// nvlink) behind the largest of them.
  static std::vector<std::uint64_t> section_addresses(const MachineCode& code);

  /// False when the cubin does not have that kernel, with the reason in `problem`.
  bool input_of(const std::string& mangled, MachineInput& out, std::string& problem) const;
  const MachineCode& code() const { return *code_; }

 private:
  /// Code, functions, jump tables and lines of section `index`, at its place. `ptx_text`: the one of the cubin's PTX
  /// texts that the kernel stands in, whose lines are told.
  void add_section(std::size_t index, const std::string& kernel, std::uint32_t ptx_text, MachineInput& out,
                   std::map<std::array<std::int64_t, 3>, std::uint32_t>& known) const;
  std::uint32_t frame_row(const cubin::FrameRow& row, MachineInput& out,
                          std::map<std::array<std::int64_t, 3>, std::uint32_t>& known) const;
  /// The address given to a function of the driver; nothing when `symbol` is none.
  std::optional<std::uint64_t> external_address(std::string_view symbol);

  std::shared_ptr<const MachineCode> code_;
  cubin::CodeImage image_;                       ///< relocated
  std::vector<std::uint64_t> address_;           ///< of each code section
  std::map<std::string, std::string> problems_;  ///< by section name
  std::map<std::uint64_t, std::string> externals_;
  std::map<std::pair<int, std::string>, std::uint64_t> bank_address_;
};

}  // namespace muscope::code
