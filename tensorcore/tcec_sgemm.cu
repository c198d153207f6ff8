#include <exception>

#include "common/backend/device.hpp"
#include "tensorcore/presplit/sgemm.cuh"
#include "tensorcore/tcec_sgemm.hpp"

namespace tcec_sgemm {
namespace {

using presplit::Request;
using Kernels = presplit::Policy;

Status invalid(std::string reason) {
  return {Code::invalid, std::move(reason)};
}

Kernels kernels_of(Policy policy) {
  return policy == Policy::fp16 ? Kernels::half : policy == Policy::tf32 ? Kernels::tf32 : Kernels::automatic;
}

// A matrix as the caller has it, one or a batch of them.
struct Operand {
  const char* name;
  const void* data;  // of a batch by pointers their array
  bool pointers;
  std::int64_t rows, ld;
  bool used;  // read or written
};

Status refuse(const Operand& x) {
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
presplit::Vectors columns_of(Operation op, std::int64_t ld, int count) {
  const bool stored = op == Operation::none;
  return {nullptr, nullptr, 0, stored ? ld : 1, stored ? 1 : ld, count};
}
presplit::Vectors rows_of(Operation op, std::int64_t ld, int count) {
  return columns_of(op == Operation::none ? Operation::transpose : Operation::none, ld, count);
}

Request request(const Product& p, float alpha, std::int64_t lda, std::int64_t ldb, float beta, std::int64_t ldc,
                int batch) {
  Request r{.m = p.n, .n = p.m, .k = alpha == 0.0f ? 0 : p.k, .batch = batch, .alpha = alpha, .beta = beta};
  r.a = columns_of(p.op_b, ldb, p.n);
  r.b = rows_of(p.op_a, lda, p.m);
  r.c.to_next_row = ldc;
  r.policy = kernels_of(p.policy);
  return r;
}

Status refuse(const Product& p, int batch) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return invalid("m, n and k must not be negative");
  if (batch < 0) return invalid("a batch can't have " + std::to_string(batch) + " products");
  return {};
}

std::size_t workspace_of(const Request& r) {
  return r.is_empty() ? 0 : presplit::Plan(r).bytes;
}

Status run(const Product& p, const Request& r, const Operand (&operands)[3], void* workspace,
           std::size_t workspace_bytes, cudaStream_t stream) {
  if (Status wrong = refuse(p, r.batch); !wrong) return wrong;
  for (const Operand& operand : operands) {
    if (Status wrong = refuse(operand); !wrong) return wrong;
  }
  if (const std::size_t needed = workspace_of(r); needed > 0) {
    if (workspace_bytes < needed)
      return invalid("the workspace has " + std::to_string(workspace_bytes) + " bytes, and must have " +
                     std::to_string(needed));
    if (!workspace) return invalid("the workspace is null");
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
      return invalid("the workspace is not aligned to 256 bytes");
  }
  const gemm::CurrentDevice& device = gemm::current_device();
  if (device.gpu && device.compute_capability < 80) return {Code::unsupported, "needs a GPU of compute capability 8.0"};
  const gemm::Status status = r.policy == Kernels::half   ? presplit::launch<Kernels::half>(r, workspace, stream)
                              : r.policy == Kernels::tf32 ? presplit::launch<Kernels::tf32>(r, workspace, stream)
                                                          : presplit::launch<Kernels::automatic>(r, workspace, stream);
  if (status) return {};
  return {status.code == gemm::Status::Code::unsupported ? Code::unsupported : Code::failed, status.reason};
}

// Without the reason, if there is no memory left to hold it.
Status with_reason(Code code, const std::exception& error) noexcept {
  try {
    return {code, error.what()};
  } catch (...) {
    return {code, {}};
  }
}

// Whatever is thrown becomes a status.
template <class Body>
Status guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const gemm::DeviceError& error) {
    return with_reason(Code::unsupported, error);
  } catch (const std::exception& error) {
    return with_reason(Code::failed, error);
  } catch (...) {
  }
  return {Code::failed, {}};
}

// The operands in BLAS's order, for checks.
struct Operands {
  Operand all[3];
  Operands(const Product& p, const Request& r, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
           const void* c, std::int64_t ldc, bool pointers)
      : all{{"A", a, pointers, p.op_a == Operation::none ? p.m : p.k, lda, false},
            {"B", b, pointers, p.op_b == Operation::none ? p.k : p.n, ldb, false},
            {"C", c, pointers, p.m, ldc, false}} {
    const bool writes = r.m > 0 && r.n > 0 && r.batch > 0;
    all[0].used = all[1].used = writes && r.k > 0;
    all[2].used = writes;
  }
};

}  // namespace

std::size_t sgemm_workspace(const Product& product, int batch) noexcept {
  try {
    if (!refuse(product, batch)) return 0;
    return workspace_of(request(product, 1, 0, 0, 0, 0, batch));
  } catch (...) {
    return 0;
  }
}

Status sgemm(cudaStream_t stream, const Product& product, float alpha, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float beta, float* c, std::int64_t ldc, void* workspace,
             std::size_t workspace_bytes) noexcept {
  return sgemm_strided_batched(stream, product, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1, workspace,
                               workspace_bytes);
}

Status sgemm_strided_batched(cudaStream_t stream, const Product& product, float alpha, const float* a, std::int64_t lda,
                             std::int64_t stride_a, const float* b, std::int64_t ldb, std::int64_t stride_b, float beta,
                             float* c, std::int64_t ldc, std::int64_t stride_c, int batch, void* workspace,
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

Status sgemm_batched(cudaStream_t stream, const Product& product, float alpha, const float* const* a, std::int64_t lda,
                     const float* const* b, std::int64_t ldb, float beta, float* const* c, std::int64_t ldc, int batch,
                     void* workspace, std::size_t workspace_bytes) noexcept {
  return guarded([&] {
    Request r = request(product, alpha, lda, ldb, beta, ldc, batch);
    r.a.matrices = b;
    r.b.matrices = a;
    r.c.matrices = c;
    return run(product, r, Operands(product, r, a, lda, b, ldb, c, ldc, true).all, workspace, workspace_bytes, stream);
  });
}

}  // namespace tcec_sgemm
