"""The program: ``quadrat`` on the path after installation, and ``python -m quadrat``."""

import sys

from quadrat import _quadrat


def main() -> None:
    """Run the program on the arguments of the process, and end it with its exit status."""
    is_done = _quadrat.program(["quadrat", *sys.argv[1:]])
    sys.exit(0 if is_done else 1)


if __name__ == "__main__":
    main()
