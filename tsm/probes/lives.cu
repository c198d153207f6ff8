// lives: how long should a block live, where memory is read and written?
//
// Idea      Blocks that live long stray from each other, so the addresses that are worked on spread over the memory.
//           Then it may have to switch between reading and writing in more places. Short-lived blocks are handed out
//           in order by the hardware, and a long-lived one can take a ticket for each of its turns. The probe varies
//           the turns of a block, the order of the tiles, and how many lie side by side, nothing else.
// Kernel    A tile is a float4 for each thread of a block. A block handles one tile after another: it adds the tile up,
//           or scales it.
// Predicted The ceilings of reading and of scaling, whatever the turns and the order.
// Page      docs/tsm/probes.md#lives
#include <numeric>

#include "common/backend/device_memory.hpp"
#include "common/kernel/launch.cuh"
#include "common/report/json.hpp"
#include "common/report/probe_report.hpp"

namespace {

using gemm::Json;

enum Order { STRIDED, TICKETS };

constexpr int THREADS = 256;            // of a block
constexpr int WORDS = 4 * THREADS;      // of a tile
constexpr int VALUES = 251;             // word i holds i % VALUES: sums of them are exact
constexpr float FACTOR = 0.5f;          // products, too
constexpr unsigned CHECKED_TILES = 64;  // if nothing is timed,
constexpr int CHECKED_BLOCKS = 12;      // and persistent blocks: no divisor, so that some have a turn more

// A piece is `together` tiles, side by side. strided: gridDim pieces further each time. tickets: the next piece that no
// block has yet. `ticket` is 0 again after a launch, because each piece takes one ticket. `sums` is null in timed
// launches, so that reading writes nothing.
template <Order ORDER, bool WRITES>
__global__ void __launch_bounds__(THREADS)
    handle_tiles(const float4* in, float4* out, unsigned tiles, unsigned together, unsigned* ticket, double* sums) {
  __shared__ unsigned next[2];
  const unsigned pieces = (tiles + together - 1) / together;
  float sum = 0;
  unsigned piece = blockIdx.x;
  for (int turn = 0; piece < pieces; ++turn) {
    const unsigned end = min((piece + 1) * together, tiles);
#pragma unroll 1  // or a long-lived block would have more loads in flight than others
    for (unsigned tile = piece * together; tile < end; ++tile) {
      const std::size_t at = std::size_t{tile} * THREADS + threadIdx.x;
      const float4 v = in[at];
      if (ORDER == TICKETS && threadIdx.x == 0 && tile == piece * together)  // while the load is in flight
        next[turn % 2] = gridDim.x + atomicInc(ticket, pieces - 1);
      if (WRITES)
        out[at] = make_float4(FACTOR * v.x, FACTOR * v.y, FACTOR * v.z, FACTOR * v.w);
      else
        sum += (v.x + v.y) + (v.z + v.w);
    }
    if (ORDER == TICKETS) __syncthreads();
    piece = ORDER == TICKETS ? next[turn % 2] : piece + gridDim.x;
  }
  if (!WRITES && sums) atomicAdd(&sums[threadIdx.x], static_cast<double>(sum));
}

__global__ void fill(float* words, std::size_t count) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    words[i] = static_cast<float>(i % VALUES);
}

__global__ void count_wrong(const float* words, std::size_t count, unsigned long long* wrong) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads)
    found += words[i] != FACTOR * static_cast<float>(i % VALUES);
  if (found) atomicAdd(wrong, found);
}

int mib = 1024;

struct Data {
  std::size_t words;
  gemm::DeviceArray<float> in{words}, out{words};
  gemm::DeviceArray<unsigned> ticket{1};
  gemm::DeviceArray<double> sums{THREADS};
  gemm::DeviceArray<unsigned long long> wrong{1};
};

void launched(const gemm::Status& status) {
  if (!status) throw gemm::DeviceError("a launch failed: " + status.reason);
}

// Empty if the output or, of reading, the sum is right.
std::string fault(const Data& data, bool writes) {
  if (writes) {
    gemm::check_cuda(cudaMemset(data.wrong.data(), 0, sizeof(unsigned long long)), "clear a word");
    launched(gemm::launch(count_wrong, {.grid = 1024, .block = 32}, data.out.data(), data.words, data.wrong.data()));
    const unsigned long long wrong = data.wrong.to_host()[0];
    return wrong ? std::to_string(wrong) + " words are wrong" : "";
  }
  const std::vector<double> sums = data.sums.to_host();
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  const std::size_t rest = data.words % VALUES;
  const auto right = static_cast<double>(data.words / VALUES * (VALUES * (VALUES - 1) / 2) + rest * (rest - 1) / 2);
  return sum == right ? "" : "the sum is " + gemm::significant(sum, 17) + ", not " + gemm::significant(right, 17);
}

