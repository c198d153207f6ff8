#include "course/judge/launcher.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <vector>

#include "common/backend/cpu/messages.hpp"
#include "common/backend/device.hpp"
#include "common/backend/device_memory.hpp"
#include "common/check/contender.hpp"
#include "common/problem/columns_record.hpp"
#include "common/toolchain/jit.hpp"

namespace course {
namespace {

using gemm::check_cuda;
using gemm::DeviceArray;

constexpr std::size_t most_workspace = std::size_t{4} << 30;

struct PlannedLaunch {
  gemm::JitKernel kernel;
  gemm::LaunchShape shape;
  std::vector<std::string> values;        // of its arguments, as bytes
  std::vector<std::optional<int>> leads;  // the operand that a pointer leads to
  std::vector<std::int64_t> offsets;
  std::vector<std::size_t> bytes;
};

std::string bytes_of(const std::string& hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
  return bytes;
}

dim3 dim3_of(const gemm::Json& json) {
  return {json.at(0).get<unsigned>(), json.at(1).get<unsigned>(), json.at(2).get<unsigned>()};
}

// Kernels as a plan has them launched, by the teacher's contract.
class Kernels {
 public:
  explicit Kernels(const Program& program) {
    std::ifstream in(program.cubin, std::ios::binary);
    const std::string code{std::istreambuf_iterator<char>(in), {}};
    cudaLibrary_t library = nullptr;
    check_cuda(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
               "load the kernels");
    const auto workspace_bytes = program.plan.at("workspace_bytes").get<std::size_t>();
    if (workspace_bytes > most_workspace) throw std::runtime_error("asks for too large a workspace");
    workspace_ = DeviceArray<unsigned char>(workspace_bytes);
    for (const gemm::Json& json : program.plan.at("columns")) {
      columns_.push_back(
          {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5), json.at(6), json.at(7)});
      if (columns_.back().operand > 1) throw std::runtime_error("the plan copies what is no operand");
    }
    for (const gemm::Json& json : program.plan.at("launches")) launches_.push_back(launch_of(json, library));
  }

  // What a launch finds in its workspace: zeros, and operands that the contract lays out in columns.
  void prepare(const std::array<unsigned char*, 4>& operands) {
    check_cuda(cudaMemsetAsync(workspace_.data(), 0, workspace_.size()), "clear the workspace");
    for (const Columns& c : columns_) {
      const gemm::ColumnsRecord record{
          operands[c.operand] + c.from, workspace_.data() + c.to, c.rows, c.cols, c.ld, c.column, c.element};
      check_cuda(gemm::copy_columns(record, nullptr), "lay out the operands in columns");
    }
  }

  gemm::Status launch(std::array<unsigned char*, 4> operands) {
    operands[3] = workspace_.data();
    for (PlannedLaunch& launch : launches_) {
      std::vector<void*> pointers;
      for (std::size_t i = 0; i < launch.values.size(); ++i) {
        if (launch.leads[i]) {
          const unsigned char* const there = operands[*launch.leads[i]] + launch.offsets[i];
          std::memcpy(launch.values[i].data(), &there, sizeof there);
        }
        pointers.push_back(launch.values[i].data());
      }
      pointers.push_back(nullptr);
      if (auto status = gemm::launch_kernel(launch.kernel, launch.shape, pointers.data(), launch.bytes); !status)
        return status;
    }
    return gemm::Status::ok();
  }

 private:
  static PlannedLaunch launch_of(const gemm::Json& json, cudaLibrary_t library) {
    static const std::array<std::string, 4> names = {"x", "y", "out", "workspace"};
    PlannedLaunch launch{};
    cudaKernel_t kernel = nullptr;
    check_cuda(cudaLibraryGetKernel(&kernel, library, json.at("kernel").get<std::string>().c_str()), "find the kernel");
    launch.kernel.handle = kernel;
    for (std::size_t i = 0, offset = 0, bytes = 0;
         cudaFuncGetParamInfo(launch.kernel.handle, i, &offset, &bytes) == cudaSuccess; ++i)
      launch.kernel.parameter_bytes.push_back(bytes);
    cudaGetLastError();         // there is no other way to learn how many there are
    cudaFuncAttributes loaded;  // now: the runtime loads kernels when they are first asked for
    check_cuda(cudaFuncGetAttributes(&loaded, launch.kernel.handle), "load the kernel");
    launch.shape.grid = dim3_of(json.at("grid"));
    launch.shape.block = dim3_of(json.at("block"));
    launch.shape.dynamic_shared = json.at("dynamic_shared");
    for (const gemm::Json& argument : json.at("arguments")) {
      const bool pointer = argument.contains("operand");
      launch.values.push_back(pointer ? std::string(sizeof(void*), '\0') : bytes_of(argument.at("bytes")));
      launch.leads.emplace_back();
      launch.offsets.push_back(0);
      if (!pointer || argument.at("operand").is_null()) continue;
      launch.leads.back() =
          static_cast<int>(std::ranges::find(names, argument.at("operand").get<std::string>()) - names.begin());
      launch.offsets.back() = argument.at("offset");
    }
    for (const std::string& value : launch.values) launch.bytes.push_back(value.size());
    return launch;
  }

