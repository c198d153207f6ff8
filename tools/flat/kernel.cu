// A kernel that the stage would have NVRTC compile, by its name. Some it would compile with ptxas -O1 (JitRequest).
#define KERNEL(...) gemm::compiled_kernels[#__VA_ARGS__].handle = reinterpret_cast<const void*>(__VA_ARGS__)
