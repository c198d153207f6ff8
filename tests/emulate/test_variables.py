#!/usr/bin/env python3
"""Where variables of a program lie that is compiled for the executor: device_variables.cu says it of each.

usage: test_variables.py BUILD
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = pathlib.Path(__file__).with_name("device_variables.cu")
SECTIONS = ("simt_device", "simt_managed", "simt_constant", "neither")
EXPECTED = {
    "simt_device": "plain by_macro by_a_larger_macro elaborated of_many_words changing pointer_to_constant"
    " function_pointer in_every_file"
    " aligned_by_cuda aligned first second braced points behind_its_type in_namespaces operation calls of_type",
    "simt_managed": "managed both the_other_way",
    "simt_constant": "coefficients both_constant constant_point weights",
    "neither": "host_variable powers",
}


def main() -> None:
    (build,) = sys.argv[1:]
    command = pathlib.Path(build, "emulate/compile").read_text().split(";")
    with tempfile.TemporaryDirectory() as name:
        made = pathlib.Path(name, "variables.o")
        launcher = [sys.executable, "-B", str(ROOT / "common/cmake/compile_program.py")]
        subprocess.run([*launcher, *command, "-c", str(SOURCE), "-o", str(made)], check=True)
        symbols = subprocess.run(["objdump", "-tC", made], check=True, capture_output=True, text=True).stdout
    section_of = {}
    for line in symbols.splitlines():
        if found := re.search(r" O (\S+)\s+[0-9a-f]+ (.*)$", line):
            section_of[found[2].split("<")[0].split("::")[-1].split("(")[0]] = found[1]
    for section, names in EXPECTED.items():
        for name in names.split():
            where = section_of.get(name, "nowhere")
            right = where == section or (section == "neither" and not where.startswith("simt_"))
            assert right, f"{name} lies in {where}, and not in {section}"
    others = {name for name, where in section_of.items() if where.startswith("simt_")}
    assert others == set(" ".join(EXPECTED[each] for each in SECTIONS[:3]).split()), others
    print(f"{len(section_of)} symbols")


if __name__ == "__main__":
    main()
