#include "tests/executor/defects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "common/simt/code/source_lines.hpp"

namespace gemm {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Whether what the party is said to do is what the mark says.
bool does(const simt::Party& party, const std::string& mark) {
  const std::string& action = party.action;
  if (mark.starts_with("READ")) return contains(action, "read");
  if (mark.starts_with("WRITE")) return contains(action, "write");
  if (mark.starts_with("ATOMIC")) return contains(action, "update") || contains(action, "write");
  if (mark.starts_with("COPY")) return contains(action, "copy") || contains(action, "write");
  if (mark.starts_with("WAIT")) return contains(action, "wait");
  return !action.empty();
}

unsigned linear(const uint3& place, const dim3& extent) {
  return (place.z * extent.y + place.y) * extent.x + place.x;
}

}  // namespace

int Findings::line_of(const std::string& mark) const {
  std::ifstream source(file_);
  bool inside = false;
  std::string text;
  for (int line = 1; std::getline(source, text); ++line) {
    if (contains(text, "__global__") && contains(text, " " + kernel_ + "(")) inside = true;
    if (inside && (text.ends_with("// " + mark))) return line;
    if (inside && text == "}") break;
  }
  ADD_FAILURE() << "no line of " << kernel_ << " is marked " << mark;
  return 0;
}

void Findings::check_place(const simt::Party& party, const simt::KernelObservation& launch) const {
  const auto within = [](const uint3& place, const dim3& extent) {
    return place.x < extent.x && place.y < extent.y && place.z < extent.z;
  };
  EXPECT_TRUE(within(party.block, launch.grid)) << text();
  EXPECT_TRUE(within(party.thread, launch.block)) << text();
}

void Findings::expect(DefectKind kind, const std::vector<std::string>& marks, const Demands& demands) const {
  SCOPED_TRACE(kernel_);
  ASSERT_EQ(result_.kernels.size(), 1u) << status_.reason;
  const simt::KernelObservation& launch = result_.kernels[0];
  bool found = false;
  for (const simt::Defect& defect : result_.defects) {
    EXPECT_TRUE(contains(defect.kernel, kernel_)) << defect.text();
    if (defect.kind != kind) {
      EXPECT_TRUE(std::ranges::count(demands.also, defect.kind)) << "not expected: " << defect.text();
      continue;
    }
    found = true;
    std::vector<simt::Party> parties = {defect.one};
    if (defect.other.known) parties.push_back(defect.other);
    ASSERT_TRUE(defect.one.known) << defect.text();
    ASSERT_EQ(parties.size(), marks.size()) << defect.text();
    const auto agrees = [&](const simt::Party& party, const std::string& mark) {
      const simt::SourceLine line = simt::source_line(party.pc);
      return file_.ends_with("/" + line.file) && line.line == line_of(mark) && does(party, mark);
    };
    bool matches = agrees(parties[0], marks[0]) && (marks.size() == 1 || agrees(parties[1], marks[1]));
    if (marks.size() == 2) matches |= agrees(parties[0], marks[1]) && agrees(parties[1], marks[0]);
    EXPECT_TRUE(matches) << "other lines, or other actions, than those marked: " << defect.text();

    for (const simt::Party& party : parties) check_place(party, launch);
    if (parties.size() < 2) continue;
    const unsigned one = linear(parties[0].thread, launch.block), other = linear(parties[1].thread, launch.block);
    const bool two_blocks = linear(parties[0].block, launch.grid) != linear(parties[1].block, launch.grid);
    EXPECT_EQ(two_blocks, demands.two_blocks) << defect.text();
    if (!two_blocks) {
      EXPECT_NE(one, other) << "a thread can't be in its own way: " << defect.text();
    }
    if (demands.same_warp) {
      EXPECT_EQ(one / 32, other / 32) << defect.text();
    }
  }
  EXPECT_TRUE(found) << "not noticed; reported was:\n" << text();
}

void Findings::expect_silence(const std::vector<DefectKind>& warnings) const {
  SCOPED_TRACE(kernel_);
  EXPECT_TRUE(status_) << status_.reason;
  for (const simt::Defect& defect : result_.defects) {
    EXPECT_TRUE(std::ranges::count(warnings, defect.kind)) << "nothing is wrong here, but: " << defect.text();
  }
  for (const DefectKind warning : warnings) {
    EXPECT_TRUE(std::ranges::count(result_.defects, warning, &simt::Defect::kind)) << "no warning; reported was:\n"
                                                                                   << text();
  }
}

void Findings::expect_refusal(const std::string& words) const {
  SCOPED_TRACE(kernel_);
  EXPECT_FALSE(status_);
  ASSERT_EQ(result_.defects.size(), 1u) << text();
  EXPECT_EQ(result_.defects[0].kind, DefectKind::launch_limit);
  EXPECT_TRUE(contains(result_.defects[0].kernel, kernel_)) << text();
  EXPECT_TRUE(contains(result_.defects[0].where, words)) << text();
}

std::string Findings::text() const {
  std::string text;
  for (const simt::Defect& defect : result_.defects) text += defect.text() + "\n";
  return text.empty() ? "nothing" : text;
}

}  // namespace gemm
