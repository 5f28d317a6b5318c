// The table of event names, by stage. Stable: add, never rename. docs/events.md is generated from it.
#include "rocm_offline/core/events.hpp"

namespace rocm_offline {

const std::vector<EventName>& event_names() {
  using enum Level;
  static const std::vector<EventName> names = {
      // check
      {"check.target.checked", info, "a machine or target was checked", "target,supported"},
      // plan
      {"plan.selection.planned", info, "the choices became a plan", "target,release,usecases"},
      // repos
      {"repos.release.verified", info, "a signed Release was verified",
       "repository,url,suite,codename,date,valid_until,release_sha256,signed_by"},
      {"repos.release.reread", warning, "an index did not fit its Release, which is read again", "repository,url,reason"},
      {"repos.release.missing", warning, "an optional repository is not there", "repository,url"},
      {"repos.check.allowed", warning, "a check failed and was allowed by the user", "repository,check,reason"},
      {"repos.index.loaded", info, "a package index was verified and read",
       "repository,component,packages,bytes,sha256,source"},
      {"repos.index.duplicate", warning, "two entries of one package differ; the first one counts",
       "repository,name,version,arch"},
      {"repos.state.unwritable", warning, "the dates last seen could not be remembered", "path,reason"},
      // resolve
      // fetch
      {"fetch.file.done", debug, "a file is complete and verified", "what,url,bytes,sha256"},
      {"fetch.file.missing", debug, "no server has a file that may be missing", "what,url,bytes,sha256"},
      {"fetch.file.retried", warning, "an attempt failed; another follows",
       "what,url,next_url,code,reason,wait_ms,received"},
      {"fetch.file.failed", error, "a file could not be downloaded", "what,url,code,reason"},
      {"fetch.batch.done", info, "a batch of downloads has ended", "files,failed,bytes,milliseconds"},
      // bundle
      // install
      // verify
      // logs
      {"logs.run.started", info, "first record of a run", "version,request,bundle_id,host,user"},
      {"logs.run.finished", info, "last record of a run", "exit_status"},
      {"logs.run.failed", error, "last record of a run that failed", "exit_status"},
      // ui
  };
  return names;
}

}  // namespace rocm_offline
