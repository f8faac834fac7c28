// `muscope port` from end to end: what is written where, exit codes, hostile trees.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "toolchain/process.h"

namespace muscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using toolchain::ProcessResult;

const std::string kMuscope = MUSCOPE_PROGRAM;

class PortCases : public testing::Test {
 protected:
  PortCases() {
    std::string name = (fs::temp_directory_path() / "muscope-port-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ / "p");
  }
  ~PortCases() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  /// Every file below a folder with its text; links with what they lead to.
  std::map<std::string, std::string> tree(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path(name))) {
      const std::string below = entry.path().lexically_relative(path(name)).string();
      if (entry.is_symlink())
        files[below] = "-> " + fs::read_symlink(entry.path()).string();
      else if (entry.is_regular_file())
        files[below] = read(name + "/" + below);
    }
    return files;
  }
  ProcessResult port(std::vector<std::string> args) const {
    args.insert(args.begin(), {kMuscope, "port"});
    return toolchain::run_process(args);
  }

  fs::path folder_;
};

constexpr const char* kClean = "#include <cuda_runtime.h>\nint main() { return cudaDeviceSynchronize(); }\n";
constexpr const char* kDirty = "__global__ void f() { asm(\"trap;\"); }\n";

TEST_F(PortCases, ExitCodes) {
  write("p/a.cu", kClean);
  EXPECT_EQ(port({path("p")}).exit_code, 0);
  write("p/b.cu", kDirty);
  EXPECT_EQ(port({path("p")}).exit_code, 4);
  EXPECT_EQ(port({path("p"), "--no-such-option"}).exit_code, 2);
  EXPECT_EQ(port({path("p"), "--diff", "--in-place"}).exit_code, 2);
  EXPECT_EQ(port({path("p"), "--arch", "mp_99"}).exit_code, 2);
  EXPECT_EQ(port({path("none")}).exit_code, 3);
  EXPECT_EQ(port({path("p/a.cu"), "-o", path("none/a.mu")}).exit_code, 3);
}

TEST_F(PortCases, NothingIsWrittenUnlessAsked) {
  write("p/a.cu", kClean);
  write("p/b.cu", kDirty);
  const auto before = tree("p");
  port({path("p")});
  port({path("p"), "--dry-run"});
  const ProcessResult diff = port({path("p"), "--diff"});
  EXPECT_THAT(diff.out, AllOf(HasSubstr("rename from a.cu\nrename to a.mu"), HasSubstr("+#include <musa_runtime.h>")));
  EXPECT_EQ(tree("p"), before);
}

TEST_F(PortCases, DiffIsWhatPatchTakes) {
  write("p/src/a.cu", std::string("// \xff\xfe\n") + kClean + "int last = cudaSuccess;");  // no newline at the end
  write("p/src/b.h", "#pragma once\r\nextern cudaStream_t s;\r\n");
  write("p/c.cu", kClean);
  const ProcessResult diff = port({path("p"), "--diff", "--quiet"});
  write("d", diff.out);
  fs::copy(path("p"), path("q"), fs::copy_options::recursive);
  const ProcessResult applied = toolchain::run_process({"/usr/bin/env", "-C", path("q"), "git", "apply", path("d")});
  if (applied.exit_code == 127) GTEST_SKIP() << "git is not installed";
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  port({path("p"), "--out-dir", path("o"), "--quiet"});
  EXPECT_EQ(tree("q"), tree("o"));
}

TEST_F(PortCases, InPlaceKeepsOldFiles) {
  write("p/a.cu", kClean);
  write("p/common.h", "inline cudaError_t last() { return cudaGetLastError(); }\n");
  write("p/notes.txt", "cudaMalloc\n");
  EXPECT_EQ(port({path("p"), "--in-place"}).exit_code, 0);
  const auto after = tree("p");
  EXPECT_EQ(after.at("a.cu.orig"), kClean);
  EXPECT_EQ(after.at("a.mu"), "#include <musa_runtime.h>\nint main() { return musaDeviceSynchronize(); }\n");
  EXPECT_EQ(after.at("common.h"), "inline musaError_t last() { return musaGetLastError(); }\n");
  EXPECT_EQ(after.at("notes.txt"), "cudaMalloc\n");
  EXPECT_FALSE(after.contains("a.cu"));
  EXPECT_EQ(after.size(), 5u);
  // A backup is never written over.
  write("p/a.cu", kClean);
  const ProcessResult again = port({path("p"), "--in-place"});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_EQ(read("p/a.cu"), kClean);
}

