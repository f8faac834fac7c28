// Speed of the engine on one worker thread, with every counted view on: warp instructions (PTX) a second.
//
//   Arithmetic       a loop of integer and float operations on registers
//   Special          a loop of the eight approximate functions
//   Coalesced        a loop of one coalesced load in eight instructions
//   Gather           a loop with a random gather in eight instructions
//   NaiveTranspose   the whole kernel: 1 coalesced load, 1 strided store in 22 instructions
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>

#include "arch/gpu_spec.h"
#include "code/loaded_module.h"
#include "exec/launcher.h"
#include "memory/address_space.h"
#include "ptx/parser.h"

namespace muscope {
namespace {

constexpr const char* kModule = R"(
.version 7.8
.target sm_75
.address_size 64

.visible .entry arithmetic(.param .u64 out, .param .u32 n) {
  .reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %rd<6>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  cvt.rn.f32.s32 %f1, %r5; mov.f32 %f2, 0f3FC00000; mov.u32 %r6, %r5; mov.u32 %r7, 7; mov.u32 %r8, 0;
loop:
  fma.rn.f32 %f1, %f1, %f2, 0f3F000000; fma.rn.f32 %f2, %f2, 0f3F7D70A4, 0f3C23D70A;
  mad.lo.s32 %r6, %r6, %r7, %r8; xor.b32 %r7, %r7, %r6; add.f32 %f1, %f1, %f2; add.s32 %r6, %r6, %r5;
  min.f32 %f2, %f2, %f1; add.s32 %r7, %r7, 3;
  add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, %r1; @%p1 bra loop;
  add.f32 %f3, %f1, %f2; cvt.rn.f32.s32 %f4, %r6; add.f32 %f3, %f3, %f4;
  mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f3; ret;
}

.visible .entry special(.param .u64 out, .param .u32 n) {
  .reg .b32 %r<12>; .reg .f32 %f<10>; .reg .b64 %rd<6>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4; add.s32 %r5, %r5, 1; cvt.rn.f32.s32 %f1, %r5; mov.f32 %f9, 0f00000000; mov.u32 %r8, 0;
loop:
  rcp.approx.ftz.f32 %f2, %f1; rsqrt.approx.ftz.f32 %f3, %f1; sqrt.approx.ftz.f32 %f4, %f1; ex2.approx.ftz.f32 %f5, %f2;
  lg2.approx.ftz.f32 %f6, %f1; sin.approx.ftz.f32 %f7, %f3; cos.approx.ftz.f32 %f8, %f4; tanh.approx.f32 %f2, %f2;
  add.f32 %f1, %f1, 0f3F800000; add.f32 %f9, %f9, %f5; add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, %r1; @%p1 bra loop;
  add.f32 %f9, %f9, %f6; add.f32 %f9, %f9, %f7; add.f32 %f9, %f9, %f8; add.f32 %f9, %f9, %f2;
  mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f9; ret;
}

.visible .entry coalesced(.param .u64 out, .param .u64 in, .param .u32 mask) {
  .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [mask];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4; mov.u32 %r6, %r5; mov.u32 %r8, 0; mov.f32 %f1, 0f00000000;
loop:
  and.b32 %r7, %r6, %r1; mul.wide.u32 %rd3, %r7, 4; add.s64 %rd4, %rd2, %rd3; ld.global.f32 %f2, [%rd4];
  add.f32 %f1, %f1, %f2; add.s32 %r6, %r6, 1056; add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, 64; @%p1 bra loop;
  mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1; ret;
}

.visible .entry gather(.param .u64 out, .param .u64 in, .param .u32 mask) {
  .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [mask];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4; mov.u32 %r6, %r5; mov.u32 %r8, 0; mov.f32 %f1, 0f00000000;
loop:
  mad.lo.s32 %r6, %r6, 1664525, 1013904223; and.b32 %r7, %r6, %r1; mul.wide.u32 %rd3, %r7, 4; add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2; add.s32 %r8, %r8, 1; setp.lt.s32 %p1, %r8, 64; @%p1 bra loop;
  mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd1, %rd5; st.global.f32 [%rd6], %f1; ret;
}

.visible .entry transpose(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .b32 %r<12>; .reg .f32 %f<2>; .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ntid.y; mov.u32 %r8, %tid.y; mad.lo.s32 %r9, %r6, %r7, %r8;
  mad.lo.s32 %r10, %r9, %r1, %r5; mul.wide.s32 %rd5, %r10, 4; add.s64 %rd6, %rd4, %rd5; ld.global.f32 %f1, [%rd6];
  mad.lo.s32 %r11, %r5, %r1, %r9; mul.wide.s32 %rd7, %r11, 4; add.s64 %rd8, %rd3, %rd7; st.global.f32 [%rd8], %f1; ret;
}
)";

class Fixture {
 public:
  Fixture() : gpu_(arch::find_gpu("h200")), memory_(std::uint64_t{8} << 30), engine_(memory_, gpu_, options()) {
    module_ = std::make_unique<code::LoadedModule>(std::make_shared<ptx::Module>(ptx::parse(kModule, "bench").module),
                                                   memory_);
    out_ = memory_.allocate(kBytes);
    in_ = memory_.allocate(kBytes);
    std::memset(memory_.host_pointer(out_), 0, kBytes);
    std::memset(memory_.host_pointer(in_), 0, kBytes);
  }

