#include "common/simt/code/symbols.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "common/simt/code/kernel_names.hpp"
#include "common/simt/code/names.hpp"

namespace simt {
namespace {

struct Symbol {
  std::string_view name;  // mangled
  std::uint64_t value, bytes;
  int file;  // which source file it belongs to if it is local to one, else -1
};

constexpr std::size_t most_sites = std::size_t{1} << 26;  // what a tag has bits for (common/simt/observe/lane.hpp)

// Whether a thread-local variable is a kernel's: nobody may fill the others with NaN. (A host's own lives on other OS threads
// than kernels run on.)
bool is_shared_variable(const Symbol& symbol) {
  // What else is thread-local: the executor's own, guards, and the C++ library's.
  constexpr std::string_view others[] = {"_ZN4simt", "_ZNK4simt", "_ZZN4simt", "_ZZNK4simt", "_ZGV", "_ZTH",
                                         "_ZSt",     "_ZNSt",     "_ZZNSt",    "__",         "simt_"};
  return std::ranges::none_of(others, [&](std::string_view other) { return symbol.name.starts_with(other); });
}

// The program or a shared object, read from its file.
class Image {
 public:
  // The image that holds `address`, loaded from `path`; `open` leads to the same file. Null: a program of another process,
  // which lies where its file says.
  Image(std::string file, const char* open, const void* address, Site first)
      : path(std::move(file)), first_site(first) {
    std::ifstream stream(open, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes_.data());
    if (bytes_.size() < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
      throw std::runtime_error("the CPU executor can't read the symbol table of " + path);
    }
    if (address)
      read_segments(reinterpret_cast<std::uintptr_t>(address));
    else
      read_segments(*header);
    read_sections(*header);
    for (auto* symbols : {&functions, &objects, &thread_locals}) {
      std::ranges::sort(*symbols, {}, &Symbol::value);
    }
  }

  std::string path;
  Site first_site;
  std::uintptr_t base = 0, text_begin = 0, text_end = 0;
  std::uintptr_t constant_begin = 0, constant_end = 0;
  std::vector<AddressRange> of_device;  // sections of __device__ and __managed__ variables
  struct Segment {
    std::uintptr_t begin, end;
    bool writable;
  };
  std::vector<Segment> segments;
  std::vector<Symbol> functions, objects, thread_locals;  // sorted by value
  std::string_view own_thread_local;                      // one of them, whatever its scope
  std::ptrdiff_t anchor = -1;

  static const Symbol* find(const std::vector<Symbol>& symbols, std::uint64_t value) {
    auto at = std::upper_bound(symbols.begin(), symbols.end(), value,
                               [](std::uint64_t v, const Symbol& s) { return v < s.value; });
    if (at == symbols.begin()) return nullptr;
    --at;
    return value < at->value + at->bytes ? &*at : nullptr;
  }

  bool holds(std::uintptr_t address) const {
    return std::ranges::any_of(segments, [&](const Segment& s) { return address >= s.begin && address < s.end; });
  }
  CodeRange code() const { return {text_begin, text_end - text_begin, first_site}; }

 private:
  void read_segments(std::uintptr_t address) {
    struct Search {
      Image& image;
      std::uintptr_t address;
    } search{*this, address};
    const auto note = [](dl_phdr_info* info, std::size_t, void* data) {
      const auto& [image, wanted] = *static_cast<Search*>(data);
      image.base = info->dlpi_addr;
      image.segments.clear();
      for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        const std::uintptr_t begin = image.base + part.p_vaddr, end = begin + part.p_memsz;
        // Tables of virtual functions, which nobody can write once the program is loaded: before the segment they are in.
        if (part.p_type == PT_GNU_RELRO) image.segments.insert(image.segments.begin(), {begin, end, false});
        if (part.p_type != PT_LOAD) continue;
        image.segments.push_back({begin, end, (part.p_flags & PF_W) != 0});
        if (part.p_flags & PF_X) {
          image.text_begin = begin;
          image.text_end = end;
        }
      }
      return static_cast<int>(image.holds(wanted));  // 1 ends the search
    };
    if (!dl_iterate_phdr(note, &search)) throw std::runtime_error(path + " is not loaded");
  }

  void read_segments(const Elf64_Ehdr& header) {
    const auto* parts = reinterpret_cast<const Elf64_Phdr*>(bytes_.data() + header.e_phoff);
    for (int i = 0; i < header.e_phnum; ++i) {
      if (parts[i].p_type != PT_LOAD) continue;
      const std::uintptr_t begin = parts[i].p_vaddr, end = begin + parts[i].p_memsz;
      segments.push_back({begin, end, (parts[i].p_flags & PF_W) != 0});
      if (parts[i].p_flags & PF_X) {
        text_begin = begin;
        text_end = end;
      }
    }
  }

