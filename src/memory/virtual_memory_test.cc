// Addresses, memory and rights apart from each other. What the driver API answers is checked in tests/programs.
#include "memory/virtual_memory.h"

#include <gtest/gtest.h>

#include <cstring>

namespace muscope::memory {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{1} << 30;

class Virtual : public testing::Test {
 protected:
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment = 0, std::uint64_t wanted = 0) {
    std::uint64_t address = 0;
    EXPECT_EQ(memory_.reserve(bytes, alignment, wanted, address), VirtualResult::kOk);
    return address;
  }
  std::uint64_t create(std::uint64_t bytes, unsigned device = 0) {
    std::uint64_t handle = 0;
    EXPECT_EQ(memory_.create(bytes, device, 0, handle), VirtualResult::kOk);
    return handle;
  }
  std::uint8_t* bytes_at(std::uint64_t address) { return static_cast<std::uint8_t*>(space_.host_pointer(address)); }

  AddressSpace space_{kBytes, 2};
  VirtualMemory memory_{space_};
};

TEST_F(Virtual, ReservationsLieWhereAskedAndNeverOverlap) {
  const std::uint64_t a = reserve(3 * kGranule), b = reserve(kGranule, std::uint64_t{1} << 30);
  EXPECT_EQ(b % (std::uint64_t{1} << 30), 0u);
  EXPECT_TRUE(b >= a + 3 * kGranule || b + kGranule <= a);
  const std::uint64_t c = reserve(kGranule, 0, b + 4 * kGranule);
  EXPECT_EQ(c, b + 4 * kGranule);
  EXPECT_NE(reserve(kGranule, 0, a), a) << "taken: somewhere else";
  std::uint64_t none = 0;
  EXPECT_EQ(memory_.reserve(kGranule, 3, 0, none), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.reserve(kGranule + 1, 0, 0, none), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.reserve(~std::uint64_t{0} / kGranule * kGranule, 0, 0, none), VirtualResult::kOutOfAddresses);
  EXPECT_EQ(memory_.release(a, kGranule), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.release(a, 3 * kGranule), VirtualResult::kOk);
  EXPECT_EQ(reserve(3 * kGranule), a) << "the lowest free place again";
}

TEST_F(Virtual, OneMemoryAtTwoAddressesIsOneMemory) {
  const std::uint64_t a = reserve(4 * kGranule), handle = create(2 * kGranule);
  ASSERT_EQ(memory_.map(a, 2 * kGranule, handle), VirtualResult::kOk);
  ASSERT_EQ(memory_.map(a + 2 * kGranule, 2 * kGranule, handle), VirtualResult::kOk);
  std::memset(bytes_at(a + 5), 7, 1);
  EXPECT_EQ(*bytes_at(a + 2 * kGranule + 5), 7);
  EXPECT_EQ(*bytes_at(a + 2 * kGranule + 6), 0);
  // It outlives its addresses.
  ASSERT_EQ(memory_.unmap(a, 4 * kGranule, [](const auto&) { FAIL(); }), VirtualResult::kOk);
  ASSERT_EQ(memory_.map(a + kGranule, 2 * kGranule, handle), VirtualResult::kOk);
  EXPECT_EQ(*bytes_at(a + kGranule + 5), 7);
}

TEST_F(Virtual, MemoryGoesWithTheLastThatUsesIt) {
  const std::uint64_t before = space_.free_bytes(), a = reserve(2 * kGranule), handle = create(kGranule);
  EXPECT_EQ(space_.free_bytes(), before - kGranule);
  ASSERT_EQ(memory_.map(a, kGranule, handle), VirtualResult::kOk);
  EXPECT_EQ(memory_.drop(handle)->bytes, 0u) << "still mapped";
  EXPECT_FALSE(memory_.drop(handle).has_value());
  EXPECT_EQ(memory_.retain(a + 100), handle);
  EXPECT_EQ(memory_.retain(a + kGranule), 0u);
  EXPECT_EQ(memory_.drop(handle)->bytes, 0u);
  std::uint64_t freed = 0;
  EXPECT_EQ(memory_.unmap(a, 2 * kGranule, [&](const auto& m) { freed += m.bytes; }), VirtualResult::kOk);
  EXPECT_EQ(freed, kGranule);
  EXPECT_EQ(space_.free_bytes(), before);
  std::uint64_t none = 0;
  EXPECT_EQ(memory_.create(4 * kBytes, 0, 0, none), VirtualResult::kOutOfMemory);
}

TEST_F(Virtual, OnlyWholeMappingsWithinAReservation) {
  const std::uint64_t a = reserve(4 * kGranule), handle = create(2 * kGranule);
  EXPECT_EQ(memory_.map(a, kGranule, handle), VirtualResult::kNotSupported);
  EXPECT_EQ(memory_.map(a + 3 * kGranule, 2 * kGranule, handle), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.map(a + 1, 2 * kGranule, handle), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.map(a, 2 * kGranule, handle + 1), VirtualResult::kInvalid);
  ASSERT_EQ(memory_.map(a, 2 * kGranule, handle), VirtualResult::kOk);
  EXPECT_EQ(memory_.map(a + kGranule, 2 * kGranule, handle), VirtualResult::kInvalid);
  const auto nothing = [](const auto&) {};
  EXPECT_EQ(memory_.unmap(a, kGranule, nothing), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.unmap(a + kGranule, 2 * kGranule, nothing), VirtualResult::kInvalid);
  EXPECT_EQ(memory_.release(a, 4 * kGranule), VirtualResult::kInvalid) << "something is mapped";
  EXPECT_EQ(memory_.set_access(a, 4 * kGranule, 0, true, true), VirtualResult::kInvalid) << "a gap";
}

TEST_F(Virtual, RightsAreOfDevices) {
  const std::uint64_t a = reserve(kGranule), handle = create(kGranule, 1);
  ASSERT_EQ(memory_.map(a, kGranule, handle), VirtualResult::kOk);
  const auto may = [&](unsigned device, bool write) { return space_.find(a).lets(device, ~std::uint64_t{0}, write); };
  EXPECT_FALSE(may(1, false)) << "not even the one that has it";
  ASSERT_EQ(memory_.set_access(a, kGranule, 0, true, false), VirtualResult::kOk);
  EXPECT_TRUE(may(0, false));
  EXPECT_FALSE(may(0, true));
  EXPECT_FALSE(may(1, false));
  EXPECT_FALSE(space_.mapped(a, 4)) << "beside allocations there is nothing";
  EXPECT_TRUE(space_.in_device_range(a));
}

TEST_F(Virtual, OrdinaryMemoryAsksForPeerAccess) {
  const std::uint64_t own = space_.allocate(100, Kind::kDevice, 0), other = space_.allocate(100, Kind::kDevice, 1);
  EXPECT_NE(own / kGranule, other / kGranule) << "no granule of two devices";
  EXPECT_TRUE(space_.find(own).lets(0, 0b01, true));
  EXPECT_FALSE(space_.find(other).lets(0, 0b01, false));
  EXPECT_TRUE(space_.find(other).lets(0, 0b11, true));
  EXPECT_FALSE(space_.within_reach(other + 200, 0b01));
  EXPECT_TRUE(space_.within_reach(other + 200, 0b11));
  const std::uint64_t pinned = space_.allocate(100, Kind::kPinned, 1);
  EXPECT_TRUE(space_.find(pinned).lets(0, 0b01, true));
}

}  // namespace
}  // namespace muscope::memory
