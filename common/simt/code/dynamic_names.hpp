// What kernels call their dynamic shared memory: `tile`, for extern __shared__ float tile[]. The linker sees one array,
// so the names come from the source (common/cmake/textbook.py).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace simt {

/// From the first line to the last one, it goes by this name. From 0 to 0: any function may use it.
struct DynamicName {
  int first, last;
  const char* name;
};

/// The names in one source file: a static object of the unit that includes it.
class DynamicNames {
 public:
  DynamicNames(const char* file, std::initializer_list<DynamicName> names);
};

/// The name at this place in the code; else, as for a function that gets a pointer, in the kernel; else the only one that
/// it can be. Empty if their files have no such names.
std::string dynamic_name(std::uintptr_t return_address, const void* kernel);

}  // namespace simt
