"""Which GPU is measured on."""

import subprocess

from tools.command_line import fail


def card() -> tuple[str, str]:
    """Its name and its driver's version, of the first one. Ends with a line where there is none."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        fail("no GPU: nvidia-smi finds none")
    device, driver = told.splitlines()[0].split(", ")
    return device, driver
