# Completion of petstore-sandbox, and of npx petstore-sandbox, in Bash 3.2 (macOS) or newer.

@FIND@

_petstore_sandbox() {
  local typed="${COMP_WORDS[COMP_CWORD]}" first=1 found flags files line prefix=''
  if [[ ${COMP_WORDS[0]##*/} == npx ]]; then
    while [[ ${COMP_WORDS[first]} == -* ]]; do first=$((first + 1)); done
    [[ ${COMP_WORDS[first]} == petstore-sandbox && $first -lt $COMP_CWORD ]] || return 0
    first=$((first + 1))
  fi
  local -a before=("${COMP_WORDS[@]:first:COMP_CWORD-first}")
  # Bash splits words at =, unless COMP_WORDBREAKS is changed, as by the completion of npm.
  if [[ $typed == --*=* ]]; then
    prefix="${typed%%=*}="
    before+=("${typed%%=*}")
    typed="${typed#*=}"
  elif [[ $typed == '=' ]]; then
    typed=''
  fi
  _petstore_sandbox_find "${before[@]}"
  if [[ $typed == -* || -z $found$files ]]; then found=$flags; fi
  COMPREPLY=()
  while IFS= read -r line; do
    line="${line%%:*}"
    if [[ -n $line && $line == "$typed"* ]]; then COMPREPLY+=("$prefix$line"); fi
  done <<<"$found"
}

# Without a match, Bash completes file names.
complete -o bashdefault -o default -F _petstore_sandbox petstore-sandbox
complete -p npx &>/dev/null || complete -o bashdefault -o default -F _petstore_sandbox npx
