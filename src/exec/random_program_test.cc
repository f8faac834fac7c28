// Random structured programs - branches, loops with breaks, switches, calls, early returns, registers of three widths -
// run by the engine and, thread by thread, by a plain interpreter. Memory and executed instructions must agree.
#include "exec/random_program.h"

namespace muscope::exec::testing {
namespace {

/// Runs one thread.
class Thread {
 public:
  Thread(const Program& program, std::vector<u32>& out, u32 index, u32 seed)
      : program_(program), out_(out), index_(index) {
    const u32 hash = index * 2654435761u;
    executed_ = 9;
    (void)run(static_cast<u32>(program.functions.size() - 1), {index, seed, hash, hash ^ seed});
  }
  u64 executed() const { return executed_; }

 private:
  static constexpr u32 kLimit = 1 << 20;
  u32 run(u32 number, std::vector<u32> inputs) {
    const Function& f = program_.functions[number];
    std::vector<u64> p(f.predicates), h(f.halves), r(f.words), l(f.longs);
    for (std::size_t i = 0; i < inputs.size(); ++i) r[i] = inputs[i];
    const auto place = [&](Reg x) -> u64& {
      return x.bytes == 0 ? p[x.number] : x.bytes == 2 ? h[x.number] : x.bytes == 4 ? r[x.number] : l[x.number];
    };
    const auto value = [&](const Source& s, u32 bytes) { return (s.is_reg ? place(s.reg) : s.value) & mask(bytes); };
    for (std::size_t pc = 0; pc < f.body.size();) {
      const Instruction& i = f.body[pc++];
      if (++steps_ > kLimit) {
        ADD_FAILURE() << "endless";
        return 0;
      }
      const bool on = !i.guarded || (place(i.guard) != 0) != i.negated;
      const bool control = i.kind == Kind::kBra || i.kind == Kind::kBrx || i.kind == Kind::kRet;
      if (i.kind == Kind::kRet && !f.entry) ++executed_;  // the st.param before it
      executed_ += i.kind == Kind::kCall ? 4 : on || control ? 1 : 0;
      if (!on) continue;
      const u32 w = i.dst.bytes;
      const u64 a = i.sources.empty() ? 0 : value(i.sources[0], 8),
                b = i.sources.size() > 1 ? value(i.sources[1], 8) : 0;
      const auto set = [&](u64 v) { place(i.dst) = v & mask(w); };
      switch (i.kind) {
        case Kind::kAdd:
          set(a + b);
          break;
        case Kind::kSub:
          set(a - b);
          break;
        case Kind::kMul:
          set(a * b);
          break;
        case Kind::kAnd:
          set(a & b);
          break;
        case Kind::kOr:
          set(a | b);
          break;
        case Kind::kXor:
          set(a ^ b);
          break;
        case Kind::kShl:
          set(b >= w * 8 ? 0 : a << b);
          break;
        case Kind::kShr:
          set(b >= w * 8 ? 0 : a >> b);
          break;
        case Kind::kMin:
          set(std::min(a, b));
          break;
        case Kind::kMax:
          set(std::max(a, b));
          break;
        case Kind::kMov:
        case Kind::kCvt:
          set(a);
          break;
        case Kind::kSelp:
          set(place(i.sources[2].reg) ? a : b);
          break;
        case Kind::kSetp:
          place(i.dst) = i.compare == 0 ? a < b : i.compare == 1 ? a == b : a >= b;
          break;
        case Kind::kBra:
          pc = f.label_at[i.label];
          break;
        case Kind::kBrx:
          pc = f.label_at[i.labels[static_cast<std::size_t>(a)]];
          break;
        case Kind::kRet:
          return static_cast<u32>(r[0]);
        case Kind::kStore:
          out_[index_ * kStores + i.label] = static_cast<u32>(a);
          break;
        case Kind::kCall: {
          executed_ += 4;  // the callee's first instructions
          const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
          set(run(i.label, {x, y, x + y, x ^ 12345}));
          break;
        }
      }
    }
    return 0;
  }
  static u64 mask(u32 bytes) { return bytes >= 8 ? ~u64{0} : (u64{1} << (8 * bytes)) - 1; }

  const Program& program_;
  std::vector<u32>& out_;
  u32 index_;
  u64 executed_ = 0;
  u32 steps_ = 0;
};

Program make_program(u64 seed) {
  Random random{seed * 0x9e3779b97f4a7c15ull + 1};
  random.next();
  Program program;
  const u32 callees = random.below(3);
  for (u32 f = 0; f < callees; ++f) program.functions.push_back(Writer(random, false, f).finish(2 + random.below(5)));
  program.functions.push_back(Writer(random, true, callees).finish(5 + random.below(16)));
  return program;
}

class RandomPrograms : public ::testing::TestWithParam<int> {};

TEST_P(RandomPrograms, GiveWhatEachThreadAloneGives) {
  for (u64 n = 0; n < 40; ++n) {
    const u64 seed = static_cast<u64>(GetParam()) * 40 + n;
    const Program program = make_program(seed);
    std::vector<u32> want(kThreads * kBlocks * kStores, 0);
    u64 executed = 0;
    for (u32 t = 0; t < kThreads * kBlocks; ++t)
      executed += Thread(program, want, t, static_cast<u32>(seed)).executed();
    Machine m;
    const std::string text = text_of(program);
    m.load(text);
    const u64 out = m.zeros(want.size() * 4);
    const LaunchResult r = m.run_ok("k", {kBlocks, 1, 1}, {kThreads, 1, 1}, out, static_cast<u32>(seed));
    const std::vector<u32> got = m.read<u32>(out, want.size());
    u64 counted = 0, warp = 0;
    for (const views::FrameCounts& f : r.record.frames) counted += f.thread_instructions, warp += f.warp_instructions;
    EXPECT_EQ(counted, executed) << "seed " << seed;
    EXPECT_GE(warp * 32, counted);
    if (got != want || counted != executed) {
      const std::size_t at =
          static_cast<std::size_t>(std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin());
      FAIL() << "seed " << seed << " thread " << at / kStores << " store " << at % kStores << "\n" << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(0, 8));

}  // namespace
}  // namespace muscope::exec::testing
