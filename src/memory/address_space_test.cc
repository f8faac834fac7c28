#include "memory/address_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "memory/machine_limit.h"
#include "memory/placement.h"

namespace muscope::memory {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::vector<std::vector<std::string>> measured(const std::string& verb) {
  std::ifstream file(std::string(MUSCOPE_SOURCE_DIR) + "/tests/counters/placement.txt");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (!row.empty() && row[0] == verb) rows.push_back(row);
  }
  return rows;
}

TEST(AddressSpace, PlacesBlocksWhereTheH200Does) {
  AddressSpace space(std::uint64_t{8} << 30);
  std::map<std::string, std::uint64_t> regions;
  std::vector<std::uint64_t> addresses;
  const auto rows = measured("malloc");
  ASSERT_EQ(rows.size(), 27U);
  for (const auto& row : rows) {
    const std::uint64_t address = space.allocate(std::stoull(row[1]));
    ASSERT_NE(address, 0U);
    addresses.push_back(address);
    const auto [region, fresh] = regions.try_emplace(row[2], address - std::stoull(row[3]));
    EXPECT_EQ(address - region->second, std::stoull(row[3])) << row[1] << " bytes in " << row[2];
    if (fresh) {
      EXPECT_EQ(address % kGranule, 0U) << row[1] << " bytes";
    }
  }
  for (const auto& row : measured("again")) {
    const std::size_t which = std::stoul(row[1]) - 1;
    const Allocation before = space.find(addresses[which]);
    ASSERT_TRUE(space.release(addresses[which]));
    EXPECT_EQ(space.allocate(before.end - before.base), addresses[which]);
  }
}

TEST(AddressSpace, MapsWholeGranulesAsTheH200Does) {
  const auto rows = measured("fault");
  ASSERT_EQ(rows.size(), 8U);
  for (const auto& row : rows) {
    AddressSpace space(std::uint64_t{1} << 30);
    const std::uint64_t address = space.allocate(std::stoull(row[1]));
    EXPECT_EQ(space.mapped(address + std::stoull(row[2]), 1), row[3] == "0") << row[1] << " + " << row[2];
  }
}

TEST(AddressSpace, AccessAcrossTheEndOfAGranuleIsNotMapped) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t address = space.allocate(3 * kMiB);
  EXPECT_TRUE(space.mapped(address + 4 * kMiB - 4, 4));
  EXPECT_FALSE(space.mapped(address + 4 * kMiB - 4, 8));
  EXPECT_FALSE(space.mapped(address - 1, 1));
  EXPECT_FALSE(space.mapped(0, 1));
  EXPECT_FALSE(space.mapped(~std::uint64_t{0}, 8));
}

TEST(AddressSpace, FreshMemoryReadsZeroAlsoAfterUse) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t keeper = space.allocate(512);
  for (const std::uint64_t bytes : {std::uint64_t{100}, std::uint64_t{4096}, kMiB, 5 * kMiB}) {
    const std::uint64_t first = space.allocate(bytes);
    auto* data = static_cast<std::uint8_t*>(space.host_pointer(first));
    std::memset(data, 0xab, bytes);
    ASSERT_TRUE(space.release(first));
    const std::uint64_t second = space.allocate(bytes);
    EXPECT_EQ(second, first);
    data = static_cast<std::uint8_t*>(space.host_pointer(second));
    EXPECT_EQ(std::count(data, data + bytes, 0), static_cast<std::ptrdiff_t>(bytes));
  }
  EXPECT_TRUE(space.release(keeper));
}

TEST(AddressSpace, FindKnowsExactlyTheBytesAskedFor) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t first = space.allocate(100);
  const std::uint64_t second = space.allocate(100);
  ASSERT_EQ(second - first, 512U);
  EXPECT_EQ(space.find(first).id, 1U);
  EXPECT_EQ(space.find(first + 99).base, first);
  EXPECT_EQ(space.find(first + 100).id, 0U);
  EXPECT_EQ(space.find(second).id, 2U);
  const Allocation found = space.find(first);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(space.host_pointer(first)), found.base + found.distance);
  EXPECT_FALSE(space.release(first + 1));
  EXPECT_TRUE(space.release(first));
  EXPECT_FALSE(space.release(first));
  EXPECT_EQ(space.find(first).id, 0U);
}

