#include <exception>

#include "tensorcore/presplit/sgemm.cuh"
#include "tensorcore/tcec_sgemm.hpp"

// Where the kernels are compiled: tensorcore/10 and 11.
extern template gemm::Status presplit::launch<presplit::Policy::automatic>(const Request&, void*, cudaStream_t);
extern template gemm::Status presplit::launch<presplit::Policy::half>(const Request&, void*, cudaStream_t);
extern template gemm::Status presplit::launch<presplit::Policy::tf32>(const Request&, void*, cudaStream_t);

namespace {

using presplit::Policy;
using presplit::Request;

TcecStatus invalid(std::string reason) {
  return {TcecCode::invalid, std::move(reason)};
}

Policy policy_of(TcecPolicy policy) {
  return policy == TcecPolicy::fp16 ? Policy::half : policy == TcecPolicy::tf32 ? Policy::tf32 : Policy::automatic;
}

// A matrix as the caller has it, one or a batch of them.
struct Operand {
  const char* name;
  const void* data;  // of a batch by pointers their array
  bool pointers;
  std::int64_t rows, ld;
  bool used;  // read or written
};

TcecStatus refuse(const Operand& x) {
  const std::string name = x.name;
  if (x.ld < std::max<std::int64_t>(x.rows, 1))
    return invalid("columns of " + name + " are " + std::to_string(x.ld) + " elements apart and have " +
                   std::to_string(x.rows));
  if (!x.used) return {};
  if (!x.data) return invalid(name + " is null");
  const std::size_t alignment = x.pointers ? sizeof(void*) : sizeof(float);
  if (reinterpret_cast<std::uintptr_t>(x.data) % alignment != 0)
    return invalid(name + " is not aligned to " + std::to_string(alignment) + " bytes");
  return {};
}

// C, by columns, is by rows its transpose: op(B)^T op(A)^T. So the rows of the product's first operand are columns of
// op(B), and the columns of its second rows of op(A).
presplit::Vectors columns_of(TcecOperation op, std::int64_t ld, int count) {
  const bool stored = op == TcecOperation::none;
  return {nullptr, nullptr, 0, stored ? ld : 1, stored ? 1 : ld, count};
}
presplit::Vectors rows_of(TcecOperation op, std::int64_t ld, int count) {
  return columns_of(op == TcecOperation::none ? TcecOperation::transpose : TcecOperation::none, ld, count);
}

Request request(const TcecProduct& p, float alpha, std::int64_t lda, std::int64_t ldb, float beta, std::int64_t ldc,
                int batch) {
  Request r{.m = p.n, .n = p.m, .k = alpha == 0.0f ? 0 : p.k, .batch = batch, .alpha = alpha, .beta = beta};
  r.a = columns_of(p.op_b, ldb, p.n);
  r.b = rows_of(p.op_a, lda, p.m);
  r.c.to_next_row = ldc;
  r.policy = policy_of(p.policy);
  return r;
}

TcecStatus refuse(const TcecProduct& p, int batch) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return invalid("m, n and k must not be negative");
  if (batch < 0) return invalid("a batch can't have " + std::to_string(batch) + " products");
  return {};
}

std::size_t workspace_of(const Request& r) {
  return r.m == 0 || r.n == 0 || r.batch == 0 ? 0 : presplit::Plan(r).bytes;
}