  void read_sections(const Elf64_Ehdr& header) {
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes_.data() + header.e_shoff);
    const char* section_names = bytes_.data() + sections[header.e_shstrndx].sh_offset;
    for (int s = 0; s < header.e_shnum; ++s) {
      if (std::strcmp(section_names + sections[s].sh_name, "simt_constant") == 0) {
        constant_begin = base + sections[s].sh_addr;
        constant_end = constant_begin + sections[s].sh_size;
      }
      for (const char* const name : {"simt_device", "simt_managed", "simt_constant"}) {
        const std::uintptr_t begin = base + sections[s].sh_addr;
        if (std::strcmp(section_names + sections[s].sh_name, name) == 0 && sections[s].sh_size > 0)
          of_device.push_back({begin, begin + sections[s].sh_size});
      }
      if (sections[s].sh_type == SHT_SYMTAB) read_symbols(sections[s], sections[sections[s].sh_link]);
    }
  }

  void read_symbols(const Elf64_Shdr& table, const Elf64_Shdr& strings) {
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes_.data() + table.sh_offset);
    const char* names = bytes_.data() + strings.sh_offset;
    int source_file = -1;
    for (std::size_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
      const int type = ELF64_ST_TYPE(symbols[i].st_info);
      // A file's local symbols follow its name.
      if (type == STT_FILE) ++source_file;
      if (symbols[i].st_shndx == SHN_UNDEF) continue;
      const bool local = ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL;
      const Symbol symbol{names + symbols[i].st_name, symbols[i].st_value, symbols[i].st_size,
                          local ? source_file : -1};
      if (type == STT_FUNC) functions.push_back(symbol);
      if (type == STT_OBJECT && symbol.bytes > 0) objects.push_back(symbol);
      if (type == STT_TLS) {
        own_thread_local = symbol.name;
        if (symbol.name == "simt_tls_anchor") anchor = static_cast<std::ptrdiff_t>(symbol.value);
        // A weak one is another name for dynamic shared memory (observe/shared_memory.cpp), not an array of the program.
        const bool is_dynamic = symbol.name == "smem" && ELF64_ST_BIND(symbols[i].st_info) == STB_WEAK;
        if (!is_dynamic && is_shared_variable(symbol)) thread_locals.push_back(symbol);
      }
    }
  }

  std::vector<char> bytes_;
};

constexpr const char* too_much_code = "the CPU executor counts in up to 64 MB of code";

// Never destroyed: workers may still be at it when the program ends.
class Images {
 public:
  static Images& instance() {
    static Images& images = *new Images;
    return images;
  }

  const Image& program() const { return *images_.front(); }
  const Image& at(std::uintptr_t address) const {
    for (const auto& image : images_) {
      if (image->holds(address)) return *image;
    }
    return program();
  }
  const Image& at_site(Site site) const {
    const auto after = std::ranges::upper_bound(images_, site, {}, [](const auto& i) { return i->first_site; });
    return **std::prev(after);
  }
  const auto& all() const { return images_; }
  std::size_t sites() const { return images_.back()->first_site + images_.back()->code().bytes; }
  void add(std::unique_ptr<const Image> image) { images_.push_back(std::move(image)); }

 private:
  Images() {
    static const char mine = 0;
    const char* self = "/proc/self/exe";  // even if the file has been moved or replaced
    std::error_code none;
    std::string path = std::filesystem::read_symlink(self, none).string();
    if (none) path = self = reinterpret_cast<const char*>(getauxval(AT_EXECFN));  // there is no /proc in a sandbox
    images_.push_back(std::make_unique<const Image>(path, self, &mine, 0));
    if (program().anchor < 0) {
      throw std::runtime_error("the CPU executor needs the program's symbol table: don't strip it");
    }
    if (sites() > most_sites) throw std::runtime_error(too_much_code);
  }

  std::vector<std::unique_ptr<const Image>> images_;
};

}  // namespace

ImageFile image_file_of(std::uintptr_t address) {
  const Image& image = Images::instance().at(address);
  return {image.path, image.base};
}

void add_image(const std::string& path, const void* address) {
  Images& images = Images::instance();
  constexpr Site alignment = 64;
  const auto first = static_cast<Site>((images.sites() + alignment - 1) / alignment * alignment);
  auto image = std::make_unique<const Image>(path, path.c_str(), address, first);
  if (!image->own_thread_local.empty()) {
    throw std::runtime_error("a kernel compiled at run time can't have __shared__ variables of its own (" +
                             short_name(image->own_thread_local) + "): declare extern smem[]");
  }
  if (first + image->code().bytes > most_sites) throw std::runtime_error(too_much_code);
  images.add(std::move(image));
}

void add_program(const std::string& path) {
  Images& images = Images::instance();
  constexpr Site alignment = 64;
  const auto first = static_cast<Site>((images.sites() + alignment - 1) / alignment * alignment);
  images.add(std::make_unique<const Image>(path, path.c_str(), nullptr, first));
}

CodeRange code_of(std::uintptr_t address) {
  return Images::instance().at(address).code();
}

Site site_at(std::uintptr_t address) {
  const CodeRange code = code_of(address);
  return code.first + static_cast<Site>(address - code.begin);
}

