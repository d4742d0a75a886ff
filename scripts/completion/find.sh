# Sets `found` and `flags` to what may follow the given words, a line each: word:description. Sets `files` where a path may.
_petstore_sandbox_find() {
  local at='' flag='' count=0 word
  found='' flags='' files=''
  for word in "$@"; do
    if [[ $word == '=' ]]; then
      :
    elif [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* && $word != -- ]]; then
      case "$at $word" in
        @FLAGS_WITH_VALUE@) flag=$word ;;
      esac
    else
      case "$at $word" in
        @COMMANDS@)
          at="$at $word"
          count=0
          ;;
        @RUNNERS@)
          files=1
          return
          ;;
        *) count=$((count + 1)) ;;
      esac
    fi
  done
  if [[ -n $flag ]]; then
    case "$at $flag" in
@VALUES@
    esac
    return
  fi
  case "$at $count" in
@ARGUMENTS@
  esac
@FLAGS@
}
