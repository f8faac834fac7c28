// Module -> Kernel: parameters, constants, shared memory, sites, order, errors; loading of variables.
#include "code/lower.h"

#include <algorithm>
#include <cstring>

#include "code/cache_policy.h"
#include "code/machine_module.h"
#include "code/source_frames.h"
#include "code/test_module.h"

namespace muscope::code::testing {
namespace {

struct Loaded {
  explicit Loaded(std::string_view body, std::uint64_t bytes = std::uint64_t{1} << 28)
      : memory(bytes), module(parse(body), memory) {}
  memory::AddressSpace memory;
  LoadedModule module;
  const Kernel& kernel() {
    kernel_ = module.kernel("k");
    EXPECT_NE(kernel_, nullptr);
    return *kernel_;
  }

 private:
  std::shared_ptr<const Kernel> kernel_;
};

std::string entry(const std::string& body, const std::string& parameters = ".param .u64 a") {
  return ".visible .entry k(" + parameters +
         ")\n{ .reg .b32 %r<20>; .reg .b64 %l<20>; .reg .pred %p<9>; .reg .f32 %f<9>;\n" + body + "\n}";
}

TEST(Lower, ParametersAreLaidOutWithTheirAlignment) {
  Loaded m(entry("ret;", ".param .u8 a, .param .u64 b, .param .u16 c, .param .align 16 .b8 d[20], .param .u32 e"));
  const Kernel& k = m.kernel();
  ASSERT_EQ(k.params.size(), 5u);
  const std::uint32_t want[][2] = {{0, 1}, {8, 8}, {16, 2}, {32, 20}, {52, 4}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(k.params[i].offset, want[i][0]) << i;
    EXPECT_EQ(k.params[i].bytes, want[i][1]) << i;
  }
  EXPECT_EQ(k.param_bytes, 56u);
  EXPECT_EQ(k.info.param_bytes, 56u);
}

TEST(Lower, WhatHoldsAConstantForGoodNeedsNoOp) {
  Loaded m(
      entry("ld.param.u64 %l1, [a]; cvta.to.global.u64 %l2, %l1; mov.u32 %r1, %ntid.x; mov.u32 %r2, 7; mov.u32 %r3, "
            "%tid.x; add.u32 %r4, %r1, %r2; st.global.u32 [%l2], %r4; ret;"));
  int moves = 0, adds = 0;
  for (const Op& op : m.kernel().ops)
    moves += op.opcode == ptx::Opcode::k_mov || op.opcode == ptx::Opcode::k_ld || op.opcode == ptx::Opcode::k_cvta,
        adds += op.opcode == ptx::Opcode::k_add;
  EXPECT_EQ(moves, 0);
  EXPECT_EQ(adds, 1);
  // They are executed instructions all the same.
  EXPECT_EQ(m.kernel().blocks[0].instructions, 8u);
}

TEST(Lower, AProductWithOneIsAMoveWherePtxasMakesItOne) {
  const auto moves = [](const std::string& text) {
    Loaded m(entry("ld.param.f32 %f1, [a]; " + text + " st.global.f32 [%l1], %f2; ret;", ".param .f32 a"));
    int n = 0;
    for (const Op& op : m.kernel().ops) n += op.opcode == ptx::Opcode::k_mov;
    return n;
  };
  EXPECT_EQ(moves("mul.f32 %f2, %f1, 0f3F800000;"), 1);
  EXPECT_EQ(moves("mul.f32 %f2, 1.0, %f1;"), 1);
  EXPECT_EQ(moves("div.approx.f32 %f2, %f1, 0f3F800000;"), 1);
  EXPECT_EQ(moves("mul.rn.f32 %f2, %f1, 0f3F800000;"), 0);
  EXPECT_EQ(moves("mul.ftz.f32 %f2, %f1, 0f3F800000;"), 0);
  EXPECT_EQ(moves("mul.f32 %f2, %f1, 0f40000000;"), 0);
  EXPECT_EQ(moves("div.rn.f32 %f2, %f1, 0f3F800000;"), 0);
}

TEST(Lower, CachePoliciesHaveTheBitsThatPtxasGivesThem) {
  const auto module =
      parse(entry("createpolicy.fractional.L2::evict_last.b64 %l1; createpolicy.fractional.L2::evict_normal.b64 %l1, "
                  "0.3; createpolicy.fractional.L2::evict_first.b64 %l1, 0.0625; "
                  "createpolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 %l1, 0f3F000000; "
                  "createpolicy.range.L2::evict_last.b64 %l1, [a], 16, 32; ret;"));
  const auto& body = module->functions.at(0).body;
  EXPECT_EQ(fractional_policy(body[0]), 0x14f0000000000000u);
  EXPECT_EQ(fractional_policy(body[1]), 0x1640000000000000u);
  EXPECT_EQ(fractional_policy(body[2]), 0x1200000000000000u);
  EXPECT_EQ(fractional_policy(body[3]), 0x1170000000000000u);
  EXPECT_EQ(fractional_policy(body[4]), std::nullopt);
}

TEST(Lower, SharedMemoryOfUsedVariablesThenDynamic) {
  Loaded m(
      ".shared .align 4 .b8 unused[4000];\n.shared .align 8 .b8 first[20];\n.extern .shared .align 64 .b8 more[];\n" +
      entry(".shared .align 16 .b8 own[8]; mov.u32 %r1, first; mov.u32 %r2, own; mov.u32 %r3, more; add.u32 %r4, %r1, "
            "%r2; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %r4; ret;"));
  const Kernel& k = m.kernel();
  EXPECT_EQ(k.static_shared_bytes, 40u);  // 20, up to 32, 8
  EXPECT_EQ(k.dynamic_shared_offset, kSharedBase + 64);
  EXPECT_EQ(k.info.static_shared, 40u);
}

TEST(Lower, SitesAreMemoryInstructions) {
  Loaded m(
      entry("ld.param.u64 %l1, [a]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%l1]; st.shared.u8 [%r1], %r2; "
            "atom.global.add.u64 %l3, [%l1], 1; bar.sync 0; ret;"));
  const auto& sites = m.kernel().info.sites;
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(sites[0].text, "ld.global.v4.f32");
  EXPECT_EQ(sites[0].bytes, 16u);
  EXPECT_EQ(sites[1].text, "st.shared.u8");
  EXPECT_EQ(sites[1].bytes, 1u);
  EXPECT_EQ(sites[2].bytes, 8u);
  EXPECT_EQ(sites[2].ptx_line, 6);
}

TEST(Lower, OrderedWhereResultsDependOnTheOrderOfBlocks) {
  const auto ordered = [](const std::string& body) {
    return Loaded(entry("ld.param.u64 %l1, [a]; " + body + " ret;")).kernel().ordered;
  };
  EXPECT_FALSE(ordered("st.global.u32 [%l1], %r1; ld.global.u32 %r2, [%l1];"));
  EXPECT_FALSE(ordered("red.global.add.u32 [%l1], 1; atom.global.add.u32 %r3, [%l1], 1;")) << "results unused";
  EXPECT_FALSE(ordered("atom.shared.add.u32 %r3, [%r1], 1; st.global.u32 [%l1], %r3; membar.cta;"));
  EXPECT_TRUE(ordered("atom.global.add.u32 %r3, [%l1], 1; st.global.u32 [%l1], %r3;"));
  EXPECT_TRUE(ordered("red.global.add.f32 [%l1], %f1;"));
  EXPECT_TRUE(ordered("atom.global.cas.b32 %r3, [%l1], 0, 1;"));
  EXPECT_TRUE(ordered("ld.volatile.global.u32 %r3, [%l1];"));
  EXPECT_TRUE(ordered("ld.acquire.gpu.u32 %r3, [%l1];"));
  EXPECT_TRUE(ordered("membar.gl;"));
  EXPECT_TRUE(ordered("nanosleep.u32 20;"));
}

TEST(Lower, RecursionIsFound) {
  EXPECT_FALSE(Loaded(".func g;\n.func f { call g; ret; }\n.func g { ret; }\n" + entry("call f; call g; ret;"))
                   .kernel()
                   .recursive);
  EXPECT_TRUE(Loaded(".func g;\n.func f { call g; ret; }\n.func g { call f; ret; }\n" + entry("call f; ret;"))
                  .kernel()
                  .recursive);
  EXPECT_TRUE(Loaded(".func f { ret; }\n" + entry("mov.u64 %l1, f; P: .callprototype _ (); call %l1, (), P; ret;"))
                  .kernel()
                  .recursive);
  EXPECT_FALSE(Loaded(".func f { ret; }\n" + entry("ret;")).kernel().has_calls);
}

TEST(Lower, FramesFollowInlining) {
  Loaded m(
      ".visible .entry k()\n{ .reg .b32 %r<4>;\n.loc 1 10 3\nmov.u32 %r1, %tid.x;\n.loc 2 5 1, function_name "
      "info_string0, inlined_at 1 10 3\nadd.u32 %r2, %r1, 1;\n.loc 1 11 1\nret;\n}\n.file 1 \"a.cu\"\n.file 2 "
      "\"b.h\"\n.section .debug_str { info_string0: .b8 95,90,51,102,111,111,105,0 }");
  const Kernel& k = m.kernel();
  const auto frame =
      std::find_if(k.info.frames.begin(), k.info.frames.end(), [](const views::Frame& f) { return f.file == "b.h"; });
  ASSERT_NE(frame, k.info.frames.end());
  EXPECT_EQ(frame->line, 5);
  EXPECT_EQ(frame->function, "foo(int)");
  ASSERT_LT(frame->inlined_at, k.info.frames.size());
  EXPECT_EQ(k.info.frames[frame->inlined_at].line, 10);
  EXPECT_EQ(demangle("_Z3fooi"), "foo(int)");
  EXPECT_EQ(demangle("plain"), "plain");
  EXPECT_EQ(demangle(""), "");
  EXPECT_EQ(demangle("__nv_static_25__5d8cfa58_4_k_cu_3dc991e0__Z6JacobiPKfi"), "Jacobi(float const*, int)");
  EXPECT_EQ(demangle("__nv_static_25__5d8cfa58_4_k_cu_3dc991e0_plain"), "plain");
  EXPECT_EQ(demangle("_Z1kv__static__0123456789abcdef"), "k()");
  for (const char* other : {"__nv_static_", "__nv_static_9", "__nv_static_99__a_b", "__nv_static_3_ab_",
                            "_Zx__static__1", "__nv_static_18446744073709551615__a__b"})
    EXPECT_EQ(demangle(other), other);
}

TEST(Lower, WithoutLineInformationThePtxLineStands) {
  Loaded m(entry("mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nret;"));
  for (const views::Frame& f : m.kernel().info.frames) EXPECT_TRUE(f.file.empty());
  EXPECT_EQ(m.kernel().info.frames[0].line, 6);
}

TEST(Lower, Errors) {
  EXPECT_EQ(error_code([] { Loaded(".entry k(.param .u64 a);").module.kernel("k"); }), "D311");
  EXPECT_EQ(error_code([] {
              Loaded(entry(".local .b8 big[300000000]; .local .b8 more[4]; st.local.u32 [more], %r1; ret;"))
                  .module.kernel("k");
            }),
            "D312");
  EXPECT_EQ(error_code([] {
              Loaded(".shared .b8 big[20000000];\n" + entry("mov.u32 %r1, big; st.shared.u32 [%r1], %r1; ret;"))
                  .module.kernel("k");
            }),
            "D313");
  EXPECT_EQ(error_code([] { Loaded(".global .b8 big[1000000000];\n" + entry("ret;")); }), "D314");
  EXPECT_EQ(error_code([] { Loaded(".const .b8 big[65537];\n" + entry("ret;")); }), "D315");
  EXPECT_EQ(error_code([] { Loaded(".const .b8 big[65536];\n" + entry("ret;")); }), "");
  EXPECT_EQ(Loaded(entry("ret;")).module.kernel("nothing"), nullptr);
}

TEST(LoadedModule, PlacesAndInitialisesVariables) {
  Loaded m(
      ".visible .global .align 8 .u32 numbers[4] = {1, 2, 3};\n.global .u64 pointer = numbers+8;\n.const .align 4 .u32 "
      "first = 5;\n.const .align 16 .f32 second[2] = {0f3F800000, 0f40000000};\n.global .u64 functions[1] = "
      "{f};\n.func f { ret; }\n" +
      entry(".global .u32 inside = 9; mov.u64 %l1, f; ret;"));
  const auto* numbers = m.module.symbol("numbers");
  ASSERT_NE(numbers, nullptr);
  const auto word = [&](std::uint64_t address) {
    std::uint32_t v;
    std::memcpy(&v, m.memory.host_pointer(address), 4);
    return v;
  };
  EXPECT_EQ(word(numbers->address + 8), 3u);
  EXPECT_EQ(word(numbers->address + 12), 0u);
  EXPECT_EQ(numbers->size, 16u);
  std::uint64_t pointer;
  std::memcpy(&pointer, m.memory.host_pointer(m.module.symbol("pointer")->address), 8);
  EXPECT_EQ(pointer, numbers->address + 8);
  std::uint64_t base, size;
  m.module.constant_bank(base, size);
  EXPECT_EQ(m.module.symbol("first")->address, base);
  EXPECT_EQ(m.module.symbol("second")->bank_offset, 16u);
  EXPECT_EQ(size, 24u);
  EXPECT_EQ(word(m.module.symbol("second")->address + 4), 0x40000000u);
  EXPECT_EQ(word(m.module.symbol("k::inside")->address), 9u);
  std::uint64_t function;
  std::memcpy(&function, m.memory.host_pointer(m.module.symbol("functions")->address), 8);
  EXPECT_EQ(function, m.kernel().functions.size() > 1 ? m.kernel().functions[1].address : 0u);
  EXPECT_EQ(m.module.kernel_names(), std::vector<std::string>{"k"});
}

TEST(LoadedModule, ManagedVariablesMoveToHostMemory) {
  alignas(16) std::uint32_t host[4] = {};
  Loaded m(
      ".visible .global .attribute(.managed) .align 4 .u32 shared_with_host[4] = {7, 8};\n.global .u64 pointer = "
      "shared_with_host;\n" +
      entry("ret;"));
  EXPECT_TRUE(m.module.symbol("shared_with_host")->managed);
  m.module.place_managed("shared_with_host", host);
  EXPECT_EQ(host[0], 7u);
  EXPECT_EQ(host[1], 8u);
  EXPECT_EQ(m.module.symbol("shared_with_host")->address, reinterpret_cast<std::uint64_t>(host));
  std::uint64_t pointer;
  std::memcpy(&pointer, m.memory.host_pointer(m.module.symbol("pointer")->address), 8);
  EXPECT_EQ(pointer, reinterpret_cast<std::uint64_t>(host));
  EXPECT_EQ(m.memory.find(pointer).kind, memory::Kind::kManaged);
  m.memory.remove_host(host);
}

// A cubin without the kernels, but with a number for the function in `table`.
std::shared_ptr<const MachineCode> code_without_kernels() {
  auto code = std::make_shared<MachineCode>();
  cubin::DataSection& data = code->image.data.emplace_back();
  data.bytes = {8, 0, 0, 0, 0, 0, 0, 0};
  data.symbols.push_back({"table", 0, 8, false, cubin::Binding::kGlobal});
  return code;
}

TEST(LoadedModule, KernelsThatShareFunctionsAreAllOfOneKind) {
  memory::AddressSpace memory(1 << 28);
  const std::string function = ".func f() { ret; }\n", other = ".visible .entry g() { ret; }\n";
  const auto problem = [&](const std::string& body, const char* kernel) {
    LoadedModule module(parse(function + body + other), memory, code_without_kernels());
    EXPECT_NE(module.kernel(kernel), nullptr);
    return module.machine_problem(kernel);
  };
  EXPECT_EQ(problem(entry("call f;"), "k"), "the machine code does not have this kernel") << "called by name";
  const std::string shared =
      "the machine code does not have this kernel, of k; kernels that may share function "
      "pointers are alike";
  EXPECT_EQ(problem(".global .u64 table[1] = {f};\n" + entry("ret;"), "g"), shared);
  EXPECT_EQ(problem(entry(".reg .u64 %a;\n mov.u64 %a, f;"), "g"), shared);

  LoadedModule module(parse(function + ".global .u64 table[1] = {f};\n" + entry("ret;")), memory,
                      code_without_kernels());
  std::uint64_t value = 0;
  std::memcpy(&value, memory.host_pointer(module.symbol("table")->address), 8);
  EXPECT_EQ(value, kFunctionWindow + 16 * std::uint64_t{module.ptx().find_function("f")})
      << "the number that PTX calls it by";
}

TEST(LoadedModule, ConstantsOfTheMachineCodeAreNotTheProgramsOwn) {
  memory::AddressSpace memory(1 << 28);
  const auto text = parse(".const .b8 c[10];\n" + entry("ret;"));
  EXPECT_EQ(LoadedModule(text, memory).constant_bytes(), 10u);
  EXPECT_EQ(LoadedModule(text, memory, code_without_kernels()).constant_bytes(), 10u);
}

TEST(LoadedModule, GivesItsMemoryBack) {
  memory::AddressSpace memory(std::uint64_t{1} << 28);
  const std::uint64_t before = memory.free_bytes();
  {
    LoadedModule module(parse(".global .b8 a[1000];\n.const .b8 c[10];\n" + entry("ret;")), memory);
    EXPECT_LT(memory.free_bytes(), before);
  }
  EXPECT_EQ(memory.free_bytes(), before);
}

TEST(Lower, KindsOfInstructions) {
  const auto module = parse(
      entry("add.f32 %f1, %f1, %f1; mul.f32 %f1, %f1, %f1; fma.rn.f32 %f1, %f1, %f1, %f1; add.u32 %r1, %r1, 1; and.b32 "
            "%r1, %r1, 1; cvt.rn.f32.s32 %f1, %r1; bra L;\nL: ld.global.u32 %r1, [%l1]; shfl.sync.idx.b32 %r1, %r1, 0, "
            "31, -1; mov.u32 %r1, 5; sqrt.rn.f32 %f1, %f1; setp.lt.f32 %p1, %f1, %f1; setp.lt.s32 %p1, %r1, 1; ret;"));
  using K = views::InstructionKind;
  const K want[] = {K::kFp32Add,    K::kFp32Mul,    K::kFp32Fma, K::kInteger,     K::kBit,
                    K::kConvert,    K::kControl,    K::kMemory,  K::kCommunicate, K::kMove,
                    K::kOtherFloat, K::kOtherFloat, K::kInteger, K::kControl};
  const auto& body = function(*module, "k").body;
  ASSERT_EQ(body.size(), std::size(want));
  for (std::size_t i = 0; i < body.size(); ++i) EXPECT_EQ(kind_of(body[i]), want[i]) << body[i].text();
}

}  // namespace
}  // namespace muscope::code::testing
