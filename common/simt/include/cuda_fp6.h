// Not here: a program that needs it is told so in one line.
#error "the CPU executor has no 6-bit floats: <cuda_fp6.h>"
