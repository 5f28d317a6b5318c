// replay SECONDS FILE_OR_FOLDER...: gives every file of the corpus to the target, then mutants of them until the time
// is over. The mutants are the same in every run, so that a finding comes again. For builds without libFuzzer.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz_target.hpp"

namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

std::vector<std::string> read_corpus(int count, char** names) {
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i) {
    if (fs::is_directory(names[i])) {
      for (const auto& entry : fs::recursive_directory_iterator(names[i])) {
        if (entry.is_regular_file()) {
          files.push_back(entry.path());
        }
      }
    } else {
      files.emplace_back(names[i]);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

std::string mutant_of(const std::vector<std::string>& corpus, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  std::string input = corpus[below(corpus.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(input.size());
    switch (below(6)) {
      case 0:
        if (!input.empty()) {
          input[at] = static_cast<char>(input[at] ^ (1U << below(8)));
        }
        break;
      case 1:
        input.resize(at);
        break;
      case 2:
        input.erase(at, below(64));
        break;
      case 3:
        input.insert(at, std::string(below(32), static_cast<char>(below(256))));
        break;
      case 4:
        input.insert(at, input.substr(below(input.size()), below(200)));
        break;
      default: {
        const std::string& other = corpus[below(corpus.size())];
        input.insert(at, other.substr(below(other.size()), below(200)));
        break;
      }
    }
  }
  return input;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: replay SECONDS FILE_OR_FOLDER...\n", stderr);
    return 2;
  }
  const auto corpus = read_corpus(argc - 2, argv + 2);
  if (corpus.empty()) {
    std::fputs("replay: the corpus is empty\n", stderr);
    return 1;
  }
  for (const std::string& input : corpus) {
    run(input);
  }
  std::mt19937 random(1);
  const auto end = SteadyClock::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::size_t mutants = 0;
  while (SteadyClock::now() < end) {
    run(mutant_of(corpus, random));
    ++mutants;
  }
  std::printf("%zu inputs, %zu mutants\n", corpus.size(), mutants);
  return 0;
}
