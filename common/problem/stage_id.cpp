#include "common/problem/stage_id.hpp"

#include <cctype>
#include <stdexcept>

namespace gemm {
namespace {

// The length of the number that starts a file's name: two digits and perhaps a letter; 0 if there is none.
std::size_t number_length(std::string_view name) {
  const auto digit = [&](std::size_t i) {
    return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i]));
  };
  if (!digit(0) || !digit(1)) return 0;
  const std::size_t length = name.size() > 2 && std::islower(static_cast<unsigned char>(name[2])) ? 3 : 2;
  return name.size() > length + 1 && name[length] == '_' ? length : 0;
}

}  // namespace

std::string stage_id_from_path(std::string_view path) {
  const auto fail = [&] {
    throw std::logic_error("a stage's file must be DIRECTORY/NN_name.cu: " + std::string(path));
  };
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos || slash == 0 || !path.ends_with(".cu")) fail();
  const std::string_view name = path.substr(slash + 1, path.size() - slash - 1 - 3);
  if (number_length(name) == 0) fail();
  std::string_view directory = path.substr(0, slash);
  directory = directory.substr(directory.find_last_of('/') + 1);  // npos + 1 is 0: the whole string
  if (directory == "stages") directory = "sgemm";
  return std::string(directory) + "/" + std::string(name);
}

}  // namespace gemm
