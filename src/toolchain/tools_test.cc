#include "toolchain/tools.h"

#include <gmock/gmock.h>

#include "toolchain/targets.h"
#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::ElementsAre;

/// Answers of tools are kept in the user's cache: not in that of whoever runs the tests.
class OwnCache : public ::testing::Environment {
 public:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", folder_.path("cache").c_str(), 1); }

 private:
  TestFolder folder_;
};
[[maybe_unused]] const auto* const own_cache = ::testing::AddGlobalTestEnvironment(new OwnCache);

std::string says(const std::string& text) { return "cat <<'END'\n" + text + "\nEND\n"; }

std::string nvcc_script(const std::string& version) {
  return says("nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.9, V" + version);
}

std::string clang_script(const std::string& version) {
  return says("Debian clang version " + version + " (3~deb12u1)");
}

/// Places that hold nothing but what a test puts into the folder.
SearchPlaces places_in(const TestFolder& folder) {
  SearchPlaces places;
  places.path = {folder.path("bin1"), folder.path("bin2")};
  places.cuda_prefix = folder.path("prefix");
  places.llvm_prefix = folder.path("llvm");
  return places;
}

TEST(Tools, NothingIsFoundWhereNothingIs) {
  const TestFolder folder;
  const SearchPlaces places = places_in(folder);
  EXPECT_FALSE(find_nvcc(places));
  EXPECT_FALSE(find_clang(places));
  EXPECT_FALSE(find_old_clang(places));
  EXPECT_FALSE(find_ptxas(places));
  EXPECT_FALSE(find_host_compiler(places));
  EXPECT_FALSE(find_addr2line(places));
}

TEST(Tools, NvccComesFromCudaHomeThenPathThenTheNewestPrefix) {
  const TestFolder folder;
  SearchPlaces places = places_in(folder);
  folder.write_script("prefix/cuda-12.9/bin/nvcc", nvcc_script("12.9.86"));
  folder.write_script("prefix/cuda-13.0/bin/nvcc", nvcc_script("13.0.88"));
  ASSERT_TRUE(find_nvcc(places));
  EXPECT_EQ(find_nvcc(places)->text(), "nvcc 13.0.88");
  folder.write_script("bin2/nvcc", nvcc_script("12.4.131"));
  EXPECT_EQ(find_nvcc(places)->path, folder.path("bin2/nvcc"));
  EXPECT_EQ(find_nvcc(places)->version, (Version{12, 4, 131}));
  folder.write_script("home/bin/nvcc", nvcc_script("11.8.89"));
  places.cuda_home = folder.path("home");
  EXPECT_EQ(find_nvcc(places)->text(), "nvcc 11.8.89");
}

TEST(Tools, AReplacedToolIsAskedAgain) {
  const TestFolder folder;
  folder.write_script("bin1/clang++-19", clang_script("19.1.7") + "echo asked >> " + folder.path("log") + "\n");
  EXPECT_EQ(find_clang(places_in(folder))->text(), "clang 19.1.7");
  EXPECT_EQ(find_clang(places_in(folder))->text(), "clang 19.1.7");
  EXPECT_EQ(folder.read("log"), "asked\n");
  folder.write_script("bin1/clang++-19", clang_script("19.1.10"));
  EXPECT_EQ(find_clang(places_in(folder))->text(), "clang 19.1.10");
}

TEST(Tools, OurOwnStandInIsNotTakenForNvcc) {
  const TestFolder folder;
  folder.write_script("bin1/nvcc",
                      says("muscope cc 0.1.0: answers to \"nvcc: NVIDIA (R) Cuda compiler driver\", V13.0.88"));
  EXPECT_FALSE(find_nvcc(places_in(folder)));
  folder.write_script("bin2/nvcc", nvcc_script("13.0.88"));
  EXPECT_EQ(find_nvcc(places_in(folder))->path, folder.path("bin2/nvcc"));
}

TEST(Tools, AFileThatCannotBeExecutedOrFailsIsPassedOver) {
  const TestFolder folder;
  folder.write("bin1/nvcc", "#!/bin/sh\n" + nvcc_script("1.2.3"));
  folder.write_script("bin2/nvcc", nvcc_script("4.5.6") + "exit 1\n");
  EXPECT_FALSE(find_nvcc(places_in(folder)));
}

