// Values as bytes, from one process of a program to another one of the same program.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gemm::wire {

/// A value that is no more than its bytes.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;

class Writer {
 public:
  template <Plain T>
  void put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <class A, class B>
  void put(const std::pair<A, B>& both) {
    put(both.first);
    put(both.second);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads them in the same order. Throws std::runtime_error where there are none left.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  template <Plain T>
  void get(T& value) {
    std::memcpy(static_cast<void*>(&value), take(sizeof value), sizeof value);
  }
  void get(std::string& text) {
    const auto size = next<std::size_t>();
    text.assign(take(size), size);
  }
  template <class A, class B>
  void get(std::pair<A, B>& both) {
    get(both.first);
    get(both.second);
  }
  template <class T>
  void get(std::vector<T>& values) {
    values.clear();
    for (auto left = next<std::size_t>(); left > 0; --left) get(values.emplace_back());
  }
  template <class T>
  T next() {
    T value{};
    get(value);
    return value;
  }

 private:
  const char* take(std::size_t bytes) {
    if (bytes > bytes_.size() - at_) throw std::runtime_error("a message between processes is too short");
    return bytes_.data() + std::exchange(at_, at_ + bytes);
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace gemm::wire
