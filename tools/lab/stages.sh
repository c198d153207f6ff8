# Which stages there are, by the names that people type.

readonly stage_name='^[0-9][0-9][a-z]?_[A-Za-z0-9_]+$'

# files_of FOLDER: into files[], those that are named as stages are.
files_of() {
  local file name
  files=()
  for file in "$root/$1"/[0-9][0-9]*.cu; do
    name=${file##*/}
    [[ ${name%.cu} =~ $stage_name ]] && files+=("$file")
  done
  return 0
}

# stages_named NAME: into found[], "PROGRAM FILE" of each stage with this number or name or, if there is none, with it as a part of
# its name. FAMILY/NAME means that family's; without it a number means sgemm's, and a part of a name any family's.
stages_named() {
  local families=(sgemm) name=${1%%:*} family folder file stem files close=()
  found=()
  case $name in
    */*)
      families=("${name%%/*}")
      name=${name#*/}
      ;;
    [!0-9]*) families=(sgemm tsm tensorcore) ;;
  esac
  [[ $name =~ ^[A-Za-z0-9_]+$ ]] || return 0
  for family in "${families[@]}"; do
    [[ $family =~ ^(sgemm|tsm|tensorcore)$ ]] || return 0
    folder=${family/sgemm/stages}
    files_of "$folder"
    for file in "${files[@]}"; do
      stem=$(basename "$file" .cu)
      if [[ $stem == "$name" || ${stem%%_*} == "$name" ]]; then
        found+=("${family}_$stem $file")
      elif [[ ${stem#*_} == *"$name"* && $name == *[A-Za-z]* ]]; then
        close+=("${family}_$stem $file")
      fi
    done
  done
  ((${#found[@]})) || found=("${close[@]}")
}

# stage_of NAME: sets $stage to the program and the file of the one stage that this means. Ends lab if there is not one.
stage_of() {
  local found names near
  stages_named "$1"
  if ((${#found[@]} == 1)); then
    stage=${found[0]}
    return
  fi
  if ((${#found[@]} > 1)); then
    names=("${found[@]%% *}")
    names=("${names[@]/_//}")
    ((${#names[@]} <= 6)) || names=("${names[@]:0:6}" "${#found[@]} in all")
    die "'$1' may mean $(IFS=,; echo "${names[*]}" | sed 's/,/, /g')"
  fi
  near=$(all_stages | suggest "${1%%:*}")
  die "no stage '${1:0:60}'${near:+, but there is $near}; './lab list' shows them all"
}

# Each stage's FAMILY/NN_name on a line.
all_stages() {
  local family file files
  for family in sgemm tsm tensorcore; do
    files_of "${family/sgemm/stages}"
    for file in "${files[@]}"; do echo "$family/$(basename "$file" .cu)"; done
  done
}

# suggest WORD: of the words on standard input the one that WORD is nearly, if there is one.
suggest() { "${python[@]}" tools.lab.suggest "$1" 2> /dev/null || true; }

# family_programs FAMILY: adds to words[] the program of each of its stages.
family_programs() {
  local file files
  files_of "${1/sgemm/stages}"
  for file in "${files[@]}"; do
    grep -q '^const gemm::ProbeRegistration' "$file" || words+=("$1_$(basename "$file" .cu)")
  done
}

# What looks like a stage and is none, and what has another one's number: a line each.
note_names() {
  local folder file name number files
  local -A first
  for folder in stages tsm tensorcore; do
    for file in "$root/$folder"/*.cu; do
      name=${file##*/}
      [[ -f $file && ! ${name%.cu} =~ $stage_name ]] || continue
      # Elsewhere files without a number are libraries' parts.
      [[ $folder == stages || $name == [0-9]* ]] || continue
      say "$folder/$name is left out: a stage's file is called NN_name.cu, two digits, perhaps a letter, and a name, such as 90_mine.cu"
    done
    first=()
    files_of "$folder"
    for file in "${files[@]}"; do
      name=${file##*/}
      number=${name%%_*}
      [[ -z ${first[$number]:-} ]] ||
        say "$folder/${first[$number]} and $folder/$name have one number: call them by their names, $(basename "$name" .cu)"
      first[$number]=$name
    done
  done
}
