// How global memory is read and written: strides, offsets, vectors, loads in flight, block shapes, structures, gathers,
// cache policies, row pitches. Useful bytes only are counted; muscope's sectors say what is moved beside them.
#include "ceilings.cuh"

namespace {

using lab::Lab;
using lab::Row;
using Word = std::uint32_t;

struct Buffers {
  char *in, *out;
  std::size_t bytes;  ///< of each
};

// ---- kernels --------------------------------------------------------------------------------------------------------

__global__ void stride_kernel(Word* out, const Word* in, std::size_t count, unsigned stride) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < count) out[i] = in[i * stride];
}
__global__ void stride_store_kernel(Word* out, const Word* in, std::size_t count, unsigned stride) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < count) out[i * stride] = in[i];
}
__global__ void offset_kernel(Word* out, const Word* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < count) out[i] = in[i];
}
template <typename Vector>
__global__ void vector_kernel(Vector* out, const Vector* in, std::size_t count) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = in[i];
}
template <typename Vector, int kFlight>
__global__ void __launch_bounds__(256) flight_kernel(Vector* out, const Vector* in, std::size_t count) {
  const std::size_t base = blockIdx.x * std::size_t{256 * kFlight} + threadIdx.x;
  Vector v[kFlight];
#pragma unroll
  for (int k = 0; k < kFlight; ++k)
    if (base + k * 256 < count) v[k] = in[base + k * 256];
#pragma unroll
  for (int k = 0; k < kFlight; ++k)
    if (base + k * 256 < count) out[base + k * 256] = v[k];
}
/// A grid-stride loop: a thread copies element after element, with as few loads in flight as the compiler makes.
__global__ void __launch_bounds__(256) loop_kernel(Word* out, const Word* in, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count; i += gridDim.x * std::size_t{256})
    out[i] = in[i];
}
__global__ void shape_kernel(Word* out, const Word* in, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    out[y * static_cast<std::size_t>(width) + x] = in[y * static_cast<std::size_t>(width) + x];
}
template <int kFields>
__global__ void structures_kernel(Word* out, const Word* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i >= count) return;
  Word sum = 0;
#pragma unroll
  for (int f = 0; f < kFields; ++f) sum += in[i * kFields + f] * (2 * f + 1);
  out[i] = sum;
}
template <int kFields>
__global__ void arrays_kernel(Word* out, const Word* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i >= count) return;
  Word sum = 0;
#pragma unroll
  for (int f = 0; f < kFields; ++f) sum += in[f * count + i] * (2 * f + 1);
  out[i] = sum;
}
template <int kFields>
__global__ void one_field_kernel(Word* out, const Word* in, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < count) out[i] = in[i * kFields];
}
/// Pieces of kWords words that lie anywhere.
template <int kWords>
__global__ void gather_kernel(Word* out, const Word* in, std::size_t count, Word mask) {
  const std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x;
  if (i < count)
    out[i] = in[static_cast<std::size_t>(lab::mixed(static_cast<Word>(i / kWords)) & mask) * kWords + i % kWords];
}
enum class Policy { kAll, kGlobal, kStreaming, kReadOnly };
template <Policy kPolicy>
__device__ inline Word load(const Word* p) {
  return kPolicy == Policy::kAll         ? __ldca(p)
         : kPolicy == Policy::kGlobal    ? __ldcg(p)
         : kPolicy == Policy::kStreaming ? __ldcs(p)
                                         : __ldg(p);
}
/// Neighbours in three rows: each word is read nine times.
template <Policy kPolicy>
__global__ void neighbours_kernel(Word* out, const Word* in, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) return;
  Word sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) sum += load<kPolicy>(in + (y + dy) * static_cast<std::size_t>(width) + x + dx);
  out[y * static_cast<std::size_t>(width) + x] = sum;
}
/// Every warp reads one sector per row and goes down `rows` rows: addresses that differ by the pitch.
__global__ void __launch_bounds__(256) pitch_kernel(Word* out, const Word* in, std::size_t pitch, unsigned rows) {
  const unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * 256 + threadIdx.x) / 32;
  Word sum = 0;
  for (unsigned r = lane / 8; r < rows; r += 4) sum ^= __ldcg(in + r * pitch + warp * 8 + lane % 8);
  out[warp * 32 + lane] = sum;
}

// ---- what is right --------------------------------------------------------------------------------------------------

