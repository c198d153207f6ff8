# For zsh: eval "$(./lab completion zsh)"
(($+functions[compdef])) || { autoload -Uz compinit && compinit }
_lab() {
  local lab=${(Q)~words[1]} root
  root=${${commands[$lab]:-$lab}:A:h}
  local -a known
  if ((CURRENT == 2)); then
    known=($(sed -n '/^commands=(/,/)/{s/commands=(//;s/)//;p}' "$root/tools/lab/usage.sh" 2> /dev/null))
  else
    case $words[2] in
      run | check | diff | compare | show | map | mutate | slides | trace)
        known=($root/(stages|tsm|tensorcore)/[0-9][0-9]*_*.cu(N:r))
        known=(${${known#$root/}#stages/})
        ;;
      exercise) known=($(sed -n 's/^\["\(.*\)"\]$/\1/p' "$root/docs/exercises.toml")) ;;
    esac
  fi
  compadd -a known || _files
}
compdef _lab lab
