# For bash: eval "$(./lab completion bash)"
_lab() {
  local lab=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} root words
  root=$(cd "$(dirname "$(command -v "$lab")")" 2> /dev/null && pwd) || return
  if ((COMP_CWORD == 1)); then
    words=$(sed -n '/^commands=(/,/)/{s/commands=(//;s/)//;p}' "$root/tools/lab/usage.sh")
  else
    case ${COMP_WORDS[1]} in
      run | check | diff | compare | show | map | mutate | slides | trace)
        words=$(cd "$root" && printf '%s\n' stages/[0-9][0-9]*_*.cu tsm/[0-9][0-9]*_*.cu tensorcore/[0-9][0-9]*_*.cu |
          sed 's/\.cu$//;s/^stages\///')
        ;;
      exercise) words=$(sed -n 's/^\["\(.*\)"\]$/\1/p' "$root/docs/exercises.toml") ;;
      *) return ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _lab lab ./lab
