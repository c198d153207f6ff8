// The symbol tables of the program, and of the kernels that it has compiled and loaded while it runs (images): where
// shared variables lie, which kernel an address belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simt {

/// The file of the image that holds this address (the program, if none does), and where it was loaded: an address minus
/// `base` is what its symbol table, and addr2line, call it.
struct ImageFile {
  std::string path;
  std::uintptr_t base;
};
ImageFile image_file_of(std::uintptr_t address);

/// Makes a shared object known, of which `address` is a part: `path` must stay as it is. Throws std::runtime_error if
/// it can't be read, if it has __shared__ variables of its own (a thread's copies of them would lie in no known place),
/// or if there would be too much code. Not while a kernel runs.
void add_image(const std::string& path, const void* address);

/// Makes another process' program known, which must not be position-independent: what it says of its code can be looked up
/// from now on. Throws std::runtime_error if it can't be read.
void add_program(const std::string& path);

/// A place in the code: offsets into the images' machine code, the program's first, as if they lay side by side.
using Site = std::uint32_t;
struct CodeRange {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  Site first = 0;
};
/// The code of the image that holds the address; of the program, if none does.
CodeRange code_of(std::uintptr_t address);
Site site_at(std::uintptr_t address);
std::uintptr_t place_of(Site site);
/// One more than the largest site.
std::size_t site_count();

struct SharedVariable {
  std::string name;            ///< as declared
  std::ptrdiff_t from_anchor;  ///< bytes from the thread-local anchor (common/simt/observe/shared_memory.cpp)
  std::size_t bytes;
  bool owner_is_kernel;  ///< declared in the kernel itself, not in a function that it may or may not call
};

struct Function {
  std::string name;  ///< demangled, without parameters
  std::uintptr_t begin = 0, end = 0;
};

/// The function at this address, name empty if there is none.
Function function_at(std::uintptr_t address);

/// The types of its parameters, as C++ names them; nothing if there is no function.
std::optional<std::vector<std::string>> parameters_of(std::uintptr_t address);

/// The __shared__ variables that a kernel can name: those of functions in its own file, and of inline functions and
/// templates. Sorted by place.
const std::vector<SharedVariable>& shared_variables_of(const void* kernel);

/// The object (a variable with static storage) at this address: its demangled name, empty if there is none.
std::string object_at(std::uintptr_t address);
struct AddressRange {
  std::uintptr_t begin, end;
};
/// Where an image has its __device__ variables, its __managed__ ones, or its __constant__ ones.
struct DeviceSection {
  AddressRange range;
  bool is_constant;
  std::vector<AddressRange> variables;
};
std::vector<DeviceSection> device_sections();
/// "byte 4 of table (16 bytes)", of a variable in one of these.
std::string place_in_variable(std::uintptr_t address);
/// Whether the address lies in the section of __constant__ variables.
bool is_constant_memory(std::uintptr_t address);
/// Whether the address lies in one of the program's own segments, and if so whether it is writable there.
enum class StaticStorage { none, read_only, writable };
StaticStorage static_storage_at(std::uintptr_t address);

}  // namespace simt
