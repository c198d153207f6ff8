"""What stands on a page where there are no numbers yet."""


def not_measured(command: str) -> list[str]:
    """The lines of a block whose measurement is missing."""
    return [f"*Not measured yet: `{command}` does it.*"]


NOT_COUNTED = ["*Not counted yet: `./lab measure counts --count` does it.*"]
