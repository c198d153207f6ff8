// What is a kernel by its name, as the source says it (common/cmake/preprocessed.py): what is shared in a kernel belongs to
// it alone, and what is shared in another function to each kernel that calls it.
#pragma once

#include <initializer_list>
#include <string_view>

namespace simt {

/// The names of kernels and of other functions of the device in one unit: a static object of it.
class KernelNames {
 public:
  KernelNames(std::initializer_list<const char*> kernels, std::initializer_list<const char*> others);
};

/// Whether the variable is shared in a kernel of another name than `kernel`, both mangled.
bool is_of_another_kernel(std::string_view variable, std::string_view kernel);

}  // namespace simt
