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
using Made = nb::ndarray<nb::array_api>;  // in Python an object with __dlpack__, from which any library takes it

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

// That another array is of the same type and on the same device.
template <class A, class B>
void require_alike(const A& a, const B& b) {
  if (a.dtype() != b.dtype()) throw nb::type_error("the arrays have different types");
  if (a.device_id() != b.device_id()) throw nb::value_error("the arrays are on different devices");
}
void require_alike(const In& a, const In& b, const Out& c) {
  require_alike(a, b);
  require_alike(a, c);
}

// Matrices side by side: one, or a list of blocks.
struct Blocks {
  std::vector<staged_gemm_block> list;
  std::int64_t rows = 0, cols = 0;

  bool one() const { return list.size() == 1; }
  int count() const { return static_cast<int>(std::min<std::size_t>(list.size(), INT32_MAX)); }
};
template <class Other>
Blocks blocks(const std::vector<In>& arrays, const char* name, const Other& like) {
  Blocks all;
  for (const In& array : arrays) {
    require_alike(array, like);
    const std::string its = arrays.size() == 1 ? name : name + ("[" + text(&array - arrays.data())) + "]";
    const Matrix x = matrix(array, its);
    if (all.list.empty()) all.rows = x.rows;
    require_shape(x, its.c_str(), all.rows, x.cols);
    all.list.push_back({x.data, x.ld, width(x.cols, its.c_str())});
    all.cols += x.cols;
  }
  return all;
}
template <class Array>
bool is_complex(const Array& a, Complex alpha, Complex beta) {
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

double* number(const void* x) {
  return static_cast<double*>(const_cast<void*>(x));
}

void tsmttsm(const std::vector<In>& a_, const std::vector<In>& b_, const Out& c_, Complex alpha, Complex beta,
             bool conjugate, std::uintptr_t stream_) {
  const bool z = is_complex(c_, alpha, beta);
  const Blocks a = blocks(a_, "a", c_), b = blocks(b_, "b", c_);
  const Matrix c = matrix(c_, "out");
  if (b.rows != a.rows)
    throw nb::value_error(("b has " + text(b.rows) + " rows, and must have " + text(a.rows)).c_str());
  require_shape(c, "out", a.cols, b.cols);
  const OnDevice here(c_.device_id());
  const cudaStream_t stream = stream_of(stream_);
  const int type = z ? STAGED_GEMM_DOUBLE_COMPLEX : STAGED_GEMM_DOUBLE;
  if (!a.one() || !b.one()) {
    const Workspace workspace(
        staged_gemm_tsmttsm_blocks_workspace(type, a.list.data(), a.count(), b.list.data(), b.count(), a.rows), stream);
    run([&] {
      return z ? staged_gemm_ztsmttsm_blocks(stream, conjugate, a.rows, &alpha, a.list.data(), a.count(), b.list.data(),
                                             b.count(), &beta, c.data, c.ld, workspace.data(), workspace.bytes())
               : staged_gemm_dtsmttsm_blocks(stream, a.rows, alpha.real(), a.list.data(), a.count(), b.list.data(),
                                             b.count(), beta.real(), number(c.data), c.ld, workspace.data(),
                                             workspace.bytes());
    });
    return;
  }
  const staged_gemm_block x = a.list[0], y = b.list[0];
  const Workspace workspace(staged_gemm_tsmttsm_workspace(type, x.columns, y.columns, a.rows), stream);
  run([&] {
    return z ? staged_gemm_ztsmttsm(stream, conjugate, x.columns, y.columns, a.rows, &alpha, x.data, x.ld, y.data, y.ld,
                                    &beta, c.data, c.ld, workspace.data(), workspace.bytes())
             : staged_gemm_dtsmttsm(stream, x.columns, y.columns, a.rows, alpha.real(), number(x.data), x.ld,
                                    number(y.data), y.ld, beta.real(), number(c.data), c.ld, workspace.data(),
                                    workspace.bytes());
  });
}

void tsmm(const std::vector<In>& a_, const In& c_, const Out& b_, Complex alpha, Complex beta, std::uintptr_t stream_) {
  require_alike(c_, b_);
  const bool z = is_complex(c_, alpha, beta);
  const Blocks a = blocks(a_, "a", b_);
  const Matrix c = matrix(c_, "c"), b = matrix(b_, "out");
  require_shape(c, "c", a.cols, c.cols);
  require_shape(b, "out", a.rows, c.cols);
  const int n = width(c.cols, "c");
  const OnDevice here(b_.device_id());
  const cudaStream_t stream = stream_of(stream_);
  run([&] {
    if (!a.one())
      return z ? staged_gemm_ztsmm_blocks(stream, n, a.rows, &alpha, a.list.data(), a.count(), c.data, c.ld, &beta,
                                          b.data, b.ld)
               : staged_gemm_dtsmm_blocks(stream, n, a.rows, alpha.real(), a.list.data(), a.count(), number(c.data),
                                          c.ld, beta.real(), number(b.data), b.ld);
    const staged_gemm_block x = a.list[0];
    return z ? staged_gemm_ztsmm(stream, x.columns, n, a.rows, &alpha, x.data, x.ld, c.data, c.ld, &beta, b.data, b.ld)
             : staged_gemm_dtsmm(stream, x.columns, n, a.rows, alpha.real(), number(x.data), x.ld, number(c.data), c.ld,
                                 beta.real(), number(b.data), b.ld);
  });
}

// X becomes Q.
void cholesky_qr2(const Out& x_, const Out& r_, std::uintptr_t stream_) {
  require_alike(x_, r_);
  const bool z = is_complex(x_, 0, 0);
  const Matrix x = matrix(x_, "x"), r = matrix(r_, "r");
  require_shape(r, "r", x.cols, x.cols);
  const int n = width(x.cols, "x");
  const OnDevice here(x_.device_id());
  const cudaStream_t stream = stream_of(stream_);
  const Workspace method(sizeof(int), stream);
  const Workspace workspace(staged_gemm_cholesky_qr2_workspace(z ? STAGED_GEMM_DOUBLE_COMPLEX : STAGED_GEMM_DOUBLE, n),
                            stream);
  run([&] {
    return z ? staged_gemm_zcholesky_qr2(stream, n, x.rows, x.data, x.ld, r.data, r.ld,
                                         static_cast<int*>(method.data()), workspace.data(), workspace.bytes())
             : staged_gemm_dcholesky_qr2(stream, n, x.rows, number(x.data), x.ld, number(r.data), r.ld,
                                         static_cast<int*>(method.data()), workspace.data(), workspace.bytes());
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
  const auto single = [](void* x) { return static_cast<float*>(x); };
  run([&] {
    return staged_gemm_sgemm(stream, &product, alpha, single(b.data), ld(b), single(a.data), ld(a), beta,
                             single(c.data), ld(c), workspace.data(), workspace.bytes());
  });
}

// For libraries whose arrays can't be written: memory that becomes theirs, of the type of `like`.
Made empty(std::int64_t rows, std::int64_t cols, const In& like) {
  const OnDevice here(like.device_id());
  void* data = nullptr;
  const auto bytes = static_cast<std::size_t>(rows * cols) * like.itemsize();
  check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)), "can't allocate the result");
  const nb::capsule owner(data, [](void* memory) noexcept { cudaFree(memory); });
  const std::size_t shape[] = {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)};
  return Made(data, 2, shape, owner, nullptr, like.dtype(), nb::device::cuda::value, like.device_id());
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
  module.def("cholesky_qr2", cholesky_qr2);
  module.def("sgemm", sgemm);
  module.def("empty", empty);
  module.def("synchronize", synchronize);
  module.def("devices", devices);
  module.def("version", [] { return std::string(staged_gemm_version()); });
}
