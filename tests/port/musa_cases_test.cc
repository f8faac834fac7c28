// MUSA programs under `muscope run` and `muscope cc`: names in messages, properties, the driver's names, mcc's command
// lines.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "toolchain/process.h"
#include "toolchain/tools.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using toolchain::ProcessResult;

class MusaCases : public testing::Test {
 protected:
  MusaCases() {
    std::string name = (fs::temp_directory_path() / "muscope-musa-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~MusaCases() override { fs::remove_all(folder_); }
  void SetUp() override {
    if (!toolchain::find_clang(toolchain::SearchPlaces::from_environment())) GTEST_SKIP() << "needs clang 19 or newer";
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static ProcessResult muscope(std::vector<std::string> args) {
    args.insert(args.begin(), MUSCOPE_PROGRAM);
    return toolchain::run_process(args);
  }

  fs::path folder_;
};

constexpr const char* kErrors = R"(#include <cstdio>
__global__ void k(int* p) { *p = 1; }
int main() {
  int* p = nullptr;
  musaMalloc(&p, 4);
  k<<<1, 4096>>>(p);
  std::puts(musaGetErrorName(musaGetLastError()));
  std::puts(musaGetErrorString(musaErrorInvalidValue));
  k<<<1, 32>>>(nullptr);
  std::puts(musaGetErrorName(musaDeviceSynchronize()));
}
)";

TEST_F(MusaCases, ErrorsHaveMusasNames) {
  const ProcessResult result = muscope({"run", "--quiet", write("e.mu", kErrors)});
  EXPECT_EQ(result.out, "musaErrorInvalidValue\ninvalid argument\nmusaErrorIllegalAddress\n");
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("the launch gave musaErrorInvalidValue; musaGetLastError() tells a program so"),
                    HasSubstr("musaMalloc takes bytes"), Not(HasSubstr("cudaM"))));
  EXPECT_EQ(result.exit_code, 1);
}

TEST_F(MusaCases, CompilersMessagesHaveMusasNames) {
  const ProcessResult result = muscope({"run", write("c.mu", "int main() { int* p; musaMaloc(&p, 4); }\n")});
  EXPECT_THAT(result.err, HasSubstr("use of undeclared identifier 'musaMaloc'; did you mean 'musaMalloc'?"));
}

TEST_F(MusaCases, SourcesOfCudaThatIncludeMusasHeader) {
  // nvcc does not know the header: clang compiles it, whatever there is.
  const std::string file = write("i.cu",
                                 "#include <musa_runtime.h>\n#include <cstdio>\n"
                                 "#if defined(__MUSA_ARCH__) && __MUSA_ARCH__ != 220\n#error\n#endif\n"
                                 "__global__ void k(int* p) {\n#ifdef __MUSA_ARCH__\n  *p = __MUSA_ARCH__;\n#endif\n}\n"
                                 "int main() {\n  int *p, value;\n  musaMalloc(&p, 4);\n  k<<<1, 1>>>(p);\n"
                                 "  musaMemcpy(&value, p, 4, musaMemcpyDeviceToHost);\n  musaDeviceProp prop;\n"
                                 "  musaGetDeviceProperties(&prop, 0);\n"
                                 "  std::printf(\"%d %d %d.%d %zu\\n\", value, prop.warpSize, prop.major, prop.minor, "
                                 "prop.sharedMemPerBlock);\n}\n");
  const ProcessResult result = muscope({"run", "--quiet", "--gpu", "s4000", file});
  EXPECT_EQ(result.out, "220 128 2.2 28672\n") << result.err;
  EXPECT_EQ(result.exit_code, 0);
}

