"""`python -m ferrule`: the command `ferrule`."""

import os
import sys


def main() -> None:
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "ferrule")
    os.execv(command, ["ferrule", *sys.argv[1:]])


if __name__ == "__main__":
    main()
