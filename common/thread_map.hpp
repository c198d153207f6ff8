// Which thread writes which element: found by watching each stage's own kernel run, for the figures in docs/.
#pragma once

#include <string>

namespace gemm {

/// Writes JSON {stage id: {block: [x, y, z], rows: [[thread, ...], ...]}}: for the part of C that block 0 writes, the
/// linear index of the thread that wrote each element. Needs the CPU executor; throws DeviceError on a GPU build.
int write_thread_maps(const std::string& path);

}  // namespace gemm