TEST_F(PortCases, OutDirIsTheWholeTreeAndLeavesThePathAlone) {
  write("p/src/k.cu", "#include \"k.cuh\"\n#include \"../inc/x.cuh\"\n");
  write("p/src/k.cuh", "#pragma once\n");
  write("p/inc/x.cuh", "#pragma once\n");
  write("p/data/x.bin", std::string("\0cudaMalloc", 11));
  write("p/CMakeLists.txt",
        "project(x LANGUAGES CXX CUDA)\nadd_executable(x src/k.cu)\ntarget_link_libraries(x CUDA::cudart)\n");
  ::chmod(path("p/src/k.cu").c_str(), 0755);
  const auto before = tree("p");
  port({path("p"), "--out-dir", path("o"), "--quiet"});
  EXPECT_EQ(tree("p"), before);
  const auto after = tree("o");
  EXPECT_EQ(after.at("src/k.mu"), "#include \"k.muh\"\n#include \"../inc/x.muh\"\n");
  EXPECT_EQ(after.at("data/x.bin"), before.at("data/x.bin"));
  EXPECT_THAT(after.at("CMakeLists.txt"), AllOf(HasSubstr("src/k.mu"), HasSubstr("MUSA::musart")));
  EXPECT_EQ(fs::status(path("o/src/k.mu")).permissions() & fs::perms::owner_exec, fs::perms::owner_exec);
  // And there and back.
  port({path("o"), "--to", "cuda", "--out-dir", path("b"), "--quiet"});
  EXPECT_EQ(tree("b").at("src/k.cu"), before.at("src/k.cu"));
  EXPECT_EQ(port({path("p"), "--out-dir", path("p/inner")}).exit_code, 2);
}

