"""The figures of the pages. A module's plan() says what it draws: the file, its sources, and the function that draws
it."""

from tools.pages.data import Data
from tools.pages.figures import (
    banks,
    choice,
    experiments,
    gpu,
    ladder,
    maps,
    prediction,
    probes,
    quad_perm,
    roofline,
    sources,
    summit,
    tcec,
    tensor,
    tensor_probes,
    tensor_tsm,
    tsm,
    tsmm_row,
)
from tools.pages.figures.style import Plan

MODULES = (
    ladder,
    roofline,
    prediction,
    maps,
    banks,
    summit,
    sources,
    experiments,
    tensor_tsm,
    tsm,
    tensor,
    tcec,
    tensor_probes,
    tsmm_row,
    choice,
    probes,
    quad_perm,
    gpu,
)


def figures(data: Data) -> Plan:
    """Of all modules."""
    return {name: figure for module in MODULES for name, figure in module.plan(data).items()}
