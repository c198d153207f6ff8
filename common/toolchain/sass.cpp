// Reads machine code as nvdisasm prints it: classes of instructions, loops, source lines.
#include "common/toolchain/sass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace gemm {
namespace {

// Cuts the first line off the text.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The text between two marks; empty if they aren't there.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return {};
  text.remove_prefix(found + before.size());
  const std::size_t end = text.find(after);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

int to_int(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// ---- instructions

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_tensor_opcode(std::string_view base) {
  return base.ends_with("MMA");
}

// How many multiply-adds a lane does with it.
int multiply_adds_of(std::string_view base) {
  if (is_one_of(base, {"FFMA", "DFMA"})) return 1;
  return is_one_of(base, {"FFMA2", "HFMA2"}) ? 2 : 0;
}

// Shared and global memory, with generic accesses, which may be either.
bool is_line_counted(std::string_view instruction) {
  return is_one_of(instruction.substr(0, instruction.find('.')),
                   {"LDS", "LDSM", "STS", "STSM", "LDG", "STG", "LDGSTS", "LD", "ST"});
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

struct Instruction {
  std::string_view guard, opcode, operands;
  int line = 0;
  bool is_entry = false;  // a function's first

  bool is_branch() const {
    const std::string_view base = opcode.substr(0, opcode.find('.'));
    return is_one_of(base, {"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"});
  }
  // Some conditions are operands: "BRA.U UP0, `(.L_x_1)".
  bool falls_through() const {
    if (!guard.empty() && guard != "@PT") return true;
    if (is_branch()) return opcode.starts_with("BRA") && !operands.starts_with("`(");
    return !is_one_of(opcode.substr(0, opcode.find('.')), {"EXIT", "RET"});
  }
};

struct Function {
  std::vector<Instruction> code;
  std::map<std::string_view, int> labels;  // to the index of the instruction that follows
};

// "/*0850*/   @!P0 BRA `(.L_x_1) ;"
std::optional<Instruction> parse_instruction(std::string_view line) {
  line = trimmed(line);
  const std::size_t address_end = line.find("*/");
  if (!line.starts_with("/*") || address_end == std::string_view::npos) return std::nullopt;
  line = line.substr(address_end + 2);
  line = trimmed(line.substr(0, line.find(';')));
  Instruction instruction;
  if (line.starts_with('@')) {
    instruction.guard = line.substr(0, line.find(' '));
    line = trimmed(line.substr(instruction.guard.size()));
  }
  instruction.opcode = line.substr(0, line.find(' '));
  instruction.operands = trimmed(line.substr(instruction.opcode.size()));
  if (instruction.opcode.empty()) return std::nullopt;
  return instruction;
}

// `File "a.hpp", line 91 inlined at "b.cu", line 45`: the line of `source` that it names; 0 if it names none.
int line_in(std::string_view remark, std::string_view source) {
  constexpr std::string_view line_mark = "\", line ";
  for (std::size_t quote; (quote = remark.find('"')) != std::string_view::npos;) {
    remark.remove_prefix(quote + 1);
    const std::size_t end = remark.find(line_mark);
    if (end == std::string_view::npos) break;
    const std::string_view file = remark.substr(0, end);
    remark.remove_prefix(end + line_mark.size());
    if (file == source) return to_int(remark);
  }
  return 0;
}

std::map<std::string, Function> parse_functions(std::string_view text, std::string_view source) {
  std::map<std::string, Function> functions;
  Function* function = nullptr;
  int line_number = 0;
  bool new_place = false, is_entry = true;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (const std::string_view section = between(line, ".section\t.text.", ","); !section.empty()) {
      function = &functions[std::string(section)];
      line_number = 0;
    } else if (!function) {
      continue;
    } else if (trimmed(line).starts_with("//##")) {
      // One remark for each level of inlining, the innermost first; wanted is the innermost in the source file.
      if (!new_place) line_number = 0;
      new_place = true;
      if (line_number == 0) line_number = line_in(line, source);
    } else if (!line.empty() && line.back() == ':' && line.find_first_of(" \t/") == std::string_view::npos) {
      const std::string_view label = line.substr(0, line.size() - 1);
      function->labels[label] = static_cast<int>(function->code.size());
      // Routines such as division's slow path stand behind the kernel, and no line of the source.
      if (!label.starts_with(".L")) {
        is_entry = true;
        line_number = 0;
      }
    } else if (auto instruction = parse_instruction(line)) {
      instruction->line = line_number;
      instruction->is_entry = is_entry;
      is_entry = new_place = false;
      function->code.push_back(*instruction);
    }
  }
  return functions;
}

// ---- loops

using Body = std::set<int>;

// The loops by their first instruction. A loop's body is what can reach a branch back without passing its first
// instruction again. Where that includes a function's entry, the branch closes no loop: nvcc puts unlikely code behind
// the rest, and that jumps back as well.
std::map<int, Body> find_loops(const Function& function) {
  const int size = static_cast<int>(function.code.size());
  std::vector<std::vector<int>> predecessors(function.code.size());
  std::vector<std::pair<int, int>> branches_back;  // target, branch
  for (int i = 0; i < size; ++i) {
    const Instruction& instruction = function.code[i];
    if (instruction.falls_through() && i + 1 < size) predecessors[i + 1].push_back(i);
    if (!instruction.is_branch()) continue;
    // An indirect branch lists its targets: BRX R2 -0x120 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)
    for (std::string_view rest = instruction.operands; !rest.empty();) {
      rest.remove_prefix(std::min(rest.find(".L"), rest.size()));
      const std::string_view label = rest.substr(0, rest.find_first_of(" ,)\""));
      rest.remove_prefix(label.size());
      const auto target = function.labels.find(label);
      if (target == function.labels.end() || target->second >= size) continue;
      predecessors[target->second].push_back(i);
      if (target->second <= i) branches_back.emplace_back(target->second, i);
    }
  }
  std::map<int, Body> loops;
  for (const auto& [first, branch] : branches_back) {
    Body body = {first};
    std::vector<int> open = {branch};
    bool is_loop = true;
    while (is_loop && !open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (!body.insert(i).second) continue;
      is_loop = !function.code[i].is_entry;
      open.insert(open.end(), predecessors[i].begin(), predecessors[i].end());
    }
    if (is_loop) loops[first].merge(body);
  }
  return loops;
}

// Empty for instructions that are never executed: nvcc puts "@!PT LDS RZ, [RZ]" before cp.async.
std::string class_of(const Instruction& instruction) {
  return instruction.guard == "@!PT" ? "" : instruction_class(instruction.opcode, instruction.operands);
}

void count_access(const Instruction& instruction, const std::string& name, LineInstructions& lines) {
  if (instruction.line > 0 && is_line_counted(name)) ++lines[instruction.line][name];
}

// Multiply-adds of a lane. One Tensor Core instruction is at least some 32.
int work_of(const Instruction& instruction) {
  const std::string name = class_of(instruction);
  const std::string_view base = std::string_view(name).substr(0, name.find('.'));
  return is_tensor_opcode(base) ? 32 : multiply_adds_of(base);
}

// The innermost loop with the most work. A loop in it may have a little: that for the last rows of 13c multiplies by beta.
std::optional<HotLoop> hottest_loop(const Function& function) {
  const std::map<int, Body> loops = find_loops(function);
  std::map<int, int> work;
  for (const auto& [first, body] : loops) {
    for (const int i : body) work[first] += work_of(function.code[i]);
  }
  const Body* hottest = nullptr;
  int most = 0;
  for (const auto& [first, body] : loops) {
    const bool is_innermost = std::ranges::none_of(loops, [&, first = first, &body = body](const auto& other) {
      return other.first != first && body.contains(other.first) && 8 * work[other.first] >= work[first];
    });
    if (!is_innermost || work[first] <= most) continue;
    most = work[first];
    hottest = &body;
  }
  if (!hottest) return {};
  HotLoop loop;
  loop.instructions = static_cast<int>(hottest->size());
  int most_of_a_line = 0;
  std::map<int, int> work_of_line;
  for (const int i : *hottest) {
    const Instruction& instruction = function.code[i];
    loop.code.push_back(fmt::format("{} {}", instruction.opcode, instruction.operands));
    const std::string name = class_of(instruction);
    if (name.empty()) continue;
    ++loop.counts[name];
    count_access(instruction, name, loop.lines);
    const int of_line = work_of_line[instruction.line] += work_of(instruction);
    if (of_line > most_of_a_line) {
      most_of_a_line = of_line;
      loop.line = instruction.line;
    }
  }
  return loop;
}

// Without the branch to itself and the NOPs that nvcc puts behind each function.
int instructions_of(const Function& function) {
  auto end = function.code.end();
  while (end != function.code.begin() && std::prev(end)->opcode == "NOP") --end;
  if (end != function.code.begin() && std::prev(end)->is_branch() && !std::prev(end)->falls_through()) --end;
  return static_cast<int>(end - function.code.begin());
}

// Sums n * weight(name before the first point).
template <class Weight>
int sum_of(const InstructionCounts& counts, Weight weight) {
  int sum = 0;
  for (const auto& [name, n] : counts) sum += n * weight(std::string_view(name).substr(0, name.find('.')));
  return sum;
}

}  // namespace

std::string instruction_class(std::string_view opcode, std::string_view operands) {
  const std::vector<std::string_view> words = split(opcode, '.');
  const std::string base(words[0]);
  // On a lane's two halves at once; with zeros for factors it is how nvcc loads a constant.
  if (base == "HFMA2") return operands.find("RZ, RZ") == std::string_view::npos ? base : "";
  if (is_tensor_opcode(base)) return std::string(opcode);
  if (base == "LDSM" || base == "STSM") {
    return base + (words.back() == "4" ? ".x4" : words.back() == "2" ? ".x2" : ".x1");
  }
  if (is_one_of(base, {"LDS", "STS", "LDG", "STG", "LDGSTS", "LD", "ST", "LDL", "STL"})) {
    for (const std::string_view word : std::vector<std::string_view>(words.begin() + 1, words.end())) {
      if (is_one_of(word, {"64", "128", "256"})) return fmt::format("{}.{}", base, word);
      if (is_one_of(word, {"U8", "S8"})) return base + ".8";
      if (is_one_of(word, {"U16", "S16"})) return base + ".16";
    }
    return base + ".32";
  }
  const bool is_counted = is_one_of(base, {"FFMA", "FFMA2", "DFMA", "BAR", "RED", "ATOM", "ATOMG", "ATOMS"}) ||
                          base.starts_with("UTMA") || base.starts_with("UBLKCP");
  return is_counted ? base : "";
}

int HotLoop::multiply_adds() const {
  return sum_of(counts, multiply_adds_of);
}

int HotLoop::tensor_instructions() const {
  return sum_of(counts, is_tensor_opcode);
}

int HotLoop::shared_loads() const {
  return sum_of(counts, [](std::string_view base) { return is_one_of(base, {"LDS", "LDSM"}); });
}

int HotLoop::global_loads() const {
  return sum_of(counts, [](std::string_view base) { return is_one_of(base, {"LDG", "LDGSTS"}); });
}

double HotLoop::per_fma(int instructions) const {
  const int tensor = tensor_instructions(), work = tensor > 0 ? tensor : multiply_adds();
  return work > 0 ? static_cast<double>(instructions) / work : 0.0;
}

std::map<std::string, MachineCode> parse_sass(std::string_view text, std::string_view source) {
  std::map<std::string, MachineCode> result;
  for (const auto& [symbol, function] : parse_functions(text, source)) {
    MachineCode& code = result[symbol];
    code.instructions = instructions_of(function);
    code.loop = hottest_loop(function);
    for (const Instruction& instruction : function.code) count_access(instruction, class_of(instruction), code.lines);
  }
  return result;
}

}  // namespace gemm