  struct Columns {
    std::size_t operand;
    std::int64_t from, to, rows, cols, ld, column;
    std::size_t element;
  };
  std::vector<Columns> columns_;
  std::vector<PlannedLaunch> launches_;
  DeviceArray<unsigned char> workspace_;
};

struct Event {
  Event() { check_cuda(cudaEventCreate(&event), "create an event"); }
  cudaEvent_t event{};
};

class Server {
 public:
  explicit Server(const Program& program) : program_(program) {}

  // Takes operands, or keeps those that it has; launches on them as often as is asked for; gives the result back.
  bool answer(int socket) {
    auto message = gemm::receive_message(socket);
    if (!message) return false;
    const Request request = get_request(*std::move(message));
    std::string reason;
    if (request.new_operands && !take(socket, request, reason)) return false;
    if (!gemm::send_message(socket, "ready") || !gemm::receive_message(socket)) return false;
    float ms = 0;
    try {
      if (reason.empty()) ms = timed(request.launches);
      if (request.new_operands && reason.empty() && (x_ != device_[0].to_host() || y_ != device_[1].to_host()))
        reason = "changed its inputs";
    } catch (const std::exception& error) {
      reason = error.what();
    }
    if (!gemm::send_message(socket, answer_of(reason, ms)) || !reason.empty()) return false;
    if (!request.new_operands) return true;
    const std::vector<char> result = device_[2].to_host();
    return gemm::send_message(socket, {result.begin(), result.end()});
  }

 private:
  bool take(int socket, const Request& request, std::string& reason) {
    problem_ = request.problem;
    for (int i = 0; i < 3; ++i) {
      const auto bytes = gemm::receive_message(socket);
      if (!bytes) return false;
      if (i < 2) (i == 0 ? x_ : y_).assign(bytes->begin(), bytes->end());
      try {
        if (device_[i].size() != bytes->size()) device_[i] = DeviceArray<char>(bytes->size());
        check_cuda(cudaMemcpy(device_[i].data(), bytes->data(), bytes->size(), cudaMemcpyHostToDevice),
                   "copy operands");
      } catch (const std::exception& error) {
        reason = error.what();
      }
      operands_[i] = reinterpret_cast<unsigned char*>(device_[i].data()) + request.first[i];
    }
    problem_.x = operands_[0];
    problem_.y = operands_[1];
    problem_.out = operands_[2];
    try {
      open();
    } catch (const std::exception& error) {
      reason = error.what();
    }
    return true;
  }

  void open() {
    if (flushed_.size() > 0) return;
    flushed_ = DeviceArray<unsigned char>(2 * std::max<std::size_t>(gemm::open_device().l2_bytes, 1 << 20));
    if (!program_.cubin.empty()) kernels_ = std::make_unique<Kernels>(program_);
  }

  float timed(int launches) {
    static Event start, stop;
    // Work ahead, too: the clocks come up, and all is enqueued by the time that the first launch begins.
    if (kernels_) kernels_->prepare(operands_);
    for (int i = 0; i < 4; ++i) check_cuda(cudaMemsetAsync(flushed_.data(), i, flushed_.size()), "flush the L2 cache");
    check_cuda(cudaEventRecord(start.event), "record an event");
    for (int i = 0; i < launches; ++i) {
      const gemm::Status status = kernels_ ? kernels_->launch(operands_) : library(problem_);
      if (!status) throw std::runtime_error("launch failed: " + status.reason);
    }
    check_cuda(cudaEventRecord(stop.event), "record an event");
    if (const cudaError_t fault = cudaDeviceSynchronize(); fault != cudaSuccess)
      throw std::runtime_error(fmt::format("the kernel faulted: {}", cudaGetErrorString(fault)));
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start.event, stop.event), "read an event");
    return ms / static_cast<float>(launches);
  }

  static gemm::Status library(const gemm::Problem& problem) {
    return gemm::baselines(problem.type).at(0).launch(problem, nullptr);
  }

  const Program& program_;
  gemm::Problem problem_;
  std::array<DeviceArray<char>, 3> device_;  // the operands
  std::array<unsigned char*, 4> operands_{};
  std::vector<char> x_, y_;  // as they were given
  DeviceArray<unsigned char> flushed_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace

void serve_launches(int socket, const Program& program) {
  Server server(program);
  while (server.answer(socket)) {
  }
}

}  // namespace course
