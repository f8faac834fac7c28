#include "toolchain/cache.h"

#include <gmock/gmock.h>

#include <chrono>

#include "toolchain/build_steps.h"
#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {
namespace fs = std::filesystem;

using ::testing::ElementsAre;

/// Stores a program with that text; returns what store_program returned.
std::optional<CachedProgram> store(Cache& cache, const std::string& key, const std::vector<std::string>& files,
                                   const std::string& text) {
  const std::string work = cache.make_work_directory();
  std::ofstream(work + "/program") << text;
  auto stored = cache.store_program(key, files, work + "/program", "app", "info of " + key);
  fs::remove_all(work);
  return stored;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

TEST(Hasher, DependsOnOrderLengthsAndContent) {
  const auto hash = [](std::initializer_list<const char*> parts) {
    Hasher hasher;
    for (const char* part : parts) hasher.add(part);
    return hasher.hex();
  };
  EXPECT_EQ(hash({"ab", "c"}), hash({"ab", "c"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_NE(hash({"a", "b"}), hash({"b", "a"}));
  EXPECT_EQ(hash({}).size(), 32u);
  Hasher hasher;
  EXPECT_FALSE(hasher.add_file("/nonexistent"));
}

TEST(Cache, FindsWhatWasStored) {
  const TestFolder folder;
  const std::string source = folder.write("a.cu", "one");
  Cache cache(folder.path("cache"));
  EXPECT_FALSE(cache.find_program("k"));
  const auto stored = store(cache, "k", {source}, "binary");
  ASSERT_TRUE(stored);
  const auto found = cache.find_program("k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->program, stored->program);
  EXPECT_EQ(found->info, "info of k");
  EXPECT_EQ(content(found->program), "binary");
  EXPECT_EQ(fs::path(found->program).filename(), "app");
  EXPECT_FALSE(cache.find_program("other"));
}

// Two processes may compile the same at a time: the first may be running its program when the second is done.
TEST(Cache, WhatIsThereAlreadyStays) {
  const TestFolder folder;
  const std::string source = folder.write("a.cu", "one");
  Cache cache(folder.path("cache"));
  const auto first = store(cache, "k", {source}, "binary");
  ASSERT_TRUE(first);
  const std::ifstream running(first->program);
  const auto second = store(cache, "k", {source}, "binary, made once more");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->program, first->program);
  EXPECT_EQ(content(second->program), "binary");
}

TEST(Cache, AChangedHeaderIsAMissAndTheOldContentHitsAgain) {
  const TestFolder folder;
  const std::string header = folder.write("h.h", "one");
  Cache cache(folder.path("cache"));
  ASSERT_TRUE(store(cache, "k", {header}, "first"));
  folder.write("h.h", "two");
  EXPECT_FALSE(cache.find_program("k"));
  ASSERT_TRUE(store(cache, "k", {header}, "second"));
  EXPECT_EQ(content(cache.find_program("k")->program), "second");
  folder.write("h.h", "one");
  EXPECT_EQ(content(cache.find_program("k")->program), "first");
  fs::remove(header);
  EXPECT_FALSE(cache.find_program("k"));
}

TEST(Cache, DamagedEntriesAreMadeAnew) {
  const TestFolder folder;
  const std::string source = folder.write("a.cu", "one");
  Cache cache(folder.path("cache"));
  const auto stored = store(cache, "k", {source}, "binary");
  ASSERT_TRUE(stored);
  std::ofstream(stored->program, std::ios::app) << "!";
  EXPECT_FALSE(cache.find_program("k"));
  ASSERT_TRUE(store(cache, "k", {source}, "binary"));
  EXPECT_EQ(content(cache.find_program("k")->program), "binary");
  const fs::path entry = fs::path(stored->program).parent_path();
  for (const char* info :
       {"", "muscope program 1\n", "something else\napp\n0\n", "muscope program 1\n../../../etc\n0\n"}) {
    std::ofstream(entry / "info", std::ios::trunc) << info;
    EXPECT_FALSE(cache.find_program("k")) << info;
  }
  std::ofstream(folder.path("cache/compile/k.list"), std::ios::trunc) << std::string("\0\xff\n", 3);
  EXPECT_FALSE(cache.find_program("k"));
}

TEST(Cache, StaysWithinItsLimitAndDropsTheOldest) {
  const TestFolder folder;
  const std::string source = folder.write("a.cu", "one");
  Cache cache(folder.path("cache"), 10'000);
  const std::string big(4'000, 'x');
  ASSERT_TRUE(store(cache, "k1", {source}, big));
  ASSERT_TRUE(store(cache, "k2", {source}, big));
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(fs::path(cache.find_program("k1")->program).parent_path(), old);
  ASSERT_TRUE(store(cache, "k3", {source}, big));
  EXPECT_FALSE(cache.find_program("k1"));
  EXPECT_TRUE(cache.find_program("k2"));
  EXPECT_TRUE(cache.find_program("k3"));
}

TEST(Cache, AnEntryAboveTheLimitStillServesItsMaker) {
  const TestFolder folder;
  Cache cache(folder.path("cache"), 100);
  const auto stored = store(cache, "k", {folder.write("a.cu", "one")}, std::string(4'000, 'x'));
  ASSERT_TRUE(stored);
  EXPECT_TRUE(fs::exists(stored->program));
}

TEST(Cache, BlobsAreChecked) {
  const TestFolder folder;
  Cache cache(folder.path("cache"));
  const std::string bytes("a\0b", 3);
  cache.store_blob("b", bytes);
  EXPECT_EQ(cache.find_blob("b"), bytes);
  EXPECT_FALSE(cache.find_blob("c"));
  std::ofstream(folder.path("cache/blobs/b"), std::ios::app) << "!";
  EXPECT_FALSE(cache.find_blob("b"));
  folder.write("cache/blobs/b", "short");
  EXPECT_FALSE(cache.find_blob("b"));
}

TEST(Cache, TheUsersCacheFollowsTheEnvironment) {
  const TestFolder folder;
  const ScopedVariable home("HOME", folder.path("home").c_str());
  {
    const ScopedVariable xdg("XDG_CACHE_HOME", folder.path("xdg").c_str());
    EXPECT_EQ(Cache::of_user()->directory(), folder.path("xdg/muscope"));
  }
  {
    const ScopedVariable xdg("XDG_CACHE_HOME", nullptr);
    EXPECT_EQ(Cache::of_user()->directory(), folder.path("home/.cache/muscope"));
  }
  {
    // Where a file stands in the way, the next candidate is taken.
    const ScopedVariable xdg("XDG_CACHE_HOME", folder.write("file", "x").c_str());
    EXPECT_EQ(Cache::of_user()->directory(), folder.path("home/.cache/muscope"));
  }
}

TEST(Dependencies, MakeRulesAreRead) {
  EXPECT_THAT(files_in_rule("a.o: a.cu \\\n  dir/b.h c\\ d.h \\\n\te$$f.h g\\#.h\nb.h:\n"),
              ElementsAre("a.cu", "dir/b.h", "c d.h", "e$f.h", "g#.h"));
  EXPECT_THAT(files_in_rule("a.o : a.cu"), ElementsAre("a.cu"));
  EXPECT_TRUE(files_in_rule("").empty());
  EXPECT_TRUE(files_in_rule("nonsense").empty());
}

}  // namespace
}  // namespace muscope::toolchain
