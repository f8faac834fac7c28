// Random structured programs as PTX text and as a flat list of instructions; see random_program_test.cc.
#pragma once

#include <algorithm>
#include <numeric>

#include "exec/test_kernel.h"

namespace muscope::exec::testing {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 kThreads = 80, kBlocks = 2, kStores = 6;

struct Random {
  u64 state;
  u32 next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<u32>(state >> 33);
  }
  u32 below(u32 n) { return next() % n; }
  bool chance(u32 percent) { return below(100) < percent; }
};

/// A register: its width in bytes (0: predicate) and number.
struct Reg {
  u32 bytes = 4, number = 0;
  std::string text() const {
    return std::string("%") + (bytes == 0 ? "p" : bytes == 2 ? "h" : bytes == 4 ? "r" : "l") + std::to_string(number);
  }
};
struct Source {
  bool is_reg = false;
  Reg reg;
  u64 value = 0;
  std::string text() const { return is_reg ? reg.text() : std::to_string(value); }
};

enum class Kind {
  kAdd,
  kSub,
  kMul,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kMin,
  kMax,
  kMov,
  kCvt,
  kSetp,
  kBra,
  kBrx,
  kRet,
  kCall,
  kStore,
  kSelp
};
struct Instruction {
  Kind kind = Kind::kMov;
  Reg dst;
  std::vector<Source> sources;
  u32 compare = 0;  ///< kSetp: 0 lt, 1 eq, 2 ge
  bool guarded = false, negated = false;
  Reg guard;
  u32 label = 0;  ///< kBra; kStore: slot; kCall: function
  std::vector<u32> labels;
};

struct Function {
  std::vector<Instruction> body;
  std::vector<std::size_t> label_at;
  u32 predicates = 1, halves = 1, words = 16, longs = 1;  ///< registers in use
  bool entry = true;
};

/// Writes one function as a flat list with labels.
class Writer {
 public:
  Writer(Random& random, bool entry, u32 callees) : random_(random), callees_(callees) {
    f_.entry = entry;
    f_.words = 4;
    for (u32 i = 0; i < 4; ++i) live_.push_back({4, i});
    live_.push_back({8, 0});
    live_.push_back({2, 0});
    // Registers 0 to 3 hold inputs; the 64- and 16-bit ones start from them.
    emit(Kind::kCvt, {8, 0}, {use({4, 0})});
    emit(Kind::kCvt, {2, 0}, {use({4, 1})});
  }

  Function finish(u32 statements) {
    block(statements, 0);
    if (f_.entry)
      for (u32 i = 0; i < 3; ++i) store(i);
    else
      emit(Kind::kMov, {4, 0}, {use(word())});
    emit(Kind::kRet, {}, {});
    return std::move(f_);
  }

 private:
  static Source use(Reg r) { return {true, r, 0}; }
  static Source literal(u64 v) { return {false, {}, v}; }
  Instruction& emit(Kind kind, Reg dst, std::vector<Source> sources) {
    Instruction i;
    i.kind = kind;
    i.dst = dst;
    i.sources = std::move(sources);
    f_.body.push_back(std::move(i));
    return f_.body.back();
  }
  Reg fresh(u32 bytes) {
    u32& count = bytes == 0 ? f_.predicates : bytes == 2 ? f_.halves : bytes == 4 ? f_.words : f_.longs;
    return {bytes, count++};
  }
  Reg any(u32 bytes) {
    std::vector<Reg> fit;
    for (const Reg& r : live_)
      if (r.bytes == bytes) fit.push_back(r);
    return fit[random_.below(static_cast<u32>(fit.size()))];
  }
  Reg word() { return any(4); }
  u32 label() {
    f_.label_at.push_back(0);
    return static_cast<u32>(f_.label_at.size() - 1);
  }
  void place(u32 l) { f_.label_at[l] = f_.body.size(); }
  void branch(u32 l) { emit(Kind::kBra, {}, {}).label = l; }
  void branch_if(Reg p, bool negated, u32 l) {
    Instruction& i = emit(Kind::kBra, {}, {});
    i.label = l;
    i.guarded = true;
    i.guard = p;
    i.negated = negated;
  }

