#compdef ferrule
# Completion of `ferrule` in zsh. The commands and their options are asked of the command itself.

_ferrule_packages() {
    _alternative 'packages:package:(std blas)' 'folders:folder:_files -/' \
        'objects:shared object:_files -g "*.so"'
}

_ferrule() {
    local program=${~words[1]} command=$words[2]
    local -a found
    if (( CURRENT == 2 )); then
        found=(${(f)"$($program --help 2>/dev/null |
            sed -n 's/^  \([a-z][a-z]*\)  *\(.*\)/\1:\2/p')"})
        _describe -t commands command found
        [[ $PREFIX == -* ]] && compadd -- --help --version
        return
    fi
    case $words[CURRENT-1] in
    -p | --package)
        _ferrule_packages
        return
        ;;
    --after)
        compadd -- fold common dead
        return
        ;;
    --trace)
        _files
        return
        ;;
    -o | --output)
        compset -P '[A-Za-z0-9_]##='
        _files
        return
        ;;
    esac
    if [[ $PREFIX == -* ]]; then
        found=(--help ${(f)"$($program $command --help 2>/dev/null |
            sed -n '1{s/[^a-z-]/ /g;p;}' | tr ' ' '\n' | grep '^--[a-z]')"})
        compadd -- ${(u)found}
        return
    fi
    if compset -P '[A-Za-z0-9_]##='; then
        _files
        return
    fi
    case $command in
    list | verify)
        _ferrule_packages
        ;;
    run | show | fmt)
        _files -g '*.fer'
        ;;
    *)
        _files
        ;;
    esac
}

_ferrule "$@"
