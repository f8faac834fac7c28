// Report files, progress line, program lookup, call sites: the parts of `muscope run` that need no child process.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"
#include "cli/input_file.h"
#include "cli/run_output.h"
#include "cli/run_program.h"
#include "cli/run_progress.h"
#include "cli/run_symbols.h"

namespace muscope::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string error_of(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(OutputFile, OldContentStaysUntilTheReportIsThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "r.json") << "an old and rather long report";
  OutputFile file(folder / "r.json");
  EXPECT_EQ(content(folder / "r.json"), "an old and rather long report");
  file.write("new");
  EXPECT_EQ(content(folder / "r.json"), "new");
}

TEST(OutputFile, AFileThatWasMadeForNothingGoesAgain) {
  const TemporaryFolder folder;
  {
    const OutputFile file(folder / "r.json");
    EXPECT_TRUE(fs::exists(folder / "r.json"));
  }
  EXPECT_FALSE(fs::exists(folder / "r.json"));
  std::ofstream(folder / "old.json") << "old";
  {
    const OutputFile file(folder / "old.json");
  }
  EXPECT_EQ(content(folder / "old.json"), "old");
}

TEST(OutputFile, OneFileTakesOneReportUnderWhateverName) {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "r.json", folder / "link");  // leads nowhere yet
  OutputFile first(folder / "r.json");
  EXPECT_THAT(error_of([&] { OutputFile(folder / "link"); }), HasSubstr("are one file"));
  first.write("report");
  EXPECT_EQ(error_of([&] { OutputFile(folder / "link"); }), "no error");
}

TEST(OutputFile, WhatIsReadIsNotOverwritten) {
  const TemporaryFolder folder;
  std::ofstream(folder / "in.json") << "report";
  keep_input(folder / "in.json");
  EXPECT_THAT(error_of([&] { OutputFile(folder / "in.json"); }), HasSubstr("does not overwrite it"));
  const OutputFile out(folder / "out.json");
  EXPECT_THAT(error_of([&] { keep_input(folder / "out.json"); }), HasSubstr("does not overwrite it"));
}

// What verify, lab, port and check read whole, and the GPU of run, diff and check.
TEST(OutputFile, FilesOfCommandsAreNotOverwritten) {
  const TemporaryFolder folder;
  const OutputFile capture(folder / "cap.csv"), gpu(folder / "g.json");
  EXPECT_THAT(error_of([&] { read_input(folder / "cap.csv", 100, "D745", ""); }), StartsWith("error D730"));
  EXPECT_THAT(error_of([&] { read_gpu(folder / "g.json"); }), StartsWith("error D730"));
  EXPECT_EQ(read_gpu("h200").name, "h200");
  std::ofstream(folder / "in.csv") << "text";
  EXPECT_EQ(read_input(folder / "in.csv", 100, "D745", ""), "text");
  EXPECT_THAT(error_of([&] { OutputFile(folder / "in.csv"); }), StartsWith("error D730"));
  EXPECT_EQ(content(folder / "in.csv"), "text");
}

TEST(OutputFile, UnwritablePathsAreFoundEarly) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { OutputFile(folder / "no/such/folder.json"); }),
              StartsWith("error D730: cannot write the report to"));
  EXPECT_THAT(error_of([&] { OutputFile("/"); }), HasSubstr("directory"));
  EXPECT_FALSE(OutputFile(""));
  EXPECT_TRUE(OutputFile("-").is_stdout());
}

TEST(OutputFile, SourcesAndProgramsAreNotOverwritten) {
  const TemporaryFolder folder;
  const auto refuses = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    const std::string error = error_of([&] { OutputFile(folder / name).write("report"); });
    EXPECT_EQ(content(folder / name), error == "no error" ? "report" : text) << name;
    return error;
  };
  EXPECT_THAT(refuses("app.cu", "int main() {}"), HasSubstr("app.cu' is source code, a report does not overwrite it"));
  EXPECT_THAT(refuses("app.h", "int f();"), StartsWith("error D730"));
  EXPECT_THAT(refuses("app",
                      "\x7f"
                      "ELF and more"),
              HasSubstr("app' is a program"));
  EXPECT_THAT(refuses("run.sh", "#!/bin/sh"), StartsWith("error D730"));
  EXPECT_EQ(refuses("empty.cu", ""), "no error");
  EXPECT_EQ(refuses("report.txt", "an older report"), "no error");
}

TEST(OutputFile, AFullDiskIsToldAfterwards) {
  OutputFile file("/dev/full");
  EXPECT_THAT(error_of([&] { file.write("report"); }),
              StartsWith("error D731: writing the report to '/dev/full' failed: No space left"));
}

ProcessStatus status_of(std::string kernel, double seconds, std::uint64_t done, std::uint64_t blocks) {
  ProcessStatus s;
  s.in_launch = true;
  s.launches = 12;
  s.kernel = std::move(kernel);
  s.launch_seconds = seconds;
  s.blocks_done = done;
  s.blocks = blocks;
  return s;
}

