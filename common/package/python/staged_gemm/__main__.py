"""python -m staged_gemm: the version and the devices, or in one line why there is none (status 2)."""

from __future__ import annotations

import sys

from . import Error, __version__, _native


def main() -> int:
    try:
        devices = _native.devices()
    except Error as error:
        print(f"staged_gemm {__version__}: {error}", file=sys.stderr)
        return 2
    for number, name in enumerate(devices):
        print(f"staged_gemm {__version__}: device {number}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
