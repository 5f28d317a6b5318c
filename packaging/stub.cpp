#include "rocm_offline/packaging/stub.hpp"

#include "embedded_stub.hpp"

namespace rocm_offline::packaging {

std::string_view stub_template() { return embedded::stub()[0].data; }

}  // namespace rocm_offline::packaging