  Reg condition() {
    const Reg p = fresh(0);
    // Often by lane, so that warps part.
    const Reg t = fresh(4);
    emit(Kind::kAnd, t, {use(random_.chance(40) ? Reg{4, 0} : word()), literal(1 + random_.below(7))});
    emit(Kind::kSetp, p, {use(t), literal(random_.below(4))}).compare = random_.below(3);
    return p;
  }

  /// A value of that width through a few temporaries.
  Reg expression(u32 bytes, int depth) {
    if (depth == 0 || random_.chance(20)) return any(bytes);
    if (random_.chance(25)) {
      static constexpr u32 kWidths[] = {2, 4, 8};
      const u32 from = kWidths[random_.below(3)];
      if (from != bytes) {
        const Reg source = expression(from, depth - 1), d = fresh(bytes);
        emit(Kind::kCvt, d, {use(source)});
        return d;
      }
    }
    static constexpr Kind kKinds[] = {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kAnd, Kind::kOr,
                                      Kind::kXor, Kind::kShl, Kind::kShr, Kind::kMin, Kind::kMax};
    const Kind kind = kKinds[random_.below(10)];
    const Reg a = expression(bytes, depth - 1);
    Source b = literal(random_.below(1000));
    if (kind == Kind::kShl || kind == Kind::kShr)
      b = literal(random_.below(bytes * 8 + 3));
    else if (random_.chance(70))
      b = use(expression(bytes, depth - 1));
    const Reg d = fresh(bytes);
    emit(kind, d, {use(a), b});
    return d;
  }

  void assign() {
    static constexpr u32 kWidths[] = {2, 4, 4, 8};
    const u32 bytes = kWidths[random_.below(4)];
    const Reg value = expression(bytes, 3);
    Reg d = any(bytes);
    if (d.bytes == 4 && d.number == 0) d = value;  // register 0 stays the thread's number
    if (random_.chance(30) && live_.size() < 20) {
      // A new variable, set for all lanes first.
      d = fresh(bytes);
      emit(Kind::kMov, d, {literal(random_.below(100))});
      if (depth_ == 0) live_.push_back(d);
    }
    if (random_.chance(40)) {
      const Reg p = condition();
      Instruction& i = emit(Kind::kMov, d, {use(value)});
      i.guarded = true;
      i.guard = p;
      i.negated = random_.chance(50);
    } else if (random_.chance(30)) {
      const Reg p = condition();
      emit(Kind::kSelp, d, {use(value), use(any(bytes)), use(p)});
    } else {
      emit(Kind::kMov, d, {use(value)});
    }
  }

  void store(u32 slot) { emit(Kind::kStore, {}, {use(expression(4, 2))}).label = slot; }

  void block(u32 statements, int depth) {
    const int before = depth_;
    depth_ = depth;
    for (u32 s = 0; s < statements; ++s) statement(depth);
    depth_ = before;
  }

