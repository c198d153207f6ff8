/* staged_gemm.h as C99: every function has the type that it says, and is called as C calls it. test_staged_gemm.cpp runs
 * it; compiled alone, with -pedantic, it shows that the header is C. */
#include "tests/libraries/c_header.h"

#include <string.h>

static int equal(double x, double y) {
  return x == y;
}

static int near(double x, double y) {
  return x - y < 1e-14 && y - x < 1e-14;
}

/* The number of what is wrong, counted from 1; 0 if all is well. All memory is the device's, which C can read here. */
int c_header_products(double* memory, void* workspace, size_t bytes) {
  enum { M = 2, N = 3, K = 5 };
  double *a = memory, *b = a + 2 * K * M, *c = b + 2 * K * N; /* twice: complex, too */
  const double one[2] = {1, 0}, none[2] = {0, 0}, i_times_2[2] = {0, 2};
  staged_gemm_product product = {STAGED_GEMM_NONE, STAGED_GEMM_TRANSPOSE, M, N, 1, STAGED_GEMM_TF32};
  staged_gemm_block blocks[2];
  float *fa = (float*)a, *fb = (float*)b, *fc = (float*)c;
  const float **many_a = (const float**)(memory + 58), **many_b = (const float**)(memory + 60);
  float** many_c = (float**)(memory + 62);
  int i;
  if (staged_gemm_tsmttsm_workspace(STAGED_GEMM_DOUBLE_COMPLEX, M, N, K) > bytes) return 1;
  if (staged_gemm_sgemm_workspace(&product, 1) > bytes) return 2;

  /* Real: rows of A are (1, r), those of B are 1. */
  for (i = 0; i < K; ++i) a[i * M] = 1, a[i * M + 1] = i;
  for (i = 0; i < K * N; ++i) b[i] = 1;
  if (staged_gemm_dtsmttsm(NULL, M, N, K, 2, a, M, b, N, 0, c, N, workspace, bytes)) return 3;
  if (!equal(c[0], 2 * K) || !equal(c[M * N - 1], 2 * (0 + 1 + 2 + 3 + 4))) return 4;
  if (staged_gemm_dtsmm(NULL, M, N, K, 1, a, M, c, N, -1, b, N)) return 5;
  if (!equal(b[(K - 1) * N], 2 * K + 4 * 20 - 1)) return 6;

  /* Complex: A is 2i, B is 1, so that A^H B is -2i K, and A^T B 2i K. */
  for (i = 0; i < K * M; ++i) a[2 * i] = 0, a[2 * i + 1] = 2;
  for (i = 0; i < K * N; ++i) b[2 * i] = 1, b[2 * i + 1] = 0;
  if (staged_gemm_ztsmttsm(NULL, 1, M, N, K, one, a, M, b, N, none, c, N, workspace, bytes)) return 7;
  if (!equal(c[0], 0) || !equal(c[1], -2 * K)) return 8;
  if (staged_gemm_ztsmttsm(NULL, 0, M, N, K, one, a, M, b, N, one, c, N, workspace, bytes)) return 9;
  if (!equal(c[0], 0) || !equal(c[1], 0)) return 10;
  c[0] = 3;
  if (staged_gemm_ztsmm(NULL, M, N, K, i_times_2, a, M, c, N, none, b, N)) return 11;
  if (!equal(b[0], -12) || !equal(b[1], 0)) return 12; /* 2i 2i 3 */
  if (staged_gemm_prepare_tsmttsm(STAGED_GEMM_DOUBLE, M, N, NULL, M, NULL, N, 0)) return 13;
  if (staged_gemm_prepare_tsmm(STAGED_GEMM_DOUBLE_COMPLEX, M, N, NULL, M, NULL, N)) return 14;

  /* Blocks (1, r) and 1: the first one's part of the product is (2K, 20), and 2K again from the second one's. */
  for (i = 0; i < K; ++i) a[i * M] = 1, a[i * M + 1] = i, b[i] = 1;
  blocks[0].data = a, blocks[0].ld = blocks[0].columns = M;
  blocks[1].data = b, blocks[1].ld = blocks[1].columns = 1;
  if (staged_gemm_tsmttsm_blocks_workspace(STAGED_GEMM_DOUBLE, blocks, 2, blocks, 2, K) > bytes) return 22;
  if (staged_gemm_dtsmttsm_blocks(NULL, K, 1, blocks, 2, blocks, 2, 0, c, N, workspace, bytes)) return 23;
  if (!equal(c[1], 10) || !equal(c[2], K) || !equal(c[2 * N], K) || !equal(c[2 * N + 1], 10)) return 24;
  /* Times (1, 0, 1): 1 + 1. */
  c[0] = c[2] = 1, c[1] = 0;
  if (staged_gemm_dtsmm_blocks(NULL, 1, K, 1, blocks, 2, c, 1, 0, b + K, 1)) return 33;
  if (!equal(b[K], 2) || !equal(b[2 * K - 1], 2)) return 34;
  /* QR of (1, r): R = (sqrt 5, 10 / sqrt 5; 0, sqrt 10). */
  if (staged_gemm_cholesky_qr2_workspace(STAGED_GEMM_DOUBLE, M) > bytes) return 25;
  if (staged_gemm_dcholesky_qr2(NULL, M, K, a, M, c, M, (int*)b, workspace, bytes)) return 26;
  if (*(int*)b != STAGED_GEMM_QR_CHOLESKY2 || !equal(c[2], 0)) return 27;
  if (!near(c[0] * c[0], 5) || !near(c[1] * c[1], 20) || !near(c[3] * c[3], 10)) return 28;
  /* Of one complex column i. */
  for (i = 0; i < K; ++i) a[2 * i] = 0, a[2 * i + 1] = 1;
  blocks[0].ld = blocks[0].columns = 1;
  if (staged_gemm_ztsmttsm_blocks(NULL, 1, K, one, blocks, 1, blocks, 1, none, c, 1, workspace, bytes)) return 29;
  if (!equal(c[0], K) || !equal(c[1], 0)) return 30;
  if (staged_gemm_ztsmm_blocks(NULL, 1, K, one, blocks, 1, c, 1, none, b, 1)) return 35;
  if (!equal(b[0], 0) || !equal(b[2 * K - 1], K)) return 36;
  if (staged_gemm_zcholesky_qr2(NULL, 1, K, a, 1, c, 1, (int*)b, workspace, bytes)) return 31;
  if (!near(c[0] * c[0], K) || !equal(c[1], 0) || !near(a[1] * c[0], 1)) return 32;

  /* Single, by columns: (1, 2)^T times (1, 2, 3); then twice, the second with C of the first. */
  for (i = 0; i < M; ++i) fa[i] = (float)(i + 1);
  for (i = 0; i < N; ++i) fb[i] = (float)(i + 1);
  if (staged_gemm_sgemm(NULL, &product, 1, fa, M, fb, N, 0, fc, M, workspace, bytes)) return 15;
  if (!equal(fc[1], 2) || !equal(fc[2], 2) || !equal(fc[M * N - 1], 6)) return 16;
  if (staged_gemm_sgemm_workspace(&product, 2) > bytes) return 17;
  for (i = 0; i < 2 * M * N; ++i) fc[i] = 1;
  if (staged_gemm_sgemm_strided_batched(NULL, &product, 1, fa, M, 0, fb, N, 0, 1, fc, M, M * N, 2, workspace, bytes))
    return 18;
  if (!equal(fc[2 * M * N - 1], 7) || !equal(fc[0], 2)) return 19;
  /* By pointers: twice the same added to the second, and twice (2, 5)^T times (1, 2, 3) to the first. */
  fa[2] = 5;
  many_a[0] = fa, many_a[1] = fa + 1;
  many_b[0] = many_b[1] = fb;
  many_c[0] = fc + M * N, many_c[1] = fc;
  if (staged_gemm_sgemm_batched(NULL, &product, 2, many_a, M, many_b, N, 1, many_c, M, 2, workspace, bytes)) return 20;
  if (!equal(fc[0], 2 + 4) || !equal(fc[1], 3 + 10) || !equal(fc[M * N + 2], 3 + 4)) return 21;
  return 0;
}

