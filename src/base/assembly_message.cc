#include "base/assembly_message.h"

namespace muscope {
namespace {

// A message is its kind, then texts, each with its length (64 bits, little endian) in front. Numbers travel as text.
constexpr char kRequest = 'Q', kLinkRequest = 'L', kReply = 'R';
constexpr std::size_t kLengthBytes = 8;
constexpr int kLargestSm = 9999;

std::string message_of(char kind, const std::vector<std::string_view>& texts) {
  std::string out(1, kind);
  for (const std::string_view text : texts) {
    for (std::size_t i = 0; i < kLengthBytes; ++i)
      out.push_back(static_cast<char>(std::uint64_t{text.size()} >> (8 * i)));
    out.append(text);
  }
  return out;
}

/// Takes texts off the front. After the first that is cut off, all are absent.
class Reader {
 public:
  Reader(char kind, std::string_view bytes) : rest_(bytes), good_(!bytes.empty() && bytes.front() == kind) {
    if (good_) rest_.remove_prefix(1);
  }

  std::string text() {
    if (!good_ || rest_.size() < kLengthBytes) return fail();
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
      size |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << (8 * i);
    rest_.remove_prefix(kLengthBytes);
    if (size > rest_.size()) return fail();
    std::string text(rest_.substr(0, static_cast<std::size_t>(size)));
    rest_.remove_prefix(text.size());
    return text;
  }

  bool more() const { return good_ && !rest_.empty(); }
  bool good_to_the_end() const { return good_ && rest_.empty(); }

 private:
  std::string fail() {
    good_ = false;
    return {};
  }
  std::string_view rest_;
  bool good_;
};

/// -1 when the text is not a number, or too large.
int number_of(std::string_view text) {
  if (text.empty() || text.size() > 4) return -1;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_variant(std::string_view text) { return text.empty() || text == "a" || text == "f"; }

}  // namespace

std::string encode(const AssemblyRequest& request) {
  const std::string variant(request.variant == 0 ? 0 : 1, request.variant);
  const std::string sm = std::to_string(request.sm);
  std::vector<std::string_view> texts{sm, variant};
  for (const AssemblyPart& part : request.parts) {
    texts.push_back(part.options);
    texts.push_back(part.ptx);
  }
  return message_of(request.relocatable ? kLinkRequest : kRequest, texts);
}

std::string encode(const AssemblyReply& reply) {
  return message_of(kReply, {reply.version, reply.reason, reply.cubin});
}

std::optional<AssemblyRequest> decode_assembly_request(std::string_view bytes) {
  AssemblyRequest request;
  request.relocatable = !bytes.empty() && bytes.front() == kLinkRequest;
  Reader reader(request.relocatable ? kLinkRequest : kRequest, bytes);
  request.sm = number_of(reader.text());
  const std::string variant = reader.text();
  do {
    AssemblyPart part;
    part.options = reader.text();
    part.ptx = reader.text();
    request.parts.push_back(std::move(part));
  } while (request.relocatable && reader.more());
  if (!reader.good_to_the_end() || request.sm < 0 || request.sm > kLargestSm || !is_variant(variant))
    return std::nullopt;
  request.variant = variant.empty() ? '\0' : variant.front();
  return request;
}

std::optional<AssemblyReply> decode_assembly_reply(std::string_view bytes) {
  Reader reader(kReply, bytes);
  AssemblyReply reply;
  reply.version = reader.text();
  reply.reason = reader.text();
  reply.cubin = reader.text();
  if (!reader.good_to_the_end()) return std::nullopt;
  return reply;
}

}  // namespace muscope
