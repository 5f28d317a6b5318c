#include <algorithm>

#include "../pipeline.hpp"
#include "commands.hpp"
#include "plan_json.hpp"
#include "rocm_offline/bundle/writer.hpp"
#include "rocm_offline/core/text.hpp"
#include "rocm_offline/core/values_json.hpp"

namespace rocm_offline::app {

namespace {

constexpr const char* schema = "rocm-offline/create/1";

// One error for the whole batch: the first one's code, every failure listed once.
Error united_error(const std::vector<Error>& errors, std::size_t wanted) {
  Error error = errors.front();
  if (errors.size() == 1) {
    return in_context(std::move(error), "downloading packages");
  }
  error.details["failed"] = std::to_string(errors.size()) + " of " + std::to_string(wanted);
  for (std::size_t i = 1; i < errors.size(); ++i) {
    const Error& one = errors[i];
    const auto url = one.details.find("url");
    error.problems.push_back({.summary = one.message + ": " + one.reason,
                              .chain = url == one.details.end() ? std::vector<std::string>{} : std::vector{url->second},
                              .help = one.help});
  }
  return in_context(std::move(error), "downloading packages");
}

// One thing stopped them all: it is told once, with what is kept.
Error stop_error(Error error, std::size_t complete, std::size_t wanted) {
  if (error.code == ErrorCode::cancelled) {
    error.message = "interrupted while downloading packages";
    error.help = "run the same command again: it continues where this one stopped";
  }
  error.details["complete"] = std::to_string(complete) + " of " + counted(wanted, "file");
  return in_context(std::move(error), "downloading packages");
}

Result<Done> download_members(const bundle::BundleLayout& layout, bundle::BundleWriter& writer,
                              fetch::Downloader& downloader) {
  const std::vector<std::size_t> missing = writer.missing();
  std::vector<fetch::DownloadRequest> requests;
  requests.reserve(missing.size());
  for (const std::size_t member : missing) {
    const bundle::Member& wanted = layout.members[member];
    requests.push_back({.urls = wanted.urls,
                        .what = wanted.what,
                        .expected_size = wanted.size,
                        .size_cap = wanted.size,
                        .expected_sha256 = wanted.sha256,
                        .refuse_web_page = true,
                        .missing_is_fine = false,
                        .sink = &writer.sink(member)});
  }
  if (!requests.empty()) {
    requests.front().activity = "downloading packages";
  }
  std::vector<Error> errors;
  const auto outcomes = downloader.download(requests, [&](std::size_t request) {
    if (auto marked = writer.mark_complete(missing[request]); !marked) {
      errors.push_back(std::move(marked).error());
    }
  });
  for (const auto& outcome : outcomes) {
    if (!outcome) {
      errors.push_back(outcome.error());
    }
  }
  if (errors.empty()) {
    return Done{};
  }
  // What stops everything goes first: a full disk or an interrupt explains the rest.
  std::stable_partition(errors.begin(), errors.end(), [](const Error& error) {
    return error.code == ErrorCode::cancelled || error.code == ErrorCode::no_space;
  });
  const ErrorCode stopped_by = errors.front().code;
  if (stopped_by == ErrorCode::cancelled || stopped_by == ErrorCode::no_space) {
    return fail(stop_error(errors.front(), requests.size() - errors.size(), requests.size()));
  }
  return fail(united_error(errors, requests.size()));
}

nlohmann::json create_to_json(const Planned& planned, const bundle::FinishedBundle& finished,
                              const std::optional<logs::LogPaths>& log) {
  nlohmann::json targets = nlohmann::json::array();
  for (const bundle::TargetContent& target : planned.targets) {
    targets.push_back(target.plan.target.id);
  }
  return {{"schema", schema},
          {"file", finished.path.string()},
          {"bytes", finished.size_bytes},
          {"sha256", finished.sha256.hex()},
          {"bundle_id", planned.layout.bundle_id},
          {"targets", std::move(targets)},
          {"totals", to_json(bundle_totals(planned))},
          {"log", log ? nlohmann::json(log->text.string()) : nlohmann::json(nullptr)}};
}

Result<bundle::FinishedBundle> write_bundle(bundle::OutputClaim claim, const bundle::BundleLayout& layout,
                                            const CreateOptions& options, fetch::Downloader& downloader,
                                            Session& session) {
  auto writer = bundle::BundleWriter::open(std::move(claim), {.output = options.output, .reuse = options.reuse}, layout,
                                           session.events(), session.cancel());
  if (!writer) {
    return fail(std::move(writer).error());
  }
  if (auto downloaded = download_members(layout, *writer, downloader); !downloaded) {
    return fail(std::move(downloaded).error());
  }
  // Better no bundle yet than one whose log does not tell where it came from.
  if (auto lost = session.logger().failure()) {
    return fail(std::move(*lost));
  }
  return writer->publish();
}

struct Created {
  Planned planned;
  bundle::FinishedBundle finished;
};

Result<Created> create(const Invocation& invocation, Session& session) {
  auto plans = make_release_plans(invocation.selection, session);
  if (!plans) {
    return fail(std::move(plans).error());
  }
  auto inputs = read_plan_inputs(invocation.selection, session);
  if (!inputs) {
    return fail(std::move(inputs).error());
  }
  auto transfers = transfer_options(invocation.selection, *plans, invocation.create.jobs);
  if (!transfers) {
    return fail(std::move(transfers).error());
  }
  // Before the first transfer: who cannot write the output, or finds another create there, learns it at once.
  auto claim = bundle::OutputClaim::take(invocation.create.output);
  if (!claim) {
    return fail(std::move(claim).error());
  }
  const auto downloader = fetch::make_curl_downloader(std::move(*transfers), session.events(), session.cancel());
  auto planned = make_plan(*plans, invocation.selection, *inputs, *downloader, session);
  if (!planned) {
    return fail(std::move(planned).error());
  }
  session.logger().set_bundle_id(planned->layout.bundle_id);
  auto finished = write_bundle(std::move(*claim), planned->layout, invocation.create, *downloader, session);
  if (!finished) {
    Error error = std::move(finished).error();
    if (inputs->locked && exit_status(error.code) == exit_status(ErrorCode::transfer_failed)) {
      error.help += "; mirrors drop what is superseded: a bundle that still has it can be named with --reuse";
    }
    return fail(std::move(error));
  }
  return Created{std::move(*planned), std::move(*finished)};
}

}  // namespace

int run_create(const Invocation& invocation, Session& session) {
  auto created = create(invocation, session);
  if (!created) {
    return session.console().failed(created.error(), schema);
  }
  const bundle::FinishedBundle& finished = created->finished;
  if (session.options().json) {
    session.console().print_json(create_to_json(created->planned, finished, session.logger().paths()));
  } else {
    session.console().print(finished.path.string() + " " + std::to_string(finished.size_bytes) + " " +
                            finished.sha256.hex() + "\n");
  }
  return session.console().finished(0);
}

}  // namespace rocm_offline::app
