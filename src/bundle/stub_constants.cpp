#include "stub_constants.hpp"

#include <algorithm>
#include <optional>

namespace rocm_offline::bundle {

namespace {

constexpr std::size_t number_width = 20;
constexpr std::size_t digest_width = 64;

// Where the value of an assignment begins: `name=` exactly once at the start of a line, a value of that width, then
// the end of the line.
std::optional<std::size_t> find_value(std::string_view script, std::string_view name, std::size_t width) {
  std::optional<std::size_t> found;
  std::size_t line = 0;
  while (line < script.size()) {
    const std::size_t end = std::min(script.find('\n', line), script.size());
    const std::string_view text = script.substr(line, end - line);
    if (text.size() > name.size() && text.substr(0, name.size()) == name && text[name.size()] == '=') {
      if (found || text.size() != name.size() + 1 + width) {
        return std::nullopt;
      }
      found = line + name.size() + 1;
    }
    line = end + 1;
  }
  return found;
}

Error bad_stub(std::string reason) {
  return {.code = ErrorCode::bundle_damaged,
          .stage = Stage::bundle,
          .message = "this is no bundle, or its first bytes are damaged",
          .reason = std::move(reason),
          .help = "name a file that this program's create has made, or copy it again"};
}

Result<std::uint64_t> read_number(std::string_view script, std::string_view name) {
  const auto at = find_value(script, name, number_width);
  if (!at) {
    return fail(bad_stub("the stub lacks the constant " + std::string(name)));
  }
  std::uint64_t value = 0;
  for (const char c : script.substr(*at, number_width)) {
    if (c < '0' || c > '9' || value > (UINT64_MAX - 9) / 10) {
      return fail(bad_stub("the stub's constant " + std::string(name) + " is no number"));
    }
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

Result<Sha256Digest> read_digest(std::string_view script, std::string_view name) {
  const auto at = find_value(script, name, digest_width);
  const auto digest = at ? Sha256Digest::from_hex(script.substr(*at, digest_width)) : std::nullopt;
  if (!digest) {
    return fail(bad_stub("the stub lacks the constant " + std::string(name)));
  }
  return *digest;
}

std::string fixed_width(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  return std::string(number_width - digits.size(), '0') + digits;
}

Result<Done> replace(std::string& script, std::string_view name, const std::string& value) {
  const auto at = find_value(script, name, value.size());
  if (!at) {
    return fail({.code = ErrorCode::internal,
                 .stage = Stage::bundle,
                 .message = "the stub cannot be filled in",
                 .reason = "its constant " + std::string(name) + " is not there exactly once"});
  }
  script.replace(*at, value.size(), value);
  return Done{};
}

}  // namespace

std::string_view stub_script(std::string_view system_area) {
  return system_area.substr(0, std::min(system_area.find('\0'), system_area.size()));
}

Result<StubConstants> read_stub_constants(std::string_view script) {
  StubConstants constants;
  Result<Done> outcome = Done{};
  const auto keep = [&](auto result, auto& into) {
    if (result) {
      into = *result;
    } else if (outcome) {
      outcome = fail(std::move(result).error());
    }
  };
  keep(read_number(script, "rocm_runner_offset"), constants.runner_offset);
  keep(read_number(script, "rocm_runner_size"), constants.runner_size);
  keep(read_digest(script, "rocm_runner_sha256"), constants.runner_sha256);
  keep(read_number(script, "rocm_manifest_offset"), constants.manifest_offset);
  keep(read_number(script, "rocm_manifest_size"), constants.manifest_size);
  keep(read_digest(script, "rocm_manifest_sha256"), constants.manifest_sha256);
  keep(read_number(script, "rocm_file_size"), constants.file_size);
  if (!outcome) {
    return fail(std::move(outcome).error());
  }
  return constants;
}

Result<std::string> fill_stub(std::string_view stub_template, const StubConstants& constants) {
  std::string script(stub_template);
  const std::pair<std::string_view, std::string> values[] = {
      {"rocm_runner_offset", fixed_width(constants.runner_offset)},
      {"rocm_runner_size", fixed_width(constants.runner_size)},
      {"rocm_runner_sha256", constants.runner_sha256.hex()},
      {"rocm_manifest_offset", fixed_width(constants.manifest_offset)},
      {"rocm_manifest_size", fixed_width(constants.manifest_size)},
      {"rocm_manifest_sha256", constants.manifest_sha256.hex()},
      {"rocm_file_size", fixed_width(constants.file_size)},
  };
  for (const auto& [name, value] : values) {
    if (auto done = replace(script, name, value); !done) {
      return fail(std::move(done).error());
    }
  }
  return script;
}

}  // namespace rocm_offline::bundle
