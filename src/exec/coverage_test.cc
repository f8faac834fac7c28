// Every PTX form that five or more of 600 public CUDA programs use has a handler (those of cp.async and mbarrier
// apart): none of them ends a launch as unsupported.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "exec/control.h"
#include "exec/program.h"
#include "exec/test_kernel.h"

namespace muscope::exec::testing {
namespace {

constexpr const char* kForms =
    "abs.f32 abs.f64 abs.s32 activemask.b32 add.f16 add.f16x2 add.f32 add.f64 add.rn.f32 add.rn.f64 add.s16 add.s32 "
    "add.s64 add.u64 and.b16 and.b32 and.b64 and.pred atom.add.acq_rel.cta.u64 atom.add.acquire.cta.u32 "
    "atom.add.relaxed.cta.u64 atom.add.release.gpu.u32 atom.global.add.f32 atom.global.add.f64 atom.global.add.u32 "
    "atom.global.add.u64 atom.global.cas.b32 atom.global.exch.b32 atom.shared.add.f32 atom.shared.add.u32 bar.sync "
    "bar.warp.sync barrier.sync bfi.b32 bfi.b64 bfind.shiftamt.u32 bra bra.uni brev.b32 call.uni clz.b32 clz.b64 "
    "copysign.f32 cvt.f32.f16 cvt.f64.f32 cvt.rn.bf16.f32 cvt.rn.f16.f32 cvt.rn.f32.f64 cvt.rn.f32.s32 cvt.rn.f32.u16 "
    "cvt.rn.f32.u32 cvt.rn.f64.s32 cvt.rn.f64.s64 cvt.rn.f64.u64 cvt.rni.f32.f32 cvt.rni.s32.f32 cvt.rzi.f32.f32 "
    "cvt.rzi.f64.f64 cvt.rzi.s32.f32 cvt.rzi.s32.f64 cvt.rzi.u32.f32 cvt.s16.s8 cvt.s32.s16 cvt.s32.s8 cvt.s64.s32 "
    "cvt.sat.f32.f32 cvt.u16.u32 cvt.u16.u64 cvt.u32.u16 cvt.u32.u64 cvt.u64.u16 cvt.u64.u32 cvta.global.u64 "
    "cvta.local.u64 cvta.shared.u64 cvta.to.global.u64 cvta.to.shared.u64 div.approx.f32 div.approx.ftz.f32 "
    "div.rn.f32 div.rn.f64 div.s32 div.u32 div.u64 ex2.approx.f32 ex2.approx.ftz.f32 fence.sc.cta fma.rm.f32 "
    "fma.rn.f16x2 fma.rn.f32 fma.rn.f64 fma.rn.ftz.f32 isspacep.global isspacep.shared ld.acquire.cta.b64 "
    "ld.acquire.gpu.u32 ld.acquire.sys.b64 ld.const.f32 ld.const.u32 ld.f32 ld.global.cs.f32 ld.global.cs.v4.s32 "
    "ld.global.f32 ld.global.f64 ld.global.nc.f32 ld.global.nc.f64 ld.global.nc.u16 ld.global.nc.u32 ld.global.nc.u64 "
    "ld.global.nc.u8 ld.global.nc.v2.f32 ld.global.nc.v2.f64 ld.global.nc.v4.f32 ld.global.nc.v4.u32 ld.global.s32 "
    "ld.global.s8 ld.global.u16 ld.global.u32 ld.global.u64 ld.global.u8 ld.global.v2.f32 ld.global.v2.u32 "
    "ld.global.v4.f32 ld.global.v4.u32 ld.local.f32 ld.local.u32 ld.local.u64 ld.local.u8 ld.param.b32 ld.param.b64 "
    "ld.param.f32 ld.param.f64 ld.param.s32 ld.param.s8 ld.param.u16 ld.param.u32 ld.param.u64 ld.param.v2.u32 "
    "ld.param.v4.u8 ld.relaxed.gpu.v2.u32 ld.shared.f32 ld.shared.f64 ld.shared.u16 ld.shared.u32 ld.shared.u64 "
    "ld.shared.u8 ld.shared.v2.u32 ld.shared.v4.f32 ld.shared.v4.u32 ld.u32 ld.u64 ld.u8 ld.volatile.global.u32 "
    "ld.volatile.shared.f32 ld.volatile.shared.u32 lg2.approx.f32 mad.lo.s32 mad.wide.u32 match.any.sync.b64 max.f32 "
    "max.f64 max.s32 max.u32 membar.cta membar.gl min.f32 min.s32 min.s64 min.u32 mov.b16 mov.b32 mov.b64 mov.f32 "
    "mov.f64 mov.pred mov.s32 mov.u16 mov.u32 mov.u64 mul.f16 mul.f32 mul.f64 mul.ftz.f32 mul.hi.s32 mul.hi.s64 "
    "mul.lo.s16 mul.lo.s32 mul.lo.s64 mul.rn.f32 mul.rn.f64 mul.wide.s32 mul.wide.u16 mul.wide.u32 nanosleep.u32 "
    "neg.f32 neg.f64 neg.s32 neg.s64 not.b32 not.b64 not.pred or.b16 or.b32 or.b64 or.pred popc.b32 prmt.b32 "
    "rcp.approx.ftz.f32 rcp.approx.ftz.f64 rcp.rn.f32 rcp.rn.f64 redux.sync.add.s32 rem.s32 rem.u32 ret "
    "rsqrt.approx.f32 selp.b16 selp.b32 selp.b64 selp.f32 selp.f64 selp.u16 selp.u32 selp.u64 setp.eq.b32 setp.eq.b64 "
    "setp.eq.f32 setp.eq.f64 setp.eq.s16 setp.eq.s32 setp.eq.s64 setp.ge.f32 setp.ge.f64 setp.ge.s32 setp.ge.s64 "
    "setp.ge.u32 setp.ge.u64 setp.geu.f32 setp.gt.f32 setp.gt.f64 setp.gt.s16 setp.gt.s32 setp.gt.s64 setp.gt.u32 "
    "setp.gt.u64 setp.gtu.f32 setp.gtu.f64 setp.le.f32 setp.le.s32 setp.le.s64 setp.le.u32 setp.le.u64 setp.leu.f32 "
    "setp.lt.f32 setp.lt.f64 setp.lt.s32 setp.lt.s64 setp.lt.u16 setp.lt.u32 setp.lt.u64 setp.ltu.f32 setp.ltu.f64 "
    "setp.ne.s16 setp.ne.s32 setp.ne.s64 setp.ne.u32 setp.neu.f32 setp.neu.f64 shfl.sync.bfly.b32 shfl.sync.down.b32 "
    "shfl.sync.idx.b32 shfl.sync.up.b32 shl.b16 shl.b32 shl.b64 shr.s32 shr.s64 shr.u16 shr.u32 shr.u64 sqrt.rn.f32 "
    "sqrt.rn.f64 st.f32 st.global.cs.f32 st.global.f32 st.global.f64 st.global.u16 st.global.u32 st.global.u64 "
    "st.global.u8 st.global.v2.f32 st.global.v2.u32 st.global.v2.u8 st.global.v4.f32 st.global.v4.u32 st.local.f64 "
    "st.local.u32 st.local.u64 st.local.u8 st.local.v2.u32 st.local.v4.u32 st.param.b32 st.param.b64 st.param.f32 "
    "st.param.f64 st.relaxed.cta.b32 st.relaxed.gpu.v2.u32 st.shared.f32 st.shared.f64 st.shared.u16 st.shared.u32 "
    "st.shared.u64 st.shared.u8 st.shared.v2.u32 st.shared.v4.u32 st.u32 st.u64 st.u8 st.volatile.global.u32 "
    "st.volatile.shared.f32 st.volatile.shared.u32 sub.f32 sub.f64 sub.s16 sub.s32 sub.s64 tex.2d.v4.f32.f32 trap "
    "vote.sync.all.pred vote.sync.any.pred vote.sync.ballot.b32 xor.b32 xor.b64 xor.pred ";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

/// A register of a type's width.
std::string reg(const std::string& type, int number) {
  const std::string n = std::to_string(number);
  if (type == "pred") return "%p" + n;
  if (type == "f16x2" || type == "bf16x2") return "%r" + n;
  const std::string digits = type.substr(type.find_first_of("0123456789"));
  return (digits == "64" ? "%l" : digits == "32" ? "%r" : "%h") + n;
}

bool is_type(const std::string& part) {
  static const std::set<std::string> kTypes = {"pred",  "b8",   "b16",    "b32", "b64", "u8",  "u16",
                                               "u32",   "u64",  "s8",     "s16", "s32", "s64", "f16",
                                               "f16x2", "bf16", "bf16x2", "f32", "f64"};
  return kTypes.count(part) > 0;
}

/// An instruction of that form with plausible operands.
std::string instruction(const std::string& form) {
  const std::vector<std::string> parts = split(form, '.');
  const auto has = [&](const char* part) { return std::find(parts.begin() + 1, parts.end(), part) != parts.end(); };
  std::vector<std::string> types;
  for (std::size_t k = 1; k < parts.size(); ++k)
    if (is_type(parts[k])) types.push_back(parts[k]);
  const std::string& op = parts[0];
  const std::string type = types.empty() ? "" : types.back();
  const auto d = [&](int n) { return reg(type, n); };
  const auto several = [&](int count) {
    std::string s = " " + d(1);
    for (int n = 2; n <= count + 1; ++n) s += ", " + d(n);
    return form + s;
  };
  const std::string address = has("shared")  ? "[%r9]"
                              : has("local") ? "[array]"
                              : has("const") ? "[table]"
                              : has("param") ? (op == "st" ? "[argument]" : "[p]")
                                             : "[%l9]";
  if (op == "ret" || op == "trap" || op == "membar" || op == "fence") return form;
  if (op == "bra") return form + " END";
  if (op == "bar" || op == "barrier") return form + (has("warp") ? " -1" : " 0");
  if (op == "nanosleep") return form + " 20";
  if (op == "call") return form + " helper";
  if (op == "activemask") return form + " %r1";
  if (op == "ld" || op == "st") {
    const std::string data = has("v2")   ? "{" + d(1) + ", " + d(2) + "}"
                             : has("v4") ? "{" + d(1) + ", " + d(2) + ", " + d(3) + ", " + d(4) + "}"
                                         : d(1);
    return op == "ld" ? form + " " + data + ", " + address : form + " " + address + ", " + data;
  }
  if (op == "atom") return form + " " + d(1) + ", " + address + ", " + d(2) + (has("cas") ? ", " + d(3) : "");
  if (op == "cvt") return form + " " + reg(types[0], 1) + ", " + reg(types[1], 2);
  if (op == "mul" && has("wide"))
    return form + " " + (type == "u16" || type == "s16" ? "%r1" : "%l1") + ", " + d(2) + ", " + d(3);
  if (op == "mad" && has("wide")) return form + " %l1, " + d(2) + ", " + d(3) + ", %l4";
  if (op == "setp") return form + " %p1, " + d(1) + ", " + d(2);
  if (op == "selp") return form + " " + d(1) + ", " + d(2) + ", " + d(3) + ", %p1";
  if (op == "shl" || op == "shr") return form + " " + d(1) + ", " + d(2) + ", %r3";
  if (op == "bfi") return several(2) + ", %r7, %r8";
  if (op == "bfind" || op == "clz" || op == "popc") return form + " %r1, " + d(2);
  if (op == "shfl") return form + " %r1, %r2, 1, 31, -1";
  if (op == "vote") return form + " " + d(1) + ", %p2, -1";
  if (op == "match") return form + " %r1, " + d(2) + ", -1";
  if (op == "redux") return form + " %r1, %r2, -1";
  if (op == "isspacep") return form + " %p1, %l1";
  if (op == "tex") return form + " {%r1, %r2, %r3, %r4}, [%l1, {%r5, %r6}]";
  if (op == "fma" || op == "mad" || op == "prmt") return several(3);
  static const std::set<std::string> kUnary = {"mov", "neg",   "abs", "not", "brev", "sqrt",
                                               "rcp", "rsqrt", "ex2", "lg2", "cvta"};
  return several(kUnary.count(op) ? 1 : 2);
}

TEST(Coverage, EveryFormThatProgramsUseHasAHandler) {
  std::string text = ".func helper { ret; }\n.const .align 16 .b8 table[64];\n";
  std::vector<std::string> forms;
  for (const std::string& form : split(kForms, ' '))
    if (!form.empty()) forms.push_back(form);
  ASSERT_GT(forms.size(), 300u);
  for (std::size_t k = 0; k < forms.size(); ++k)
    text += ".visible .entry k" + std::to_string(k) +
            "(.param .align 16 .b8 p[64])\n{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<12>; .reg .b64 %l<12>; "
            ".local .align 16 .b8 array[64]; .param .align 16 .b8 argument[64];\n" +
            instruction(forms[k]) + ";\nEND: ret; }\n";
  Machine m;
  m.load(text);
  std::string missing;
  for (std::size_t k = 0; k < forms.size(); ++k) {
    const auto program = decode(m.kernel("k" + std::to_string(k)));
    for (const XOp& op : program->ops)
      if (op.run == run_unsupported || op.inner == run_unsupported) missing += forms[k] + " ";
  }
  EXPECT_EQ(missing, "");
}

/// Every form of the opcode table in a kernel of its own, runnable or not: a launch ends in one of the known ways.
TEST(Coverage, AnyFormEndsInAKnownWay) {
  EngineOptions options = Machine::one_thread();
  options.max_steps = 10'000;
  options.hang_seconds = 0.01;
  memory::AddressSpace memory(std::uint64_t{1} << 28);
  const arch::GpuSpec gpu = arch::find_gpu("h200");
  Engine engine(memory, gpu, options);
  int kernels = 0, unsupported = 0;
  const auto run = [&](const std::string& text) {
    ptx::ParseResult parsed = ptx::parse(text, "form.ptx");
    code::LoadedModule module(std::make_shared<const ptx::Module>(std::move(parsed.module)), memory);
    for (const std::string& name : module.kernel_names()) {
      LaunchRequest request;
      request.kernel = module.kernel(name);
      request.block = {40, 1, 1};
      request.params.resize(request.kernel->param_bytes);
      const auto handle = engine.start(request);
      handle->wait_ended();
      const LaunchResult& r = handle->result();
      EXPECT_EQ(r.outcome == Outcome::kOk, r.record.fault.code.empty()) << text;
      ++kernels;
      unsupported += r.outcome == Outcome::kUnsupported;
    }
  };
  for (const auto& entry : std::filesystem::directory_iterator(MUSCOPE_SOURCE_DIR "/tests/opcodes")) {
    if (entry.path().extension() != ".ptx") continue;
    std::ifstream file(entry.path());
    std::string before;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
      const std::size_t first = line.find_first_not_of(' ');
      const bool statement = inside && first != std::string::npos &&
                             std::isalpha(static_cast<unsigned char>(line[first])) && line.back() == ';';
      if (statement)
        run(before + line + "\nret;\n}\n");
      else if (!inside || (first != std::string::npos && line[first] == '.'))
        before += line + "\n";
      if (line[0] == '{') inside = true;
      if (line[0] == '}') before += "\n", inside = false;
    }
  }
  EXPECT_GT(kernels, 400);
  EXPECT_LT(unsupported, kernels / 2);
}

}  // namespace
}  // namespace muscope::exec::testing