// turns: of pieces; 0 if as many blocks as fit at a time go on until the end. together: 0 if each of these has one piece.
// name: of the order.
template <Order ORDER, bool WRITES>
Json measure(const gemm::ProbeRun& run, const Data& data, int turns, int together, const std::string& name) {
  const auto tiles = static_cast<int>(data.words / WORDS);
  int fit = 0;  // blocks, on an SM
  gemm::check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, handle_tiles<ORDER, WRITES>, THREADS, 0),
                   "count the blocks that fit");
  const int persistent = run.time ? fit * run.sm_count : CHECKED_BLOCKS;
  if (!together) together = gemm::ceil_div(tiles, persistent);
  const int blocks = turns ? gemm::ceil_div(tiles, turns * together) : persistent;
  const auto bytes = static_cast<std::int64_t>(data.words * sizeof(float) * (WRITES ? 2 : 1));
  Json result = {{"work", WRITES ? "scale" : "read"},
                 {"turns", turns},
                 {"together", together},
                 {"order", name},
                 {"blocks", blocks},
                 {"block_threads", THREADS},
                 {"bytes", bytes},
                 {"predicted_gbs", WRITES ? run.machine.scale_gbs : run.machine.read_gbs},
                 {"status", "pass"},
                 {"reason", ""}};
  const auto work = [&](double* sums) {
    return gemm::launch(handle_tiles<ORDER, WRITES>, {.grid = static_cast<unsigned>(blocks), .block = THREADS},
                        reinterpret_cast<const float4*>(data.in.data()), reinterpret_cast<float4*>(data.out.data()),
                        static_cast<unsigned>(tiles), static_cast<unsigned>(together), data.ticket.data(), sums);
  };
  if (run.time) {
    const gemm::TimingRun timed = gemm::time_probe([&] { return work(nullptr); });
    gemm::add_times(result, timed);
    result["gbs"] = static_cast<double>(bytes) / (timed.samples[0].median() * 1e6);
  }
  gemm::check_cuda(cudaMemset(data.out.data(), 0xff, data.words * sizeof(float)), "clear the output");  // NaNs
  gemm::check_cuda(cudaMemset(data.sums.data(), 0, THREADS * sizeof(double)), "clear the sums");
  const bool blind = fault(data, WRITES).empty();
  launched(work(data.sums.data()));
  std::string reason = blind ? "the check misses that nothing was computed yet" : fault(data, WRITES);
  if (data.ticket.to_host()[0] != 0) reason = "the tickets do not end at 0";
  if (!reason.empty()) result.update({{"status", "fail"}, {"reason", reason}});
  return result;
}

gemm::ProbeReport probe(const gemm::ProbeRun& run) {
  const Data data{run.time ? (std::size_t{1} << 18) * static_cast<std::size_t>(mib) : CHECKED_TILES * WORDS};
  launched(gemm::launch(fill, {.grid = 1024, .block = 32}, data.in.data(), data.words));
  gemm::check_cuda(cudaMemset(data.ticket.data(), 0, sizeof(unsigned)), "clear a word");
  gemm::ProbeReport report;
  report.settings = {{"mib", run.time ? mib : 0}};
  report.table = {{"predicted / measured, GB/s; turns of a block:", "blocks", "read", "read and write"}};
  const auto add = [&](const std::string& name, const Json& read, const Json& scale) {
    const auto cell = [](const Json& result) {
      return gemm::significant(result["predicted_gbs"]) + " / " +
             (result.contains("gbs") ? gemm::significant(result["gbs"]) : "-");
    };
    report.table.push_back({name, read["blocks"].dump(), cell(read), cell(scale)});
    report.results.insert(report.results.end(), {read, scale});
  };
  const auto strided = [&](int turns, int together, const std::string& name) {
    const std::string its_turns = turns ? std::to_string(turns) : "all";
    add(turns && together == 1 ? its_turns : its_turns + ", " + name,
        measure<STRIDED, false>(run, data, turns, together, name),
        measure<STRIDED, true>(run, data, turns, together, name));
  };
  const auto tickets = [&](int together, const std::string& name) {
    add("all, " + name, measure<TICKETS, false>(run, data, 0, together, name),
        measure<TICKETS, true>(run, data, 0, together, name));
  };
  for (int turns = 1; turns <= 64; turns *= 2) strided(turns, 1, "strided");
  strided(1, 16, "pieces of 16");
  strided(0, 1, "strided");
  strided(0, 16, "pieces of 16");
  strided(0, 0, "ranges");
  tickets(1, "tickets");
  tickets(4, "tickets of 4");
  tickets(16, "tickets of 16");
  return report;
}

const gemm::ProbeRegistration registration{
    __FILE__,
    {.idea = "bandwidth of reading, and of reading and writing, against the tiles that a block handles",
     .options = {{.name = "--mib",
                  .description = "MiB to read, and again to write; far more than the L2 cache holds",
                  .number = &mib,
                  .least = 64,
                  .most = 1 << 14}},
     .run = probe}};

}  // namespace
