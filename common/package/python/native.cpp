// What the Python package is made of: arrays by DLPack, checked, and handed to the C functions. staged_gemm/__init__.py has
// what users see; there, streams are chosen, too.
#include <cuda_runtime.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/package/staged_gemm.h"

namespace nb = nanobind;

namespace {

using Complex = std::complex<double>;
using In = nb::ndarray<nb::ro>;
using Out = nb::ndarray<>;

// staged_gemm.Error in Python.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would answer for it
  throw Error(std::string(what) + ": " + cudaGetErrorString(error));
}
void check(int code) {
  if (code == STAGED_GEMM_OK) return;
  if (code == STAGED_GEMM_INVALID) throw nb::value_error(staged_gemm_last_reason());
  throw Error(staged_gemm_last_reason());
}

// The device of the arrays is the current one for as long as this lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_), "no CUDA device");
    check(cudaSetDevice(device), "can't choose the device");
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

// Memory that comes and goes in the order of the stream.
class Workspace {
 public:
  Workspace(std::size_t bytes, cudaStream_t stream) : bytes_(bytes), stream_(stream) {
    if (bytes > 0) check(cudaMallocAsync(&data_, bytes, stream), "can't allocate the workspace");
  }
  ~Workspace() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  cudaStream_t stream_;
};

struct Matrix {
  void* data;
  std::int64_t rows, cols, ld;
};

std::string text(std::int64_t number) {
  return std::to_string(number);
}

// A row-major matrix; rows may be apart.
template <class Array>
Matrix matrix(const Array& x, const std::string& name) {
  if (x.ndim() != 2) throw nb::value_error((name + " has " + text(x.ndim()) + " dimensions, and must have 2").c_str());
  const auto rows = static_cast<std::int64_t>(x.shape(0)), cols = static_cast<std::int64_t>(x.shape(1));
  const std::int64_t ld = rows > 1 ? x.stride(0) : cols;
  if ((cols > 1 && x.stride(1) != 1) || ld < cols)
    throw nb::value_error((name + " is not row-major: elements of a row must lie side by side").c_str());
  return {const_cast<void*>(static_cast<const void*>(x.data())), rows, cols, ld};
}

int width(std::int64_t columns, const char* name) {
  if (columns > INT32_MAX) throw nb::value_error((std::string(name) + " has too many columns").c_str());
  return static_cast<int>(columns);
}

void require(bool fits, const Matrix& x, const char* name, std::int64_t rows, std::int64_t cols) {
  if (fits) return;
  throw nb::value_error((std::string(name) + " is " + text(x.rows) + " x " + text(x.cols) + ", and must be " +
                         text(rows) + " x " + text(cols))
                            .c_str());
}
void require_shape(const Matrix& x, const char* name, std::int64_t rows, std::int64_t cols) {
  require(x.rows == rows && x.cols == cols, x, name, rows, cols);
}

// That all are of one type and on one device.
void require_alike(const In& a, const In& b, const Out& c) {
  if (a.dtype() != b.dtype() || a.dtype() != c.dtype()) throw nb::type_error("the arrays have different types");
  if (a.device_id() != b.device_id() || a.device_id() != c.device_id())
    throw nb::value_error("the arrays are on different devices");
}
bool is_complex(const In& a, Complex alpha, Complex beta) {
  if (a.dtype() == nb::dtype<double>()) {
    if (alpha.imag() != 0 || beta.imag() != 0)
      throw nb::value_error("alpha or beta is complex, and the arrays are real");
    return false;
  }
  if (a.dtype() == nb::dtype<Complex>()) return true;
  throw nb::type_error("tall & skinny products are of float64 or complex128");
}

// Calls a C function without Python's lock: a first call compiles.
template <class Call>
void run(const Call& call) {
  int code = STAGED_GEMM_OK;
  {
    const nb::gil_scoped_release released;
    code = call();
  }
  check(code);
}

cudaStream_t stream_of(std::uintptr_t stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}

