#include "common/problem/probe_registry.hpp"

#include <algorithm>
#include <cctype>

#include "common/problem/stage_id.hpp"

namespace gemm {
namespace {

// As with stages: registrations run before main, in no particular order.
std::vector<Probe>& probe_storage() {
  static std::vector<Probe> all;
  return all;
}

}  // namespace

const std::vector<Probe>& all_probes() {
  return probe_storage();
}

ProbeRegistration::ProbeRegistration(const char* file, const ProbeInfo& info) {
  std::string name = std::string(file).substr(std::string(file).find_last_of('/') + 1), number;
  name = name.substr(0, name.find('.'));
  if (std::isdigit(static_cast<unsigned char>(name[0]))) {
    name = stage_id_from_path(file);
    number = name.substr(0, name.find('_'));
  }
  auto& all = probe_storage();
  all.insert(std::ranges::lower_bound(all, name, {}, &Probe::name), Probe{info, name, number, file});
}

const Probe* find_numbered_probe(std::string_view id) {
  const auto is = [&](const Probe& probe) { return !probe.number.empty() && (probe.name == id || probe.number == id); };
  const auto found = std::ranges::find_if(all_probes(), is);
  return found == all_probes().end() ? nullptr : &*found;
}

}  // namespace gemm
