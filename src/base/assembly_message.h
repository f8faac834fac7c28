// What a process of a run and `muscope run` say to each other about assembling PTX, as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muscope {

/// No message has more bytes: far beyond any module that ptxas takes in reasonable time.
inline constexpr std::size_t kLargestAssemblyMessage = std::size_t{512} << 20;

/// One PTX module.
struct AssemblyPart {
  std::string ptx;
  std::string options;  ///< for ptxas, as the fat binary records them

  bool operator==(const AssemblyPart&) const = default;
};

/// "Assemble this." From the process to `muscope run`.
struct AssemblyRequest {
  int sm = 0;                       ///< 90: for sm_90
  char variant = 0;                 ///< 'a': for sm_90a; 'f'; or 0
  bool relocatable = false;         ///< the parts are of one program (nvcc -rdc=true), to be linked
  std::vector<AssemblyPart> parts;  ///< one, if not relocatable

  bool operator==(const AssemblyRequest&) const = default;
};

struct AssemblyReply {
  std::string cubin;    ///< ELF image; empty when there is none
  std::string reason;   ///< why there is none
  std::string version;  ///< of ptxas, "13.0.88"; empty when there is no ptxas

  bool operator==(const AssemblyReply&) const = default;
};

std::string encode(const AssemblyRequest& request);
std::string encode(const AssemblyReply& reply);

/// Nothing when the bytes, which may be any, are not exactly one such message.
std::optional<AssemblyRequest> decode_assembly_request(std::string_view bytes);
std::optional<AssemblyReply> decode_assembly_reply(std::string_view bytes);

}  // namespace muscope
