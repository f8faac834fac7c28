// Launches made by kernels: what a kernel asks for comes out in block and call order.
#include <gmock/gmock.h>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr const char* kFunctions = R"(
.extern .func (.param .b64 r) __cuda_syscall_cnpv2GetParameterBufferV2
  (.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cuda_syscall_cnpv2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cuda_syscall_cnpv2GetLastError();
.extern .func (.param .b32 r) __cuda_syscall_cnpv2StreamCreate(.param .b64 out, .param .b32 flags);
.visible .entry child(.param .u32 n) { ret; }
)";

/// Thread 0 of each block launches child<<<(n, 2, 1), (threads, 1, 1), 48>>>(ctaid) twice, to streams 3 and 0, and
/// keeps the second call's error and cudaGetLastError() at out[2 * ctaid].
std::string parent(const std::string& threads) {
  std::string text = kFunctions;
  text +=
      ".visible .entry k(.param .u64 out, .param .u32 n) { .reg .b64 %o, %f, %p, %a; .reg .b32 %n, %c, %t, %e, %l; "
      ".reg .pred %q; ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x; "
      "setp.ne.u32 %q, %t, 0; @%q bra END; mov.u64 %f, child;";
  for (const char* stream : {"3", "0"})
    text +=
        "{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r; "
        "st.param.b64 [f], %f; st.param.b32 [g], %n; st.param.b32 [g+4], 2; st.param.b32 [g+8], 1; "
        "st.param.b32 [b], " +
        threads +
        "; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 48; "
        "call.uni (r), __cuda_syscall_cnpv2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %p, [r]; } "
        "st.u32 [%p], %c; { .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %p; st.param.b64 [s], " +
        std::string(stream) + "; call.uni (r), __cuda_syscall_cnpv2LaunchDeviceV2, (p, s); ld.param.b32 %e, [r]; }";
  return text +
         "{ .param .b32 r; call.uni (r), __cuda_syscall_cnpv2GetLastError; ld.param.b32 %l, [r]; } "
         "mul.wide.u32 %a, %c, 8; add.u64 %a, %a, %o; st.global.u32 [%a], %e; st.global.u32 [%a+4], %l; END: ret; }";
}

TEST(DeviceLaunch, ComesOutInBlockAndCallOrder) {
  for (const unsigned threads : {1u, 3u}) {
    Machine m(Machine::with_threads(threads));
    m.load(parent("64"));
    const u64 out = m.upload(std::vector<u32>(16, 99));
    const LaunchResult r = m.run_ok("k", {8, 1, 1}, {32, 1, 1}, out, u32{5});
    ASSERT_EQ(r.launches.size(), 16u);
    for (u32 i = 0; i < 16; ++i) {
      const DeviceLaunch& launch = r.launches[i];
      EXPECT_EQ(launch.grid, (Dim3{5, 2, 1}));
      EXPECT_EQ(launch.block, (Dim3{64, 1, 1}));
      EXPECT_EQ(launch.dynamic_shared, 48u);
      EXPECT_EQ(launch.stream, i % 2 == 0 ? DeviceLaunch::kTailLaunch : 0u);
      EXPECT_EQ(m.read<u32>(launch.parameters), i / 2);
      const u64 number = (launch.function - code::kFunctionWindow) / 16;
      EXPECT_EQ(m.module().ptx().functions.at(number).name, "child");
      m.memory().release(launch.parameters);
    }
    for (const u32 error : m.read<u32>(out, 16)) EXPECT_EQ(error, 0u);
    EXPECT_GT(r.record.driver_calls, 0u);
  }
}

TEST(DeviceLaunch, ShapesThatNoGpuTakesAreRefused) {
  for (const char* threads : {"0", "1025"}) {
    Machine m;
    m.load(parent(threads));
    const u64 out = m.upload(std::vector<u32>(2, 99)), free_before = m.memory().free_bytes();
    const LaunchResult r = m.run_ok("k", {1, 1, 1}, {32, 1, 1}, out, u32{5});
    EXPECT_TRUE(r.launches.empty());
    EXPECT_EQ(m.read<u32>(out, 2), (std::vector<u32>{7, 0})) << "the runtime makes cudaErrorInvalidConfiguration of it";
    EXPECT_EQ(m.memory().free_bytes(), free_before);
  }
}

TEST(DeviceLaunch, StreamsAreHandlesOfTheirOwn) {
  Machine m;
  m.load(std::string(kFunctions) +
         ".visible .entry k(.param .u64 out) { .reg .b64 %o; .reg .b32 %e; ld.param.u64 %o, [out]; "
         "{ .param .b64 p; .param .b32 f; .param .b32 r; st.param.b64 [p], %o; st.param.b32 [f], 1; "
         "call.uni (r), __cuda_syscall_cnpv2StreamCreate, (p, f); ld.param.b32 %e, [r]; } add.u64 %o, %o, 8; "
         "{ .param .b64 p; .param .b32 f; .param .b32 r; st.param.b64 [p], %o; st.param.b32 [f], 1; "
         "call.uni (r), __cuda_syscall_cnpv2StreamCreate, (p, f); ld.param.b32 %e, [r]; } st.global.u32 [%o+8], %e; "
         "ret; }");
  const u64 out = m.upload(std::vector<u64>(3, 99));
  m.run_ok("k", {1, 1, 1}, {1, 1, 1}, out);
  const auto v = m.read<u64>(out, 3);
  EXPECT_NE(v[0], v[1]);
  EXPECT_GT(v[0], DeviceLaunch::kTailLaunch);
  EXPECT_EQ(v[2] & 0xffffffff, 0u);
}

}  // namespace
}  // namespace muscope::exec::testing