std::uintptr_t place_of(Site site) {
  const CodeRange code = Images::instance().at_site(site).code();
  return code.begin + (site - code.first);
}

std::size_t site_count() {
  return Images::instance().sites();
}

Function function_at(std::uintptr_t address) {
  const Image& image = Images::instance().at(address);
  const Symbol* symbol = Image::find(image.functions, address - image.base);
  if (!symbol) return {};
  const std::uintptr_t begin = image.base + symbol->value;
  return {short_name(symbol->name), begin, begin + symbol->bytes};
}

std::optional<std::vector<std::string>> parameters_of(std::uintptr_t address) {
  const Image& image = Images::instance().at(address);
  const Symbol* const symbol = Image::find(image.functions, address - image.base);
  if (!symbol) return std::nullopt;
  const std::string name = demangled(symbol->name);
  // The last parentheses, for a template's arguments and a namespace without a name have some, too.
  int depth = 0;
  std::size_t begin = name.rfind(')'), end = begin;
  if (begin == std::string::npos) return std::nullopt;  // a C function: nobody knows
  do {
    depth += (name[begin] == ')') - (name[begin] == '(');
  } while (depth > 0 && begin-- > 0);
  std::vector<std::string> types;
  std::size_t from = begin + 1;
  for (std::size_t i = from; i <= end; ++i) {
    depth += (name[i] == '(' || name[i] == '<') - (name[i] == ')' || name[i] == '>');
    if ((name[i] == ',' && depth == 0) || i == end) {
      std::string type = name.substr(from, i - from);
      type.erase(0, type.find_first_not_of(' '));
      if (!type.empty()) types.push_back(std::move(type));
      from = i + 1;
    }
  }
  return types;
}

const std::vector<SharedVariable>& shared_variables_of(const void* kernel) {
  static std::mutex mutex;
  static auto& known = *new std::map<const void*, std::vector<SharedVariable>>;  // never destroyed either
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(kernel);
  if (!is_new) return at->second;
  const Image& image = Images::instance().at(reinterpret_cast<std::uintptr_t>(kernel));
  const Symbol* owner = Image::find(image.functions, reinterpret_cast<std::uintptr_t>(kernel) - image.base);
  for (const Symbol& variable : image.thread_locals) {
    const bool reachable = !owner || variable.file == -1 || owner->file == -1 || variable.file == owner->file;
    if (!reachable) continue;
    if (owner && is_of_another_kernel(variable.name, owner->name)) continue;
    const std::string full = demangled(variable.name);
    const std::size_t colons = full.rfind("::");
    // _ZZ <function, without its _Z> E <variable>
    const bool own = owner && owner->name.size() > 2 && variable.name.starts_with("_ZZ") &&
                     variable.name.substr(3).starts_with(owner->name.substr(2));
    at->second.push_back({colons == std::string::npos ? full : full.substr(colons + 2),
                          static_cast<std::ptrdiff_t>(variable.value) - image.anchor, variable.bytes, own});
  }
  return at->second;
}

std::string object_at(std::uintptr_t address) {
  const Image& image = Images::instance().at(address);
  const Symbol* symbol = Image::find(image.objects, address - image.base);
  return symbol ? short_name(symbol->name) : "";
}

std::vector<DeviceSection> device_sections() {
  std::vector<DeviceSection> result;
  for (const auto& image : Images::instance().all()) {
    for (const AddressRange& range : image->of_device) {
      DeviceSection section{range, range.begin == image->constant_begin, {}};
      for (const Symbol& symbol : image->objects) {
        const std::uintptr_t begin = image->base + symbol.value;
        if (begin >= range.begin && begin < range.end) section.variables.push_back({begin, begin + symbol.bytes});
      }
      result.push_back(std::move(section));
    }
  }
  return result;
}

std::string place_in_variable(std::uintptr_t address) {
  const Image& image = Images::instance().at(address);
  const std::uint64_t value = address - image.base;
  const auto after = std::ranges::upper_bound(image.objects, value, {}, &Symbol::value);
  if (after == image.objects.begin()) return "a variable of the device";
  const Symbol& symbol = *std::prev(after);
  const std::uint64_t offset = value - symbol.value;
  const std::string name = short_name(symbol.name);
  if (offset < symbol.bytes) return fmt::format("byte {} of {} ({} bytes)", offset, name, symbol.bytes);
  return fmt::format("{} bytes past the end of {} ({} bytes)", offset - symbol.bytes, name, symbol.bytes);
}

bool is_constant_memory(std::uintptr_t address) {
  const Image& image = Images::instance().at(address);
  return address >= image.constant_begin && address < image.constant_end;
}

StaticStorage static_storage_at(std::uintptr_t address) {
  for (const auto& segment : Images::instance().at(address).segments) {
    if (address >= segment.begin && address < segment.end) {
      return segment.writable ? StaticStorage::writable : StaticStorage::read_only;
    }
  }
  return StaticStorage::none;
}

}  // namespace simt
