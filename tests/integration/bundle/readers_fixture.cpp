#include "readers_fixture.hpp"

namespace rocm_offline::test {

FakeBundle hard_bundle() {
  FakeBundle content;
  content.targets.resize(2);
  FakeTarget& debian = content.targets[0];
  const auto add = [](FakeTarget& target, const std::string& name, const std::string& version) {
    target.packages.push_back(
        fake_package({.name = name, .version = version, .files = {{"usr/share/" + name + "/text", name + version}}}));
  };
  add(debian, "libstdc++-dev", "1:2.0+dfsg~rc1-1");
  add(debian, "plain", "1.0");
  add(debian, "shared", "3.0");
  debian.packages.push_back(
      {.id = {"odd", "1:1", "all"}, .payload = std::string(5000, 'o'), .filename = "pool/o/odd_1:1_all.deb"});
  debian.packages.push_back({.id = {"long", "1", "amd64"},
                             .payload = std::string(4097, 'l'),
                             .filename = "pool/l/" + std::string(200, 'n') + "_1_amd64.deb"});
  debian.packages.push_back({.id = {"edge", "1", "amd64"},
                             .payload = std::string(4096, 'e'),
                             .filename = "pool/e/" + std::string(156, 'e') + ".deb"});
  for (int i = 0; i < 40; ++i) {
    add(debian, "many-packages-of-a-folder-number-" + std::to_string(i), "0." + std::to_string(i));
  }
  for (FakePackage& package : debian.packages) {
    package.reason = package.id.name == "plain" ? ReasonKind::requested : ReasonKind::dependency;
  }
  debian.trust = {{"debian/trixie/InRelease", "signed words\n"}, {"debian/trixie/main/Packages", ""}};
  FakeTarget& ubuntu = content.targets[1];
  ubuntu.id = "ubuntu-24.04";
  ubuntu.distro = "ubuntu";
  ubuntu.version = "24.04";
  ubuntu.codename = "noble";
  add(ubuntu, "shared", "3.0");
  add(ubuntu, "other", "1.0");
  return content;
}

}  // namespace rocm_offline::test
