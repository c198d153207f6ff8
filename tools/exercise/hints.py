"""What is said of a wrong number. Never the right one, and no number from which it follows at a glance."""

# right / given, or given / right: what often is the reason.
FACTORS = {
    2: "It is off by a factor of two. Is something counted twice, or only one of two things?",
    4: "It is off by the bytes of a word. Does the question ask for bytes, or for words?",
    8: "It is off by a factor of eight: the words in a sector, or the bytes of a double. Which unit is asked for?",
    32: "It is off by the lanes of a warp. Is it per thread, or per warp?",
    64: "It is off by twice the lanes of a warp. Is it per thread or per warp, in FMAs or in FLOPs?",
    100: "It is off by a factor of a hundred. Is it a share, or per cent?",
    1000: "It is off by a factor of a thousand. Which unit is asked for?",
    1024: "It is off by the bytes of a KB. Which unit is asked for?",
}
NEAR = 0.005


def close(given: float, right: float, within: float) -> bool:
    return abs(given - right) <= within * abs(right) + 1e-12


def of_factor(given: float, right: float) -> str:
    """Empty if no common reason explains it."""
    if right == 0 or given == 0:
        return ""
    if close(given, -right, NEAR):
        return "The sign is wrong."
    for factor, text in FACTORS.items():
        if close(given, right * factor, NEAR) or close(given * factor, right, NEAR):
            return text
    return ""