struct Strided {
  const Word* out;
  std::size_t in_stride, out_stride, offset;
  __device__ bool operator()(std::size_t i) const {
    return out[i * out_stride] == lab::mixed(static_cast<Word>(i * in_stride + offset));
  }
};
struct ColumnSums {
  const Word* out;
  std::size_t pitch;
  unsigned rows;
  __device__ bool operator()(std::size_t i) const {
    Word sum = 0;
    for (unsigned r = static_cast<unsigned>(i) % 32 / 8; r < rows; r += 4)
      sum ^= lab::mixed(static_cast<Word>(r * pitch + i / 32 * 8 + i % 8));
    return out[i] == sum;
  }
};
struct Fields {
  const Word* out;
  std::size_t count, fields;
  bool arrays;
  __device__ bool operator()(std::size_t i) const {
    Word sum = 0;
    for (std::size_t f = 0; f < fields; ++f)
      sum += lab::mixed(static_cast<Word>(arrays ? f * count + i : i * fields + f)) * static_cast<Word>(2 * f + 1);
    return out[i] == sum;
  }
};
struct Gathered {
  const Word* out;
  Word mask, words;
  __device__ bool operator()(std::size_t i) const {
    const Word piece = static_cast<Word>(i) / words;
    return out[i] == lab::mixed((lab::mixed(piece) & mask) * words + static_cast<Word>(i) % words);
  }
};
struct Neighbours {
  const Word* out;
  unsigned width, height;
  __device__ bool operator()(std::size_t i) const {
    const unsigned x = static_cast<unsigned>(i % width), y = static_cast<unsigned>(i / width);
    if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) return true;
    Word sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) sum += lab::mixed((y + dy) * width + x + dx);
    return out[i] == sum;
  }
};

// ---- experiments ----------------------------------------------------------------------------------------------------

class Patterns {
 public:
  Patterns(Lab& lab, Buffers buffers)
      : lab_(lab), b_(buffers), in_(reinterpret_cast<Word*>(b_.in)), out_(reinterpret_cast<Word*>(b_.out)) {}

