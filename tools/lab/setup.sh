# What ./lab finds on a machine, and installs.

has_driver() { [[ -e /dev/nvidiactl || -e /proc/driver/nvidia/version ]] || { command -v nvidia-smi > /dev/null && nvidia-smi -L > /dev/null 2>&1; }; }

find_nvcc() {
  if [[ -n ${CUDACXX:-} ]]; then
    command -v "$CUDACXX" || die "CUDACXX is '$CUDACXX', which can't be run"
  elif command -v nvcc; then
    :
  elif [[ -x /usr/local/cuda/bin/nvcc ]]; then
    echo /usr/local/cuda/bin/nvcc
  elif [[ -f $local_dir/cuda-wheels/installed ]]; then
    echo "$local_dir/cuda-wheels/cuda/bin/nvcc"
  fi
}

# ---- set-up

packages=(g++ cmake ninja-build git python3 libcli11-dev nlohmann-json3-dev libfmt-dev libgtest-dev libbenchmark-dev)

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2> /dev/null) == *" installed" ]] || echo "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query > /dev/null; then
    say "this is no Debian or Ubuntu: install what they call ${packages[*]} by hand if the build misses it"
    return
  fi
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  local command="apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo > /dev/null || die "these packages are missing and there is no sudo; as root: $command"
    as_root=(sudo)
    say "packages are missing: sudo $command"
    # Nobody there to be asked is no consent, but in CI.
    if [[ -z $yes && -z ${CI:-} ]]; then
      [[ -t 0 && -t 2 ]] || die "run this first, or lab with --yes: sudo $command"
      local answer
      read -r -p "lab: run this? [y/N] " answer
      [[ $answer == [yY]* ]] || die "not installed; without these packages nothing can be built"
    fi
  else
    say "installing: $command"
  fi
  # A fresh container has no package lists.
  "${as_root[@]}" apt-get update -qq || die "apt-get update failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null ||
    die "apt-get could not install ${missing[*]}"
}

# set_up_python FILE: what this file of requirements asks of PyPI, into .lab/python. Nothing is fetched if it is there. Fails if
# it can't be had; then .lab/pip.log says why.
set_up_python() {
  local python=$local_dir/python/bin/python
  local pip=("$python" -m pip --disable-pip-version-check install --quiet -r "$1")
  "${pip[@]}" --no-index 2> /dev/null && return
  say "fetching what ${1#"$root"/} lists from PyPI into .lab/python"
  if ! "$python" -c '' 2> /dev/null; then
    install_packages python3-venv
    { rm -rf "$local_dir/python" && python3 -m venv "$local_dir/python"; } >&2 || return
  fi
  "${pip[@]}" > "$local_dir/pip.log" 2>&1
}

set_up_yaml() {
  python3 -c 'import yaml' 2> /dev/null || set_up_python "$root/tools/course/requirements.txt" ||
    die "can't fetch PyYAML from PyPI, which rubrics need: .lab/pip.log"
}

# For tests of grading: what submissions are kept apart with, where apt has it and nobody need be asked.
set_up_sandbox() {
  if ! command -v bwrap > /dev/null && [[ $EUID == 0 || -n $yes || -n ${CI:-} ]] && apt-cache show bubblewrap > /dev/null 2>&1; then
    (install_packages bubblewrap) || true
  fi
  command -v bwrap > /dev/null || say "no bubblewrap: tests of grading are skipped"
  (set_up_yaml) || true
}

# For tests of what is read in a browser: Debian's Chromium, where apt has it and nobody need be asked.
set_up_browser() {
  if command -v chromium > /dev/null || command -v chromium-browser > /dev/null; then return; fi
  if [[ $EUID == 0 || -n $yes || -n ${CI:-} ]] && apt-cache show chromium > /dev/null 2>&1; then
    # Apart, because no browser is no reason to end.
    (install_packages chromium) || true
  fi
  command -v chromium > /dev/null || say "no chromium: tests of what is read in a browser are skipped"
}

# For the Python package of the libraries, which is built where there is an nvcc. Without them its test is skipped, and says so.
set_up_python_headers() {
  [[ -n $(find_nvcc) ]] || return 0
  [[ ! -e $(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h ]] || return 0
  [[ $EUID != 0 && -z $yes && -z ${CI:-} ]] || (install_packages python3-dev) || true
}

set_up_cuda() {
  local nvcc
  nvcc=$(find_nvcc)
  if [[ -z $nvcc ]]; then
    say "no nvcc here: fetching nvcc, NVRTC and cuBLAS from PyPI into .lab/ (0.6 GB, once)"
    install_packages python3-venv
    source "$root/tools/cuda_wheels.sh"
    install_cuda_wheels "$local_dir/cuda-wheels" >&2 || die "could not install CUDA from PyPI"
    nvcc=$local_dir/cuda-wheels/cuda/bin/nvcc
  fi
  export CUDACXX=$nvcc
  export CUDAToolkit_ROOT=${nvcc%/bin/*}
}