  void statement(int depth) {
    const u32 choice = random_.below(100);
    if (depth >= 4 || choice < 35) return assign();
    if (choice < 55) {  // if, else
      const u32 otherwise = label(), end = label();
      const bool has_else = random_.chance(60);
      branch_if(condition(), true, has_else ? otherwise : end);
      block(1 + random_.below(3), depth + 1);
      if (has_else) {
        branch(end);
        place(otherwise);
        block(1 + random_.below(3), depth + 1);
      } else {
        place(otherwise);
      }
      place(end);
    } else if (choice < 72) {  // loop with its own counter
      const Reg limit = fresh(4), count = fresh(4), p = fresh(0);
      const u32 head = label(), next = label(), end = label();
      emit(Kind::kAnd, limit, {use(random_.chance(50) ? Reg{4, 0} : word()), literal(7)});
      emit(Kind::kMov, count, {literal(0)});
      place(head);
      const bool test_first = random_.chance(50);
      if (test_first) {
        emit(Kind::kSetp, p, {use(count), use(limit)}).compare = 2;
        branch_if(p, false, end);
      }
      loops_.push_back({next, end});
      block(1 + random_.below(4), depth + 1);
      loops_.pop_back();
      place(next);
      emit(Kind::kAdd, count, {use(count), literal(1)});
      if (test_first) {
        branch(head);
      } else {
        emit(Kind::kSetp, p, {use(count), use(limit)}).compare = 0;
        branch_if(p, false, head);
      }
      place(end);
    } else if (choice < 80 && !loops_.empty()) {  // break or continue, sometimes with work on the way out
      const Reg p = condition();
      const u32 target =
          random_.chance(60) ? loops_[random_.below(static_cast<u32>(loops_.size()))].second : loops_.back().first;
      if (random_.chance(50)) {
        const u32 on = label();
        branch_if(p, true, on);
        assign();
        branch(target);
        place(on);
      } else {
        branch_if(p, random_.chance(30), target);
      }
    } else if (choice < 84) {  // early return
      const Reg p = condition();
      const Reg q = fresh(0), t = fresh(4);
      emit(Kind::kAnd, t, {use(word()), literal(15)});
      emit(Kind::kSetp, q, {use(t), literal(3)}).compare = 1;
      const u32 on = label();
      branch_if(p, true, on);
      if (f_.entry && random_.chance(50)) store(3);
      Instruction& i = emit(Kind::kRet, {}, {});
      i.guarded = true;
      i.guard = q;
      place(on);
    } else if (choice < 90) {  // switch
      const u32 cases = 2 + random_.below(3);
      const Reg index = fresh(4), small = fresh(4);
      emit(Kind::kAnd, index, {use(random_.chance(60) ? Reg{4, 0} : word()), literal(7)});
      emit(Kind::kMin, small, {use(index), literal(cases)});
      const u32 end = label();
      std::vector<u32> targets;
      for (u32 c = 0; c <= cases; ++c) targets.push_back(random_.chance(20) ? end : label());
      emit(Kind::kBrx, {}, {use(small)}).labels = targets;
      for (u32 c = 0; c <= cases; ++c) {
        if (targets[c] == end) continue;
        place(targets[c]);
        block(1, depth + 1);
        if (random_.chance(70)) branch(end);  // else falls into the next case
      }
      place(end);
    } else if (choice < 95 && callees_ > 0) {
      const Reg d = fresh(4);
      Instruction& i = emit(Kind::kCall, d, {use(word()), use(expression(4, 1))});
      i.label = random_.below(callees_);
      emit(Kind::kXor, any(4).number == 0 ? Reg{4, 1} : Reg{4, 2}, {use(d), use(word())});
    } else if (f_.entry) {
      store(4 + random_.below(2));
    } else {
      assign();
    }
  }

  Random& random_;
  Function f_;
  u32 callees_;
  int depth_ = 0;
  std::vector<Reg> live_;
  std::vector<std::pair<u32, u32>> loops_;
};

struct Program {
  std::vector<Function> functions;  ///< the entry last; a function calls only those before it
};

