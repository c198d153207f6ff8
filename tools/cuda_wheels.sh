# Sourced by ./lab. Puts nvcc, NVRTC, the CUDA runtime and cuBLAS of CUDA 13.0 Update 2 below DIR from PyPI, with the toolkit's root
# at DIR/cuda. Needs python3 with venv and a host g++; 0.6 GB to download, 1.1 GB on disk. DIR must hold no spaces (CMake
# 3.25's CUDA link lines break on them).
install_cuda_wheels() {
  local dir=$1 library
  local pins=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
              nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-cuda-nvrtc==13.0.88 nvidia-cublas==13.1.0.3
              nvidia-cuda-nvdisasm==13.2.51) # the oldest on PyPI; it reads the cubins of 13.0

  # The stamp is written last and names the pins: without it, or with other pins, everything is done afresh.
  [[ -f $dir/installed && $(<"$dir/installed") == "${pins[*]}" ]] && return 0
  rm -rf "$dir/installed" "$dir/venv" && mkdir -p "$dir" && python3 -m venv "$dir/venv" || return

  # --no-deps: nvcc asks for its companions without a version, so only this list keeps them to one release.
  "$dir/venv/bin/python" -m pip install --no-deps --only-binary=:all: "${pins[@]}" || return

  (
    # Relative links throughout, so that DIR may move. DIR/cuda hides the Python version in the path.
    cd "$dir" && ln -sfn venv/lib/python3*/site-packages/nvidia/cu13 cuda && cd cuda || exit
    ln -sfn lib lib64 # nvcc.profile and CMake look in lib64; the wheels ship lib
    for library in cublas cublasLt cudart; do
      # Wheels can't hold links, so the linker's names are missing. CMake takes libcudart.so as proof of a toolkit, even
      # where the runtime is linked statically.
      ln -sfn "lib$library.so.13" "lib/lib$library.so" || exit
    done
    bin/nvcc --version > /dev/null
  ) || return
  printf '%s' "${pins[*]}" > "$dir/installed"
}
