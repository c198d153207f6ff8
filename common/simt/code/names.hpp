// How reports call functions and variables. Internal to common/simt/.
#pragma once

#include <string>
#include <string_view>

namespace simt {

std::string demangled(std::string_view mangled);
/// "void (anonymous namespace)::sgemm<4>(int, float)" without what a report does not need: sgemm<4>.
std::string short_name(std::string_view mangled);

}  // namespace simt
