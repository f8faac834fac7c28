// Messages with a length in front over Unix stream sockets: how a process of a run asks `muscope run` for something.
//
// Works inside a program of somebody else: system calls without libc around them (no cancellation points, no wrappers
// of sanitizers or tracers), no SIGPIPE, descriptors above those of the standard streams. Safe for any bytes from the
// other side: a length is a claim until the bytes have come.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace muscope {

/// One end of a connection, or a place where connections arrive. Closes itself. Not thread-safe, apart from
/// shut_down().
class MessageSocket {
 public:
  /// Asked some ten times a second while something is waited for; true ends the wait.
  using Stop = std::function<bool()>;

  MessageSocket() = default;
  explicit MessageSocket(int fd) : fd_(fd) {}
  MessageSocket(MessageSocket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  MessageSocket& operator=(MessageSocket&& other) noexcept;
  ~MessageSocket();

  /// A place at `path` of the file system, however long that is. The path must not exist. Not valid when it cannot be
  /// made.
  static MessageSocket listen_at(const std::string& path);
  /// A connection to such a place. Not valid when nobody listens there, or `stop` said so.
  static MessageSocket connect_to(const std::string& path, const Stop& stop);
  /// The next connection. Not valid when there is none now.
  MessageSocket accept() const;

  bool valid() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  /// False when the other side is gone or `stop` said so.
  bool send(std::string_view message, const Stop& stop) const;
  /// The next message. False when the other side is gone or sends something else, when the message has more than
  /// `limit` bytes, when nothing comes for `idle_seconds` (0: no limit), or `stop` said so.
  bool receive(std::string& message, std::size_t limit, double idle_seconds, const Stop& stop) const;

  /// Ends the connection, from any thread: send() and receive() of both sides return false.
  void shut_down() const;

 private:
  int fd_ = -1;
};

}  // namespace muscope
