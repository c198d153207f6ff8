// includes the teacher's solution
#include "@ROOT@/course/sgemm/01_coalesce/teacher/solution.cuh"