/* Wrong arguments, each with a reason; then a right call, with none. */
int c_header_refusals(void) {
  staged_gemm_product product = {2, STAGED_GEMM_NONE, 1, 1, 1, STAGED_GEMM_AUTOMATIC};
  const double one[2] = {1, 0};
  int code;
#define REFUSED(number, call)                                                    \
  code = call;                                                                   \
  if (code != STAGED_GEMM_INVALID || !*staged_gemm_last_reason()) return number; \
  if (strchr(staged_gemm_last_reason(), '\n')) return number
  REFUSED(1, staged_gemm_dtsmttsm(NULL, -1, 1, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1, NULL, 0));
  REFUSED(2, staged_gemm_ztsmttsm(NULL, 0, 1, 1, 1, NULL, NULL, 1, NULL, 1, one, NULL, 1, NULL, 0));
  REFUSED(3, staged_gemm_ztsmm(NULL, 1, 1, 1, one, NULL, 1, NULL, 1, NULL, NULL, 1));
  REFUSED(4, staged_gemm_dtsmm(NULL, 2, 1, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1));
  REFUSED(5, staged_gemm_prepare_tsmttsm(2, 1, 1, NULL, 1, NULL, 1, 0));
  REFUSED(6, staged_gemm_prepare_tsmm(-1, 1, 1, NULL, 1, NULL, 1));
  REFUSED(16, staged_gemm_dtsmttsm_blocks(NULL, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1, NULL, 0));
  REFUSED(17, staged_gemm_ztsmttsm_blocks(NULL, 0, 1, NULL, NULL, 0, NULL, 0, one, NULL, 1, NULL, 0));
  REFUSED(21, staged_gemm_dtsmm_blocks(NULL, 1, 1, 1, NULL, 1, NULL, 1, 0, NULL, 1));
  REFUSED(22, staged_gemm_ztsmm_blocks(NULL, 1, 1, NULL, NULL, 0, NULL, 1, one, NULL, 1));
  REFUSED(18, staged_gemm_dcholesky_qr2(NULL, 2, 1, NULL, 2, NULL, 2, NULL, NULL, 0));
  REFUSED(19, staged_gemm_zcholesky_qr2(NULL, 1, 1, NULL, 1, NULL, 1, NULL, NULL, 0));
  if (staged_gemm_cholesky_qr2_workspace(7, 1) || staged_gemm_cholesky_qr2_workspace(0, 65)) return 20;
  REFUSED(7, staged_gemm_sgemm(NULL, &product, 1, NULL, 1, NULL, 1, 0, NULL, 1, NULL, 0));
  REFUSED(8, staged_gemm_sgemm(NULL, NULL, 1, NULL, 1, NULL, 1, 0, NULL, 1, NULL, 0));
  product.op_a = STAGED_GEMM_NONE;
  product.policy = 3;
  REFUSED(9, staged_gemm_sgemm(NULL, &product, 1, NULL, 1, NULL, 1, 0, NULL, 1, NULL, 0));
  REFUSED(13, staged_gemm_sgemm_batched(NULL, &product, 1, NULL, 1, NULL, 1, 0, NULL, 1, 1, NULL, 0));
  product.policy = STAGED_GEMM_AUTOMATIC;
  REFUSED(14, staged_gemm_sgemm_batched(NULL, &product, 1, NULL, 1, NULL, 1, 0, NULL, 1, 1, NULL, 0));
  REFUSED(15, staged_gemm_sgemm_batched(NULL, &product, 1, NULL, 1, NULL, 1, 0, NULL, 1, -1, NULL, 0));
  product.policy = 3;
  if (staged_gemm_sgemm_workspace(&product, 1) || staged_gemm_sgemm_workspace(NULL, 1)) return 10;
  if (staged_gemm_tsmttsm_workspace(7, 1, 1, 1)) return 11;
  product.policy = STAGED_GEMM_AUTOMATIC;
  product.m = 0; /* nothing to do */
  if (staged_gemm_sgemm(NULL, &product, 1, NULL, 1, NULL, 1, 0, NULL, 1, NULL, 0) || *staged_gemm_last_reason())
    return 12;
  return 0;
}
