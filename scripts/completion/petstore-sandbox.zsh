#compdef petstore-sandbox npx
# Completion of petstore-sandbox, and of npx petstore-sandbox, in Zsh: source it, or save it as _petstore-sandbox in a folder of $fpath.

@FIND@

_petstore-sandbox() {
  local first=2 found flags files
  if [[ $service == npx ]]; then
    while [[ $words[first] == -* ]]; do first=$((first + 1)); done
    if [[ $words[first] != petstore-sandbox ]] || ((first >= CURRENT)); then
      _default
      return
    fi
    first=$((first + 1))
  fi
  local -a before=("${(@Q)words[first,CURRENT-1]}")
  if [[ $PREFIX == --*=* ]]; then
    before+=("${PREFIX%%=*}")
    compset -P '*='
  fi
  _petstore_sandbox_find "${before[@]}"
  if [[ $PREFIX == -* || -z $found$files ]]; then found=$flags; fi
  local -a lines=("${(@f)found}")
  if [[ -n $found ]]; then _describe -t values petstore-sandbox lines; fi
  if [[ -n $files ]]; then _files; fi
}

if [[ $funcstack[1] == _petstore-sandbox ]]; then
  _petstore-sandbox "$@"
else
  compdef _petstore-sandbox petstore-sandbox
  (($+_comps[npx])) || compdef _petstore-sandbox npx
fi