TcecStatus run(const TcecProduct& p, const Request& r, const Operand (&operands)[3], void* workspace,
               std::size_t workspace_bytes, cudaStream_t stream) {
  if (TcecStatus wrong = refuse(p, r.batch); !wrong) return wrong;
  for (const Operand& operand : operands) {
    if (TcecStatus wrong = refuse(operand); !wrong) return wrong;
  }
  if (const std::size_t needed = workspace_of(r); needed > 0) {
    if (workspace_bytes < needed)
      return invalid("the workspace has " + std::to_string(workspace_bytes) + " bytes, and must have " +
                     std::to_string(needed));
    if (!workspace) return invalid("the workspace is null");
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
      return invalid("the workspace is not aligned to 256 bytes");
  }
#ifdef __CUDACC__
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
    return {TcecCode::failed, "there is no CUDA device"};
  if (major < 8) return {TcecCode::unsupported, "needs a GPU of compute capability 8.0"};
#endif
  const gemm::Status status = r.policy == Policy::half   ? presplit::launch<Policy::half>(r, workspace, stream)
                              : r.policy == Policy::tf32 ? presplit::launch<Policy::tf32>(r, workspace, stream)
                                                         : presplit::launch<Policy::automatic>(r, workspace, stream);
  if (status) return {};
  return {status.code == gemm::Status::Code::unsupported ? TcecCode::unsupported : TcecCode::failed, status.reason};
}

// Whatever is thrown becomes a status.
template <class Body>
TcecStatus guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    try {
      return {TcecCode::failed, error.what()};
    } catch (...) {
    }
  } catch (...) {
  }
  return {TcecCode::failed, {}};
}

// The operands in BLAS's order, for checks.
struct Operands {
  Operand all[3];
  Operands(const TcecProduct& p, const Request& r, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
           const void* c, std::int64_t ldc, bool pointers)
      : all{{"A", a, pointers, p.op_a == TcecOperation::none ? p.m : p.k, lda, false},
            {"B", b, pointers, p.op_b == TcecOperation::none ? p.k : p.n, ldb, false},
            {"C", c, pointers, p.m, ldc, false}} {
    const bool writes = r.m > 0 && r.n > 0 && r.batch > 0;
    all[0].used = all[1].used = writes && r.k > 0;
    all[2].used = writes;
  }
};

}  // namespace

std::size_t tcec_sgemm_workspace(const TcecProduct& product, int batch) noexcept {
  try {
    if (!refuse(product, batch)) return 0;
    return workspace_of(request(product, 1, 0, 0, 0, 0, batch));
  } catch (...) {
    return 0;
  }
}

TcecStatus tcec_sgemm(cudaStream_t stream, const TcecProduct& product, float alpha, const float* a, std::int64_t lda,
                      const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, void* workspace,
                      std::size_t workspace_bytes) noexcept {
  return tcec_sgemm_strided_batched(stream, product, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1, workspace,
                                    workspace_bytes);
}

TcecStatus tcec_sgemm_strided_batched(cudaStream_t stream, const TcecProduct& product, float alpha, const float* a,
                                      std::int64_t lda, std::int64_t stride_a, const float* b, std::int64_t ldb,
                                      std::int64_t stride_b, float beta, float* c, std::int64_t ldc,
                                      std::int64_t stride_c, int batch, void* workspace,
                                      std::size_t workspace_bytes) noexcept {
  return guarded([&] {
    Request r = request(product, alpha, lda, ldb, beta, ldc, batch);
    r.a.first = b, r.a.to_next_matrix = stride_b;
    r.b.first = a, r.b.to_next_matrix = stride_a;
    r.c.first = c, r.c.to_next_matrix = stride_c;
    if (batch > 1 && stride_c < ldc * std::max(product.n - 1, 0) + product.m)
      return invalid("matrices of C are " + std::to_string(stride_c) + " elements apart: they overlap");
    return run(product, r, Operands(product, r, a, lda, b, ldb, c, ldc, false).all, workspace, workspace_bytes, stream);
  });
}

TcecStatus tcec_sgemm_batched(cudaStream_t stream, const TcecProduct& product, float alpha, const float* const* a,
                              std::int64_t lda, const float* const* b, std::int64_t ldb, float beta, float* const* c,
                              std::int64_t ldc, int batch, void* workspace, std::size_t workspace_bytes) noexcept {
  return guarded([&] {
    Request r = request(product, alpha, lda, ldb, beta, ldc, batch);
    r.a.matrices = b;
    r.b.matrices = a;
    r.c.matrices = c;
    return run(product, r, Operands(product, r, a, lda, b, ldb, c, ldc, true).all, workspace, workspace_bytes, stream);
  });
}
