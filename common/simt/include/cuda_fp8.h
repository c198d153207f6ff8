// Not here: a program that needs it is told so in one line.
#error "the CPU executor has no 8-bit floats: <cuda_fp8.h>"
