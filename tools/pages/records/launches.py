"""Which of a stage's kernels is the product's, and what it needs."""

from tools.repository import Json


def product_launch(result: Json) -> Json:
    """Of the kernels that a stage launches (padding, product, sum of parts) the one with most registers a thread, or of
    these with most shared memory."""
    return max(result["launches"], key=lambda launch: (launch.get("registers", 0), shared_bytes(launch)))


def shared_bytes(launch: Json) -> int:
    return launch.get("static_shared_bytes", 0) + launch["dynamic_shared_bytes"]
