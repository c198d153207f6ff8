// A program that asks a generating stage for the kernels of its products, and shows their names. Needs no GPU.
#pragma once

#include <cstdio>

namespace program {

struct Case {
  int m, n, k, pad = 0;
  bool whole = true, adds = true;
};

template <class T>
void run(const Case& c) {
  gemm::@Problem@<T> p{.m = c.m, .n = c.n, .k = c.k, .alpha = T{1}};
  p.lda = c.m + c.pad, p.ldb = p.ldc = c.n + c.pad;
  if constexpr (requires { p.conjugate; }) p.conjugate = sizeof(T) == sizeof(double2);
  gemm::Status status;
  if constexpr (sizeof(T) == sizeof(double2))
    status = info.launch.z(p, 0);
  else
    status = info.launch.d(p, 0);
  std::puts(status.reason.c_str());
}

}  // namespace program

int main() {
  using program::run;
@products@
  run<double>({.m = 16, .n = 16, .k = 1 << 20});
}
