/* What test_staged_gemm.cpp calls of c_header.c. */
#ifndef C_HEADER_H
#define C_HEADER_H

#include "common/package/staged_gemm.h"

#ifdef __cplusplus
extern "C" {
#endif
int c_header_products(double* memory, void* workspace, size_t bytes);
int c_header_refusals(void);
#ifdef __cplusplus
}
#endif
#endif
