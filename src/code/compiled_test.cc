// Programs that nvcc 13.0.88 built: their cubins against what `ptxas -v` printed for the same PTX, and against what
// their disassembly shows.
#include "code/compiled.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "cubin/elf_view.h"
#include "cubin/fatbin.h"
#include "ptx/parser.h"

namespace muscope::code {
namespace {

using testing::Contains;
using testing::IsEmpty;
using views::CodeAccesses;
using views::CodeChange;
using views::CodeChangeKind;

/// The device code of a program of tests/counters.
class Program {
 public:
  explicit Program(const std::string& name) {
    std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/counters/" + name, std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(in), {});
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(file_.data()), file_.size());
    std::string why;
    const auto elf = cubin::ElfView::parse(bytes, why);
    EXPECT_TRUE(elf) << name << ": " << why;
    if (!elf) return;
    const cubin::Fatbin fatbin = cubin::decode_bytes(elf->find(".nv_fatbin")->bytes);
    module_ = ptx::parse(cubin::payload(*cubin::choose_ptx(fatbin.entries, 90).entry), name).module;
    for (const cubin::FatbinEntry& entry : fatbin.entries) {
      if (entry.kind != cubin::EntryKind::kCubin) continue;
      const std::string code = cubin::payload(entry);
      const std::span<const std::uint8_t> span(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
      cubin::CubinInfo info = cubin::read_cubin(span);
      if (info.kernels.empty()) continue;  // what the device linker left
      info_ = std::move(info);
      image_ = cubin::read_code_image(span);
    }
  }

  cubin::CodeImage& image() { return image_; }

  views::KernelInfo kernel(const std::string& mangled) const {
    views::KernelInfo info;
    info.mangled = mangled;
    add_compiled_facts(info, module_, image_, info_);
    EXPECT_TRUE(info.compiled.known) << mangled;
    return info;
  }

