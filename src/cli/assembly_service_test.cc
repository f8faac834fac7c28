// The assembler of a run, with shell scripts in the place of ptxas.
#include "cli/assembly_service.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "toolchain/test_folder.h"

namespace muscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using toolchain::TestFolder;

/// Writes its options and its input into the "cubin", refuses PTX that says so, and notes when it begins and ends.
constexpr const char* kFakePtxas = R"(
folder=$(dirname "$0")
for word in "$@"; do
  case "$word" in *.ptx) in=$word;; *.cubin) out=$word;; esac
done
echo begin >> "$folder/log"
if grep -q bad "$in"; then
  echo "ptxas warning : something" >&2
  echo "ptxas $in, line 4; error   : Unknown symbol 'bad'" >&2
  echo "ptxas fatal   : Ptx assembly aborted due to errors" >&2
  exit 255
fi
if grep -q slow "$in"; then sleep 0.3; fi
if grep -q forever "$in"; then echo $$ > "$folder/pid"; sleep 1000; fi
shift_last=""
for word in "$@"; do
  case "$word" in *.ptx|*.cubin|-o) ;; *) shift_last="$shift_last $word";; esac
done
echo "options:$shift_last" > "$out"
cat "$in" >> "$out"
echo end >> "$folder/log"
)";

class Service : public testing::Test {
 protected:
  std::string place() const { return folder_.path("run/ptxas.socket"); }
  void SetUp() override { std::filesystem::create_directories(folder_.path("run")); }

  void start(bool with_ptxas = true) {
    std::optional<toolchain::Tool> ptxas;
    if (with_ptxas) ptxas = toolchain::Tool{"ptxas", folder_.write_script("ptxas", kFakePtxas), {13, 0, 88}};
    service_.emplace(place(), ptxas, toolchain::Cache(folder_.path("cache")));
    ASSERT_TRUE(service_->listens());
  }

  /// Nothing when there was no answer.
  std::optional<AssemblyReply> ask(const AssemblyRequest& request) const {
    const MessageSocket connection = MessageSocket::connect_to(place(), {});
    std::string message;
    if (!connection.valid() || !connection.send(encode(request), {}) ||
        !connection.receive(message, kLargestAssemblyMessage, 60, {}))
      return std::nullopt;
    return decode_assembly_reply(message);
  }

  TestFolder folder_;
  std::optional<AssemblyService> service_;
};

TEST_F(Service, AssemblesWithTheRecordedOptions) {
  start();
  const auto reply = ask({90, 'a', false, {{"some ptx\n", " -v -maxrregcount=32 "}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->cubin, "options: -arch=sm_90a -lineinfo --maxrregcount=32\nsome ptx\n");
  EXPECT_EQ(reply->reason, "");
  EXPECT_EQ(reply->version, "13.0.88");
  EXPECT_EQ(service_->busy_seconds(), 0);
}

TEST_F(Service, SaysWhyThereIsNoCubin) {
  start();
  const auto refused = ask({90, 0, false, {{"bad", ""}}});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->cubin, "");
  EXPECT_EQ(refused->reason, "line 4; error   : Unknown symbol 'bad'");
  EXPECT_EQ(refused->version, "13.0.88");
  const auto unknown = ask({90, 0, false, {{"text", "--output-file=/tmp/x"}}});
  ASSERT_TRUE(unknown);
  EXPECT_THAT(unknown->reason, HasSubstr("--output-file=/tmp/x"));
  EXPECT_EQ(folder_.read("log"), "begin\n") << "ptxas must not have been called for the second";
}

TEST_F(Service, WithoutPtxasThatIsTheAnswer) {
  start(false);
  EXPECT_EQ(ask({90, 0, false, {{"text", ""}}}), AssemblyReply{});
}

TEST_F(Service, TheSecondTimeItComesFromTheCache) {
  start();
  const auto first = ask({90, 0, false, {{"text", ""}}});
  EXPECT_EQ(ask({90, 0, false, {{"text", ""}}}), first);
  EXPECT_EQ(folder_.read("log"), "begin\nend\n");
}

TEST_F(Service, AtMostTwoRunAtATime) {
  start();
  std::vector<std::thread> others;
  std::atomic<int> good{0};
  for (int i = 0; i < 7; ++i)
    others.emplace_back([&, i] {
      const std::string text = "slow " + std::to_string(i);
      const auto reply = ask({90, 0, false, {{text, ""}}});
      good += reply && reply->cubin == "options: -arch=sm_90 -lineinfo\n" + text;
    });
  for (std::thread& other : others) other.join();
  EXPECT_EQ(good, 7);
  std::istringstream log(folder_.read("log"));
  int running = 0, most = 0, all = 0;
  for (std::string word; log >> word;) {
    running += word == "begin" ? 1 : -1;
    most = std::max(most, running);
    all += word == "begin";
  }
  EXPECT_EQ(most, AssemblyService::kMostAssemblers);
  EXPECT_EQ(all, 7);
}

TEST_F(Service, ProcessesThatDieInTheMiddleHurtNobody) {
  start();
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const MessageSocket connection = MessageSocket::connect_to(place(), {});
      if (i == 0) [[maybe_unused]]
        const auto sent = ::send(connection.fd(), "MSGM\xff", 5, MSG_NOSIGNAL);
      if (i == 1) connection.send(encode(AssemblyRequest{90, 0, false, {{"slow", ""}}}), {});
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  const auto reply = ask({90, 0, false, {{"text", ""}}});
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply->cubin, HasSubstr("text"));
}

