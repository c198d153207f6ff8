#include "common/simt/observe/findings.hpp"

#include <fmt/format.h>

#include "common/simt/code/source_lines.hpp"

namespace simt {

const char* title(DefectKind kind) {
  switch (kind) {
    case DefectKind::shared_race:
      return "data race in shared memory";
    case DefectKind::global_race:
      return "data race in global memory";
    case DefectKind::out_of_bounds:
      return "out of bounds";
    case DefectKind::misaligned:
      return "misaligned access";
    case DefectKind::host_memory:
      return "not device memory";
    case DefectKind::uninitialised_shared:
      return "uninitialised shared memory";
    case DefectKind::uninitialised_global:
      return "uninitialised global memory";
    case DefectKind::divergent_barrier:
      return "divergent barrier";
    case DefectKind::deadlock:
      return "deadlock";
    case DefectKind::bad_mask:
      return "wrong mask";
    case DefectKind::launch_limit:
      return "launch beyond a limit";
    case DefectKind::host_access:
      return "the host can't access device memory";
    case DefectKind::not_waited:
      return "used before it was waited for";
    case DefectKind::stream_race:
      return "data race between streams";
    case DefectKind::default_stream:
      return "wrong stream";
    case DefectKind::copy_direction:
      return "wrong copy direction";
    case DefectKind::bad_copy:
      return "copy out of bounds";
    case DefectKind::bad_free:
      return "wrong free";
    case DefectKind::ignored_error:
      return "error that nobody asked for";
    case DefectKind::leak:
      return "warning: never freed";
    case DefectKind::half_block_barrier:
      return "warning: part of the block waits at another barrier";
    case DefectKind::unwritten_update:
      return "warning: atomic operation on uninitialised global memory";
    case DefectKind::wide_shift:
      return "warning: shift by all bits of a number or more";
    case DefectKind::barrier_after_exit:
      return "warning: barrier after some threads of the warp have ended";
  }
  return "?";
}

namespace {

std::string text_of(const Party& party) {
  if (!party.who.empty() && party.pc == 0) return fmt::format("{} {}", party.who, party.action);
  if (!party.who.empty()) return fmt::format("{} {} at {}", party.who, party.action, place_text(party.pc));
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {}) {} at {}", party.thread.x, party.thread.y,
                     party.thread.z, party.block.x, party.block.y, party.block.z, party.action, place_text(party.pc));
}

}  // namespace

bool is_warning(DefectKind kind) {
  return kind == DefectKind::half_block_barrier || kind == DefectKind::barrier_after_exit ||
         kind == DefectKind::unwritten_update || kind == DefectKind::wide_shift || kind == DefectKind::leak;
}

std::string Defect::text() const {
  std::string text = title(kind);
  if (!kernel.empty()) text += " in " + kernel;
  if (!where.empty()) text += fmt::format(", {}", where);
  if (one.known) text += ": " + text_of(one);
  if (other.known) text += ", " + text_of(other);
  return text;
}

}  // namespace simt
