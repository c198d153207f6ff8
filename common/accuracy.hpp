// How far results are from FP64's, over the depth of the product and the kind of numbers: the command `accuracy`.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace gemm {

/// Adds the command to a program; `action` becomes what it does, which returns the exit status.
void add_accuracy_command(CLI::App& app, const std::string& command, std::function<int()>& action);

}  // namespace gemm
