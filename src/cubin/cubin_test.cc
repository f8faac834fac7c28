// Cubins against what `ptxas -v` said when they were made (tests/counters/binaries/kernels.tsv).
#include "cubin/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "base/diagnostic.h"
#include "cubin/test_files.h"

namespace muscope::cubin {
namespace {

using testing::ElementsAre;

CubinInfo read(const std::string& name) { return read_cubin(read_test_binary(name)); }

TEST(Cubin, AgreesWithPtxas) {
  std::ifstream table(test_binary("kernels.tsv"));
  std::string line;
  ASSERT_TRUE(std::getline(table, line));
  std::map<std::string, CubinInfo> cubins;
  std::map<std::string, std::size_t> rows;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string file, name;
    std::uint32_t registers = 0, stack = 0, stores = 0, loads = 0, barriers = 0, shared = 0;
    fields >> file >> name >> registers >> stack >> stores >> loads >> barriers >> shared;
    ASSERT_FALSE(fields.fail()) << line;
    if (!cubins.contains(file)) cubins[file] = read(file);
    ++rows[file];
    const CubinKernel* kernel = cubins[file].kernel(name);
    ASSERT_NE(kernel, nullptr) << line;
    EXPECT_EQ(kernel->registers, registers) << line;
    EXPECT_EQ(kernel->frame_bytes, stack) << line;
    EXPECT_EQ(kernel->stack_bytes, stack) << line;
    EXPECT_EQ(kernel->static_shared, shared) << line;
    const bool states_barriers = cubins[file].target.sm >= 90;
    if (states_barriers) {
      EXPECT_EQ(kernel->barriers, barriers) << line;
    }
    EXPECT_EQ(kernel->reserved_shared, cubins[file].target.sm >= 90 ? 1024u : 0u) << line;
  }
  EXPECT_EQ(rows.size(), 5u);
  for (const auto& [file, count] : rows) EXPECT_EQ(cubins[file].kernels.size(), count) << file;
}

TEST(Cubin, TellsItsTarget) {
  EXPECT_EQ(read("kernels_75.cubin").target, (SmTarget{75, 0}));
  EXPECT_EQ(read("kernels_80.cubin").target, (SmTarget{80, 0}));
  EXPECT_EQ(read("kernels_90.cubin").target, (SmTarget{90, 0}));
  EXPECT_EQ(read("kernels_90a.cubin").target, (SmTarget{90, 'a'}));
  EXPECT_EQ(read("kernels_120.cubin").target, (SmTarget{120, 0}));
}

TEST(Cubin, TellsTheVirtualArchitecture) {
  EXPECT_EQ(read("kernels_75.cubin").virtual_sm, 75);
  EXPECT_EQ(read("kernels_90.cubin").virtual_sm, 90);
  EXPECT_EQ(read("code_90_linked.cubin").virtual_sm, 90);
}

TEST(Cubin, TellsLineInfo) {
  EXPECT_FALSE(read("kernels_90.cubin").line_info);
  EXPECT_FALSE(read("kernels_90.cubin").ptx_map);
  EXPECT_TRUE(read("kernels_90a.cubin").line_info);  // the one made with -lineinfo
  EXPECT_TRUE(read("kernels_90a.cubin").ptx_map);
}

TEST(Cubin, ReadsLimitsAndParameters) {
  const CubinInfo info = read("kernels_90.cubin");
  EXPECT_THAT(info.kernel("bounded")->max_threads, ElementsAre(192, 1, 1));
  EXPECT_THAT(info.kernel("spilling")->max_threads, ElementsAre(1024, 1, 1));
  EXPECT_THAT(info.kernel("plain")->max_threads, ElementsAre(0, 0, 0));
  EXPECT_THAT(info.kernel("plain")->required_threads, ElementsAre(0, 0, 0));
  // int*, 256 bytes of struct, double.
  const CubinKernel& many = *info.kernel("many_parameters");
  EXPECT_EQ(many.parameter_bytes, 8u + 256 + 8);
  EXPECT_EQ(many.parameter_offset, 0x210u);
  EXPECT_EQ(many.constant0_bytes, 0x210u + 272);
  EXPECT_EQ(read("kernels_80.cubin").kernel("many_parameters")->parameter_offset, 0x160u);
  EXPECT_EQ(read("kernels_120.cubin").kernel("many_parameters")->parameter_offset, 0x380u);
  EXPECT_EQ(info.kernel("no_such_kernel"), nullptr);
  EXPECT_GT(many.code_bytes, 0u);
  EXPECT_EQ(many.code_bytes % 128, 0u);
}

TEST(Cubin, ReadsVariables) {
  const CubinInfo info = read("kernels_90.cubin");
  ASSERT_EQ(info.variables.size(), 1u);
  EXPECT_EQ(info.variables[0].name, "weights");
  EXPECT_EQ(info.variables[0].space, CubinVariable::Space::kConstant);
  EXPECT_EQ(info.variables[0].bank, 3);
  EXPECT_EQ(info.variables[0].size, 400u);
  ASSERT_EQ(info.constant_banks.size(), 1u);
  EXPECT_EQ(info.constant_banks[0].bank, 3);
  EXPECT_EQ(info.constant_banks[0].size, 400u);
}

TEST(Cubin, KnowsNumbersThatNoGpuHas) {
  for (const char* name : {"kernels_90.cubin", "kernels_80.cubin"})
    for (const CubinKernel& kernel : read(name).kernels) EXPECT_EQ(impossible_resources(kernel), "") << kernel.name;
  const auto with = [](auto member, std::uint32_t value) {
    CubinKernel kernel;
    kernel.*member = value;
    return impossible_resources(kernel);
  };
  EXPECT_EQ(with(&CubinKernel::registers, 255), "");
  EXPECT_EQ(with(&CubinKernel::registers, 257), "it states 257 registers per thread, no GPU has more than 256");
  EXPECT_EQ(with(&CubinKernel::stack_bytes, 524288), "");
  EXPECT_THAT(with(&CubinKernel::stack_bytes, 524289), testing::HasSubstr("524289 bytes of local memory"));
  EXPECT_THAT(with(&CubinKernel::frame_bytes, UINT32_MAX), testing::HasSubstr("local memory"));
  EXPECT_EQ(with(&CubinKernel::static_shared, 228 * 1024), "");
  EXPECT_THAT(with(&CubinKernel::static_shared, UINT32_MAX), testing::HasSubstr("shared memory"));
  EXPECT_THAT(with(&CubinKernel::barriers, 17), testing::HasSubstr("17 barriers"));
  EXPECT_THAT(with(&CubinKernel::constant0_bytes, 1 << 20), testing::HasSubstr("constant bank 0"));
}

TEST(Cubin, RefusesOtherFiles) {
  for (const char* name : {"host_only", "kernels.tsv"}) {
    try {
      read(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics().front().code, "D207");
    }
  }
}

}  // namespace
}  // namespace muscope::cubin
