# Completion of petstore-sandbox in fish.
# The program itself says at every TAB how the line can go on.

function __petstore_sandbox_complete
    set -l typed (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- (commandline -opc)[1])
    for line in ($program completion fish --line (commandline -cp | string collect) 2>/dev/null)
        switch $line
            case :none
            case :file :folder
                set -l prefix (string match -r -- '^--[^=]+=' $typed)
                set -l path (string replace -r -- '^--[^=]+=' '' $typed)
                if test $line = :folder
                    string replace -r -- '^' "$prefix" (__fish_complete_directories $path)
                else
                    string replace -r -- '^' "$prefix" (__fish_complete_path $path)
                end
            case '*'
                echo $line
        end
    end
end

complete -c petstore-sandbox -f -a '(__petstore_sandbox_complete)'
