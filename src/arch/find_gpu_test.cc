#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "arch/gpu_json.h"
#include "arch/gpu_spec.h"
#include "base/diagnostic.h"

namespace muscope::arch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Diagnostic complaint_of(const std::string& name) {
  try {
    find_gpu(name);
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  return {};
}

Diagnostic complaint_about(const std::string& json) {
  try {
    gpu_from_json(json, "x.json");
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  return {};
}

TEST(FindGpu, NamesAliasesAndCapabilities) {
  for (const char* name : {"h200", "H200", "NVIDIA H200", "nvidia-h200"})
    EXPECT_EQ(find_gpu(name).name, "h200") << name;
  EXPECT_EQ(find_gpu("a100").name, "a100-80");
  EXPECT_EQ(find_gpu("GeForce RTX 3090").name, "rtx3090");
  EXPECT_EQ(find_gpu("1080ti").name, "gtx1080ti");
  for (const char* name : {"sm_90", "sm90", "9.0", "cc9.0", "compute_90", "sm_90a"})
    EXPECT_EQ(find_gpu(name).name, "sm_90") << name;
  EXPECT_EQ(find_gpu("sm_120a").name, "sm_120");
  EXPECT_EQ(find_gpu("12.0").sm_text(), "sm_120");
  EXPECT_EQ(find_gpu("mp_22").sm_text(), "mp_22");
}

TEST(FindGpu, UnknownNamesGetSuggestions) {
  EXPECT_EQ(complaint_of("h20").code, "D110");
  EXPECT_THAT(complaint_of("h20").hint, HasSubstr("h200"));
  EXPECT_THAT(complaint_of("rtx4080").hint, HasSubstr("rtx4090"));
  EXPECT_THAT(complaint_of("sm_91").hint, HasSubstr("sm_90"));
  EXPECT_EQ(complaint_of("").code, "D110");
  EXPECT_THAT(complaint_of("evil\x1b[31m").text, ::testing::Not(HasSubstr("\x1b")));
  EXPECT_EQ(complaint_of("/nonexistent.json").code, "D116");
  EXPECT_EQ(complaint_of("/tmp/").code, "D116");
}

TEST(FindGpu, EveryEntryIsFoundByItsName) {
  const std::vector<std::string> names = gpu_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) EXPECT_EQ(find_gpu(name).name, name);
}

// Independent of the tables: NVIDIA's published figures for these boards.
TEST(FindGpu, WellKnownNumbers) {
  const GpuSpec h200 = find_gpu("h200");
  EXPECT_EQ(h200.cc_text(), "9.0");
  EXPECT_EQ(h200.sm_count.as_int(), 132);
  EXPECT_EQ(h200.shared_per_sm.as_int(), 228 * 1024);
  EXPECT_EQ(h200.shared_per_block_optin.as_int(), 227 * 1024);
  EXPECT_EQ(h200.memory_bandwidth_gbs.as_int(), 4800);
  EXPECT_EQ(h200.memory_bytes.value, 150109880320.0);  // as cudaDeviceProp of a card says
  EXPECT_EQ(h200.memory_bus_bits.as_int(), 6016);
  const auto level = [](const GpuSpec& gpu, const std::string& name) {
    return std::find_if(gpu.hierarchy.begin(), gpu.hierarchy.end(),
                        [&](const MemoryLevel& l) { return l.name == name; });
  };
  for (const char* name : {"shared", "cluster", "L1", "L2", "DRAM", "peer", "host"}) {  // by muscope lab
    const auto found = level(h200, name);
    ASSERT_NE(found, h200.hierarchy.end()) << name;
    EXPECT_EQ(found->latency_cycles.confidence, Confidence::kMeasured) << name;
    EXPECT_TRUE(found->bandwidth_gbs.known) << name;
  }
  const GpuSpec older = find_gpu("a100");
  EXPECT_EQ(level(older, "cluster"), older.hierarchy.end());
  EXPECT_TRUE(h200.shared.wide_rules_measured);
  EXPECT_EQ(h200.global.confidence, Confidence::kMeasured);
  EXPECT_EQ(find_gpu("v100").sm_count.as_int(), 80);
  EXPECT_EQ(find_gpu("t4").max_threads_per_sm.as_int(), 1024);
  EXPECT_EQ(find_gpu("sm_89").max_blocks_per_sm.as_int(), 24);
  EXPECT_EQ(find_gpu("sm_37").registers_per_sm.as_int(), 131072);
  EXPECT_EQ(find_gpu("sm_20").max_registers_per_thread.as_int(), 63);
  EXPECT_EQ(find_gpu("sm_20").global.load_granularity_l1_on, 128);
  EXPECT_TRUE(find_gpu("sm_20").global.l1_caches_global_by_default);
  EXPECT_FALSE(find_gpu("sm_35").global.l1_caches_global_by_default);
  EXPECT_EQ(find_gpu("mx150").memory_bandwidth_gbs.value, 48.1);
}

// The cards of Moore Threads: what public MUSA programs and their owners say; nothing of it is NVIDIA's.
TEST(FindGpu, MooreThreads) {
  for (const char* name : {"s80", "s70", "s3000", "s4000"}) {
    EXPECT_EQ(find_gpu(name).warp_size.as_int(), 128) << name;
    EXPECT_EQ(find_gpu(name).shared_per_block.as_int(), 28672) << name;
  }
  EXPECT_EQ(find_gpu("s5000").warp_size.as_int(), 32);
  EXPECT_EQ(find_gpu("s5000").shared_per_block.as_int(), 196608);
  EXPECT_EQ(find_gpu("s4000").shared_per_block_optin.as_int(), 73728);
  EXPECT_EQ(find_gpu("s3000").sm_text(), "mp_21");
  EXPECT_EQ(find_gpu("mp_22").name, "s4000");
  EXPECT_EQ(find_gpu("Moore Threads MTT S80").name, "s80");
  EXPECT_EQ(find_gpu("musa-mp31").name, "s5000");
  // Measured on one card, so assumed for its sisters.
  EXPECT_EQ(find_gpu("s70").shared_per_block.confidence, Confidence::kMeasured);
  EXPECT_EQ(find_gpu("s80").shared_per_block.confidence, Confidence::kAssumed);
  for (const char* name : {"s80", "s70", "s3000", "s4000", "s5000"}) {
    EXPECT_EQ(find_gpu(name).global.confidence, Confidence::kAssumed) << name;
    EXPECT_FALSE(find_gpu(name).max_warps_per_sm.known) << name;
  }
}

TEST(FindGpu, LimitsAreConsistent) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec g = find_gpu(name);
    EXPECT_FALSE(g.full_name.empty()) << name;
    EXPECT_FALSE(g.hierarchy.empty()) << name;
    EXPECT_TRUE(g.warp_size.known) << name;
    if (g.cc_major == 0) continue;
    EXPECT_EQ(g.max_warps_per_sm.as_int() * g.warp_size.as_int(), g.max_threads_per_sm.as_int()) << name;
    EXPECT_GE(g.shared_per_sm.as_int(), g.shared_per_block.as_int()) << name;
    EXPECT_GE(g.shared_per_block_optin.as_int(), g.shared_per_block.as_int()) << name;
    EXPECT_EQ(g.shared_carveouts.empty() ? g.shared_per_sm.as_int() : g.shared_carveouts.back(),
              g.shared_per_sm.as_int())
        << name;
    if (g.cc_major >= 8) {
      EXPECT_EQ(g.shared_per_block_optin.as_int() + 1024, g.shared_per_sm.as_int()) << name;
    }
    for (const NumberField& field : number_fields())
      if (const Sourced& n = g.*field.member; n.known) {
        EXPECT_FALSE(n.source.empty()) << name << " " << field.name;
        EXPECT_GE(n.value, field.least) << name << " " << field.name;
        EXPECT_LE(n.value, field.most) << name << " " << field.name;
      }
  }
}