TEST_F(MusaCases, MusasHeaderInAHeaderOfTheProject) {
  write("common.h", "#pragma once\n#  include <musa_runtime.h>\n");
  write("more.h", "#pragma once\n#include \"common.h\"\n#include \"more.h\"\n");
  const std::string file = write("m.cu", "#include \"more.h\"\nint main() { return musaFree(nullptr); }\n");
  const ProcessResult result = muscope({"run", "--quiet", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(MusaCases, DriverHasMusasNames) {
  const std::string file = write(
      "d.mu",
      "#include <musa.h>\n#include <cstdio>\nint main() {\n  MUdevice device;\n  MUcontext context;\n  MUdeviceptr p;\n"
      "  char name[64];\n  int value = 0;\n  muInit(0);\n  muDeviceGet(&device, 0);\n"
      "  muDeviceGetName(name, sizeof name, device);\n"
      "  muDeviceGetAttribute(&value, MU_DEVICE_ATTRIBUTE_WARP_SIZE, device);\n"
      "  muDevicePrimaryCtxRetain(&context, device);\n  muCtxSetCurrent(context);\n"
      "  const bool ok = muMemAlloc(&p, 64) == MUSA_SUCCESS && muMemFree(p) == MUSA_SUCCESS;\n"
      "  std::printf(\"%s %d %d\\n\", name, value, ok);\n}\n");
  const ProcessResult result = muscope({"run", "--quiet", "--gpu", "s4000", "--compile-flags", "-lmusa", file});
  EXPECT_EQ(result.out, "Moore Threads MTT S4000 128 1\n") << result.err;
}

/// "D630 7" for each finding of a launch with a line of the source, "D634" for those without.
std::set<std::string> findings_of(const nlohmann::json& report) {
  std::set<std::string> found;
  for (const nlohmann::json& launch : report.at("launches"))
    for (const nlohmann::json& finding : launch.at("diagnostics")) {
      std::string text = finding.at("code");
      if (const auto at = finding.find("at"); at != finding.end())
        text += fmt::format(" {}", at->at("line").get<int>());
      if (text.starts_with("D63")) found.insert(text);
    }
  return found;
}

TEST_F(MusaCases, WarpsOf128Lanes) {
  const std::string source = MUSCOPE_SOURCE_DIR "/tests/port/wide_warp.cu";
  std::set<std::string> expected = {"D634", "D635"};
  std::ifstream in(source);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (const std::size_t mark = line.find("// D63"); mark != line.npos)
      expected.insert(fmt::format("{} {}", line.substr(mark + 3, 4), number));
  }
  const auto run = [&](const std::string& gpu) {
    const ProcessResult result =
        muscope({"run", "--quiet", "--toolchain", "clang", "--gpu", gpu, "--json", path("r.json"), source});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::ifstream report(path("r.json"));
    return findings_of(nlohmann::json::parse(report));
  };
  EXPECT_EQ(run("s4000"), expected);
  EXPECT_TRUE(run("s5000").empty());
  EXPECT_TRUE(run("h200").empty());
}

TEST_F(MusaCases, ProbeDescribesACard) {
  const std::string file = write("probe.mu", muscope({"gpu", "s4000", "--probe"}).out);
  const std::string description = write("card.json", muscope({"run", "--quiet", "--gpu", "s4000", file}).out);
  const ProcessResult as_json = muscope({"gpu", description, "--json"});
  ASSERT_EQ(as_json.exit_code, 0) << as_json.err;
  const auto card = nlohmann::json::parse(as_json.out);
  EXPECT_EQ(card.at("name"), "my-s4000");
  EXPECT_EQ(card.at("full_name"), "Moore Threads MTT S4000");
  EXPECT_EQ(card.at("warp_size").at("value"), 128);
  EXPECT_EQ(card.at("shared_per_block").at("value"), 28672);
  EXPECT_EQ(card.at("shared_per_block").at("confidence"), "measured");
  // What the card does not say rests on the known one.
  EXPECT_EQ(card.at("memory_bandwidth_gbs").at("value"), 768);
  const ProcessResult run = muscope({"run", "--quiet", "--gpu", description, file});
  EXPECT_THAT(run.out, HasSubstr("\"full_name\": \"Moore Threads MTT S4000\""));
}

TEST_F(MusaCases, CommandLinesOfMcc) {
  const std::string program = path("app"), file = write("m.mu", kErrors);
  const std::string as_cpp = write("m2.cpp", std::string("#include <musa_runtime.h>\n") + kErrors);
  const std::vector<std::vector<std::string>> lines = {
      {file, "-o", program, "-mtgpu", "-O2", "--offload-arch=mp_22", "-lmusart", "-L/usr/local/musa/lib"},
      {file, "-o", program, "--cuda-gpu-arch=mp_21", "-Wall", "-fPIC", "-ffast-math", "-g", "-lmusart", "-pthread"},
      {"-x", "musa", "-mtgpu", "--cuda-gpu-arch=mp_31", as_cpp, "-o", program, "-std=c++17", "-U__CUDA__", "-mllvm",
       "-x", "-Od3", "-Wl,-rpath,/tmp"}};
  for (const std::vector<std::string>& line : lines) {
    fs::remove(program);
    std::vector<std::string> args = line;
    args.insert(args.begin(), "cc");
    const ProcessResult built = muscope(args);
    EXPECT_EQ(built.exit_code, 0) << built.err;
    EXPECT_THAT(muscope({"run", "--quiet", program}).out, HasSubstr("musaErrorInvalidValue\n"));
  }
}

}  // namespace
}  // namespace muscope