  void strides() {
    const std::size_t count = b_.bytes / 4 / 32;
    if (lab_.wanted("stride-read")) {
      std::vector<Row> rows;
      for (const unsigned s : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 12u, 16u, 17u, 24u, 31u, 32u})
        rows.push_back(row(
            "read with stride " + std::to_string(s), s, 8.0 * count, "copy",
            s < 8 ? "a sector of 32 bytes holds useful words and others" : "every lane needs a sector of its own",
            [=](cudaStream_t t) { stride_kernel<<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_, count, s); },
            count, Strided{out_, s, 1, 0}));
      run("stride-read", rows, "words");
    }
    if (lab_.wanted("stride-write")) {
      std::vector<Row> rows;
      for (const unsigned s : {1u, 2u, 3u, 4u, 8u, 16u, 32u})
        rows.push_back(row(
            "write with stride " + std::to_string(s), s, 8.0 * count, "copy",
            s == 1 ? "whole sectors are written"
                   : "parts of sectors are written; the L2 merges or reads what is missing",
            [=](cudaStream_t t) {
              stride_store_kernel<<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_, count, s);
            },
            count, Strided{out_, 1, s, 0}));
      run("stride-write", rows, "words");
    }
  }

  void offsets() {
    const std::size_t count = part() / 4;
    if (lab_.wanted("offset-read")) {
      std::vector<Row> rows;
      for (const unsigned o : {0u, 1u, 2u, 4u, 7u, 8u, 16u, 31u, 32u})
        rows.push_back(row(
            "read from word " + std::to_string(o), o, 8.0 * count, "copy",
            o % 8 == 0 ? "warps begin at a sector"
                       : "each warp touches one sector more; its neighbour finds it in the L1",
            [=](cudaStream_t t) { offset_kernel<<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_ + o, count); },
            count, Strided{out_, 1, 1, o}));
      run("offset-read", rows, "words");
    }
    if (lab_.wanted("offset-write")) {
      std::vector<Row> rows;
      for (const unsigned o : {0u, 1u, 4u, 8u, 31u, 32u})
        rows.push_back(row(
            "write from word " + std::to_string(o), o, 8.0 * count, "copy",
            o % 8 == 0 ? "warps begin at a sector" : "sectors at the ends of each warp are written in two parts",
            [=](cudaStream_t t) { offset_kernel<<<lab::blocks_for(count, 256), 256, 0, t>>>(out_ + o, in_, count); },
            count, Strided{out_ + o, 1, 1, 0}));
      run("offset-write", rows, "words");
    }
  }

  void vectors() {
    const std::size_t bytes = part(), words = bytes / 4;
    const Strided right{out_, 1, 1, 0};
    const auto vector = [&](auto* sample, const char* why) {
      using Vector = std::remove_pointer_t<decltype(sample)>;
      const std::size_t count = bytes / sizeof(Vector);
      return row(
          std::to_string(sizeof(Vector)) + " B per lane", sizeof(Vector), 2.0 * bytes, "copy", why,
          [=](cudaStream_t t) {
            vector_kernel<Vector><<<lab::blocks_for(count, 256), 256, 0, t>>>(
                reinterpret_cast<Vector*>(out_), reinterpret_cast<const Vector*>(in_), count);
          },
          words, right);
    };
    if (lab_.wanted("vector-width")) {
      const char* const few = "too few bytes in flight per multiprocessor";
      run("vector-width",
          {vector(static_cast<unsigned char*>(nullptr), few), vector(static_cast<unsigned short*>(nullptr), few),
           vector(static_cast<unsigned*>(nullptr), few),
           vector(static_cast<uint2*>(nullptr), "half the requests for the same sectors"),
           vector(static_cast<uint4*>(nullptr), "a quarter of the requests for the same sectors")},
          "B");
    }
    if (lab_.wanted("loads-in-flight")) {
      std::vector<Row> rows;
      const auto flight = [&](auto* sample, auto number) {
        using Vector = std::remove_pointer_t<decltype(sample)>;
        constexpr int kFlight = decltype(number)::value;
        const std::size_t count = bytes / sizeof(Vector);
        rows.push_back(row(
            std::to_string(kFlight) + " x " + std::to_string(sizeof(Vector)) + " B per thread",
            static_cast<double>(kFlight * sizeof(Vector)), 2.0 * bytes, "copy",
            "bytes that are requested before the first is used",
            [=](cudaStream_t t) {
              flight_kernel<Vector, kFlight><<<lab::blocks_for(count, 256 * kFlight), 256, 0, t>>>(
                  reinterpret_cast<Vector*>(out_), reinterpret_cast<const Vector*>(in_), count);
            },
            words, right));
      };
      rows.push_back(row(
          "4 B in a loop, 8 blocks per multiprocessor", 4, 2.0 * bytes, "copy",
          "the compiler decides how many loads are in flight",
          [=](cudaStream_t t) { loop_kernel<<<8 * lab_.multiprocessors(), 256, 0, t>>>(out_, in_, words); }, words,
          right));
      Word* const w = nullptr;
      uint4* const v = nullptr;
      flight(w, std::integral_constant<int, 1>{}), flight(w, std::integral_constant<int, 2>{}),
          flight(w, std::integral_constant<int, 4>{}), flight(w, std::integral_constant<int, 8>{}),
          flight(w, std::integral_constant<int, 16>{});
      flight(v, std::integral_constant<int, 1>{}), flight(v, std::integral_constant<int, 2>{}),
          flight(v, std::integral_constant<int, 4>{}), flight(v, std::integral_constant<int, 8>{});
      run("loads-in-flight", rows, "B");
    }
    if (lab_.wanted("block-size")) {
      std::vector<Row> rows;
      for (const unsigned threads : {32u, 64u, 96u, 128u, 192u, 256u, 512u, 768u, 1024u})
        rows.push_back(row(
            "blocks of " + std::to_string(threads) + " threads, 4 B per lane", threads, 2.0 * bytes, "copy",
            threads == 32    ? "32 blocks, the most that a multiprocessor takes: 1024 of its 2048 threads"
            : threads == 96  ? "2016 of a multiprocessor's 2048 threads fit"
            : threads == 192 ? "1920 of a multiprocessor's 2048 threads fit"
            : threads == 768 ? "1536 of a multiprocessor's 2048 threads fit"
                             : "all 2048 threads of a multiprocessor fit",
            [=](cudaStream_t t) {
              vector_kernel<Word><<<lab::blocks_for(words, threads), threads, 0, t>>>(out_, in_, words);
            },
            words, right));
      run("block-size", rows, "threads");
    }
  }

  void shapes() {
    if (!lab_.wanted("block-shape")) return;
    const unsigned side = static_cast<unsigned>(lab_.pick(8192, 4096, 128));
    const std::size_t words = std::size_t{side} * side;
    std::vector<Row> rows;
    for (const unsigned x : {256u, 128u, 64u, 32u, 16u, 8u, 4u, 2u, 1u}) {
      const unsigned y = 256 / x;
      rows.push_back(row(
          "blocks of " + std::to_string(x) + " x " + std::to_string(y), x, 8.0 * words, "copy",
          x >= 32  ? "a warp is a piece of one row"
          : x >= 8 ? "a warp is several rows of whole sectors"
                   : "parts of sectors: other lines' words come along",
          [=](cudaStream_t t) {
            shape_kernel<<<dim3(lab::blocks_for(side, x), lab::blocks_for(side, y)), dim3(x, y), 0, t>>>(out_, in_,
                                                                                                         side, side);
          },
          words, Strided{out_, 1, 1, 0}));
    }
    run("block-shape", rows, "threads wide");
  }

  void structures() {
    if (!lab_.wanted("aos-soa")) return;
    std::vector<Row> rows;
    const auto both = [&](auto number) {
      constexpr int kFields = decltype(number)::value;
      const std::size_t count = part() / 4 / kFields / 32 * 32;
      const double bytes = 4.0 * count * (kFields + 1);
      const std::string fields = std::to_string(kFields) + " words";
      rows.push_back(row(
          "structures of " + fields + ", all fields", kFields, bytes, "read",
          "the sectors that one load leaves are found in the L1 by the next ones, if they are still there",
          [=](cudaStream_t t) {
            structures_kernel<kFields><<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_, count);
          },
          count, Fields{out_, count, kFields, false}));
      rows.push_back(row(
          "arrays for " + fields + ", all fields", kFields, bytes, "read", "every load of a warp is four whole sectors",
          [=](cudaStream_t t) { arrays_kernel<kFields><<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_, count); },
          count, Fields{out_, count, kFields, true}));
      rows.push_back(row(
          "structures of " + fields + ", one field", kFields, 8.0 * count, "copy",
          "the other fields are moved and not used",
          [=](cudaStream_t t) {
            one_field_kernel<kFields><<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_, count);
          },
          count, Strided{out_, kFields, 1, 0}));
    };
    both(std::integral_constant<int, 2>{}), both(std::integral_constant<int, 3>{}),
        both(std::integral_constant<int, 4>{}), both(std::integral_constant<int, 8>{}),
        both(std::integral_constant<int, 16>{});
    run("aos-soa", rows, "words");
  }

  void gathers() {
    if (!lab_.wanted("gather")) return;
    std::vector<Row> rows;
    const std::size_t count = b_.bytes / 4 / 32;
    const auto gather = [&](std::size_t span, auto number) {
      constexpr int kWords = decltype(number)::value;
      const Word mask = static_cast<Word>(span / 4 / kWords - 1);
      rows.push_back(row(
          "pieces of " + std::to_string(4 * kWords) + " B anywhere in " + lab::size_text(span),
          static_cast<double>(span), 8.0 * count, "copy",
          span <= static_cast<std::size_t>(lab_.device().l2CacheSize) / 2 ? "the L2 cache answers"
          : kWords < 8                                                    ? "DRAM moves 32 bytes, or 64, for each piece"
                                                                          : "whole sectors, in any order",
          [=](cudaStream_t t) {
            gather_kernel<kWords><<<lab::blocks_for(count, 256), 256, 0, t>>>(out_, in_, count, mask);
          },
          count, Gathered{out_, mask, kWords}));
    };
    const std::size_t small = lab_.pick(1 << 20, 1 << 20, 1 << 14), middle = lab_.pick(16 << 20, 16 << 20, 1 << 16),
                      large = b_.bytes;
    for (const std::size_t span : {small, middle, large}) gather(span, std::integral_constant<int, 1>{});
    gather(large, std::integral_constant<int, 2>{}), gather(large, std::integral_constant<int, 8>{}),
        gather(large, std::integral_constant<int, 16>{}), gather(large, std::integral_constant<int, 32>{}),
        gather(large, std::integral_constant<int, 128>{});
    run("gather", rows, "B");
  }

  void policies() {
    if (!lab_.wanted("cache-policy")) return;
    const unsigned side = static_cast<unsigned>(lab_.pick(8192, 4096, 128));
    const std::size_t words = std::size_t{side} * side;
    const Neighbours right{out_, side, side};
    const auto one = [&](const char* name, const char* why, auto kernel) {
      return row(
          name, 0, 8.0 * words, "copy", why,
          [=](cudaStream_t t) { kernel<<<dim3(side / 32, side / 8), dim3(32, 8), 0, t>>>(out_, in_, side, side); },
          words, right);
    };
    run("cache-policy",
        {one("9 neighbours, L1 on (ld.ca)", "eight of nine reads are found in the L1", neighbours_kernel<Policy::kAll>),
         one("9 neighbours, L1 off (ld.cg)", "every request goes to the L2", neighbours_kernel<Policy::kGlobal>),
         one("9 neighbours, streaming (ld.cs)", "lines may leave early", neighbours_kernel<Policy::kStreaming>),
         one("9 neighbours, read-only (ld.nc)", "the same L1, without coherence",
             neighbours_kernel<Policy::kReadOnly>)},
        "");
  }

  void pitches() {
    if (!lab_.wanted("row-pitch")) return;
    const unsigned warps = static_cast<unsigned>(lab_.pick(8192, 8192, 64));  // rows are warps * 32 B wide at least
    const std::size_t least = std::size_t{warps} * 32;
    std::vector<Row> rows;
    for (std::size_t pitch = least; pitch <= least * (lab_.counting() ? 1 : 4); pitch *= 2) {
      for (const std::size_t more : {std::size_t{0}, std::size_t{256}}) {
        const std::size_t whole = pitch + more;
        const unsigned count = static_cast<unsigned>(std::min<std::size_t>(1024, b_.bytes / whole));
        Row r = row(
            "columns of sectors, pitch " + lab::size_text(pitch) + (more == 0 ? "" : " + 256 B"),
            static_cast<double>(whole), 32.0 * count * warps + 128.0 * warps, "read",
            more == 0 ? "addresses of a column differ by a power of two; a hash spreads them over the channels"
                      : "the pitch is no power of two",
            [=](cudaStream_t t) { pitch_kernel<<<warps / 8, 256, 0, t>>>(out_, in_, whole / 4, count); }, 0,
            Strided{out_, 1, 1, 0});
        lab::Lab* const lab = &lab_;
        Word* const out = out_;
        r.verified = [=] { return lab->check(std::size_t{32} * warps, ColumnSums{out, whole / 4, count}); };
        rows.push_back(r);
      }
    }
    run("row-pitch", rows, "B");
  }

 private:
  std::size_t part() const { return b_.bytes / lab_.pick(4, 4, 2); }

  template <typename Right>
  Row row(const std::string& name, double x, double bytes, const char* mix, const char* why,
          std::function<void(cudaStream_t)> call, std::size_t count, Right right) {
    Row r;
    r.name = name;
    r.x = x;
    r.bytes = bytes;
    r.mix = mix;
    r.why = why;
    r.call = std::move(call);
    const Buffers b = b_;
    Lab* const lab = &lab_;
    r.poison = [b] { LAB_CHECK(cudaMemset(b.out, 0xff, b.bytes)); };
    r.verified = [lab, count, right] { return lab->check(count, right); };
    return r;
  }
  void run(const char* experiment, std::vector<Row> rows, const char* unit) {
    for (Row& r : rows) r.x_unit = unit;
    lab_.run(experiment, rows);
  }

  Lab& lab_;
  Buffers b_;
  Word *in_, *out_;
};

}  // namespace

int main(int argc, char** argv) {
  Lab lab(argc, argv, "patterns");
  Buffers buffers{};
  if (!lab.listing()) {
    buffers.bytes = lab.pick(std::size_t{1} << 30, std::size_t{1} << 28, 1 << 20);
    buffers.in = lab.memory(buffers.bytes + 4096);
    buffers.out = lab.memory(buffers.bytes + 4096, 99);
    lab.run("ceilings", ceilings::rows(lab, buffers.out, buffers.in, buffers.in + buffers.bytes / 2,
                                       buffers.bytes / lab.pick(4, 4, 4), lab::Flush::kClean));
  }
  Patterns patterns(lab, buffers);
  patterns.strides();
  patterns.offsets();
  patterns.vectors();
  patterns.shapes();
  patterns.structures();
  patterns.gathers();
  patterns.policies();
  patterns.pitches();
  return lab.finish();
}
