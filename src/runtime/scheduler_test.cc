#include "runtime/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace muscope::runtime {
namespace {

using std::chrono::milliseconds;

// A kernel that polls until it is told to end.
class PollingKernel : public exec::LaunchHandle {
 public:
  bool wait_ended_or_polling() override { return ended_; }
  void wait_ended() override {
    while (!ended_) std::this_thread::sleep_for(milliseconds(1));
  }
  bool ended() const override { return ended_; }
  exec::LaunchResult& result() override { return result_; }
  void end() { ended_ = true; }

 private:
  std::atomic<bool> ended_{false};
  exec::LaunchResult result_;
};

class SchedulerTest : public ::testing::Test {
 protected:
  Operation note(char c) {
    Operation operation;
    operation.run = [this, c]() -> std::shared_ptr<exec::LaunchHandle> {
      const std::lock_guard lock(mutex_);
      order_ += c;
      return nullptr;
    };
    return operation;
  }
  Operation kernel(const std::shared_ptr<PollingKernel>& polling, char when_ended) {
    Operation operation;
    operation.run = [polling]() -> std::shared_ptr<exec::LaunchHandle> { return polling; };
    operation.finish = [this, when_ended](exec::LaunchHandle&) {
      const std::lock_guard lock(mutex_);
      order_ += when_ended;
    };
    return operation;
  }
  std::string order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  Scheduler scheduler_;
  StreamRef legacy_ = scheduler_.create(0, StreamType::kLegacy, 0, 0);
  StreamRef a_ = scheduler_.create(0, StreamType::kBlocking, 0, 0);
  StreamRef b_ = scheduler_.create(0, StreamType::kBlocking, 0, 0);
  StreamRef free_ = scheduler_.create(0, StreamType::kNonBlocking, 0, 1);
  std::shared_ptr<PollingKernel> polling_ = std::make_shared<PollingKernel>();
  std::mutex mutex_;
  std::string order_;
};

TEST_F(SchedulerTest, RunsAtOnceWhenNothingIsBefore) {
  const Point point = scheduler_.enqueue(a_, note('x'));
  EXPECT_EQ(order(), "x");
  EXPECT_TRUE(scheduler_.reached(point));
}

TEST_F(SchedulerTest, StreamsHaveIdsAndTheDefaultOneHasZero) {
  EXPECT_EQ(legacy_->id(), 0U);
  EXPECT_NE(a_->id(), b_->id());
}

TEST_F(SchedulerTest, WhatFollowsAPollingKernelWaitsForIt) {
  scheduler_.enqueue(a_, kernel(polling_, 'k'));
  const Point after = scheduler_.enqueue(a_, note('1'));
  scheduler_.enqueue(b_, note('2'));
  EXPECT_EQ(order(), "2");
  EXPECT_FALSE(scheduler_.reached(after));
  polling_->end();
  scheduler_.wait(after);
  EXPECT_EQ(order(), "2k1");
}

TEST_F(SchedulerTest, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  scheduler_.enqueue(a_, kernel(polling_, 'k'));
  scheduler_.enqueue(legacy_, note('d'));
  const Point last = scheduler_.enqueue(b_, note('b'));
  scheduler_.enqueue(free_, note('f'));
  EXPECT_EQ(order(), "f");
  polling_->end();
  scheduler_.wait(last);
  EXPECT_EQ(order(), "fkdb");
}

TEST_F(SchedulerTest, DevicesDoNotWaitForEachOther) {
  const StreamRef other = scheduler_.create(1, StreamType::kLegacy, 0, 0);
  scheduler_.enqueue(a_, kernel(polling_, 'k'));
  scheduler_.enqueue(other, note('o'));
  EXPECT_EQ(order(), "o");
  scheduler_.wait_device(1);
  polling_->end();
  scheduler_.wait_device(0);
  EXPECT_EQ(order(), "ok");
}

TEST_F(SchedulerTest, AnEventIsAPointOfAnotherStream) {
  const Point event = scheduler_.enqueue(a_, kernel(polling_, 'k'));
  Operation waiting = note('w');
  waiting.after.push_back(event);
  const Point point = scheduler_.enqueue(free_, std::move(waiting));
  EXPECT_FALSE(scheduler_.reached(point));
  polling_->end();
  scheduler_.wait(point);
  EXPECT_EQ(order(), "kw");
}

TEST_F(SchedulerTest, QueuesGoOnThoughNobodyCalls) {
  scheduler_.enqueue(a_, kernel(polling_, 'k'));
  scheduler_.enqueue(a_, note('1'));
  polling_->end();
  for (int i = 0; i < 2000 && order() != "k1"; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(order(), "k1");
}

TEST_F(SchedulerTest, AnOperationThatThrowsDoesNotHoldUpTheQueue) {
  Operation bad;
  bad.run = []() -> std::shared_ptr<exec::LaunchHandle> { throw 1; };
  scheduler_.enqueue(a_, std::move(bad));
  scheduler_.enqueue(a_, note('x'));
  EXPECT_EQ(order(), "x");
}

TEST_F(SchedulerTest, ThreadsShareAStream) {
  std::atomic<int> inside{0}, most{0}, done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        Operation operation;
        operation.run = [&]() -> std::shared_ptr<exec::LaunchHandle> {
          most = std::max(most.load(), ++inside);
          ++done;
          --inside;
          return nullptr;
        };
        scheduler_.wait(scheduler_.enqueue(a_, std::move(operation)));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(done, 800);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace muscope::runtime
