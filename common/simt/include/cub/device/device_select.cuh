// Not here: a program that needs it is told so in one line.
#error "the CPU executor has no CUB: <cub/device/device_select.cuh>"
