// Assembles PTX for the processes of a run: they ask over a socket in the run directory, ptxas runs here.
#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/assembly_message.h"
#include "base/message_socket.h"
#include "toolchain/assemble.h"

namespace muscope::cli {

/// Serves any number of processes and threads at once, each request over a connection of its own, from construction to
/// destruction. What others send cannot hurt it; connections that say nothing are closed after a while. Its threads
/// take no signals.
class AssemblyService {
 public:
  /// Listens at `path`; where that is not possible nobody can ask. Without `ptxas` every request is answered with
  /// that.
  AssemblyService(const std::string& path, std::optional<toolchain::Tool> ptxas, std::optional<toolchain::Cache> cache);
  /// Ends connections and running ptxas processes: waits for none of them.
  ~AssemblyService();
  AssemblyService(const AssemblyService&) = delete;
  AssemblyService& operator=(const AssemblyService&) = delete;

  bool listens() const { return listening_.valid(); }
  /// Is that one of the ptxas processes?
  bool owns(pid_t pid) const { return running_.contains(pid); }

  /// How long ptxas processes have been running without a pause; 0 when none runs.
  double busy_seconds() const;

  static constexpr int kMostAssemblers = 2;     ///< ptxas processes at a time: the program needs the cores too
  static constexpr int kMostConnections = 128;  ///< others wait to be accepted

 private:
  struct Connection {
    MessageSocket socket;
    std::thread thread;
    bool done = false;
  };

  void accept_all();
  void serve(const MessageSocket& socket);
  AssemblyReply answer(AssemblyRequest request);
  bool ending() const;
  void wake() const;

  std::string path_;
  std::optional<toolchain::Tool> ptxas_;
  std::optional<toolchain::Cache> cache_;
  MessageSocket listening_;
  toolchain::RunningProcesses running_;
  int wake_ = -1;  ///< eventfd

  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::list<Connection> connections_;
  int assemblers_ = 0;
  std::chrono::steady_clock::time_point busy_since_;
  bool ending_ = false;
  std::thread acceptor_;
};

/// The first line of ptxas's messages that tells of an error, without the file's name.
std::string first_error(const std::string& messages);

}  // namespace muscope::cli
