#include "cli/assembly_service.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <system_error>

#include "toolchain/link_code.h"

namespace muscope::cli {
namespace {

/// A request comes in one piece; whoever stops in the middle is not waited for.
constexpr double kIdleSeconds = 30;

/// Starts a thread that takes no signals: they are for the thread that watches the program.
template <typename Body>
std::thread quiet_thread(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

std::string first_error(const std::string& messages) {
  std::string first;
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', at), messages.size());
    std::string line = messages.substr(at, end - at);
    at = end + 1;
    // "ptxas /tmp/muscope-ptxas-x/kernel.ptx, line 4; error   : Unknown symbol 'x'"
    if (const std::size_t comma = line.find("kernel.ptx, "); comma != line.npos) line.erase(0, comma + 12);
    for (const std::string_view tool : {"ptxas ", "nvlink "})
      if (line.starts_with(tool)) line.erase(0, tool.size());
    if (first.empty()) first = line;
    if (line.find("error") != line.npos || line.find("fatal") != line.npos) return line;
  }
  return first;
}

AssemblyService::AssemblyService(const std::string& path, std::optional<toolchain::Tool> ptxas,
                                 std::optional<toolchain::Cache> cache)
    : path_(path), ptxas_(std::move(ptxas)), cache_(std::move(cache)), listening_(MessageSocket::listen_at(path)) {
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!listening_.valid()) return;
  try {
    if (wake_ >= 0) acceptor_ = quiet_thread([this] { accept_all(); });
  } catch (const std::system_error&) {
  }
  if (acceptor_.joinable()) return;
  ::unlink(path_.c_str());
  listening_ = {};
}

AssemblyService::~AssemblyService() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const Connection& connection : connections_) connection.socket.shut_down();
  }
  wake();
  freed_.notify_all();
  running_.end_all();
  if (acceptor_.joinable()) acceptor_.join();
  for (Connection& connection : connections_) connection.thread.join();
  if (listening_.valid()) ::unlink(path_.c_str());
  if (wake_ >= 0) ::close(wake_);
}

bool AssemblyService::ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

double AssemblyService::busy_seconds() const {
  const std::lock_guard lock(mutex_);
  if (assemblers_ == 0) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - busy_since_).count();
}

void AssemblyService::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void AssemblyService::accept_all() {
  while (!ending()) {
    std::list<Connection> finished;
    bool full = false;
    {
      const std::lock_guard lock(mutex_);
      for (auto at = connections_.begin(); at != connections_.end();) {
        const auto next = std::next(at);
        if (at->done) finished.splice(finished.end(), connections_, at);
        at = next;
      }
      full = connections_.size() >= kMostConnections;
    }
    for (Connection& connection : finished) connection.thread.join();
    finished.clear();

    std::array<pollfd, 2> polled{{{wake_, POLLIN, 0}, {full ? -1 : listening_.fd(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_, &count, sizeof count);
    if (polled[1].revents == 0) continue;
    MessageSocket socket = listening_.accept();
    if (!socket.valid()) {
      ::usleep(1000);  // no descriptors left: those of others come back
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    Connection& connection = connections_.emplace_back();
    connection.socket = std::move(socket);
    try {
      connection.thread = quiet_thread([this, &connection] {
        serve(connection.socket);
        connection.socket.shut_down();
        const std::lock_guard done_lock(mutex_);
        connection.done = true;
        wake();
      });
    } catch (const std::system_error&) {
      connections_.pop_back();  // no more threads: the other side sees its connection end
    }
  }
}

void AssemblyService::serve(const MessageSocket& socket) {
  const MessageSocket::Stop stop = [this] { return ending(); };
  std::string message;
  while (socket.receive(message, kLargestAssemblyMessage, kIdleSeconds, stop)) {
    std::optional<AssemblyRequest> request = decode_assembly_request(message);
    message = {};
    if (!request) return;
    try {
      if (!socket.send(encode(answer(std::move(*request))), stop)) return;
    } catch (const std::exception&) {
      return;  // no memory for a request of that size
    }
  }
}

AssemblyReply AssemblyService::answer(AssemblyRequest request) {
  AssemblyReply reply;
  if (!ptxas_) return reply;
  reply.version = ptxas_->version.text();
  std::optional<toolchain::Tool> nvlink;
  if (request.relocatable) {
    nvlink = toolchain::find_nvlink(*ptxas_);
    if (!nvlink) {
      reply.reason = "there is no nvlink beside it";
      return reply;
    }
  }
  std::vector<toolchain::AssembleRequest> work;
  for (AssemblyPart& part : request.parts) {
    toolchain::RecordedOptions recorded = toolchain::read_recorded_options(part.options);
    if (!recorded.problem.empty()) {
      reply.reason = "muscope does not know the option '" + recorded.problem + "' that the program records";
      return reply;
    }
    work.push_back({std::move(part.ptx), request.sm, request.variant, 0, std::move(recorded.words)});
  }

  std::unique_lock lock(mutex_);
  freed_.wait(lock, [this] { return ending_ || assemblers_ < kMostAssemblers; });
  if (ending_) return reply;
  if (assemblers_++ == 0) busy_since_ = std::chrono::steady_clock::now();
  lock.unlock();
  toolchain::Assembled made;
  try {
    toolchain::Cache* const cache = cache_ ? &*cache_ : nullptr;
    made = nvlink ? toolchain::assemble_and_link(*ptxas_, *nvlink, std::move(work), cache, &running_)
                  : toolchain::assemble(*ptxas_, work.front(), cache, &running_);
  } catch (const std::exception& problem) {
    made.messages = problem.what();
  }
  lock.lock();
  --assemblers_;
  lock.unlock();
  freed_.notify_one();
  reply.cubin = std::move(made.cubin);
  if (reply.cubin.empty()) reply.reason = first_error(made.messages);
  return reply;
}

}  // namespace muscope::cli
