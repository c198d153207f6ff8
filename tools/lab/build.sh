# How ./lab builds, and what it says of what does not compile.

# A build belongs to the folder that it was made in: in a copied or moved one its programs would be those of the old.
discard_foreign_build() { # PRESET
  local cache=$root/build/$1/CMakeCache.txt home
  [[ -f $cache ]] || return 0
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  [[ $home -ef $root ]] && return 0
  say "build/$1 was made for another folder: building anew"
  rm -rf "${root:?}/build/$1"
}

# cmake_build PRESET LOG TARGET...: goes on behind errors, so that one broken stage stops no other. On a terminal ninja shows its
# progress, or says in one line that there is nothing to do.
cmake_build() {
  local preset=$1 log=$2
  shift 2
  local command=(cmake --build --preset "$preset" --target "$@" -- -k 0) status=0
  if [[ -t 2 ]]; then
    (cd "$root" && "${command[@]}") 2>&1 | tee "$log" >&2 || status=$?
  else
    (cd "$root" && "${command[@]}") > "$log" 2>&1 || status=$?
  fi
  note_warnings "$preset" "$log"
  return "$status"
}

# note_warnings PRESET LOG: keeps what the compiler says of stages' own files, by stage. Adds these stages to $warned.
note_warnings() {
  local folder=$root/build/$1/warnings
  mkdir -p "$folder"
  mapfile -t -O "${#warned[@]}" warned < <(awk -v folder="$folder" '
    # In a header, what has come there: the place in the stage is told above the warning, innermost first.
    / inlined from .* at / { if (place == "" && match($0, of_stage)) place = substr($0, RSTART + 1); next }
    / warning[: ]/ {
      line = ""
      if (match($0, of_stage)) line = substr($0, RSTART + 1)
      else if (match(place, /^[^:]*:[0-9]+/)) line = substr(place, 1, RLENGTH) substr($0, index($0, ": warning"))
      if (line != "" && !(line in seen)) {
        seen[line]
        stage = line; sub(/\.cu[:(].*/, "", stage); sub(/^stages/, "sgemm", stage); sub("/", "_", stage)
        if (!(stage in stages)) print stage
        stages[stage]
        print line > (folder "/" stage)
      }
      place = ""
    }' of_stage='/(stages|tsm|tensorcore)/[0-9][0-9][a-z]?_[A-Za-z0-9_]+[.]cu[:(]' "$2")
}

# show_warnings PRESET STAGE...: what the compiler said when it last compiled these, or in the build that has just ended. On a
# terminal the latter stands there already.
show_warnings() {
  local preset=$1 stage file object line
  shift
  for stage in $(printf '%s\n' "$@" "${warned[@]}" | sort -u); do
    file=$root/build/$preset/warnings/$stage
    # One that does not compile has an error, from which many warnings follow.
    [[ -f $file && " ${broken[*]%%$'\t'*} " != *" $stage "* ]] || continue
    object=${stage/#sgemm_/stages_}
    object=$root/build/$preset/${object%%_*}/CMakeFiles/stage_$stage.dir/${object#*_}.cu.o
    if [[ " ${warned[*]} " == *" $stage "* ]]; then
      [[ ! -t 2 ]] || continue
    elif [[ ! $file -nt $object || ! -f $object ]]; then
      continue
    fi
    while IFS= read -r line; do say "$line"; done < "$file"
  done
}

# broken_stages LOG: FAMILY_NN_name of each stage that did not compile, and its first error. Fails if anything else did not.
broken_stages() {
  awk '
    /^FAILED: / {
      object = $0; sub(/^FAILED: (\[[^]]*\] )?/, "", object)
      stage = ""
      if (match(object, /CMakeFiles\/stage_[A-Za-z0-9_]+\.dir\//)) stage = substr(object, RSTART + 17, RLENGTH - 22)
      else other = 1
      next
    }
    stage != "" && /error: / { print stage "\t" $0; stage = ""; found = 1 }
    END { exit other || !found }' "$1"
}

# build PRESET [TARGET...]: builds these, or all. Sets $bin, the folder with the programs, and $broken, the stages that do not
# compile, as lines of broken_stages(): a target that needs all stages is built without them.
build() {
  local preset=$1 log=$root/build/$1/lab.log
  shift
  local targets=("${@:-all}")
  install_packages "${packages[@]}"
  [[ $preset == cpu || $preset == sanitize ]] || set_up_cuda
  note_names
  discard_foreign_build "$preset"
  { mkdir -p "$root/build/$preset" && : > "$root/build/$preset/lab.lock"; } 2> /dev/null ||
    die "can't write to build/$preset: copy this folder to where you may write, or name programs that are built: --prebuilt DIR"
  # One at a time, until this shell has built or ends.
  local lock
  exec {lock}> "$root/build/$preset/lab.lock"
  if command -v flock > /dev/null && ! flock --nonblock "$lock"; then
    say "another ./lab is building build/$preset: waiting for it"
    flock "$lock"
  fi
  bin=$root/build/$preset/bin
  broken=()
  warned=()
  local start=$SECONDS
  if [[ ! -f $root/build/$preset/build.ninja ]]; then
    say "configuring build/$preset"
    local options=()
    # Where nothing can be timed, what matters is that it compiles: two thirds of the time, and such a build refuses to time.
    # -O1, because some warnings come from optimising.
    [[ $preset != ci ]] || has_driver || options=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 "-DCMAKE_CUDA_FLAGS_DEBUG=-O0 -Xptxas=-O0")
    [[ -z $architectures ]] || options+=("-DCMAKE_CUDA_ARCHITECTURES=$architectures")
    (cd "$root" && cmake --preset "$preset" "${options[@]}") > "$log" 2>&1 || { tail -n 30 "$log" >&2; die "configuring failed: build/$preset/lab.log"; }
  fi
  # What was left out last time may be whole again.
  grep -q '^GEMM_BROKEN:.*=.' "$root/build/$preset/CMakeCache.txt" && (cd "$root" && cmake --preset "$preset" -DGEMM_BROKEN= > /dev/null)
  [[ -t 2 || -x $bin/ladder ]] || say "building build/$preset"
  if ! cmake_build "$preset" "$log" "${targets[@]}"; then
    if grep -qE '^ninja: error: (loading|build\.ninja)|^Error: could not load cache|CMakeCache.txt.* (corrupt|differ)' "$log"; then
      say "build/$preset is damaged: building anew"
      rm -rf "${root:?}/build/$preset"
      exec {lock}>&-
      build "$preset" "${targets[@]}"
      return
    fi
    mapfile -t broken < <(broken_stages "$log" | sort -u)
    broken_stages "$log" > /dev/null && [[ ! " ${targets[*]} " =~ " "(all|quick)" " && ${#broken[@]} -gt 0 ]] ||
      { [[ -t 2 ]] || tail -n 40 "$log" >&2; die "the build failed: build/$preset/lab.log"; }
    local stage
    for stage in "${broken[@]}"; do say "${stage%%$'\t'*} does not compile, and is left out: ${stage#*$'\t'}"; done
    if [[ ${targets[*]} =~ (^| )(gemm|bench)( |$) ]]; then
      local names=("${broken[@]%%$'\t'*}")
      (cd "$root" && cmake --preset "$preset" "-DGEMM_BROKEN=$(IFS=';'; echo "${names[*]}")" > /dev/null)
      cmake_build "$preset" "$log" "${targets[@]}" || { tail -n 40 "$log" >&2; die "the build failed: build/$preset/lab.log"; }
    fi
  fi
  exec {lock}>&-
  show_warnings "$preset" "${targets[@]}"
  ((SECONDS - start < 5)) || say "built build/$preset in $((SECONDS - start)) s"
}

# Where a carried build finds cuBLAS: the loader's own places, else a toolkit or the wheels of this machine's Python.
find_libraries() {
  local program=$1 folder
  ldd "$program" 2> /dev/null | grep -q 'libcublas.*not found' || return 0
  for folder in /usr/local/cuda*/lib64 "$(python3 -c 'import nvidia.cu13, os; print(os.path.join(list(nvidia.cu13.__path__)[0], "lib"))' 2> /dev/null)"; do
    if [[ -e $folder/libcublas.so.13 ]]; then
      export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
      return
    fi
  done
  die "no libcublas.so.13 on this machine: install cuBLAS 13, or add its folder to LD_LIBRARY_PATH"
}
