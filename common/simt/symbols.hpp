// The program's own symbol table: where shared variables lie, which kernel an address belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace simt {

/// Where the program was loaded: an address minus this is what the symbol table, and addr2line, call it.
std::uintptr_t load_base();

/// The bounds of the machine code.
std::uintptr_t text_begin();
std::uintptr_t text_end();

struct SharedVariable {
  std::string name;            ///< as declared
  std::ptrdiff_t from_anchor;  ///< bytes from the thread-local anchor (common/simt/shared_memory.cpp)
  std::size_t bytes;
  bool owner_is_kernel;  ///< declared in the kernel itself, not in a function that it may or may not call
};

struct Function {
  std::string name;  ///< demangled, without parameters
  std::uintptr_t begin = 0, end = 0;
};

/// The function at this address, name empty if there is none.
Function function_at(std::uintptr_t address);

/// The __shared__ variables that a kernel can name: those of functions in its own file, and of inline functions and
/// templates. Sorted by place.
const std::vector<SharedVariable>& shared_variables_of(const void* kernel);

/// The object (a variable with static storage) at this address: its demangled name, empty if there is none.
std::string object_at(std::uintptr_t address);
/// Whether the address lies in the section of __constant__ variables.
bool is_constant_memory(std::uintptr_t address);
/// Whether the address lies in one of the program's own segments, and if so whether it is writable there.
enum class StaticStorage { none, read_only, writable };
StaticStorage static_storage_at(std::uintptr_t address);

}  // namespace simt