  static constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  std::uint64_t out() const { return out_; }
  std::uint64_t in() const { return in_; }

  template <typename... T>
  void run(benchmark::State& state, const char* kernel, std::array<std::uint32_t, 3> grid,
           std::array<std::uint32_t, 3> block, T... arguments) {
    std::uint64_t instructions = 0;
    for (auto _ : state) {
      exec::LaunchRequest request;
      request.kernel = module_->kernel(kernel);
      request.grid = grid;
      request.block = block;
      request.params.resize(request.kernel->param_bytes);
      std::size_t next = 0;
      const auto put = [&](auto v) {
        std::memcpy(request.params.data() + request.kernel->params[next++].offset, &v, sizeof v);
      };
      (put(arguments), ...);
      const auto handle = engine_.start(std::move(request));
      handle->wait_ended();
      for (const views::FrameCounts& f : handle->result().record.frames) instructions += f.warp_instructions;
    }
    state.counters["warp_instructions"] =
        benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
  }

 private:
  static exec::EngineOptions options() {
    exec::EngineOptions o;
    o.threads = 1;
    return o;
  }
  arch::GpuSpec gpu_;
  memory::AddressSpace memory_;
  exec::Engine engine_;
  std::unique_ptr<code::LoadedModule> module_;
  std::uint64_t out_ = 0, in_ = 0;
};

Fixture& fixture() {
  static Fixture& instance = *new Fixture;
  return instance;
}

constexpr std::uint32_t kMask = Fixture::kBytes / 4 - 1;

void Arithmetic(benchmark::State& state) {
  fixture().run(state, "arithmetic", {64, 1, 1}, {256, 1, 1}, fixture().out(), std::uint32_t{1000});
}
void Special(benchmark::State& state) {
  fixture().run(state, "special", {64, 1, 1}, {256, 1, 1}, fixture().out(), std::uint32_t{200});
}
void Coalesced(benchmark::State& state) {
  fixture().run(state, "coalesced", {1024, 1, 1}, {256, 1, 1}, fixture().out(), fixture().in(), kMask);
}
void Gather(benchmark::State& state) {
  fixture().run(state, "gather", {256, 1, 1}, {256, 1, 1}, fixture().out(), fixture().in(), kMask);
}
void NaiveTranspose(benchmark::State& state) {
  fixture().run(state, "transpose", {256, 256, 1}, {16, 16, 1}, fixture().out(), fixture().in(), std::uint32_t{4096});
}

BENCHMARK(Arithmetic)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Special)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Coalesced)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(Gather)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(NaiveTranspose)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muscope
