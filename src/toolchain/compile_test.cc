// compile() from end to end with stand-ins for the compilers, so that what is tested is what muscope does around them.
#include "toolchain/compile.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// An nvcc that "compiles" by concatenation, follows #include "..." one level deep, and logs its calls.
constexpr const char* kFakeNvcc = R"SH(
here=$(dirname "$0")
case "$1" in
  --version) echo "nvcc: NVIDIA (R) Cuda compiler driver"; echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0;;
  --list-gpu-code) echo sm_75; echo sm_90; exit 0;;
esac
echo "$@" >> "$here/log"
inputs=""
while [ $# -gt 0 ]; do
  case "$1" in
    -o) out=$2; shift;;
    -MF) deps=$2; shift;;
    *.cu|*.cpp|*.o) inputs="$inputs $1";;
  esac
  shift
done
if grep -q SYNTAX_ERROR $inputs; then echo "a.cu(1): error: expected something" >&2; exit 2; fi
if grep -q CRASH $inputs; then kill -9 $$; fi
if grep -q LINK_ERROR $inputs && [ -z "$deps" ]; then echo "undefined reference" >&2; exit 1; fi
cat $inputs > "$out"
if [ -n "$deps" ]; then
  header=$(sed -n 's/^#include "\(.*\)"/\1/p' $inputs)
  folder=$(dirname $inputs)
  if [ -n "$header" ]; then cat "$folder/$header" >> "$out"; fi
  echo "x.o: $inputs ${header:+$folder/$header}" > "$deps"
fi
)SH";

class CompileTest : public ::testing::Test {
 protected:
  CompileTest() : cache_("XDG_CACHE_HOME", folder_.path("cache").c_str()) {
    folder_.write_script("bin/nvcc", kFakeNvcc);
    places_.path = {folder_.path("bin")};
    places_.cuda_prefix = folder_.path("none");
    places_.llvm_prefix = folder_.path("none");
  }

  Compiled compile_file(const std::string& path, std::vector<std::string> flags = {}) {
    CompileRequest request;
    request.sources = {path};
    request.flags = std::move(flags);
    return compile(request, places_);
  }

