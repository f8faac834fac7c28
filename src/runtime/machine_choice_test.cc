#include "runtime/machine_choice.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "runtime/machine_targets.h"
#include "views/records.h"

namespace muscope::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The bytes, which must stay, and what is in them.
struct File {
  std::string bytes;
  cubin::Fatbin fatbin;

  explicit File(const std::string& name) {
    std::ifstream in(std::string(MUSCOPE_SOURCE_DIR) + "/tests/counters/binaries/" + name, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    fatbin = cubin::decode_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
};

MachineChoice choose(const cubin::Fatbin& fatbin, int sm, CountFrom from = CountFrom::kAuto) {
  RunOptions options;
  options.count_from = from;
  return choose_machine_code(fatbin, {}, sm, options);
}

TEST(MachineChoice, TakesTheCubinForThisGpu) {
  const File file("kernels_90.cubin");
  const MachineChoice choice = choose(file.fatbin, 90);
  ASSERT_TRUE(choice.code);
  EXPECT_EQ(choice.code->source, "cubin sm_90 in the program");
  EXPECT_EQ(choice.problem, "");
  EXPECT_NE(choice.code->info.kernel("shared_tile"), nullptr);
  EXPECT_NE(choice.code->image.section("shared_tile"), nullptr);
  EXPECT_TRUE(choose(File("kernels_90a.cubin").fatbin, 90).code) << "its own variant as well";
  EXPECT_TRUE(choose(File("code_90_linked.cubin").fatbin, 90).code);
}

// CUDA C++ Programming Guide, "Binary Compatibility": GPUs of the same major revision and a later minor one run it.
TEST(MachineChoice, TakesACubinOfAnEarlierMinorRevision) {
  const File file("kernels_80.cubin");
  for (const int sm : {80, 86, 89}) {
    const MachineChoice choice = choose(file.fatbin, sm);
    ASSERT_TRUE(choice.code) << sm;
    EXPECT_EQ(choice.code->source, "cubin sm_80 in the program");
  }
  EXPECT_FALSE(choose(file.fatbin, 87).code) << "of another kind: Tegra";
}

TEST(MachineChoice, NeverWherePtxIsWanted) {
  const File file("kernels_90.cubin");
  const MachineChoice choice = choose(file.fatbin, 90, CountFrom::kPtx);
  EXPECT_FALSE(choice.code);
  EXPECT_EQ(choice.problem, "");
}

TEST(MachineChoice, SaysWhyThereIsNone) {
  EXPECT_EQ(choose(File("code_90_rdc.cubin").fatbin, 90).problem, "the cubin sm_90 in the program is not linked");
  File damaged("kernels_90.cubin");
  for (std::size_t i = 0x40; i < damaged.bytes.size(); ++i) damaged.bytes[i] = static_cast<char>(i * 31);
  EXPECT_THAT(choose(damaged.fatbin, 90).problem, StartsWith("the cubin sm_90 in the program cannot be read: "));
  EXPECT_FALSE(choose(damaged.fatbin, 90).code);
  EXPECT_THAT(choose(File("kernels_80.cubin").fatbin, 90).problem, HasSubstr("not every file of it has PTX"));
  // What is not to be expected is only said where it was asked for.
  const File older("kernels_80.cubin");
  EXPECT_EQ(choose(older.fatbin, 75).problem, "");
  EXPECT_EQ(choose(older.fatbin, 75, CountFrom::kMachine).problem, "muscope does not know the machine code of sm_75");
  EXPECT_EQ(choose(File("kernels_75.cubin").fatbin, 75).problem, "");
}

TEST(MachineChoice, OfPtxNeedsAnAssembler) {
  const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const cubin::Fatbin fatbin = cubin::decode_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  ASSERT_EQ(fatbin.entries.size(), 1u);
  ChosenPtx ptx{{{&fatbin.entries[0], text}}, false, false};
  RunOptions options;  // no run directory
  EXPECT_EQ(choose_machine_code(fatbin, ptx, 90, options).problem, views::kNoPtxas);
  options.run_dir = "/no/such/folder";
  EXPECT_EQ(choose_machine_code(fatbin, ptx, 90, options).problem, views::kNoPtxas);
  ptx.not_for_target = true;
  EXPECT_EQ(choose_machine_code(fatbin, ptx, 90, options).problem, "its PTX is for a later GPU");
}

TEST(MachineTargets, AreThoseWhoseBankZeroIsKnown) {
  for (const int sm : {80, 86, 87, 89, 90}) EXPECT_TRUE(machine_code_known(sm)) << sm;
  for (const int sm : {0, 70, 75, 100, 103, 120}) EXPECT_FALSE(machine_code_known(sm)) << sm;
}

// PTX ISA, "Release History".
TEST(OtherRelease, FollowsTheHistoryOfPtx) {
  EXPECT_EQ(other_release(9, 0, "13.0.88"), "");
  EXPECT_EQ(other_release(9, 1, "13.0.88"), "13.1");
  EXPECT_EQ(other_release(8, 4, "13.0.88"), "12.4");
  EXPECT_EQ(other_release(8, 4, "12.4.131"), "");
  EXPECT_EQ(other_release(8, 5, "12.5.40"), "");
  EXPECT_EQ(other_release(8, 5, "12.6.20"), "");
  EXPECT_EQ(other_release(8, 5, "12.8.20"), "12.5");
  EXPECT_EQ(other_release(8, 6, "12.6.20"), "12.7");
  EXPECT_EQ(other_release(8, 8, "12.9.86"), "");
  EXPECT_EQ(other_release(7, 8, "11.8.89"), "");
  EXPECT_EQ(other_release(7, 1, "11.10.1"), "11.1") << "not a matter of the first digits";
  EXPECT_EQ(other_release(6, 5, "10.2.89"), "");
  EXPECT_EQ(other_release(6, 1, "9.1.85"), "");
}

}  // namespace
}  // namespace muscope::runtime
