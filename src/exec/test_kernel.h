// For tests: PTX text -> module -> kernel -> launch -> memory, in a few calls.
//
//   Machine m;
//   m.load(".visible .entry k(.param .u64 out) { ... }");
//   const auto out = m.zeros(128);
//   const LaunchResult r = m.run("k", {1, 1, 1}, {32, 1, 1}, out);
//   EXPECT_EQ(m.read<std::uint32_t>(out, 32), ...);
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.h"
#include "code/loaded_module.h"
#include "exec/launcher.h"
#include "memory/address_space.h"
#include "ptx/parser.h"

namespace muscope::exec::testing {

using Dim3 = std::array<std::uint32_t, 3>;

/// A device with memory, one module and an engine.
class Machine {
 public:
  explicit Machine(EngineOptions options = one_thread(), std::string_view gpu = "h200")
      : gpu_(arch::find_gpu(gpu)), memory_(std::uint64_t{1} << 30), engine_(memory_, gpu_, options) {}

  static EngineOptions one_thread() { return with_threads(1); }
  static EngineOptions with_threads(unsigned threads) {
    EngineOptions options;
    options.threads = threads;
    return options;
  }

  /// Parses and places `body` (without .version, .target and .address_size). Parse errors fail the test.
  void load(std::string_view body, std::string_view target = "sm_90a") {
    text_ = ".version 8.6\n.target " + std::string(target) + "\n.address_size 64\n" + std::string(body);
    ptx::ParseResult parsed = ptx::parse(text_, "test.ptx");
    std::string errors;
    for (const Diagnostic& d : parsed.diagnostics)
      if (d.severity == Severity::kError) errors += to_text(d);
    EXPECT_TRUE(parsed.ok()) << errors;
    module_ =
        std::make_unique<code::LoadedModule>(std::make_shared<const ptx::Module>(std::move(parsed.module)), memory_);
  }

  memory::AddressSpace& memory() { return memory_; }
  code::LoadedModule& module() { return *module_; }
  Engine& engine() { return engine_; }
  std::shared_ptr<const code::Kernel> kernel(std::string_view name) { return module_->kernel(name); }

  /// Device memory that reads zero.
  std::uint64_t zeros(std::uint64_t bytes) { return memory_.allocate(bytes); }

  template <typename T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = memory_.allocate(values.size() * sizeof(T));
    std::memcpy(memory_.host_pointer(address), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <typename T>
  std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory_.host_pointer(address), count * sizeof(T));
    return values;
  }
  template <typename T>
  T read(std::uint64_t address) {
    return read<T>(address, 1)[0];
  }

  /// A request for `kernel` with its parameters in order; each argument must have its parameter's size.
  template <typename... Args>
  LaunchRequest request(std::string_view kernel, Dim3 grid, Dim3 block, const Args&... args) {
    LaunchRequest r;
    r.kernel = module_->kernel(kernel);
    EXPECT_NE(r.kernel, nullptr) << kernel;
    if (!r.kernel) return r;
    r.grid = grid;
    r.block = block;
    r.params.resize(r.kernel->param_bytes);
    EXPECT_EQ(r.kernel->params.size(), sizeof...(args));
    std::size_t index = 0;
    [[maybe_unused]] const auto put = [&](const auto& value) {
      if (index >= r.kernel->params.size()) return;
      const code::Param& p = r.kernel->params[index++];
      EXPECT_EQ(p.bytes, sizeof value) << "parameter " << index - 1 << " of " << kernel;
      std::memcpy(r.params.data() + p.offset, &value, std::min<std::size_t>(p.bytes, sizeof value));
    };
    (put(args), ...);
    return r;
  }

  /// Runs to the end.
  LaunchResult run(LaunchRequest r) {
    if (!r.kernel) return {};
    const auto handle = engine_.start(std::move(r));
    handle->wait_ended();
    return std::move(handle->result());
  }
  template <typename... Args>
  LaunchResult run(std::string_view kernel, Dim3 grid, Dim3 block, const Args&... args) {
    return run(request(kernel, grid, block, args...));
  }
  /// The same, and expects that it ends well.
  template <typename... Args>
  LaunchResult run_ok(std::string_view kernel, Dim3 grid, Dim3 block, const Args&... args) {
    LaunchResult r = run(kernel, grid, block, args...);
    EXPECT_EQ(r.outcome, Outcome::kOk) << r.record.fault.code << ": " << r.record.fault.text << " at "
                                       << r.record.fault.instruction << " line " << r.record.fault.ptx_line;
    return r;
  }

 private:
  arch::GpuSpec gpu_;
  memory::AddressSpace memory_;
  std::string text_;
  std::unique_ptr<code::LoadedModule> module_;
  Engine engine_;
};

/// Code that leaves the global thread index in %i, and the address out + 4 * %i in %to. Declares %i, %t0, %t1, %to,
/// %out. The kernel's first parameter must be `out`.
inline std::string thread_prologue() {
  return R"(
  .reg .b32 %i, %t0, %t1; .reg .b64 %to, %out;
  mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %i, %tid.x; mad.lo.s32 %i, %t0, %t1, %i;
  ld.param.u64 %out, [out]; mul.wide.u32 %to, %i, 4; add.s64 %to, %out, %to;
)";
}

/// A kernel `k(out)` whose threads each compute %r (b32) in `body` from the index %i and store it to out[%i].
inline std::string per_thread_kernel(std::string_view body, std::string_view declarations = "") {
  return std::string(declarations) + "\n.visible .entry k(.param .u64 out)\n{" + thread_prologue() +
         "  .reg .b32 %r, %x<64>; .reg .b64 %l<64>; .reg .pred %p<64>; .reg .b16 %h<64>;\n" + std::string(body) +
         "\n  st.global.u32 [%to], %r;\n  ret;\n}\n";
}

/// The finding with that code, or null.
inline const views::Finding* find_finding(const LaunchResult& r, std::string_view code) {
  for (const views::Finding& f : r.record.findings)
    if (f.code == code) return &f;
  return nullptr;
}

}  // namespace muscope::exec::testing
