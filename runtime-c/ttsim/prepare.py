#!/usr/bin/env python3
"""Makes a root folder of ttnn's runtime in which the compiler is a stock RISC-V GCC.

    prepare.py TTNN ROOT

TTNN is the folder of an installed ttnn. ROOT becomes a tree of links to it, with changed copies of
some headers. TTNN itself stays as it is.
"""

import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Folders of headers that kernels for Wormhole include.
HEADERS = (
    "tt_metal/hw/inc",
    "tt_metal/hw/ckernels/wormhole_b0",
    "tt_metal/tt-llk/tt_llk_wormhole_b0",
    "tt_metal/tt-llk/common",
    "tt_metal/fabric/hw/inc",
    "tt_metal/hostdevcommon/api",
    "tt_metal/api/tt-metalium/experimental/fabric",
)

CHANGES = (
    # GCC before 13 reports these in templates that nothing uses.
    (re.compile(r"static_assert\(\s*false,"), "static_assert(true,"),
    # GCC before 13 takes numbers only.
    (re.compile(r"#pragma GCC unroll (?=[A-Za-z_])\S+"), "#pragma GCC unroll 8"),
    # The accurate gelu needs a register more than there are, unless it reads its argument again.
    (re.compile(r"result = x \* (\(0\.5f \+ 0\.5f \* erf_val\));"),
     r"sfpi::vFloat again = sfpi::dst_reg[0]; result = again * \1;"),
    (re.compile(r"result = x \* HALF_ULP_AT_1;"), "result = again * HALF_ULP_AT_1;"),
    # Streams of the host, which libstdc++ lacks without threads: kernels only see the name.
    (re.compile(r"#include <iostream>"), "#include <iosfwd>"),
    # What goes round a fault of the hardware, TEN-3868: the simulator doesn't have it, and stops here.
    (re.compile(r" *// Due to a hardware bug \(TEN-3868\).*?(?=\n\})", re.DOTALL), ""),
)

# Objects of ttnn that only Tenstorrent's compiler can link, and their sources.
OBJECTS = {
    "substitutes": "tt_metal/hw/toolchain/substitutes.cpp",
    "noc": "tt_metal/hw/firmware/src/tt-1xx/wormhole/noc.c",
    "tdma_xmov": "tt_metal/hw/firmware/src/tt-1xx/tdma_xmov.c",
}

INCLUDES = (
    "tt_metal/hw/inc",
    "tt_metal/hw/inc/internal/tt-1xx",
    "tt_metal/hw/inc/internal/tt-1xx/wormhole",
    "tt_metal/hw/inc/internal/tt-1xx/wormhole/wormhole_b0_defines",
    "tt_metal/hw/inc/internal/tt-1xx/wormhole/noc",
    "tt_metal/hostdevcommon/api",
    "tt_metal/tt-llk/tt_llk_wormhole_b0/common/inc",
)


def changed(text):
    for pattern, replacement in CHANGES:
        text = pattern.sub(replacement, text)
    return text


def place(root, source, relative):
    """A path in the root that can be written: folders on the way become real, with links to all else in them."""
    folder, origin = root, source
    for part in relative.parts[:-1]:
        folder, origin = folder / part, origin / part
        if folder.is_symlink():
            folder.unlink()
            folder.mkdir()
            for entry in origin.iterdir():
                (folder / entry.name).symlink_to(entry)
        folder.mkdir(exist_ok=True)
    result = root / relative
    result.unlink(missing_ok=True)
    return result


def banks(firmware):
    """How many banks of DRAM and of L1 a firmware is for."""
    command = ["riscv64-unknown-elf-nm", "-S", firmware / "brisc/brisc.elf"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    sizes = {fields[3]: int(fields[1], 16) for fields in map(str.split, lines) if len(fields) == 4}
    # Coordinates of 16 bits, for each of two networks.
    return sizes["dram_bank_to_noc_xy"] // 4, sizes["l1_bank_to_noc_xy"] // 4


def main(source, root):
    source, root = pathlib.Path(source).resolve(), pathlib.Path(root).absolute()
    # What an interrupted run left, or another ttnn.
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name in ("build", "runtime", "tt_metal", "ttnn"):
        (root / name).symlink_to(source / name)
    for folder in HEADERS:
        for header in sorted((source / folder).rglob("*.h*")):
            text = header.read_text()
            if changed(text) != text:
                place(root, source, header.relative_to(source)).write_text(changed(text))
    compiler = place(root, source, pathlib.Path("runtime/sfpi/compiler/bin/riscv-tt-elf-g++"))
    compiler.symlink_to(HERE / "compile.py")
    options = ["-Os", "-fno-exceptions", "-DARCH_WORMHOLE", "-DCOMPILE_FOR_BRISC", "-DKERNEL_BUILD", "-DTENSIX_FIRMWARE"]
    includes = [f"-I{root / folder}" for folder in INCLUDES]
    for name, code in OBJECTS.items():
        result = place(root, source, pathlib.Path(f"runtime/hw/lib/wormhole/{name}.o"))
        subprocess.run([compiler, *options, *includes, "-x", "c++", "-c", root / code, "-o", result], check=True)
    folders = sorted((source / "tt_metal/pre-compiled").iterdir())
    (root / "firmware.txt").write_text("".join("{} {} {}\n".format(*banks(folder), folder) for folder in folders))


if __name__ == "__main__":
    main(*sys.argv[1:])
