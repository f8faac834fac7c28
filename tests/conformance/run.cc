// The engine side: a module of forms in device memory, launches, results.
#include "run.h"

#include <cstring>
#include <memory>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "code/loaded_module.h"
#include "code/machine_module.h"
#include "cubin/code_image.h"
#include "cubin/cubin.h"
#include "exec/launcher.h"
#include "exec/program.h"
#include "memory/address_space.h"
#include "ptx/parser.h"

namespace muscope::conformance {
namespace {

std::shared_ptr<const code::MachineCode> machine_code(const std::string& cubin) {
  if (cubin.empty()) return nullptr;
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(cubin.data()), cubin.size());
  auto code = std::make_shared<code::MachineCode>();
  code->executable = exec::can_execute;
  code->image = cubin::read_code_image(bytes);
  code->info = cubin::read_cubin(bytes);
  code->source = "ptxas";
  return code;
}

Outcome run_form(const Form& form, const std::string& kernel, code::LoadedModule& module, memory::AddressSpace& memory,
                 exec::Engine& engine) {
  Outcome outcome;
  exec::LaunchRequest request;
  request.kernel = module.kernel(kernel);
  outcome.problem = module.machine_problem(kernel);
  outcome.from_machine_code = request.kernel->machine_code != nullptr;
  const std::size_t threads = tuples(form), results = form.results.size() * threads;
  const std::vector<std::uint64_t> in = inputs(form);
  const std::uint64_t addresses[2] = {memory.allocate(in.size() * 8 + 8), memory.allocate(results * 8)};
  if (!in.empty()) std::memcpy(memory.host_pointer(addresses[0]), in.data(), in.size() * 8);
  std::memset(memory.host_pointer(addresses[1]), 0, results * 8);
  request.grid = {static_cast<std::uint32_t>(threads / kBlock), 1, 1};
  request.block = {kBlock, 1, 1};
  request.params.resize(request.kernel->param_bytes);
  for (std::size_t i = 0; i < 2; ++i)
    std::memcpy(request.params.data() + request.kernel->params.at(i).offset, &addresses[i], 8);
  const auto handle = engine.start(std::move(request));
  handle->wait_ended();
  const exec::LaunchResult& result = handle->result();
  if (result.outcome != exec::Outcome::kOk) {
    outcome.problem = result.record.fault.code + ": " + result.record.fault.text;
  } else {
    outcome.results.resize(results);
    std::memcpy(outcome.results.data(), memory.host_pointer(addresses[1]), results * 8);
  }
  for (const std::uint64_t address : addresses) memory.release(address);
  return outcome;
}

}  // namespace

std::vector<Outcome> run_forms(std::span<const Form> forms, const std::string& cubin) {
  std::vector<Outcome> outcomes(forms.size());
  memory::AddressSpace memory(std::uint64_t{1} << 28);
  exec::EngineOptions options;
  options.threads = 1;
  const arch::GpuSpec gpu = arch::find_gpu("h200");
  exec::Engine engine(memory, gpu, options);
  const std::string text = module_text(forms);
  ptx::ParseResult parsed = ptx::parse(text, "forms.ptx");
  if (!parsed.ok()) {
    for (Outcome& outcome : outcomes) outcome.problem = to_text(parsed.diagnostics.front());
    return outcomes;
  }
  code::LoadedModule module(std::make_shared<const ptx::Module>(std::move(parsed.module)), memory, machine_code(cubin));
  for (std::size_t i = 0; i < forms.size(); ++i) {
    try {
      outcomes[i] = run_form(forms[i], "f" + std::to_string(i), module, memory, engine);
    } catch (const Error& error) {
      outcomes[i].problem = to_text(error.diagnostics().front());
    }
  }
  return outcomes;
}

}  // namespace muscope::conformance
