#include "exec/launcher.h"

#include <map>
#include <mutex>

#include "exec/launch_run.h"
#include "exec/program.h"
#include "exec/thread_pool.h"

namespace muscope::exec {

struct Engine::State {
  State(memory::AddressSpace& m, const arch::GpuSpec& g, EngineOptions o) : memory(m), gpu(g), options(o) {}

  memory::AddressSpace& memory;
  const arch::GpuSpec& gpu;
  EngineOptions options;
  ThreadPool pool;
  std::mutex mutex;
  std::map<const code::Kernel*, std::shared_ptr<const Program>> programs;

  std::shared_ptr<const Program> program_of(const std::shared_ptr<const code::Kernel>& kernel) {
    const std::lock_guard lock(mutex);
    auto& known = programs[kernel.get()];
    if (!known) known = decode(kernel);
    return known;
  }
};

Engine::Engine(memory::AddressSpace& memory, const arch::GpuSpec& gpu, EngineOptions options)
    : state_(std::make_unique<State>(memory, gpu, options)) {}
Engine::~Engine() = default;

std::shared_ptr<LaunchHandle> Engine::start(LaunchRequest request) {
  std::shared_ptr<const Program> program = state_->program_of(request.kernel);
  auto run =
      std::make_shared<LaunchRun>(std::move(request), std::move(program), state_->memory, state_->gpu, state_->options);
  for (unsigned i = 0; i < run->workers(); ++i) state_->pool.run([run] { run->work(); });
  return run;
}

}  // namespace muscope::exec