TEST_F(Service, GarbageHurtsNobody) {
  start();
  std::minstd_rand random(7);
  for (int i = 0; i < 200; ++i) {
    const MessageSocket connection = MessageSocket::connect_to(place(), {});
    ASSERT_TRUE(connection.valid());
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 2 == 0) {
      connection.send(bytes, {});  // well framed
      std::string answer;
      EXPECT_FALSE(connection.receive(answer, 1000, 30, {}));
    } else {
      [[maybe_unused]] const auto sent = ::send(connection.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
  }
  EXPECT_TRUE(ask({90, 0, false, {{"text", ""}}}));
}

TEST_F(Service, MoreConnectionsThanItServesWait) {
  start();
  std::vector<MessageSocket> silent;
  for (int i = 0; i < AssemblyService::kMostConnections; ++i) {
    silent.push_back(MessageSocket::connect_to(place(), {}));
    ASSERT_TRUE(silent.back().valid());
  }
  std::atomic<bool> answered{false};
  std::thread other([&] { answered = ask({90, 0, false, {{"text", ""}}}).has_value(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(answered);
  silent.pop_back();
  other.join();
  EXPECT_TRUE(answered);
}

TEST_F(Service, EndsAtOnceWhateverItIsDoing) {
  start();
  const MessageSocket silent = MessageSocket::connect_to(place(), {});
  std::optional<AssemblyReply> unanswered = AssemblyReply{};
  std::thread other([&] { unanswered = ask({90, 0, false, {{"forever", ""}}}); });
  while (folder_.read("pid").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const pid_t assembler = std::stoi(folder_.read("pid"));
  EXPECT_TRUE(service_->owns(assembler));
  EXPECT_FALSE(service_->owns(::getpid()));
  EXPECT_GT(service_->busy_seconds(), 0);
  const auto begin = Clock::now();
  service_.reset();
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(2));
  other.join();
  EXPECT_FALSE(unanswered);
  EXPECT_EQ(::kill(assembler, 0), -1) << "it is gone, and was waited for";
  EXPECT_FALSE(std::filesystem::exists(place()));
  EXPECT_FALSE(ask({90, 0, false, {{"text", ""}}}));
}

TEST_F(Service, APlaceThatCannotBeMadeIsNoService) {
  AssemblyService nowhere(folder_.path("no/such/folder/s"), std::nullopt, std::nullopt);
  EXPECT_FALSE(nowhere.listens());
}

TEST(FirstError, IsTheLineThatSaysIt) {
  EXPECT_EQ(first_error("ptxas warning : x\nptxas /tmp/muscope-ptxas-ab/kernel.ptx, line 12; error   : Bad\nmore\n"),
            "line 12; error   : Bad");
  EXPECT_EQ(first_error("ptxas fatal   : Unresolved extern function 'f'\n"),
            "fatal   : Unresolved extern function 'f'");
  EXPECT_EQ(first_error("ptxas was killed by signal 9 (Killed)"), "was killed by signal 9 (Killed)");
  EXPECT_EQ(first_error(""), "");
}

}  // namespace
}  // namespace muscope::cli
