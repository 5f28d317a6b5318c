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
      {"plan.mirror.from_host", info, "a repository is read from the address that this host uses", "repository,url"},
      {"plan.key.exposed", warning, "others can read the private signing key", "path"},
      {"plan.lock.written", info, "the whole resolution was written to a lock file", "path"},
      {"plan.lock.moved_on", warning, "a repository is of another state than the lock's; the packages are the same",
       "repository,date,locked_date"},
      {"plan.fact.uncertain", warning, "a fact of the catalogue is not certain", ""},
      // repos
      {"repos.key.fetched", info, "a pinned signing key was downloaded", "group,url,fingerprint,sha256"},
      {"repos.release.verified", info, "a signed Release was verified",
       "repository,url,suite,codename,date,valid_until,release_sha256,signed_by"},
      {"repos.release.reread", warning, "an index did not fit its Release, which is read again",
       "repository,url,reason"},
      {"repos.mirror.refused", warning, "what a mirror served is refused, the next of its list is tried",
       "repository,url,next_url,code,reason"},
      {"repos.release.missing", warning, "an optional repository is not there", "repository,url"},
      {"repos.repository.warned", warning, "a repository was taken with a reservation", ""},
      {"repos.check.allowed", warning, "a check failed and was allowed by the user", "repository,check,reason"},
      {"repos.index.loaded", info, "a package index was verified and read",
       "repository,component,packages,bytes,sha256,source"},
      {"repos.index.duplicate", warning, "two entries of one package differ; the first one counts",
       "repository,name,version,arch"},
      {"repos.state.unwritable", warning, "the dates last seen could not be remembered", "path,reason"},
      // resolve
      {"resolve.closure.found", info, "the requests became a closure", "target,packages,bytes,recommends_left_out"},
      {"resolve.closure.proven", info, "the judge accepts the closure on one kind of target",
       "target,packages,installed,judge"},
      {"resolve.baseline.unproven", warning, "the requests do not fit a minimal root of the target", "target,reason"},
      {"resolve.stanza.refused", warning, "a package is not taken: its stanza has a malformed relation field",
       "name,version,arch,repository,field"},
      {"resolve.request.unsolvable", error, "the requests cannot be installed, for this reason", "target,chain,help"},
      // fetch
      {"fetch.file.done", debug, "a file is complete and verified", "what,url,bytes,sha256"},
      {"fetch.file.missing", debug, "no server has a file that may be missing", "what,url,bytes,sha256"},
      {"fetch.file.retried", warning, "an attempt failed; another follows",
       "what,url,next_url,code,reason,wait_ms,received"},
      {"fetch.file.failed", error, "a file could not be downloaded", "what,url,code,reason"},
      {"fetch.batch.done", info, "a batch of downloads has ended", "files,failed,bytes,milliseconds"},
      // bundle
      {"bundle.layout.computed", info, "every offset of the bundle is known", "bundle_id,bytes,members"},
      {"bundle.part.reserved", debug, "the space for the bundle is reserved", "path,bytes"},
      {"bundle.part.resumed", info, "an unfinished bundle is continued", "path,members"},
      {"bundle.part.discarded", warning, "an unfinished file is of another selection and is overwritten",
       "path,bundle_id"},
      {"bundle.member.claim_rejected", warning, "the journal claims a member whose digest is wrong", "what,offset"},
      {"bundle.members.reused", info, "members were taken over from older bundles or folders", "members,bytes"},
      {"bundle.reuse.ignored", warning, "something to reuse is no bundle, or a damaged one", "path,reason"},
      {"bundle.file.published", info, "the bundle is complete and has its name", "path,bytes,sha256,bundle_id"},
      // install
      {"install.preflight.passed", debug, "a check before the installation passed", "code"},
      {"install.preflight.warned", warning, "a check before the installation warns", "code"},
      {"install.preflight.refused", error, "a check before the installation refuses", "code"},
      {"install.repository.mounted", info, "the bundle is read through a private loop mount", "path"},
      {"install.repository.copied", info, "needed packages are copied into a private folder", "path,reason"},
      {"install.repository.used_in_place", info, "the bundle is read where it is mounted", "path"},
      {"install.native.waiting", warning, "another program holds the package manager's lock", "pid,program"},
      {"install.native.started", debug, "a program of the target was started", "command"},
      {"install.native.output", debug, "a line that the package manager printed", ""},
      {"install.native.finished", debug, "a program of the target ended", "command,exit_status"},
      {"install.package.planned", debug, "a package that will be changed", "package,version,before"},
      {"install.simulation.compared", info, "the package manager would do what the plan says",
       "added,upgraded,downgraded,removed"},
      {"install.plan.unchanged", debug, "everything is installed already", ""},
      {"install.run.resumed", info, "an interrupted run is continued", ""},
      {"install.receipt.written", debug, "the receipt was written ahead of a step", "state,path"},
      {"install.receipt.removed", info, "the bundle was taken back", ""},
      {"install.result.compared", info, "what is installed is what the plan says", ""},
      {"install.postinstall.done", info, "a step after the installation was done", ""},
      {"install.postinstall.skipped", warning, "a step after the installation was left out", ""},
      // verify
      {"verify.bundle.checked", info, "a bundle was compared with its manifest", "bundle_id,bytes,files,findings"},
      {"verify.bundle.damaged", error, "a byte of a bundle is not what was written", "what,path,offset"},
      {"verify.chain.checked", info, "every package is linked to upstream's signatures", "packages,program"},
      {"verify.chain.warned", warning, "the chain holds, with a reservation about dates or keys", ""},
      {"verify.signature.checked", info, "the manifest is signed by the key that was asked for", "key"},
      // logs
      {"logs.run.started", info, "first record of a run", "version,request,bundle_id,host,user"},
      {"logs.run.finished", info, "last record of a run", "exit_status"},
      {"logs.run.failed", error, "last record of a run that failed", "exit_status"},
      // ui
  };
  return names;
}

}  // namespace rocm_offline
