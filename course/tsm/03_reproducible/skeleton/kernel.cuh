// tsm/03_reproducible. Hand in this file.
//
// C = alpha A^T B + beta C, all row-major: A is k x m, B is k x n, C is m x n. m and n are small, k is long. Element
// (row, col) of C is the sum over i of a[i * lda + row] * b[i * ldb + col].

constexpr int TILE = 8;       // a block of the first kernel has TILE x TILE elements of C, along y and x,
constexpr int SLICES = 4;     // and its threads along z share its chunk of K
constexpr int ELEMENTS = 32;  // a block of the second kernel has as many elements of C, along x,
constexpr int GROUPS = 4;     // and its threads along y share the parts

// Part z of the sum, z = blockIdx.z, is an m x n matrix without gaps: element (row, col) is
// parts[(z * m + row) * n + col]. It holds 0 before. There are gridDim.z parts, and K is cut into as many chunks.
// blockIdx.x and y select a tile of C.
__global__ void partial(int m, int n, std::int64_t k, const double* a, std::int64_t lda, const double* b,
                        std::int64_t ldb, double* parts) {
  // TODO: each thread's sum, then the sum of the block's slices in a fixed order, then one store per element.
}

// C = alpha (sum of the parts) + beta C. Thread x of a block has element e = blockIdx.x * ELEMENTS + x of C, counted
// row by row. There may be no parts at all.
__global__ void finish(int m, int n, int chunks, double alpha, const double* parts, double beta, double* c,
                       std::int64_t ldc) {
  // TODO
}
