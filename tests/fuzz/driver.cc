// Stands in for libFuzzer where clang's is not installed: runs a target over seed files, then over mutations of them
// made with a fixed seed, for a given time. Finds crashes, but is not guided by coverage.
//
//   fatbin_fuzz --seconds 5 --save crash.bin SEED-FOLDER
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMaxInput = 65536;

std::vector<Input> read_seeds(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());  // the order of a directory is not fixed
  std::vector<Input> seeds;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    Input bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    bytes.resize(std::min(bytes.size(), kMaxInput));
    seeds.push_back(std::move(bytes));
  }
  if (seeds.empty()) seeds.push_back({0});
  return seeds;
}

void mutate(Input& bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(limit, 1));
  };
  for (std::size_t left = 1 + below(6); left > 0; --left) {
    if (bytes.empty()) bytes.push_back(static_cast<std::uint8_t>(random()));
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        bytes[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:  // an extreme number
        for (std::size_t i = at; i < std::min(at + (std::size_t{1} << below(4)), bytes.size()); ++i) bytes[i] = 0xff;
        break;
      case 4:  // a piece twice
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + below(64), bytes.size())));
        break;
      default:  // a piece less
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + below(64), bytes.size())));
        break;
    }
  }
  bytes.resize(std::min(bytes.size(), kMaxInput));
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 5;
  std::string save = "crash.bin";
  std::string folder;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else if (argument == "--save" && i + 1 < argc) {
      save = argv[++i];
    } else {
      folder = argument;
    }
  }
  if (folder.empty()) return std::fprintf(stderr, "usage: %s [--seconds N] [--save FILE] SEED-FOLDER\n", argv[0]), 2;

  const auto seeds = read_seeds(folder);
  std::mt19937_64 random(20240607);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t runs = 0;
  const auto run = [&](const Input& bytes) {
    // Written first: after a crash it is the input that caused it. A copy of its own, so that reading past the end
    // shows.
    std::ofstream(save, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const Input copy(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
    ++runs;
  };
  for (const Input& seed : seeds) run(seed);
  while (std::chrono::steady_clock::now() < end) {
    Input bytes = seeds[random() % seeds.size()];
    mutate(bytes, random);
    run(bytes);
  }
  std::filesystem::remove(save);
  std::printf("%llu inputs from %zu seeds\n", static_cast<unsigned long long>(runs), seeds.size());
  return 0;
}