TEST_F(PortCases, StandardInputAndOutput) {
  write("a.cu", kClean);
  const ProcessResult result =
      toolchain::run_process({"/bin/sh", "-c", "'" + kMuscope + "' port - < '" + path("a.cu") + "'"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "#include <musa_runtime.h>\nint main() { return musaDeviceSynchronize(); }\n");
  EXPECT_THAT(result.err, HasSubstr("2 names changed"));
}

TEST_F(PortCases, Reports) {
  write("p/a.cu", kDirty);
  const ProcessResult result = port({path("p"), "--json", path("r.json"), "--sarif", path("r.sarif")});
  EXPECT_THAT(result.out, HasSubstr("a.cu:1:23: error P001: "));
  const json report = json::parse(read("r.json"));
  const json& finding = report.at("files").at(0).at("findings").at(0);
  EXPECT_EQ(finding.at("code"), "P001");
  EXPECT_EQ(finding.at("line"), 1);
  EXPECT_EQ(finding.at("column"), 23);
  EXPECT_EQ(report.at("totals").at("errors"), 1);
  const json sarif = json::parse(read("r.sarif"));
  EXPECT_EQ(sarif.at("version"), "2.1.0");
  EXPECT_EQ(sarif.at("runs").at(0).at("results").at(0).at("ruleId"), "P001");
}

TEST_F(PortCases, ShimHoldsOnlyWhatIsUsed) {
  write("p/a.cu", kClean);
  EXPECT_EQ(port({path("p"), "--shim", path("shim.h"), "--quiet"}).exit_code, 0);
  const std::string shim = read("shim.h");
  EXPECT_THAT(shim,
              AllOf(HasSubstr("#define cudaDeviceSynchronize musaDeviceSynchronize"), Not(HasSubstr("cudaMalloc"))));
  EXPECT_EQ(read("p/a.cu"), kClean);
}

TEST_F(PortCases, LinksThatLeaveTheTree) {
  write("p/a.cu", kClean);
  write("secret.cu", kClean);
  fs::create_symlink("../secret.cu", path("p/out.cu"));
  fs::create_symlink("a.cu", path("p/in.cu"));
  fs::create_directory_symlink("..", path("p/up"));
  fs::create_symlink("loop", path("p/loop"));
  const ProcessResult result = port({path("p"), "--in-place", "--no-backup"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("out.cu:1:1: warning P038"), HasSubstr("up:1:1: warning P038")));
  EXPECT_EQ(read("secret.cu"), kClean);
  EXPECT_EQ(tree("p").at("out.cu"), "-> ../secret.cu");
  fs::remove(path("p/a.mu"));
  write("p/a.cu", kClean);
  EXPECT_EQ(port({path("p"), "--out-dir", path("o"), "--quiet"}).exit_code, 4);
  EXPECT_EQ(read("secret.cu"), kClean);
  EXPECT_TRUE(fs::is_symlink(path("o/out.cu")));
}

TEST_F(PortCases, HostileFiles) {
  write("p/zero.cu", std::string("cudaMalloc\0", 11));
  write("p/utf.cu", "\xff\xfe\xc3(cudaFree)\n\x80");
  write("p/open.cu", "cudaFree(0); R\"x(never ends");
  write("p/comment.cu", "cudaFree(0); /* never ends");
  write("p/string.cu", "s = \"never ends\ncudaFree(0);\n");
  write("p/deep.cu", std::string(200000, '(') + "cudaFree(0)" + std::string(200000, ')'));
  write("p/empty.cu", "");
  const ProcessResult result = port({path("p"), "--out-dir", path("o"), "--json", path("r.json"), "--quiet"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_EQ(read("o/zero.mu") + read("o/zero.cu"), read("p/zero.cu"));
  EXPECT_EQ(read("o/utf.mu"), "\xff\xfe\xc3(musaFree)\n\x80");
  EXPECT_THAT(read("o/open.mu"), HasSubstr("musaFree(0); R\"x(never ends"));
  EXPECT_THAT(read("o/string.mu"), HasSubstr("musaFree"));
  EXPECT_THAT(read("o/deep.mu"), HasSubstr("musaFree"));
  EXPECT_EQ(json::parse(read("r.json")).at("totals").at("codes").at("P040").at("count"), 3);
}

TEST_F(PortCases, OutDirLosesNoFile) {
  write("p/a.cu", kClean);
  write("p/a.mu", "int mine;\n");
  const ProcessResult both = port({path("p"), "--out-dir", path("o")});
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_THAT(both.err, AllOf(HasSubstr("D784"), HasSubstr("'a.cu'"), HasSubstr("'a.mu'")));
  EXPECT_FALSE(fs::exists(path("o")));
  EXPECT_EQ(port({path("p"), "--out-dir", path("k"), "--keep-names", "--quiet"}).exit_code, 0);
  EXPECT_EQ(tree("k").size(), 2u);
  // A folder that has the name.
  write("q/a.cu", kClean);
  write("q/a.mu/b.h", "int b;\n");
  EXPECT_THAT(port({path("q"), "--out-dir", path("o")}).err, HasSubstr("D784"));
}

TEST_F(PortCases, OutDirKeepsWhatIsThere) {
  write("p/0.cu", kClean);
  write("p/a.cu", kClean);
  fs::create_symlink("a.cu", path("p/l"));
  ASSERT_EQ(port({path("p"), "--out-dir", path("o"), "--quiet"}).exit_code, 0);
  const auto first = tree("o");
  // Once more over the same results.
  EXPECT_EQ(port({path("p"), "--out-dir", path("o"), "--quiet"}).exit_code, 0);
  EXPECT_EQ(tree("o"), first);
  // Worked on by hand, the file stays, and so do the others.
  write("o/a.mu", "int by_hand;\n");
  fs::remove(path("o/0.mu"));
  const auto before = tree("o");
  const ProcessResult again = port({path("p"), "--out-dir", path("o"), "--quiet"});
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_THAT(again.err, AllOf(HasSubstr("D784"), HasSubstr("o/a.mu' is there already")));
  EXPECT_EQ(tree("o"), before);
}

TEST_F(PortCases, InPlaceChangesAllOrNothing) {
  write("p/a.cu", kClean);
  // A name to which no backup's ending can be added any more: 255 bytes is what names may have.
  write("p/b/" + std::string(249, 'x') + ".cu", kClean);
  const auto before = tree("p");
  const ProcessResult result = port({path("p"), "--in-place"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("D783"), HasSubstr("nothing was changed")));
  EXPECT_EQ(tree("p"), before);
  // Without a backup such a name is no trouble.
  EXPECT_EQ(port({path("p"), "--in-place", "--no-backup", "--quiet"}).exit_code, 0);
  EXPECT_EQ(tree("p").size(), 2u);
  EXPECT_TRUE(tree("p").contains("b/" + std::string(249, 'x') + ".mu"));
}

TEST_F(PortCases, InPlaceAndAFolderThatIsNotWritable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  write("p/a.cu", kClean);
  write("p/b/c.cu", kClean);
  const auto before = tree("p");
  ::chmod(path("p/b").c_str(), 0555);
  const ProcessResult result = port({path("p"), "--in-place"});
  ::chmod(path("p/b").c_str(), 0755);
  EXPECT_THAT(result.err, AllOf(HasSubstr("D783"), HasSubstr("nothing was changed")));
  EXPECT_EQ(tree("p"), before);
}

TEST_F(PortCases, OutputsReplaceNoInputAndNotEachOther) {
  write("a.cu", kClean);
  write("rules.tsv", "name\tcudaOwnThing\tmusaOwnThing\n");
  write("CMakeLists.txt", "project(x)\n");
  const auto before = tree(".");
  const std::string a = path("a.cu"), rules = path("rules.tsv"), q = path("q.mu"), s = path("s.h");
  const std::vector<std::vector<std::string>> refused = {{a, "--shim", a},
                                                         {a, "-o", a},
                                                         {a, "--rules", rules, "--json", rules},
                                                         {a, "--rules", rules, "-o", rules},
                                                         {a, "--rules", rules, "--shim", rules},
                                                         {a, "-o", q, "--json", q},
                                                         {a, "-o", q, "--sarif", q},
                                                         {a, "--json", q, "--sarif", q},
                                                         {a, "--shim", s, "--json", s},
                                                         {path("."), "--json", path("CMakeLists.txt")},
                                                         {path("."), "--shim", path("CMakeLists.txt")}};
  for (std::vector<std::string> args : refused) {
    args.push_back("--quiet");
    const ProcessResult result = port(args);
    EXPECT_EQ(result.exit_code, 3) << testing::PrintToString(args);
    EXPECT_THAT(result.err, HasSubstr("error D730")) << testing::PrintToString(args);
    EXPECT_EQ(tree("."), before) << testing::PrintToString(args);
  }
  // A shim replaces a shim, and no other header.
  write("t/own.h", "int own;\n");
  EXPECT_THAT(port({a, "--shim", path("t/own.h")}).err, HasSubstr("D784"));
  EXPECT_EQ(read("t/own.h"), "int own;\n");
  EXPECT_EQ(port({a, "--shim", path("t/s.h"), "--quiet"}).exit_code, 0);
  EXPECT_EQ(port({a, "--shim", path("t/s.h"), "--quiet"}).exit_code, 0);
  EXPECT_EQ(port({a, "-o", path("t/a.mu"), "--quiet"}).exit_code, 0);
  EXPECT_EQ(port({a, "-o", path("t/a.mu"), "--quiet"}).exit_code, 0);
}

TEST_F(PortCases, ABackupHasAnEnding) {
  write("p/a.cu", kClean);
  const ProcessResult result = port({path("p"), "--in-place", "--backup", ""});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("D104"), HasSubstr("--no-backup")));
  EXPECT_EQ(read("p/a.cu"), kClean);
}

TEST_F(PortCases, PipesAreTold) {
  write("p/a.cu", kClean);
  ASSERT_EQ(::mkfifo(path("p/b.cu").c_str(), 0600), 0);
  const ProcessResult result = port({path("p"), "--out-dir", path("o")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("b.cu:1:1: warning P028"));
  EXPECT_EQ(tree("o").size(), 1u);
}

TEST_F(PortCases, ALineOf100Megabytes) {
  std::string line;
  constexpr std::size_t kBytes = 100'000'000;
  line.reserve(kBytes + 32);
  while (line.size() < kBytes) line += "cudaFree(a[i]); ";
  write("p/a.cu", line);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(port({path("p/a.cu"), "-o", path("a.mu"), "--quiet"}).exit_code, 0);
  // Two minutes is what 50 MB a minute allow.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
  const std::string after = read("a.mu");
  EXPECT_EQ(after.size(), line.size());
  EXPECT_TRUE(after.ends_with("musaFree(a[i]); "));
  EXPECT_EQ(after.find("cuda"), std::string::npos);
}

}  // namespace
}  // namespace muscope