  std::string code_of(const CompileRequest& request) {
    ::testing::internal::CaptureStderr();
    std::string code = "none";
    try {
      compile(request, places_);
    } catch (const Error& error) {
      code = error.diagnostics().front().code;
    }
    printed_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  std::string code_of_file(const std::string& text) {
    CompileRequest request;
    request.sources = {folder_.write("bad.cu", text)};
    return code_of(request);
  }

  int calls() const {
    const std::string log = folder_.read("bin/log");
    return static_cast<int>(std::count(log.begin(), log.end(), '\n'));
  }

  std::string read(const std::string& path) const {
    std::ifstream file(path);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

  TestFolder folder_;
  ScopedVariable cache_;
  SearchPlaces places_;
  std::string printed_;
};

TEST_F(CompileTest, CompilesOnceAndFindsItAgain) {
  const std::string source = folder_.write("app.cu", "kernel\n");
  const Compiled first = compile_file(source);
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(first.toolchain, "nvcc 13.0.88");
  EXPECT_EQ(first.cc_major * 10 + first.cc_minor, 90);
  EXPECT_THAT(first.program, EndsWith("/app"));
  EXPECT_EQ(read(first.program), "kernel\n");
  EXPECT_TRUE(first.diagnostics.empty());
  EXPECT_EQ(calls(), 2);  // one object, one link
  const std::string log = folder_.read("bin/log");
  EXPECT_THAT(log, HasSubstr("-lineinfo"));
  EXPECT_THAT(log, HasSubstr("-cudart shared"));
  EXPECT_THAT(log, HasSubstr("arch=compute_90,code=[compute_90,sm_90]"));

  const Compiled second = compile_file(source);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.program, first.program);
  EXPECT_EQ(calls(), 2);
}

TEST_F(CompileTest, AChangedHeaderOrFlagIsCompiledAgain) {
  const std::string source = folder_.write("app.cu", "#include \"h.h\"\n");
  folder_.write("h.h", "one\n");
  EXPECT_THAT(read(compile_file(source).program), HasSubstr("one"));
  folder_.write("h.h", "two\n");
  const Compiled second = compile_file(source);
  EXPECT_FALSE(second.from_cache);
  EXPECT_THAT(read(second.program), HasSubstr("two"));
  EXPECT_FALSE(compile_file(source, {"-DX"}).from_cache);
  EXPECT_TRUE(compile_file(source, {"-DX"}).from_cache);
  EXPECT_TRUE(compile_file(source).from_cache);
}

TEST_F(CompileTest, ADamagedProgramIsMadeAnew) {
  const std::string source = folder_.write("app.cu", "kernel\n");
  const Compiled first = compile_file(source);
  std::ofstream(first.program, std::ios::app) << "damage";
  const Compiled second = compile_file(source);
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(read(second.program), "kernel\n");
}

TEST_F(CompileTest, WithoutTheCacheItIsCompiledEveryTime) {
  CompileRequest request;
  request.sources = {folder_.write("app.cu", "kernel\n")};
  request.use_cache = false;
  EXPECT_FALSE(compile(request, places_).from_cache);
  const Compiled second = compile(request, places_);
  EXPECT_FALSE(second.from_cache);
  EXPECT_EQ(read(second.program), "kernel\n");
  EXPECT_EQ(calls(), 4);
}

TEST_F(CompileTest, SeveralFilesBecomeOneProgram) {
  CompileRequest request;
  request.sources = {folder_.write("a.cu", "a\n"), folder_.write("sub/a.cu", "b\n"), folder_.write("c.cpp", "c\n")};
  EXPECT_EQ(read(compile(request, places_).program), "a\nb\nc\n");
}

TEST_F(CompileTest, TheTargetIsTheNearestThatTheCompilerHas) {
  CompileRequest request;
  request.sources = {folder_.write("app.cu", "kernel\n")};
  request.cc_major = 3;
  request.cc_minor = 5;
  const Compiled old = compile(request, places_);
  EXPECT_EQ(old.cc_major * 10 + old.cc_minor, 75);
  ASSERT_EQ(old.diagnostics.size(), 1u);
  EXPECT_EQ(old.diagnostics[0].code, "D410");
  request.cc_major = 12;
  EXPECT_EQ(compile(request, places_).cc_major, 9);
}

TEST_F(CompileTest, ACudaHomeThatLeadsNowhereIsTold) {
  CompileRequest request;
  request.sources = {folder_.write("app.cu", "kernel\n")};
  places_.cuda_home = "/nowhere/cuda";
  const Compiled compiled = compile(request, places_);
  ASSERT_EQ(compiled.diagnostics.size(), 1u);
  EXPECT_EQ(compiled.diagnostics[0].code, "D415");
  EXPECT_THAT(compiled.diagnostics[0].text, HasSubstr("/nowhere/cuda"));
}

TEST_F(CompileTest, CompilerErrorsAreShownAsPrinted) {
  EXPECT_EQ(code_of_file("SYNTAX_ERROR"), "D403");
  EXPECT_EQ(printed_, "a.cu(1): error: expected something\n");
  EXPECT_EQ(code_of_file("LINK_ERROR"), "D404");
  EXPECT_THAT(printed_, HasSubstr("undefined reference"));
  EXPECT_EQ(code_of_file("CRASH"), "D414");
}

TEST_F(CompileTest, FilesThatCannotBeCompiledHaveAReason) {
  const auto message = [&](const std::string& source) {
    CompileRequest request;
    request.sources = {source};
    try {
      compile(request, places_);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(folder_.path("nothing.cu")), HasSubstr("nothing.cu': No such file or directory"));
  EXPECT_THAT(message(folder_.path(".")), HasSubstr("it is a directory"));
  EXPECT_THAT(message(folder_.write("kernel.ptx", "")), HasSubstr("programs load PTX at run time"));
  EXPECT_THAT(message(folder_.write("notes.txt", "")), HasSubstr("its ending .txt names no language"));
}

TEST_F(CompileTest, WhatIsMissingIsNamed) {
  CompileRequest request;
  EXPECT_EQ(code_of(request), "D405");
  request.sources = {folder_.path("nothing.cu")};
  EXPECT_EQ(code_of(request), "D405");
  request.sources = {folder_.write("kernel.ptx", "")};
  EXPECT_EQ(code_of(request), "D405");
  request.sources = {folder_.write("a.cu", "x")};
  request.toolchain = Preference::kClang;
  EXPECT_EQ(code_of(request), "D402");
  request.toolchain = Preference::kNvcc;
  places_.path.clear();
  EXPECT_EQ(code_of(request), "D402");
  request.toolchain = Preference::kAuto;
  EXPECT_EQ(code_of(request), "D401");
  // nvcc cannot take MUSA sources, and there is no clang here.
  places_.path = {folder_.path("bin")};
  request.sources = {folder_.write("a.mu", "x")};
  EXPECT_EQ(code_of(request), "D401");
  request.toolchain = Preference::kNvcc;
  EXPECT_EQ(code_of(request), "D402");
}

TEST(CompileNames, PreferencesAndSources) {
  EXPECT_EQ(preference_of("nvcc"), Preference::kNvcc);
  EXPECT_THROW(preference_of("gcc"), Error);
  EXPECT_TRUE(is_device_source("x/a.cu"));
  EXPECT_TRUE(is_device_source("a.mu"));
  EXPECT_FALSE(is_device_source("a.out"));
}

}  // namespace
}  // namespace muscope::toolchain