void tsmttsm(const In& a_, const In& b_, const Out& c_, Complex alpha, Complex beta, bool conjugate,
             std::uintptr_t stream_) {
  require_alike(a_, b_, c_);
  const bool z = is_complex(a_, alpha, beta);
  const Matrix a = matrix(a_, "a"), b = matrix(b_, "b"), c = matrix(c_, "out");
  require_shape(b, "b", a.rows, b.cols);
  require_shape(c, "out", a.cols, b.cols);
  const int m = width(a.cols, "a"), n = width(b.cols, "b");
  const OnDevice here(a_.device_id());
  const cudaStream_t stream = stream_of(stream_);
  const Workspace workspace(
      staged_gemm_tsmttsm_workspace(z ? STAGED_GEMM_DOUBLE_COMPLEX : STAGED_GEMM_DOUBLE, m, n, a.rows), stream);
  const auto number = [](void* x) { return static_cast<double*>(x); };
  run([&] {
    return z ? staged_gemm_ztsmttsm(stream, conjugate, m, n, a.rows, &alpha, a.data, a.ld, b.data, b.ld, &beta, c.data,
                                    c.ld, workspace.data(), workspace.bytes())
             : staged_gemm_dtsmttsm(stream, m, n, a.rows, alpha.real(), number(a.data), a.ld, number(b.data), b.ld,
                                    beta.real(), number(c.data), c.ld, workspace.data(), workspace.bytes());
  });
}

void tsmm(const In& a_, const In& c_, const Out& b_, Complex alpha, Complex beta, std::uintptr_t stream_) {
  require_alike(a_, c_, b_);
  const bool z = is_complex(a_, alpha, beta);
  const Matrix a = matrix(a_, "a"), c = matrix(c_, "c"), b = matrix(b_, "out");
  require_shape(c, "c", a.cols, c.cols);
  require_shape(b, "out", a.rows, c.cols);
  const int m = width(a.cols, "a"), n = width(c.cols, "c");
  const OnDevice here(a_.device_id());
  const cudaStream_t stream = stream_of(stream_);
  const auto number = [](void* x) { return static_cast<double*>(x); };
  run([&] {
    return z ? staged_gemm_ztsmm(stream, m, n, a.rows, &alpha, a.data, a.ld, c.data, c.ld, &beta, b.data, b.ld)
             : staged_gemm_dtsmm(stream, m, n, a.rows, alpha.real(), number(a.data), a.ld, number(c.data), c.ld,
                                 beta.real(), number(b.data), b.ld);
  });
}

// By rows: C^T = B^T A^T by columns.
void sgemm(const In& a_, const In& b_, const Out& c_, float alpha, float beta, int policy, std::uintptr_t stream_) {
  require_alike(a_, b_, c_);
  if (a_.dtype() != nb::dtype<float>()) throw nb::type_error("sgemm is of float32");
  const Matrix a = matrix(a_, "a"), b = matrix(b_, "b"), c = matrix(c_, "out");
  require_shape(b, "b", a.cols, b.cols);
  require_shape(c, "out", a.rows, b.cols);
  const staged_gemm_product product = {STAGED_GEMM_NONE,   STAGED_GEMM_NONE,   width(b.cols, "b"),
                                       width(a.rows, "a"), width(a.cols, "a"), policy};
  const OnDevice here(a_.device_id());
  const cudaStream_t stream = stream_of(stream_);
  const Workspace workspace(staged_gemm_sgemm_workspace(&product, 1), stream);
  // A matrix without columns has a leading dimension of 1 all the same.
  const auto ld = [](const Matrix& x) { return std::max<std::int64_t>(x.ld, 1); };
  const auto number = [](void* x) { return static_cast<float*>(x); };
  run([&] {
    return staged_gemm_sgemm(stream, &product, alpha, number(b.data), ld(b), number(a.data), ld(a), beta,
                             number(c.data), ld(c), workspace.data(), workspace.bytes());
  });
}

// For libraries whose arrays can't be written: memory that becomes theirs, of the type of `like`.
Out empty(std::int64_t rows, std::int64_t cols, const In& like) {
  const OnDevice here(like.device_id());
  void* data = nullptr;
  const auto bytes = static_cast<std::size_t>(rows * cols) * like.itemsize();
  check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)), "can't allocate the result");
  const nb::capsule owner(data, [](void* memory) noexcept { cudaFree(memory); });
  const std::size_t shape[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)};
  return Out(data, 2, shape, owner, nullptr, like.dtype(), nb::device::cuda::value, like.device_id());
}

void synchronize(int device, std::uintptr_t stream) {
  const OnDevice here(device);
  const nb::gil_scoped_release released;
  check(cudaStreamSynchronize(stream_of(stream)), "a product failed");
}

std::vector<std::string> devices() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "no CUDA device");
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, i), "can't read a device's properties");
    names.push_back(properties.name);
  }
  return names;
}

}  // namespace

NB_MODULE(_native, module) {
  nb::exception<Error>(module, "Error", PyExc_RuntimeError);
  module.def("tsmttsm", tsmttsm);
  module.def("tsmm", tsmm);
  module.def("sgemm", sgemm);
  module.def("empty", empty);
  module.def("synchronize", synchronize);
  module.def("devices", devices);
  module.def("version", [] { return std::string(staged_gemm_version()); });
}
