#include "base/assembly_message.h"

#include <gtest/gtest.h>

namespace muscope {
namespace {

TEST(AssemblyMessage, ComesBackAsItWent) {
  const AssemblyRequest request{
      90, 'a', false, {{std::string(".version 9.0\n\0tail", 18), "-maxrregcount=32 -dlcm=cg"}}};
  EXPECT_EQ(decode_assembly_request(encode(request)), request);
  const AssemblyRequest plain{103, 0, false, {{"", ""}}};
  EXPECT_EQ(decode_assembly_request(encode(plain)), plain);
  const AssemblyRequest linked{90, 0, true, {{"a", "-O1"}, {"", ""}, {"c", ""}}};
  EXPECT_EQ(decode_assembly_request(encode(linked)), linked);
  const AssemblyReply reply{std::string("\x7f"
                                        "ELF\0\1",
                                        6),
                            "", "13.0.88"};
  EXPECT_EQ(decode_assembly_reply(encode(reply)), reply);
  const AssemblyReply refusal{"", "line 4: Unknown modifier", "12.4.131"};
  EXPECT_EQ(decode_assembly_reply(encode(refusal)), refusal);
}

TEST(AssemblyMessage, HasThisLayout) {
  const std::string bytes = encode(AssemblyRequest{90, 'a', false, {{"P", "-O1"}}});
  const std::string wanted = std::string("Q") + '\2' + std::string(7, '\0') + "90" + '\1' + std::string(7, '\0') + "a" +
                             '\3' + std::string(7, '\0') + "-O1" + '\1' + std::string(7, '\0') + "P";
  EXPECT_EQ(bytes, wanted);
}

TEST(AssemblyMessage, WhatIsCutOffOrHasMoreIsNone) {
  const std::string request = encode(AssemblyRequest{90, 'a', false, {{"some text", "-O1"}}});
  const std::string reply = encode(AssemblyReply{"cubin", "why", "13.0.88"});
  for (std::size_t n = 0; n < request.size(); ++n) EXPECT_FALSE(decode_assembly_request(request.substr(0, n))) << n;
  for (std::size_t n = 0; n < reply.size(); ++n) EXPECT_FALSE(decode_assembly_reply(reply.substr(0, n))) << n;
  EXPECT_FALSE(decode_assembly_request(request + '\0'));
  const std::string linked = encode(AssemblyRequest{90, 0, true, {{"a", "-O1"}, {"b", ""}}});
  int wholes = 0;
  for (std::size_t n = 0; n < linked.size(); ++n) wholes += decode_assembly_request(linked.substr(0, n)).has_value();
  EXPECT_EQ(wholes, 1) << "with the first part only";
  EXPECT_FALSE(decode_assembly_reply(reply + "x"));
  EXPECT_FALSE(decode_assembly_reply(request));
  EXPECT_FALSE(decode_assembly_request(reply));
}

TEST(AssemblyMessage, HostileBytesAreNone) {
  const std::string good = encode(AssemblyRequest{90, 0, false, {{"text", ""}}});
  // The length of the first text: 2^63 and more than there is.
  for (std::size_t at = 1; at < 9; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(0x80);
    EXPECT_FALSE(decode_assembly_request(bad)) << at;
  }
  const auto with_number = [](const std::string& number, const std::string& variant) {
    std::string bytes = "Q";
    for (const std::string& text : {number, variant, std::string(), std::string("ptx")})
      bytes += static_cast<char>(text.size()) + std::string(7, '\0') + text;
    return bytes;
  };
  EXPECT_TRUE(decode_assembly_request(with_number("90", "a")));
  EXPECT_FALSE(decode_assembly_request(with_number("", "a")));
  EXPECT_FALSE(decode_assembly_request(with_number("-90", "a")));
  EXPECT_FALSE(decode_assembly_request(with_number("9x", "a")));
  EXPECT_FALSE(decode_assembly_request(with_number("123456789012", "a")));
  EXPECT_FALSE(decode_assembly_request(with_number("90", "x")));
  EXPECT_FALSE(decode_assembly_request(with_number("90", "aa")));
}

}  // namespace
}  // namespace muscope
