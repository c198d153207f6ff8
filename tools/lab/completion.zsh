# For zsh: eval "$(./lab completion zsh)"
autoload -Uz compinit bashcompinit && compinit && bashcompinit
_lab() {
  local root words
  root=$(cd "$(dirname "${COMP_WORDS[1]}")" 2> /dev/null && pwd) || return
  if ((COMP_CWORD == 1)); then
    words=$(sed -n '/^commands=(/,/)/{s/commands=(//;s/)//;p}' "$root/tools/lab/usage.sh")
  else
    case ${COMP_WORDS[2]} in
      run | check | diff | compare | show | map | mutate)
        words=$(cd "$root" && print -l stages/[0-9][0-9]*_*.cu tsm/[0-9][0-9]*_*.cu tensorcore/[0-9][0-9]*_*.cu |
          sed 's/\.cu$//;s/^stages\///')
        ;;
      *) return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD + 1]}"))
}
complete -o default -F _lab lab ./lab