 private:
  std::string file_;
  ptx::Module module_;
  cubin::CodeImage image_;
  cubin::CubinInfo info_;
};

struct Change {
  int line = 0;  ///< of the program's own file
  CodeChangeKind kind = CodeChangeKind::kBecame;
  trace::Space space = trace::Space::kGlobal;
  trace::Kind access = trace::Kind::kLoad;
  CodeAccesses ptx, machine;
  bool operator==(const Change&) const = default;
};

void PrintTo(const Change& c, std::ostream* out) {
  *out << "line " << c.line << " kind " << static_cast<int>(c.kind) << " space " << static_cast<int>(c.space)
       << " access " << static_cast<int>(c.access) << " ptx " << c.ptx.count << "/" << c.ptx.bytes << " machine "
       << c.machine.count << "/" << c.machine.bytes;
}

std::vector<Change> changes_of(const views::KernelInfo& info) {
  std::vector<Change> all;
  for (const CodeChange& c : info.compiled.changes) {
    std::uint32_t frame = c.frame;
    while (frame < info.frames.size() && info.frames[frame].inlined_at != views::kNoFrame)
      frame = info.frames[frame].inlined_at;
    all.push_back(
        {frame < info.frames.size() ? info.frames[frame].line : 0, c.kind, c.space, c.access, c.ptx, c.machine});
  }
  return all;
}

std::uint32_t bytes_of(const std::vector<Change>& changes, CodeChangeKind kind, trace::Kind access) {
  std::uint32_t bytes = 0;
  for (const Change& c : changes)
    if (c.kind == kind && c.access == access) bytes += c.machine.bytes;
  return bytes;
}

/// `ptxas -v`: "368 bytes stack frame, 584 bytes spill stores, 692 bytes spill loads".
void expect_spills(const views::KernelInfo& info, std::uint32_t frame, std::uint32_t stores, std::uint32_t loads) {
  EXPECT_EQ(info.compiled.frame_bytes, frame) << info.mangled;
  EXPECT_EQ(info.compiled.spill_store_bytes, stores) << info.mangled;
  EXPECT_EQ(info.compiled.spill_load_bytes, loads) << info.mangled;
  EXPECT_FALSE(info.compiled.spills_are_floors);
  const std::vector<Change> changes = changes_of(info);
  EXPECT_EQ(bytes_of(changes, CodeChangeKind::kSpilled, trace::Kind::kStore), stores);
  EXPECT_EQ(bytes_of(changes, CodeChangeKind::kSpilled, trace::Kind::kLoad), loads);
}

TEST(Compiled, SpillsAreThoseOfPtxas) {
  const Program suite("suite/suite"), types("kernels/programs/types"), pressure("examples/programs/register_pressure");
  expect_spills(suite.kernel("_Z7spillerPKfPfi"), 368, 584, 692);
  expect_spills(types.kernel("_Z6spillsiPKfPf"), 280, 392, 448);
  expect_spills(pressure.kernel("_Z11manyThreadsPKjPji"), 360, 576, 700);
  // Local arrays, and registers that a function keeps for its caller, are none.
  const Program control("kernels/programs/control");
  expect_spills(suite.kernel("_Z12localDynamicPKiPii"), 0, 0, 0);
  expect_spills(control.kernel("_Z10by_virtualiPKiPf"), 16, 0, 0);
  expect_spills(control.kernel("_Z9recursiveiPKiPi"), 0, 0, 0);
  EXPECT_EQ(bytes_of(changes_of(control.kernel("_Z9recursiveiPKiPi")), CodeChangeKind::kSaved, trace::Kind::kStore),
            16u);
}

TEST(Compiled, WithoutPtxLinesSpillsAreNotGuessed) {
  Program suite("suite/suite");
  for (cubin::CodeSection& section : suite.image().sections) section.ptx_lines.clear();
  // No local variable in its PTX: every access to local memory is a spill.
  views::KernelInfo spiller = suite.kernel("_Z7spillerPKfPfi");
  EXPECT_EQ(spiller.compiled.spill_store_bytes, 584u);
  EXPECT_EQ(spiller.compiled.spill_load_bytes, 692u);
  EXPECT_THAT(changes_of(suite.kernel("_Z12scanBlellochILi0EEvPKiPi")), IsEmpty());
}

TEST(Compiled, JoinedAccesses) {
  // sumColumns: 32 neighbours in shared memory are read by eight LDS.128.
  const auto changes = changes_of(Program("examples/programs/bank_conflict").kernel("_Z10sumColumnsILi32EEvPKfPf"));
  const Change wide{18, CodeChangeKind::kJoined, trace::Space::kShared, trace::Kind::kLoad, {32, 128, 4}, {8, 128, 16}};
  EXPECT_THAT(changes, testing::ElementsAre(wide));
}

TEST(Compiled, JoinedOverLines) {
  // scan.cu: the loads of lines 70 and 71 are one LDS.64, the stores of 41 and 42 one STS.64.
  const auto changes = changes_of(Program("examples/programs/scan").kernel("_Z12scanBlellochILb0EEvPKiPi"));
  const auto shared = trace::Space::kShared;
  EXPECT_THAT(changes,
              Contains(Change{70, CodeChangeKind::kWidened, shared, trace::Kind::kLoad, {1, 4, 4}, {1, 8, 8}}));
  EXPECT_THAT(changes, Contains(Change{71, CodeChangeKind::kPartOf, shared, trace::Kind::kLoad, {1, 4, 4}, {}}));
  EXPECT_THAT(changes, Contains(Change{41, CodeChangeKind::kPartOf, shared, trace::Kind::kStore, {1, 4, 4}, {}}));
  EXPECT_THAT(changes,
              Contains(Change{42, CodeChangeKind::kWidened, shared, trace::Kind::kStore, {1, 4, 4}, {1, 8, 8}}));
}

TEST(Compiled, UnrolledLoops) {
  const Program gemm("kernels/programs/gemm");
  // The loop over tiles four, two and once; the inner product is in it.
  const auto changes = changes_of(gemm.kernel("_Z5tiledIfLi16EEviPKT_S2_PS0_"));
  const auto four = CodeAccesses{1, 4, 4}, copies = CodeAccesses{7, 28, 4};
  for (const int line : {20, 21}) {
    EXPECT_THAT(changes, Contains(Change{line, CodeChangeKind::kUnrolled, trace::Space::kGlobal, trace::Kind::kLoad,
                                         four, copies}));
    EXPECT_THAT(changes, Contains(Change{line, CodeChangeKind::kUnrolled, trace::Space::kShared, trace::Kind::kStore,
                                         four, copies}));
  }
  EXPECT_THAT(
      changes,
      Contains(Change{
          23, CodeChangeKind::kUnrolledInto, trace::Space::kShared, trace::Kind::kLoad, {32, 128, 4}, {140, 896, 0}}));
  EXPECT_EQ(changes.size(), 5u);
}

TEST(Compiled, LocalArraysInRegisters) {
  const auto changes = changes_of(Program("examples/programs/local_array").kernel("_Z15chosenAtRunTimePKiS0_Pii"));
  const auto local = trace::Space::kLocal;
  EXPECT_THAT(changes, testing::UnorderedElementsAre(
                           Change{28, CodeChangeKind::kInRegisters, local, trace::Kind::kStore, {8, 128, 16}, {}},
                           Change{30, CodeChangeKind::kInRegisters, local, trace::Kind::kLoad, {2, 8, 4}, {}}));
}

TEST(Compiled, Atomics) {
  const Program warps("kernels/programs/warps");
  const auto kinds = [&](const std::string& mangled) {
    std::vector<std::pair<int, CodeChangeKind>> all;
    for (const Change& c : changes_of(warps.kernel(mangled)))
      if (c.access == trace::Kind::kAtom) all.emplace_back(c.line, c.kind);
    return all;
  };
  using K = CodeChangeKind;
  EXPECT_THAT(kinds("_Z16shared_histogramIfEviPKiPT_"),
              testing::ElementsAre(std::pair(28, K::kSwapLoop), std::pair(30, K::kReduction)));
  EXPECT_THAT(kinds("_Z16shared_histogramIiEviPKiPT_"),
              testing::UnorderedElementsAre(std::pair(28, K::kIncrement), std::pair(30, K::kReduction)));
  EXPECT_THAT(kinds("_Z7compactiPKiPiS1_"), testing::ElementsAre(std::pair(10, K::kWarpSum)));
}

TEST(Compiled, NothingIsSaidOfAccessesThatBelongToNoPtx) {
  Program bank("examples/programs/bank_conflict");
  const std::string kernel = "_Z10sumColumnsILi32EEvPKfPf";
  for (cubin::CodeSection& section : bank.image().sections)
    for (cubin::PtxRow& row : section.ptx_lines) row.line = row.line > 0 ? 1 : 0;  // ".version"
  EXPECT_THAT(changes_of(bank.kernel(kernel)), IsEmpty());
  views::KernelInfo other;
  other.mangled = "not there";
  add_compiled_facts(other, {}, bank.image(), {});
  EXPECT_FALSE(other.compiled.known);
}

}  // namespace
}  // namespace muscope::code
