// Threads of the engine: started when first needed, with every signal blocked, so that the program's handlers never run
// on them.
#pragma once

#include <functional>
#include <memory>

namespace muscope::exec {

class ThreadPool {
 public:
  ThreadPool();
  /// Waits for the tasks that run.
  ~ThreadPool();
  /// Runs `task` on a thread of the pool; starts one when all are busy.
  void run(std::function<void()> task);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace muscope::exec