TEST(AddressSpace, RefusesMoreThanTheDeviceHas) {
  AddressSpace space(64 * kMiB);
  ASSERT_EQ(space.total_bytes(), 64 * kMiB);
  EXPECT_EQ(space.allocate(65 * kMiB), 0U);
  EXPECT_EQ(space.allocate(std::uint64_t{1} << 63), 0U);
  EXPECT_EQ(space.allocate(~std::uint64_t{0}), 0U);
  EXPECT_EQ(space.allocate(0), 0U);
  const std::uint64_t half = space.allocate(32 * kMiB);
  EXPECT_NE(half, 0U);
  EXPECT_EQ(space.free_bytes(), 32 * kMiB);
  EXPECT_EQ(space.allocate(33 * kMiB), 0U);
  EXPECT_NE(space.allocate(1), 0U);
  EXPECT_EQ(space.free_bytes(), 30 * kMiB);
  EXPECT_TRUE(space.release(half));
  EXPECT_EQ(space.free_bytes(), 62 * kMiB);
}

TEST(AddressSpace, HostCodeCannotTouchDeviceMemory) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t address = space.allocate(16);
  EXPECT_TRUE(space.in_device_range(address));
  EXPECT_EQ(space.reserved_base() % (std::uint64_t{1} << 36), 0U);
  // The kernel refuses to read for us what this process may not read itself.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], reinterpret_cast<const void*>(address), 1), -1);
  EXPECT_EQ(write(ends[1], space.host_pointer(address), 1), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(AddressSpace, TwoSpacesDoNotOverlap) {
  AddressSpace one(std::uint64_t{1} << 30);
  AddressSpace other(std::uint64_t{1} << 30);
  EXPECT_FALSE(one.in_device_range(other.reserved_base()));
  EXPECT_FALSE(other.in_device_range(one.reserved_base()));
}

TEST(AddressSpace, ManagedMemoryIsHostMemory) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t address = space.allocate(1000, Kind::kManaged);
  ASSERT_NE(address, 0U);
  EXPECT_FALSE(space.in_device_range(address));
  auto* data = reinterpret_cast<std::uint8_t*>(address);
  EXPECT_EQ(data[999], 0);
  std::memset(data, 7, 1000);
  EXPECT_EQ(space.host_pointer(address), data);
  EXPECT_EQ(space.find(address + 999).kind, Kind::kManaged);
  EXPECT_EQ(space.find(address).distance, 0);
  EXPECT_TRUE(space.mapped(address, 1000));
  EXPECT_FALSE(space.remove_host(data));
  EXPECT_TRUE(space.release(address));
  EXPECT_EQ(space.find(address).id, 0U);
}

TEST(AddressSpace, KnowsRegisteredHostMemory) {
  AddressSpace space(std::uint64_t{1} << 30);
  std::vector<std::uint8_t> buffer(3 * 4096);
  ASSERT_TRUE(space.add_host(buffer.data(), buffer.size(), Kind::kRegistered));
  EXPECT_FALSE(space.add_host(buffer.data() + 100, 10, Kind::kRegistered));
  EXPECT_FALSE(space.add_host(reinterpret_cast<void*>(space.reserved_base() + 5), 10, Kind::kRegistered));
  EXPECT_FALSE(space.add_host(buffer.data(), ~std::uint64_t{0}, Kind::kRegistered));
  const auto address = reinterpret_cast<std::uint64_t>(buffer.data());
  EXPECT_EQ(space.find(address + 5000).base, address);
  EXPECT_TRUE(space.mapped(address, buffer.size()));
  EXPECT_FALSE(space.mapped(address, buffer.size() + 8192));
  EXPECT_FALSE(space.release(address));
  EXPECT_FALSE(space.remove_host(buffer.data() + 1));
  EXPECT_TRUE(space.remove_host(buffer.data()));
  EXPECT_FALSE(space.mapped(address, 1));
}

TEST(AddressSpace, ModuleVariablesLeaveTheFirstSlabToThePrograms) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t variable = space.allocate(4, Kind::kModule);
  EXPECT_EQ(space.find(variable).kind, Kind::kModule);
  EXPECT_TRUE(space.mapped(variable, 4));
  EXPECT_EQ(space.allocate(4) % kGranule, 0U);
}

