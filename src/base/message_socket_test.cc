#include "base/message_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

namespace muscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLimit = std::size_t{64} << 20;

class Socket : public testing::Test {
 protected:
  Socket() {
    std::string name = (fs::temp_directory_path() / "muscope-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Socket() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// The listening side's end of a connection that is being made.
  static MessageSocket accepted(const MessageSocket& listening) {
    for (;;) {
      MessageSocket got = listening.accept();
      if (got.valid()) return got;
      ::usleep(1000);
    }
  }

  fs::path folder_;
};

std::pair<MessageSocket, MessageSocket> pair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  return {MessageSocket(ends[0]), MessageSocket(ends[1])};
}

TEST_F(Socket, CarriesMessagesOfAnySizeBothWays) {
  const MessageSocket listening = MessageSocket::listen_at(path("s"));
  ASSERT_TRUE(listening.valid());
  std::string large(5'000'011, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 4096);
  std::thread other([&] {
    const MessageSocket served = accepted(listening);
    std::string message;
    while (served.receive(message, kLimit, 0, {})) served.send(message + "!", {});
  });
  {
    const MessageSocket asking = MessageSocket::connect_to(path("s"), {});
    ASSERT_TRUE(asking.valid());
    std::string answer;
    for (const std::string& message : {std::string(), std::string("a\0b", 3), large}) {
      ASSERT_TRUE(asking.send(message, {}));
      ASSERT_TRUE(asking.receive(answer, kLimit, 0, {}));
      EXPECT_TRUE(answer == message + "!");
    }
  }
  other.join();
}

TEST_F(Socket, PathsMayBeLongerThanAnAddress) {
  fs::path deep = folder_;
  while (deep.string().size() < 300) deep /= "a_folder_with_quite_a_long_name";
  fs::create_directories(deep);
  const std::string place = (deep / "s").string();
  const MessageSocket listening = MessageSocket::listen_at(place);
  ASSERT_TRUE(listening.valid());
  EXPECT_TRUE(fs::is_socket(place));
  const MessageSocket asking = MessageSocket::connect_to(place, {});
  EXPECT_TRUE(asking.valid());
  EXPECT_TRUE(accepted(listening).valid());
}

TEST_F(Socket, WhereNobodyListensThereIsNoConnection) {
  EXPECT_FALSE(MessageSocket::connect_to(path("none"), {}).valid());
  EXPECT_FALSE(MessageSocket::connect_to(path("none/" + std::string(300, 'x') + "/s"), {}).valid());
  {
    const MessageSocket gone = MessageSocket::listen_at(path("gone"));
  }
  EXPECT_FALSE(MessageSocket::connect_to(path("gone"), {}).valid());
  EXPECT_FALSE(MessageSocket::listen_at(path("gone")).valid()) << "the file of the first is still there";
  EXPECT_FALSE(MessageSocket::listen_at(path("no/such/folder")).valid());
}

TEST_F(Socket, StandardStreamsAreNeverTaken) {
  // In a process without them. Its exit code says which descriptor it got.
  const MessageSocket listening = MessageSocket::listen_at(path("s"));
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    const MessageSocket asking = MessageSocket::connect_to(path("s"), {});
    ::_exit(asking.fd());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_GE(WEXITSTATUS(status), 3);
  EXPECT_LT(WEXITSTATUS(status), 128);
}

TEST(MessageSocketPair, WhatIsNoMessageIsRefused) {
  std::string message;
  const auto refuses = [&](const std::string& bytes, std::size_t limit) {
    auto [left, right] = pair();
    EXPECT_EQ(::write(left.fd(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::shutdown(left.fd(), SHUT_WR);
    return !right.receive(message, limit, 5, {});
  };
  const std::string magic = "MSGM";
  const auto length = [](std::uint64_t n) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(n >> (8 * i)));
    return bytes;
  };
  EXPECT_FALSE(refuses(magic + length(3) + "abc", 3));
  EXPECT_EQ(message, "abc");
  EXPECT_TRUE(refuses(magic + length(4) + "abcd", 3)) << "more than the limit";
  EXPECT_TRUE(refuses(magic + length(4) + "abc", 100)) << "cut off";
  EXPECT_TRUE(refuses(magic + length(~std::uint64_t{0}), kLimit)) << "an absurd length";
  EXPECT_TRUE(refuses("GET / HTTP/1.1\r\n\r\n", 1000));
  EXPECT_TRUE(refuses("", 1000));
  EXPECT_TRUE(refuses(magic, 1000));
  // A length that is allowed but never comes takes no memory.
  EXPECT_TRUE(refuses(magic + length(std::uint64_t{1} << 40), std::size_t{1} << 41));
  EXPECT_LT(message.capacity(), std::size_t{8} << 20);
}

TEST(MessageSocketPair, WaitingEnds) {
  auto [left, right] = pair();
  std::string message;
  EXPECT_FALSE(right.receive(message, 100, 0.15, {})) << "after the idle time";
  std::atomic<bool> stop{false};
  std::thread stopper([&] {
    ::usleep(50'000);
    stop = true;
  });
  EXPECT_FALSE(right.receive(message, 100, 0, [&] { return stop.load(); })) << "when told to stop";
  stopper.join();
  std::thread ender([&left = left] {
    ::usleep(50'000);
    left.shut_down();
  });
  EXPECT_FALSE(right.receive(message, 100, 0, {})) << "when the other side ends it";
  ender.join();
  EXPECT_FALSE(right.send("x", {})) << "and sending raises no signal";
  // More than the buffers hold, and nobody reads.
  auto [full, idle] = pair();
  EXPECT_FALSE(full.send(std::string(8'000'000, 'x'), [] { return true; }));
}

}  // namespace
}  // namespace muscope