TEST(Progress, SaysWhatIsRunning) {
  const auto line = [](const ProcessStatus& s, std::size_t width) { return progress_line(s, 12, width); };
  EXPECT_EQ(line(status_of("copy(float*)", 5.2, 340, 1000), 79), "muscope: launch 12 copy(float*)  34 %  5 s");
  EXPECT_EQ(line(status_of("copy(float*)", 5.2, 0, 0), 79), "muscope: launch 12 copy(float*)  5 s");
  EXPECT_EQ(line(status_of("a_long_kernel_name(float*)", 5.2, 1, 2), 42), "muscope: launch 12 a_long_ke...  50 %  5 s");
  EXPECT_EQ(line(status_of("a\033[31mb", 2, 0, 0), 79), "muscope: launch 12 a?[31mb  2 s");
  EXPECT_LE(line(status_of("copy(float*)", 5.2, 0, 0), 10).size(), 10u);
}

TEST(Progress, TheLongestLaunchOfAllProcessesIsShown) {
  EXPECT_EQ(longest_launch({status_of("a", 2, 0, 0), status_of("b", 9, 0, 0)})->kernel, "b");
  EXPECT_EQ(longest_launch({status_of("a", 0.4, 0, 0)}), nullptr);
  EXPECT_EQ(longest_launch({}), nullptr);
  EXPECT_EQ(progress_line(status_of("k", 0.01, 3, 4), 5000, 80, 12), "muscope: launch 5000 k  12 s of short launches");
}

TEST(Progress, ManyShortLaunchesAreShownOnceTheyTakeLong) {
  ShortLaunches launches;
  ProcessStatus idle = status_of("k", 0, 0, 0), busy = idle;
  idle.in_launch = false;
  EXPECT_EQ(launches.look({idle}, 100), nullptr);
  double now = 100;
  for (int i = 0; i < 10; ++i, now += 0.1) {
    busy.launches = idle.launches = 12 + 100 * static_cast<std::uint32_t>(i);
    EXPECT_EQ(launches.look({i % 2 == 0 ? busy : idle}, now), nullptr) << now;
  }
  busy.launches = 2000;
  now = 101.2;
  const std::vector<ProcessStatus> statuses{busy};
  EXPECT_EQ(launches.look(statuses, now), &statuses[0]);
  EXPECT_NEAR(launches.seconds(), 1.2, 1e-9);
  // After a pause it begins anew.
  busy.launches = 2001;
  EXPECT_EQ(launches.look({busy}, now + 3), nullptr);
}

TEST(FindCommand, AsAShellDoes) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "one");
  fs::create_directories(folder / "two");
  std::ofstream(folder / "one/app") << "not executable";
  std::ofstream(folder / "two/app") << "#!/bin/sh\n";
  ::chmod((folder / "two/app").c_str(), 0755);
  fs::create_directories(folder / "one/dir");
  const std::string path = folder / "one" + ":" + folder / "two";
  EXPECT_EQ(find_command("app", path), folder / "two/app");
  EXPECT_EQ(find_command("dir", path), "");
  EXPECT_EQ(find_command("nothing", path), "");
  EXPECT_EQ(find_command("./here", path), "./here");
  EXPECT_EQ(find_command("sh", "/nowhere::/bin"), "/bin/sh");
}

TEST(CallSites, AnswersOfAddr2lineAreUnderstood) {
  CodePlace p = parse_addr2line("main", "/src/app.cu:12 (discriminator 3)");
  EXPECT_EQ(p.function, "main");
  EXPECT_EQ(p.file, "/src/app.cu");
  EXPECT_EQ(p.line, 12);
  p = parse_addr2line("??", "??:0");
  EXPECT_EQ(p.function, "");
  EXPECT_EQ(p.file, "");
  p = parse_addr2line("f(int)", "app.cu:?");
  EXPECT_EQ(p.function, "f(int)");
  EXPECT_EQ(p.file, "");
}

TEST(CallSites, CallsInlinedFromCudasHeadersBelongToTheLineThatMadeThem) {
  const std::vector<CodePlace> places = parse_inlined(
      "0x0000000000001234\ncudaError cudaMemcpyToSymbol<int>(int const&)\n/usr/local/cuda/include/cuda_runtime.h:700\n"
      "upload()\n/src/app.cu:12\nmain\n/src/app.cu:40\n0x0000000000001300\nmain\n/src/app.cu:41\n"
      "0x0000000000001400\ncudaMalloc<int>\n/opt/muscope/toolkit/muscope/runtime/x.h:5\n0x1500\n??\n??:0\n",
      "/opt/muscope/toolkit");
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0].function, "upload()");
  EXPECT_EQ(places[0].line, 12);
  EXPECT_EQ(places[1].line, 41);
  EXPECT_EQ(places[2].line, 5);  // nothing better
  EXPECT_EQ(places[3].file, "");
}

TEST(CallSites, WithoutDebugInformationTheSymbolHasToDo) {
  const CallSites sites;
  const std::string here = (fs::current_path() / "app").string();
  EXPECT_EQ(sites.place({here, 0x11f3, "_Z4copyPf", 0x13}).text, "copy(float*)+0x13 in app");
  EXPECT_EQ(sites.place({here, 0x11f3, "", 0}).text, "0x11f3 in app");
  EXPECT_EQ(sites.place({"/usr/lib/libx.so", 0x20, "main", 4}).text, "main+0x4 in /usr/lib/libx.so");
  EXPECT_EQ(sites.place({}).text, "");
}

}  // namespace
}  // namespace muscope::cli