TEST(GpuJson, EveryGpuSurvivesTheRoundTrip) {
  for (const std::string& name : gpu_names()) {
    const std::string text = gpu_to_json(find_gpu(name));
    EXPECT_EQ(gpu_to_json(gpu_from_json(text, "x.json")), text) << name;
  }
}

TEST(GpuJson, OverridesOfAKnownGpu) {
  const GpuSpec g = gpu_from_json(
      R"({"base": "h200", "name": "half", "sm_count": 66, "clock_mhz": {"value": 1200, "confidence": "measured",
      "source": "nvidia-smi", "note": "capped"}, "memory_bytes": null, "global": {"load_granularity_l1_on": 128}})",
      "x.json");
  EXPECT_EQ(g.name, "half");
  EXPECT_EQ(g.sm_count.as_int(), 66);
  EXPECT_EQ(g.sm_count.source, "x.json");
  EXPECT_EQ(g.sm_count.confidence, Confidence::kAssumed);
  EXPECT_EQ(g.clock_mhz.confidence, Confidence::kMeasured);
  EXPECT_EQ(g.clock_mhz.note, "capped");
  EXPECT_FALSE(g.memory_bytes.known);
  EXPECT_EQ(g.global.load_granularity_l1_on, 128);
  EXPECT_EQ(g.shared_per_sm.as_int(), 228 * 1024) << "inherited";
}

TEST(GpuJson, HostileFilesAreDiagnosed) {
  const char* bad[] = {"",
                       "{",
                       "[]",
                       "null",
                       "{}",
                       R"({"name": 5})",
                       R"({"name": "x", "smcount": 5})",
                       R"({"name": "x", "sm_count": -1})",
                       R"({"name": "x", "sm_count": "many"})",
                       R"({"name": "x", "sm_count": 1e999})",
                       R"({"name": "x", "sm_count": {}})",
                       R"({"name": "x", "sm_count": {"value": 3, "sauce": "x"}})",
                       R"({"name": "x", "warp_size": 48})",
                       R"({"name": "x", "shared_carveouts": [1.5]})",
                       R"({"name": "x", "global": []})",
                       R"({"name": "x", "global": {"load_granularity_l1_on": 48}})",
                       R"({"name": "x", "shared": {"banks": 16}})",
                       R"({"name": "x", "hierarchy": [5]})",
                       R"({"name": "x", "compute_capability": "nine"})",
                       R"({"name": "x", "schema": "muscope.gpu/99"})",
                       R"({"base": "h2000", "name": "x"})",
                       R"({"base": "/etc/passwd", "name": "x"})",
                       R"({"name": "x", "sm_count": {"value": 3, "confidence": "sure"}})"};
  for (const char* text : bad) EXPECT_TRUE(complaint_about(text).code.starts_with("D11")) << text;
  EXPECT_THAT(complaint_about(R"({"name": "x", "smcount": 5})").text, HasSubstr("did you mean 'sm_count'?"));
  EXPECT_EQ(complaint_about(std::string(100000, '[')).code, "D111");
  EXPECT_EQ(complaint_about("{}").where.file, "x.json");
}

}  // namespace
}  // namespace muscope::arch
