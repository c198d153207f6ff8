"""What records of experiments have in common, for the tests of their tables and figures."""

# All but the experiment's name and its results. The ceilings are those of an imaginary GPU, round and well apart.
HEAD = {
    "title": "a title",
    "source": "a text",
    "executor": False,
    "missing": [],
    "device": "a GPU",
    "driver": "1",
    "cuda": "2",
    "commit": "0123",
    "ceilings": {
        "read_gbs": 4000.0,
        "copy_gbs": 4000.0,
        "scale_gbs": 3000.0,
        "ffma_gflops": 60000.0,
        "dfma_gflops": 30000.0,
        "launch_us": 3.0,
    },
}
