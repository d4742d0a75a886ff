# Completion of petstore-sandbox in Bash, from 3.2 (macOS) on.
# The program itself says at every TAB how the line can go on.

_petstore_sandbox() {
  local program="${1/#\~/$HOME}" typed="${COMP_LINE:0:COMP_POINT}" breaks='' cut='' value about path quote
  local word="${typed##*[[:space:]]}"
  # Bash takes words apart at these; what stands before them is there already.
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
  [[ -n $breaks && $word == *[$breaks]* ]] && cut="${word%"${word##*[$breaks]}"}"
  COMPREPLY=()
  while IFS=$'\t' read -r value about; do
    case $value in
      :none) ;;
      :file | :folder)
        [[ $word == --*=* ]] && path="${word#*=}" || path=$word
        path=${path//\\/}
        path=${path/#\~\//$HOME/}
        # Bash 3.2 has no compopt and inserts names as they are: quote them here.
        quote=%q
        compopt -o filenames 2> /dev/null && quote=%s
        # A pattern, not compgen, which would expand what stands in the name of a folder.
        for path in "$path"*; do
          [[ -d $path || ($value == :file && -e $path) ]] && COMPREPLY+=("$(printf "$quote" "$path")")
        done
        ;;
      *) COMPREPLY+=("${value#"$cut"}") ;;
    esac
  done < <("$program" completion bash --line "$typed" 2> /dev/null)
}

complete -F _petstore_sandbox petstore-sandbox
