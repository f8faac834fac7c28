#include "base/message_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

namespace muscope {
namespace {

constexpr std::uint32_t kMagic = 0x4d47534d;  // "MSGM"
constexpr std::size_t kHeaderBytes = 12;      // magic, 64-bit length, little endian
constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr int kSliceMs = 100;
constexpr int kFirstDescriptor = 3;  // a program may have closed its standard streams and go on writing to them
constexpr int kBacklog = 128;

void close_descriptor(int fd) {
  const int saved = errno;
  ::syscall(SYS_close, fd);
  errno = saved;
}

/// A socket address for a path. Those longer than an address go by way of an open folder.
class Address {
 public:
  explicit Address(const std::string& path) {
    address_.sun_family = AF_UNIX;
    std::string name = path;
    if (name.size() >= sizeof address_.sun_path) {
      const std::size_t slash = path.rfind('/');
      if (slash == path.npos) return;
      folder_ = static_cast<int>(
          ::syscall(SYS_openat, AT_FDCWD, path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
      if (folder_ < 0) return;
      name = "/proc/self/fd/" + std::to_string(folder_) + path.substr(slash);
      if (name.size() >= sizeof address_.sun_path) return;
    }
    std::memcpy(address_.sun_path, name.c_str(), name.size() + 1);
    valid_ = true;
  }
  ~Address() {
    if (folder_ >= 0) close_descriptor(folder_);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  bool valid() const { return valid_; }
  const sockaddr_un* get() const { return &address_; }

 private:
  sockaddr_un address_{};
  int folder_ = -1;
  bool valid_ = false;
};

MessageSocket open_socket() {
  const long fd = ::syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || fd >= kFirstDescriptor) return MessageSocket(static_cast<int>(fd));
  const long higher = ::syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kFirstDescriptor);
  close_descriptor(static_cast<int>(fd));
  return MessageSocket(static_cast<int>(higher));
}

/// Waits for `events` for one slice. False on an error of poll itself.
bool wait_slice(int fd, short events) {
  pollfd polled{fd, events, 0};
  return ::syscall(SYS_poll, &polled, 1, kSliceMs) >= 0 || errno == EINTR;
}

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

bool send_all(int fd, const char* data, std::size_t size, const MessageSocket::Stop& stop) {
  while (size > 0) {
    const long sent = ::syscall(SYS_sendto, fd, data, std::min(size, kChunk), MSG_NOSIGNAL, nullptr, 0);
    if (sent > 0) {
      data += sent;
      size -= static_cast<std::size_t>(sent);
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (stop && stop()) return false;
    if (!wait_slice(fd, POLLOUT)) return false;
  }
  return true;
}

/// Up to `size` bytes; 0 when there will be none.
std::size_t receive_some(int fd, char* data, std::size_t size, double idle_seconds, const MessageSocket::Stop& stop) {
  const double begin = seconds_now();
  for (;;) {
    const long got = ::syscall(SYS_recvfrom, fd, data, size, 0, nullptr, nullptr);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) return 0;
    if (stop && stop()) return 0;
    if (idle_seconds > 0 && seconds_now() - begin > idle_seconds) return 0;
    if (!wait_slice(fd, POLLIN)) return 0;
  }
}

}  // namespace

MessageSocket& MessageSocket::operator=(MessageSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

MessageSocket::~MessageSocket() {
  if (fd_ >= 0) close_descriptor(fd_);
}

MessageSocket MessageSocket::listen_at(const std::string& path) {
  const Address address(path);
  MessageSocket made = open_socket();
  if (!address.valid() || !made.valid()) return {};
  if (::bind(made.fd_, reinterpret_cast<const sockaddr*>(address.get()), sizeof(sockaddr_un)) != 0 ||
      ::listen(made.fd_, kBacklog) != 0)
    return {};
  return made;
}

MessageSocket MessageSocket::connect_to(const std::string& path, const Stop& stop) {
  const Address address(path);
  MessageSocket made = open_socket();
  if (!address.valid() || !made.valid()) return {};
  while (::syscall(SYS_connect, made.fd_, address.get(), sizeof(sockaddr_un)) != 0) {
    // EAGAIN: more connections wait to be accepted than the other side lets wait.
    if (errno == EINTR) continue;
    if (errno != EAGAIN || (stop && stop())) return {};
    const timespec pause{0, 20'000'000};
    ::syscall(SYS_nanosleep, &pause, nullptr);
  }
  return made;
}

MessageSocket MessageSocket::accept() const {
  return MessageSocket(static_cast<int>(::syscall(SYS_accept4, fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
}

bool MessageSocket::send(std::string_view message, const Stop& stop) const {
  std::array<char, kHeaderBytes> header;
  const std::uint64_t size = message.size();
  for (std::size_t i = 0; i < 4; ++i) header[i] = static_cast<char>(kMagic >> (8 * i));
  for (std::size_t i = 0; i < 8; ++i) header[4 + i] = static_cast<char>(size >> (8 * i));
  return send_all(fd_, header.data(), header.size(), stop) && send_all(fd_, message.data(), message.size(), stop);
}

bool MessageSocket::receive(std::string& message, std::size_t limit, double idle_seconds, const Stop& stop) const {
  message.clear();
  std::array<char, kHeaderBytes> header;
  for (std::size_t have = 0; have < header.size();) {
    const std::size_t got = receive_some(fd_, header.data() + have, header.size() - have, idle_seconds, stop);
    if (got == 0) return false;
    have += got;
  }
  std::uint32_t magic = 0;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) magic |= std::uint32_t{static_cast<std::uint8_t>(header[i])} << (8 * i);
  for (std::size_t i = 0; i < 8; ++i) size |= std::uint64_t{static_cast<std::uint8_t>(header[4 + i])} << (8 * i);
  if (magic != kMagic || size > limit) return false;
  while (message.size() < size) {
    const std::size_t have = message.size();
    message.resize(have + static_cast<std::size_t>(std::min<std::uint64_t>(size - have, kChunk)));
    const std::size_t got = receive_some(fd_, message.data() + have, message.size() - have, idle_seconds, stop);
    if (got == 0) return false;
    message.resize(have + got);
  }
  return true;
}

void MessageSocket::shut_down() const {
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

}  // namespace muscope
