#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the autograder's image: packages, and the grader's two programs.
# README.md says what lies beside it. With --check it only looks at that.
set -euo pipefail
cd "${AUTOGRADER_ROOT:-/autograder}/source"

die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

[[ -s secret ]] || die "no file 'secret': hidden problems would be the same for everybody who has this repository"
chmod 600 secret
[[ -s assignment ]] || die "no file 'assignment', which names what is graded: sgemm/01_coalesce"
read -r id _ < assignment || true # a last line may lack its end
[[ -x repository/lab ]] || die "no folder 'repository'"
[[ -f repository/course/$id/rubric.yaml ]] || die "the repository has no assignment '$id'"
[[ ${1:-} != --check ]] || exit 0

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-yaml bubblewrap cmake
IFS='. ' read -r _ _ major minor _ < <(cmake --version)
((major > 3 || minor >= 25)) || die "CMake $major.$minor is too old: take Ubuntu 24.04 or Debian 12 as the base image"
# The skeleton is the teacher's, so it needs no sandbox; an image that can't grade it is not made.
repository/lab grade --yes --trusted "$id" "repository/course/$id/skeleton"
chmod -R go+rX repository # for the user that run_autograder grades as, if it is to trust
