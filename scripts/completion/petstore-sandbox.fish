# Completion of petstore-sandbox, and of npx petstore-sandbox, in fish.

set -g __petstore_sandbox_commands @COMMANDS@
set -g __petstore_sandbox_runner_flags @RUNNER_FLAGS@

# Prints the commands so far, then the number of their arguments.
function __petstore_sandbox_place
    set -l at
    set -l count 0
    set -l is_value no
    for word in (commandline -opc)[2..]
        if test $is_value = yes
            set is_value no
        else if string match -q -- '-?*' $word; and test $word != --
            contains -- "$at $word" $__petstore_sandbox_runner_flags; and set is_value yes
        else if contains -- "$at $word" $__petstore_sandbox_commands
            set at "$at $word"
            set count 0
        else if contains -- "$at" @RUNNERS@
            set at ' other'
            break
        else
            set count (math $count + 1)
        end
    end
    echo "$at"
    echo $count
end

# Whether the command is the given one or below it.
function __petstore_sandbox_below
    set -l at (__petstore_sandbox_place)[1]
    test "$at" = $argv[1]; or string match -q -- "$argv[1] *" "$at"
end

# Whether an argument of the command is typed: 0 is the first.
function __petstore_sandbox_argument
    set -l place (__petstore_sandbox_place)
    test "$place[1]" = $argv[1]; and test $place[2] = $argv[2]
end

# The words after npx and its flags.
function __petstore_sandbox_after_npx
    set -l words (commandline -opc)
    set -e words[1]
    while string match -q -- '-*' "$words[1]"
        set -e words[1]
    end
    string escape -- $words
end

function __petstore_sandbox_npx
    set -l words (__petstore_sandbox_after_npx)
    test "$words[1]" = petstore-sandbox
end

complete -c petstore-sandbox -f
complete -c petstore-sandbox -n "__petstore_sandbox_below ' other'" -F
complete -c npx -n __petstore_sandbox_npx -x -a '(complete -C (string join -- " " (__petstore_sandbox_after_npx) (commandline -ct)))'
@COMPLETIONS@
