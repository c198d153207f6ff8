"""The generated blocks of the pages: block_NAME(data, *arguments) returns the lines of the mark `generated: NAME`."""

from collections.abc import Callable

from tools.pages.blocks import (
    audit,
    bounds,
    checks,
    citations,
    counts,
    course,
    experiments,
    families,
    first_stage,
    ladder,
    library,
    lists,
    loop,
    mistakes,
    probes,
    programs,
    qr,
    rungs,
    sources,
    strides,
    summit,
    tcec,
    tensor,
    tensor_probes,
    tensor_tsm,
    tsm,
    tuning,
    variants,
)

MODULES = (
    audit,
    bounds,
    checks,
    citations,
    counts,
    course,
    experiments,
    families,
    first_stage,
    ladder,
    library,
    lists,
    loop,
    mistakes,
    probes,
    programs,
    qr,
    rungs,
    sources,
    strides,
    summit,
    tcec,
    tensor,
    tensor_probes,
    tensor_tsm,
    tsm,
    tuning,
    variants,
)
BLOCKS: dict[str, Callable[..., list[str]]] = {
    name.removeprefix("block_"): function
    for module in MODULES
    for name, function in vars(module).items()
    if name.startswith("block_")
}