TEST(AddressSpace, GenerationTellsOfEveryChange) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t before = space.generation();
  const std::uint64_t address = space.allocate(1);
  const std::uint64_t between = space.generation();
  EXPECT_NE(before, between);
  space.release(address);
  EXPECT_NE(between, space.generation());
}

TEST(AddressSpace, ThreadsGetDisjointBlocks) {
  AddressSpace space(std::uint64_t{1} << 30);
  std::vector<std::vector<std::uint64_t>> got(4);
  std::vector<std::thread> threads;
  for (auto& list : got) {
    threads.emplace_back([&space, &list] {
      for (int i = 0; i < 300; ++i) {
        list.push_back(space.allocate(700));
        if (i % 3 == 0) {
          space.release(list.back());
          list.pop_back();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& list : got) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 800U);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i] - all[i - 1], 1024U);
  EXPECT_EQ(space.allocations().size(), 800U);
}

TEST(AddressSpace, AForkedChildHasACopyOfItsOwn) {
  AddressSpace space(std::uint64_t{1} << 30);
  const std::uint64_t address = space.allocate(4);
  auto* value = static_cast<int*>(space.host_pointer(address));
  *value = 1;
  const pid_t child = fork();
  if (child == 0) {
    *value = 2;
    _exit(*value == 2 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*value, 1);
}

TEST(Placement, MergesFreedNeighbours) {
  Placement range(8 * kGranule);
  ASSERT_TRUE(range.place(3 * kMiB));
  ASSERT_TRUE(range.place(3 * kMiB));
  EXPECT_EQ(range.place(8 * kMiB)->block.offset, 4 * kGranule);
  EXPECT_FALSE(range.place(2 * kMiB));
  EXPECT_EQ(range.remove(0)->unmapped.bytes, 2 * kGranule);
  EXPECT_FALSE(range.place(8 * kMiB));
  EXPECT_TRUE(range.remove(2 * kGranule));
  EXPECT_EQ(range.place(8 * kMiB)->block.offset, 0U);
  EXPECT_FALSE(range.remove(2 * kGranule));
}

TEST(Placement, DropsASlabWithItsLastBlock) {
  Placement range(2 * kGranule);
  EXPECT_EQ(range.would_map(1), kGranule);
  EXPECT_EQ(range.place(1)->mapped.bytes, kGranule);
  EXPECT_EQ(range.would_map(1), 0U);
  EXPECT_EQ(range.place(1)->mapped.bytes, 0U);
  EXPECT_EQ(range.remove(0)->unmapped.bytes, 0U);
  EXPECT_EQ(range.remove(512)->unmapped.bytes, kGranule);
}

class MachineLimit : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "/machine_limit_" + std::to_string(getpid());
    std::filesystem::create_directories(root_ + "/proc/self");
    std::filesystem::create_directories(root_ + "/cgroup/a/b");
    put("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   33554432 kB\n");
    put("/proc/self/cgroup", "0::/a/b\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) { std::ofstream(root_ + path) << text; }
  std::uint64_t limit() const { return machine_limit(root_ + "/proc", root_ + "/cgroup"); }
  std::string root_;
};

TEST_F(MachineLimit, IsWhatTheMachineHasAvailableLessAReserve) { EXPECT_EQ(limit(), 30 * 1024 * kMiB); }

TEST_F(MachineLimit, IsWhatAParentGroupAllows) {
  put("/cgroup/a/b/memory.max", "max\n");
  put("/cgroup/a/memory.max", std::to_string(2048 * kMiB));
  put("/cgroup/a/memory.current", std::to_string(1536 * kMiB));
  put("/cgroup/a/memory.stat", "anon 5\ninactive_file " + std::to_string(512 * kMiB) + "\n");
  EXPECT_EQ(limit(), (1024 - 128) * kMiB);
}

TEST_F(MachineLimit, KnowsTheOlderGroups) {
  put("/proc/self/cgroup", "4:cpu,cpuacct:/\n7:memory:/x\n");
  std::filesystem::create_directories(root_ + "/cgroup/memory/x");
  put("/cgroup/memory/x/memory.limit_in_bytes", std::to_string(4096 * kMiB));
  put("/cgroup/memory/x/memory.usage_in_bytes", "0");
  EXPECT_EQ(limit(), (4096 - 256) * kMiB);
}

TEST_F(MachineLimit, OfThisMachineIsPlausible) { EXPECT_GT(machine_limit(), 0U); }

}  // namespace
}  // namespace muscope::memory
