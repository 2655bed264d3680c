#!/usr/bin/env python3
"""Takes the place of Tenstorrent's compiler: translates its options for a stock RISC-V GCC.

The runtime starts this program as runtime/sfpi/compiler/bin/riscv-tt-elf-g++ of a root folder that
prepare.py makes.
"""

import pathlib
import shutil
import subprocess
import sys

GCC = "riscv64-unknown-elf-g++"
HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(__file__).absolute().parents[4]
PICOLIBC = pathlib.Path("/usr/lib/picolibc/riscv64-unknown-elf")

# What a stock compiler doesn't know, or takes in another way below. Optimization while linking would
# lose the instructions of the Tensix core, and warnings are those of another compiler.
DROPPED = ("-ftt-", "-flto", "-W", "-std=", "-mcpu=", "-D__riscv_xtttensix")

# Vectors are in the registers ft0 to ft7, which stand for those of the vector engine. A Tensix core
# has no other registers of floating point.
OTHER_REGISTERS = [f"ft{i}" for i in range(8, 12)] + [f"fs{i}" for i in range(12)] + [f"fa{i}" for i in range(8)]


def translated(arguments):
    kept = [argument for argument in arguments if argument.startswith("-Wl,") or not argument.startswith(DROPPED)]
    if any(argument.startswith("-DCOMPILE_FOR_TRISC=") for argument in arguments):
        registers = [f"-ffixed-{name}" for name in OTHER_REGISTERS]
        machine = ["-march=rv32imf", "-D__riscv_xtttensixwh=1", *registers]
    else:
        machine = ["-march=rv32im"]
    # The loader takes no relocations at run time, such as those of jump tables.
    return [*kept, *machine, "-mabi=ilp32", "-misa-spec=2.2", "-std=gnu++20", "-fno-jump-tables", "-w"]


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True)


def headers():
    """Folders of headers: libstdc++ is the host's, and the C library picolibc."""
    lines = [line.strip() for line in said("g++", "-E", "-v", "-x", "c++", "/dev/null").stderr.splitlines()]
    of_host = [line for line in lines if line.startswith("/") and "c++" in pathlib.PurePath(line).parts]
    of_gcc = [said(GCC, f"-print-file-name={name}").stdout.strip() for name in ("include", "include-fixed")]
    return [HERE / "include", HERE / "c++", *of_host, PICOLIBC / "include", *of_gcc]


def compile_source(arguments):
    return [
        GCC,
        *translated(arguments),
        "-nostdinc",
        "-nostdinc++",
        *(f"-isystem{folder}" for folder in headers()),
        f"-Wa,{HERE}/instructions.s",
    ]


def link(arguments):
    libraries = ["-nodefaultlibs", f"-L{PICOLIBC}/lib/release/rv32im/ilp32", "-lc", "-lgcc"]
    of_ethernet = any(argument.startswith("-T") and "erisc" in argument for argument in arguments)
    # Headers of the fabric have a pointer that only cores of Ethernet use; optimization while linking would drop it.
    absent = [] if of_ethernet else ["-Wl,--defsym=__erisc_jump_table=0"]
    return [GCC, *translated(arguments), *absent, *libraries]


def firmware(arguments):
    """The folder of the wheel's firmware for the banks that firmware is compiled for."""
    defined = dict(each[2:].split("=", 1) for each in arguments if each.startswith("-D") and "=" in each)
    wanted = [defined["NUM_DRAM_BANKS"], defined["NUM_L1_BANKS"]]
    for line in (ROOT / "firmware.txt").read_text().splitlines():
        *banks, folder = line.split(maxsplit=2)
        if banks == wanted:
            return folder
    sys.exit(f"ttnn has no firmware for {wanted[0]} banks of DRAM and {wanted[1]} of L1")


def main(arguments):
    if "--version" in arguments:
        return subprocess.call([GCC, "--version"])
    output = pathlib.Path(arguments[arguments.index("-o") + 1])
    if "-DFW_BUILD" in arguments:
        # Firmware comes with ttnn: the object says where.
        output.write_text(firmware(arguments))
        dependencies = pathlib.Path(arguments[arguments.index("-MF") + 1])
        dependencies.write_text(f"{output}: {ROOT}/firmware.txt\n")
        return 0
    if "c++-header" in arguments:
        # GCC reads the header itself where this isn't a precompiled one.
        output.write_bytes(b"")
        return 0
    if "-c" in arguments:
        return subprocess.call(compile_source(arguments))
    objects = [each for each in arguments if "/firmware/" in each and each.endswith(".o")]
    if objects:
        name = output.parent.name
        shutil.copy(pathlib.Path(pathlib.Path(objects[0]).read_text(), name, f"{name}.elf"), output)
        return 0
    return subprocess.call(link(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
