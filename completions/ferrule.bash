# Completion of `ferrule` in bash. The commands and their options are asked of the command itself.

_ferrule() {
    local program=$1 word=$2 previous=$3 command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "--help --version $("$program" --help 2>/dev/null |
            sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')" -- "$word")
        return
    fi
    case $previous in
    -p | --package)
        _ferrule_packages "$word"
        return
        ;;
    --after)
        mapfile -t COMPREPLY < <(compgen -W "fold common dead" -- "$word")
        return
        ;;
    -o | --output | --trace | =)
        return # any file
        ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help $("$program" "$command" --help 2>/dev/null |
            sed -n '1{s/[^a-z-]/ /g;p;}' | tr ' ' '\n' | grep '^--[a-z]')" -- "$word")
        return
    fi
    case $command in
    list | verify)
        _ferrule_packages "$word"
        ;;
    run | show | fmt)
        compopt -o filenames
        mapfile -t COMPREPLY < <(
            compgen -f -X '!*.fer' -- "$word"
            compgen -d -- "$word"
        )
        ;;
    esac
}

_ferrule_packages() {
    compopt -o filenames
    mapfile -t COMPREPLY < <(
        compgen -W 'std blas' -- "$1"
        compgen -f -X '!*.so' -- "$1"
        compgen -d -- "$1"
    )
}

complete -o default -F _ferrule ferrule
