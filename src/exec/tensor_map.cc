#include "exec/tensor_map.h"

#include <algorithm>

namespace muscope::exec {
namespace {

constexpr std::uint32_t kMark = 0x6d75'546d;  ///< of maps that encode() wrote

class Writer {
 public:
  explicit Writer(TensorMap::Bytes& bytes) : bytes_(bytes) {}
  template <typename T>
  void put(const T& value) {
    std::memcpy(bytes_.data() + at_, &value, sizeof value);
    at_ += sizeof value;
  }

 private:
  TensorMap::Bytes& bytes_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(const TensorMap::Bytes& bytes) : bytes_(bytes) {}
  template <typename T>
  void get(T& value) {
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }

 private:
  const TensorMap::Bytes& bytes_;
  std::size_t at_ = 0;
};

struct ElementType {
  std::uint8_t bytes;
  ptx::Type type;
};

/// By CUtensorMapDataType.
constexpr ElementType kElements[] = {
    {1, ptx::Type::kU8},  {2, ptx::Type::kU16}, {4, ptx::Type::kU32}, {4, ptx::Type::kS32}, {8, ptx::Type::kU64},
    {8, ptx::Type::kS64}, {2, ptx::Type::kF16}, {4, ptx::Type::kF32}, {8, ptx::Type::kF64}, {2, ptx::Type::kBF16},
    {4, ptx::Type::kF32}, {4, ptx::Type::kF32}, {4, ptx::Type::kF32}};

}  // namespace

TensorMap::Bytes TensorMap::encode() const {
  Bytes bytes{};
  Writer w(bytes);
  w.put(kMark);
  w.put(static_cast<std::uint8_t>(type));
  w.put(rank);
  w.put(static_cast<std::uint8_t>(swizzle));
  w.put(static_cast<std::uint8_t>((nan_fill ? 1 : 0) | (interleaved ? 2 : 0)));
  w.put(address);
  w.put(dims);
  w.put(strides);
  w.put(box);
  w.put(steps);
  return bytes;
}

std::optional<TensorMap> TensorMap::decode(const Bytes& bytes) {
  Reader r(bytes);
  TensorMap map;
  std::uint32_t mark = 0;
  std::uint8_t swizzle = 0, flags = 0;
  r.get(mark);
  r.get(map.type);
  r.get(map.rank);
  r.get(swizzle);
  r.get(flags);
  r.get(map.address);
  r.get(map.dims);
  r.get(map.strides);
  r.get(map.box);
  r.get(map.steps);
  map.swizzle = static_cast<Swizzle>(swizzle & 3);
  map.nan_fill = (flags & 1) != 0;
  map.interleaved = (flags & 2) != 0;
  if (mark != kMark || map.rank < 1 || map.rank > 5 || map.type >= std::size(kElements)) return std::nullopt;
  for (unsigned d = 0; d < map.rank; ++d)
    if (map.box[d] == 0 || map.box[d] > 256 || map.steps[d] == 0) return std::nullopt;
  return map;
}

unsigned TensorMap::element_bytes() const { return type < std::size(kElements) ? kElements[type].bytes : 1; }
ptx::Type TensorMap::element() const { return type < std::size(kElements) ? kElements[type].type : ptx::Type::kNone; }

std::uint32_t TensorMap::row_pitch() const {
  const std::uint32_t span = swizzle == Swizzle::kNone ? 0 : 16u << static_cast<unsigned>(swizzle);
  return std::max(span, row_bytes());
}

std::uint64_t swizzled(TensorMap::Swizzle swizzle, std::uint64_t offset) {
  if (swizzle == TensorMap::Swizzle::kNone) return offset;
  const std::uint64_t units = (std::uint64_t{1} << static_cast<unsigned>(swizzle)) - 1;  // bits of the unit that change
  return offset ^ ((offset >> 7 & units) << 4);
}

}  // namespace muscope::exec