TEST(Tools, TheNewestClangWins) {
  const TestFolder folder;
  folder.write_script("bin1/clang++-19", clang_script("19.1.7"));
  folder.write_script("bin1/clang++", clang_script("14.0.6"));
  EXPECT_EQ(find_clang(places_in(folder))->text(), "clang 19.1.7");
  EXPECT_EQ(find_old_clang(places_in(folder))->text(), "clang 14.0.6");
  folder.write_script("llvm/llvm-22/bin/clang++", clang_script("22.1.8"));
  EXPECT_EQ(find_clang(places_in(folder))->path, folder.path("llvm/llvm-22/bin/clang++"));
  // Names that only look like one.
  folder.write_script("bin2/clang++-99-wrapper", says("something else 99.0.0"));
  EXPECT_EQ(find_clang(places_in(folder))->version.major, 22);
}

TEST(Tools, AnUnversionedNewClangIsFound) {
  const TestFolder folder;
  folder.write_script("bin1/clang++", clang_script("23.0.1"));
  folder.write_script("bin2/clang++-19", clang_script("19.1.7"));
  EXPECT_EQ(find_clang(places_in(folder))->version.major, 23);
}

TEST(Tools, AnOldClangIsNotEnough) {
  const TestFolder folder;
  folder.write_script("bin1/clang++-18", clang_script("18.1.8"));
  EXPECT_FALSE(find_clang(places_in(folder)));
  EXPECT_EQ(find_old_clang(places_in(folder))->version.major, 18);
}

TEST(Tools, PtxasBesideNvccComesFirst) {
  const TestFolder folder;
  const std::string ptxas = says("ptxas: NVIDIA (R) Ptx optimizing assembler\nrelease 12.9, V12.9.86");
  folder.write_script("bin1/ptxas", ptxas);
  folder.write_script("prefix/cuda/bin/ptxas", ptxas);
  EXPECT_EQ(find_ptxas(places_in(folder))->path, folder.path("bin1/ptxas"));
  SearchPlaces places = places_in(folder);
  places.cuda_home = folder.path("prefix/cuda");
  folder.write_script("prefix/cuda/bin/nvcc", nvcc_script("12.9.86"));
  EXPECT_EQ(find_ptxas(places)->path, folder.path("prefix/cuda/bin/ptxas"));
}

TEST(Tools, HostCompilerIsGxxElseClang) {
  const TestFolder folder;
  folder.write_script("bin1/clang++-19", clang_script("19.1.7"));
  EXPECT_EQ(find_host_compiler(places_in(folder))->name, "clang");
  folder.write_script("bin2/g++", says("g++ (Debian 12.2.0-14+deb12u1) 12.2.1"));
  EXPECT_EQ(find_host_compiler(places_in(folder))->text(), "g++ 12.2.1");
}

TEST(Tools, PlacesComeFromTheEnvironment) {
  const ScopedVariable path("PATH", "/a::/b");
  const ScopedVariable home("CUDA_HOME", nullptr);
  const ScopedVariable cuda("CUDA_PATH", "/cuda");
  const SearchPlaces places = SearchPlaces::from_environment();
  EXPECT_THAT(places.path, ElementsAre("/a", "/b"));
  EXPECT_EQ(places.cuda_home, "/cuda");
}

TEST(Tools, VersionsAreReadFromText) {
  EXPECT_EQ(version_in("cuda-13.0"), (Version{13, 0, 0}));
  EXPECT_EQ(version_in("release 13.0, V13.0.88", 13), (Version{13, 0, 88}));
  EXPECT_EQ(version_in("clang 19 then 2.5."), (Version{2, 5, 0}));
  EXPECT_EQ(version_in("none"), Version{});
  EXPECT_EQ(version_in("99999999999999999999.1").major, 1'000'000);
  EXPECT_LT((Version{9, 10, 0}), (Version{10, 0, 0}));
}

TEST(Targets, ArchitecturesAreReadFromListings) {
  EXPECT_THAT(architectures_in("sm_90\nsm_75 sm_100 sm_90a sm_75"), ElementsAre(75, 90, 100));
  EXPECT_TRUE(architectures_in("compute_75 sm_").empty());
}

TEST(Targets, TheNearestIsNotNewerThanWanted) {
  const std::vector<int> supported{75, 80, 90, 100};
  EXPECT_EQ(nearest_architecture(supported, 90), 90);
  EXPECT_EQ(nearest_architecture(supported, 89), 80);
  EXPECT_EQ(nearest_architecture(supported, 121), 100);
  EXPECT_EQ(nearest_architecture(supported, 35), 75);
  EXPECT_EQ(nearest_architecture({}, 35), 35);
}

}  // namespace
}  // namespace muscope::toolchain
