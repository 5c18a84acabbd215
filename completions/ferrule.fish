# Completion of `ferrule` in fish. The commands and their options are asked of the command itself.

function __ferrule_commands
    ferrule --help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)$' '$1\t$2'
end

function __ferrule_options
    set -l words (commandline -opc)
    echo --help
    ferrule $words[2] --help 2>/dev/null | head -n 1 | string match -ra -- '--[a-z]+'
end

function __ferrule_after -a option short
    set -l words (commandline -opc)
    contains -- $words[-1] $option $short
end

complete -c ferrule -n __fish_use_subcommand -f -a '(__ferrule_commands)'
complete -c ferrule -n __fish_use_subcommand -f -a '--help --version'
complete -c ferrule -n 'not __fish_use_subcommand' -a '(__ferrule_options)'
complete -c ferrule -n '__ferrule_after --package -p' -f -a 'std blas (__fish_complete_directories) (__fish_complete_suffix .so)'
complete -c ferrule -n '__fish_seen_subcommand_from list verify' -f -a 'std blas (__fish_complete_directories) (__fish_complete_suffix .so)'
complete -c ferrule -n '__ferrule_after --after -a; and __fish_seen_subcommand_from show' -f -a 'fold common dead'
