// Register slots: values that live at the same time never share one, on random programs too; lane widths stay apart.
#include "code/registers.h"

#include <algorithm>
#include <map>
#include <set>

#include "code/test_module.h"

namespace muscope::code::testing {
namespace {

struct Assigned {
  std::shared_ptr<const ptx::Module> module;
  FlowGraph flow;
  RegisterMap map;
  std::uint32_t slot(const std::string& name) const {
    const ptx::Function& f = function(*module, "k");
    for (std::uint32_t r = 0; r < f.registers.size(); ++r)
      if (f.registers[r].name == name) return map.place[r].exists() ? map.place[r].bits / kSlotBytes : 9999;
    ADD_FAILURE() << name;
    return 0;
  }
};

Assigned assign(const std::string& text) {
  Assigned a;
  a.module = parse(text);
  const ptx::Function& f = function(*a.module, "k");
  a.flow = build_flow_graph(f);
  a.map = assign_registers(f, a.flow, std::vector<bool>(f.registers.size(), false));
  return a;
}
std::string entry(const std::string& body) {
  return ".visible .entry k(.param .u64 out)\n{ .reg .b32 %r<40>; .reg .b64 %l<20>; .reg .b16 %h<20>; .reg .pred "
         "%p<20>;\n" +
         body + "\n}";
}

TEST(Registers, DeadValuesGiveTheirSlotAway) {
  std::string chain = "mov.u32 %r0, %tid.x;";
  for (int k = 1; k < 30; ++k) chain += " add.u32 %r" + std::to_string(k) + ", %r" + std::to_string(k - 1) + ", 1;";
  const Assigned a = assign(entry(chain + " st.global.u32 [%l1], %r29; ret;"));
  std::set<std::uint32_t> slots;
  for (int k = 0; k < 30; ++k) slots.insert(a.slot("%r" + std::to_string(k)));
  EXPECT_LE(slots.size(), 3u);
}

TEST(Registers, AnInstructionThatOverwritesItsSourceReadsItFirst) {
  // %r1 counts through a loop in whose body %r2 is born and dies: they must not share, although nothing but the add
  // reads %r1.
  const Assigned a =
      assign(entry("mov.u32 %r1, 0; mov.u32 %r3, 100;\nLOOP: add.u32 %r2, %r3, 5; st.global.u32 [%l1], %r2; add.u32 "
                   "%r1, %r1, 1; setp.lt.u32 %p1, %r1, 10; @%p1 bra LOOP; ret;"));
  EXPECT_NE(a.slot("%r1"), a.slot("%r2"));
  EXPECT_NE(a.slot("%r1"), a.slot("%r3"));
}

TEST(Registers, GuardedWritesKeepTheOldValue) {
  const Assigned a =
      assign(entry("mov.u32 %r1, 5; mov.u32 %r4, 6; add.u32 %r2, %r4, 1; st.global.u32 [%l1], %r2; @%p1 mov.u32 %r1, "
                   "7; st.global.u32 [%l1], %r1; ret;"));
  EXPECT_NE(a.slot("%r1"), a.slot("%r2"));
}

TEST(Registers, LaneWidthsDoNotShareSlots) {
  const Assigned a = assign(
      entry("mov.u32 %r1, %tid.x; cvt.u16.u32 %h1, %r1; add.u16 %h2, %h1, 1; cvt.u32.u16 %r2, %h2; add.u32 %r3, %r2, "
            "1; cvt.u64.u32 %l2, %r3; add.u64 %l3, %l2, 1; cvt.u16.u64 %h3, %l3; st.global.u16 [%l1], %h3; ret;"));
  std::set<std::uint32_t> by_width[3];
  const char* names[3][3] = {{"%h1", "%h2", "%h3"}, {"%r1", "%r2", "%r3"}, {"%l1", "%l2", "%l3"}};
  for (int w = 0; w < 3; ++w)
    for (const char* name : names[w]) {
      const std::uint32_t slot = a.slot(name);
      by_width[w].insert(slot);
      if (w == 2) by_width[w].insert(slot + 1);
    }
  for (int w = 0; w < 3; ++w)
    for (int v = 0; v < w; ++v)
      for (std::uint32_t slot : by_width[w])
        EXPECT_EQ(by_width[v].count(slot), 0u) << w << " and " << v << " share " << slot;
}

TEST(Registers, ReadBeforeWrittenIsZeroed) {
  const Assigned a = assign(entry("@%p1 bra SKIP; mov.u32 %r1, 5;\nSKIP: st.global.u32 [%l1], %r1; ret;"));
  const std::uint32_t at = a.slot("%r1") * kSlotBytes;
  EXPECT_NE(std::find(a.map.zero_slots.begin(), a.map.zero_slots.end(), at), a.map.zero_slots.end());
}

TEST(Registers, ResultsLiveUntilTheReturnAndParametersFromTheStart) {
  const Assigned a = assign(
      ".func (.reg .b32 %u) k(.reg .b32 %a, .reg .b32 %b)\n{ .reg .b32 %r<9>; .reg .b64 %l<2>;\n add.u32 %u, %a, 1; "
      "mov.u32 %b, 7; add.u32 %r1, %b, 1; add.u32 %r2, %r1, 1; st.global.u32 [%l1], %r2; ret; }");
  for (const char* name : {"%r1", "%r2", "%b"}) EXPECT_NE(a.slot("%u"), a.slot(name)) << name;
  EXPECT_NE(a.slot("%a"), a.slot("%b")) << "the caller writes both before the first instruction";
}

/// Interference by brute force: walks all paths of a small function with liveness per instruction.
TEST(Registers, RandomProgramsNeverShareLiveSlots) {
  std::uint64_t state = 12345;
  const auto next = [&](std::uint32_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>(state >> 33) % n;
  };
  for (int round = 0; round < 200; ++round) {
    // Unstructured code: blocks of random instructions that end in random branches.
    constexpr std::uint32_t kBlocks = 8;
    std::string body;
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      body += "L" + std::to_string(b) + ":";
      for (std::uint32_t n = 1 + next(5); n > 0; --n) {
        const auto r = [&] { return std::to_string(next(10)); };
        switch (next(5)) {
          case 0:
            body += " add.u32 %r" + r() + ", %r" + r() + ", %r" + r() + ";";
            break;
          case 1:
            body += " add.u64 %l" + r() + ", %l" + r() + ", %l" + r() + ";";
            break;
          case 2:
            body += " cvt.u16.u32 %h" + r() + ", %r" + r() + ";";
            break;
          case 3:
            body += " @%p" + r() + " mov.u32 %r" + r() + ", %r" + r() + ";";
            break;
          default:
            body += " mov.u32 %r" + r() + ", " + r() + ";";
        }
      }
      if (next(2))
        body += " @%p1 bra L" + std::to_string(next(kBlocks)) + ";";
      else if (next(4) == 0)
        body += " bra L" + std::to_string(next(kBlocks)) + ";";
      body += "\n";
    }
    const Assigned a = assign(entry(body + " st.global.u32 [%l1], %r3; st.global.u16 [%l1], %h3; ret;"));
    const ptx::Function& f = function(*a.module, "k");
    // Live sets before every instruction, by iteration over instructions.
    std::map<std::uint32_t, std::vector<std::set<std::uint32_t>>>
        live;  // by block: before each instruction and at the end
    const auto instructions = [&](std::uint32_t b) {
      std::vector<const ptx::Instruction*> list;
      for (std::uint32_t i = a.flow.blocks[b].begin; i < a.flow.blocks[b].end; ++i) list.push_back(&f.body[i]);
      if (a.flow.blocks[b].source != kNone) list.push_back(&f.body[a.flow.blocks[b].source]);
      return list;
    };
    for (std::uint32_t b : a.flow.order) live[b].resize(instructions(b).size() + 1);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b : a.flow.order) {
        std::set<std::uint32_t> now;
        for (std::uint32_t s : a.flow.blocks[b].successors) now.insert(live[s][0].begin(), live[s][0].end());
        const auto list = instructions(b);
        live[b][list.size()] = now;
        for (std::size_t k = list.size(); k-- > 0;) {
          const ptx::Instruction& i = *list[k];
          if (i.guard == ptx::kNoIndex && !i.operands.empty() && i.operands[0].kind == ptx::OperandKind::kRegister &&
              i.opcode != ptx::Opcode::k_st)
            now.erase(i.operands[0].reg);
          if (i.guard != ptx::kNoIndex) now.insert(i.guard);
          for (std::size_t o = i.opcode == ptx::Opcode::k_st ? 0 : 1; o < i.operands.size(); ++o)
            if (i.operands[o].reg != ptx::kNoIndex) now.insert(i.operands[o].reg);
          if (now != live[b][k]) live[b][k] = now, changed = true;
        }
      }
    }
    const auto slots = [&](std::uint32_t r) {
      return std::pair(a.map.place[r].bits,
                       a.map.place[r].bits + (f.registers[r].type == ptx::Type::kPred  ? 4u
                                              : ptx::size_of(f.registers[r].type) == 8 ? 2 * kSlotBytes
                                                                                       : kSlotBytes));
    };
    for (const auto& [b, sets] : live)
      for (const auto& set : sets)
        for (std::uint32_t x : set)
          for (std::uint32_t y : set) {
            if (x >= y) continue;
            ASSERT_TRUE(a.map.place[x].exists() && a.map.place[y].exists());
            const auto [x0, x1] = slots(x);
            const auto [y0, y1] = slots(y);
            ASSERT_TRUE(x1 <= y0 || y1 <= x0) << f.registers[x].name << " and " << f.registers[y].name << " in\n"
                                              << body;
          }
  }
}

}  // namespace
}  // namespace muscope::code::testing