inline std::string text_of(const Instruction& i, u32 number) {
  const auto type = [](u32 bytes, char kind) { return std::string(".") + kind + std::to_string(bytes * 8); };
  const auto list = [&] {
    std::string s = " " + i.dst.text();
    for (const Source& x : i.sources) s += ", " + x.text();
    return s;
  };
  std::string s = i.guarded ? std::string("@") + (i.negated ? "!" : "") + i.guard.text() + " " : "";
  const u32 w = i.dst.bytes;
  switch (i.kind) {
    case Kind::kAdd:
      return s + "add" + type(w, 'u') + list();
    case Kind::kSub:
      return s + "sub" + type(w, 'u') + list();
    case Kind::kMul:
      return s + "mul.lo" + type(w, 'u') + list();
    case Kind::kAnd:
      return s + "and" + type(w, 'b') + list();
    case Kind::kOr:
      return s + "or" + type(w, 'b') + list();
    case Kind::kXor:
      return s + "xor" + type(w, 'b') + list();
    case Kind::kShl:
      return s + "shl" + type(w, 'b') + list();
    case Kind::kShr:
      return s + "shr" + type(w, 'u') + list();
    case Kind::kMin:
      return s + "min" + type(w, 'u') + list();
    case Kind::kMax:
      return s + "max" + type(w, 'u') + list();
    case Kind::kMov:
      return s + "mov" + type(w, 'u') + list();
    case Kind::kSelp:
      return s + "selp" + type(w, 'u') + list();
    case Kind::kCvt:
      return s + "cvt" + type(w, 'u') + type(i.sources[0].reg.bytes, 'u') + list();
    case Kind::kSetp:
      return s + "setp." + (i.compare == 0 ? "lt" : i.compare == 1 ? "eq" : "ge") + ".u32" + list();
    case Kind::kBra:
      return s + "bra L" + std::to_string(i.label);
    case Kind::kBrx:
      return "brx.idx " + i.sources[0].text() + ", T" + std::to_string(number);
    case Kind::kRet:
      return s + "ret";
    case Kind::kStore:
      return s + "st.global.u32 [%out+" + std::to_string(4 * i.label) + "], " + i.sources[0].text();
    case Kind::kCall:
      return "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], " + i.sources[0].text() +
             "; st.param.b32 [b], " + i.sources[1].text() + "; call.uni (c), f" + std::to_string(i.label) +
             ", (a, b); ld.param.b32 " + i.dst.text() + ", [c]; }";
  }
  return s;
}

inline std::string text_of(const Program& program) {
  std::string s;
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    const Function& function = program.functions[f];
    const std::string name = "f" + std::to_string(f);
    s += function.entry ? ".visible .entry k(.param .u64 out, .param .u32 seed)\n{\n"
                        : ".func (.param .b32 c) " + name + "(.param .b32 a, .param .b32 b)\n{\n";
    s += " .reg .pred %p<" + std::to_string(function.predicates) + ">; .reg .b16 %h<" +
         std::to_string(function.halves) + ">; .reg .b32 %r<" + std::to_string(function.words) +
         ">, %t<4>; .reg .b64 %l<" + std::to_string(function.longs) + ">, %out, %at;\n";
    if (function.entry)
      s += " mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x; mad.lo.u32 %r0, %t1, " + std::to_string(kThreads) +
           ", %t0; ld.param.u32 %r1, [seed]; mul.lo.u32 %r2, %r0, 2654435761; xor.b32 %r3, %r2, %r1;\n"
           " ld.param.u64 %at, [out]; mul.wide.u32 %out, %r0, " +
           std::to_string(4 * kStores) + "; add.u64 %out, %out, %at;\n";
    else
      s += " ld.param.b32 %r0, [a]; ld.param.b32 %r1, [b]; add.u32 %r2, %r0, %r1; xor.b32 %r3, %r0, 12345;\n";
    for (std::size_t i = 0; i < function.body.size(); ++i)
      if (!function.body[i].labels.empty()) {
        s += "T" + std::to_string(i) + ": .branchtargets ";
        for (std::size_t k = 0; k < function.body[i].labels.size(); ++k)
          s += (k ? ", L" : "L") + std::to_string(function.body[i].labels[k]);
        s += ";\n";
      }
    for (std::size_t i = 0; i <= function.body.size(); ++i) {
      for (std::size_t l = 0; l < function.label_at.size(); ++l)
        if (function.label_at[l] == i) s += "L" + std::to_string(l) + ":\n";
      if (i == function.body.size()) break;
      if (!function.entry && function.body[i].kind == Kind::kRet) s += " st.param.b32 [c], %r0;\n";
      s += " " + text_of(function.body[i], static_cast<u32>(i)) + (function.body[i].kind == Kind::kCall ? "\n" : ";\n");
    }
    s += "}\n";
  }
  return s;
}

}  // namespace muscope::exec::testing
