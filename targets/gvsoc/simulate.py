#!/usr/bin/env python3
"""Runs programs of Siracusa chips on GVSoC, all chips in one simulation.

  simulate.py FOLDER --gvsoc PATH [options]

The folder holds chip0.elf, chip1.elf ... (or chip0, chip1 ... in the folder
of --programs). Where there is a chipK.l3, L3 begins with its bytes, and where
there is a chipK.in, the program reads it. Programs write to chipK.out. Both
may be named pipes. The exit code is that of the first chip that fails, 0 when
all end well, and 75 when time is up.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMPONENTS = ('hyperram', 'l1_port', 'links', 'meter')
TIME_IS_UP = 75
NO_SIMULATOR = 69


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description='Runs programs of Siracusa chips on GVSoC.')
    parser.add_argument('folder', type=pathlib.Path,
                        help='of chip0.elf, chip1.elf, ...')
    parser.add_argument('--gvsoc', type=pathlib.Path, required=True,
                        help='where GVSoC is installed: it has bin/gvsoc')
    parser.add_argument('--headers', type=pathlib.Path,
                        help="GVSoC's headers: it has vp/vp.hpp")
    parser.add_argument('--programs', type=pathlib.Path,
                        help='where the programs are (FOLDER)')
    parser.add_argument('--chips', type=int,
                        help='how many; as many as there are programs')
    parser.add_argument('--group', type=int, default=4,
                        help='chips in a group of the tree (default 4)')
    parser.add_argument('--bandwidth', type=float, default=0.5e9,
                        help='of a link, in bytes per second (0.5e9)')
    parser.add_argument('--latency', type=float, default=200e-9,
                        help='of a link, in seconds (200e-9)')
    parser.add_argument('--buffer', type=int, default=1,
                        help='messages that leave unexpected, for each '
                        'sender and receiver (1)')
    parser.add_argument('--links', type=pathlib.Path,
                        help='a JSON file of links instead of the tree')
    parser.add_argument('--l3-bytes', type=int, default=64 * 1024 * 1024,
                        help="L3's size (64 MiB)")
    parser.add_argument('--work', type=pathlib.Path,
                        help="folder of GVSoC's files (FOLDER/gvsoc)")
    parser.add_argument('--components', type=pathlib.Path,
                        help='folder of the compiled components (in --work)')
    parser.add_argument('--report', type=pathlib.Path,
                        help='a file for cycles and traffic, as JSON')
    parser.add_argument('--timeout', type=float,
                        help='seconds after which to end the simulation')
    return parser.parse_args()


def tree(chips, group, bandwidth, latency):
    """Groups of chips, each linked to the first of its group; the first ones again in groups."""
    links = []
    stride = 1
    while group > 1 and stride < chips:
        for first in range(0, chips, stride * group):
            end = min(chips, first + stride * group)
            for other in range(first + stride, end, stride):
                for ends in ((first, other), (other, first)):
                    links.append({'from': ends[0], 'to': ends[1],
                                  'bandwidth': bandwidth,
                                  'latency': latency})
        stride *= group
    return links


def find_headers(arguments):
    """Finds GVSoC's headers, which its installation may lack."""
    root = arguments.gvsoc
    places = [arguments.headers] if arguments.headers else [
        root / 'include', root / '../core/engine/include']
    for place in places:
        if (place / 'vp/vp.hpp').exists():
            return place
    fail(NO_SIMULATOR, "GVSoC's headers aren't found; name their folder with "
         '--headers: core/engine/include of its sources')


def compile_components(folder, headers):
    """Compiles outdated components as GVSoC plug-ins."""
    output = folder / 'partita'
    output.mkdir(parents=True, exist_ok=True)
    for name in COMPONENTS:
        source = HERE / 'components/partita' / f'{name}.cpp'
        library = output / f'{name}.so'
        if (library.exists()
                and library.stat().st_mtime > source.stat().st_mtime):
            continue
        partial = output / f'{name}.{os.getpid()}.so'
        subprocess.run(
            ['g++', '-O2', '-std=c++17', '-fPIC', '-shared', '-D__GVSOC__',
             '-Wall', '-Wextra', '-isystem', str(headers), str(source),
             '-o', str(partial)], check=True)
        partial.replace(library)


def find_programs(arguments):
    """The program of each chip, in order."""
    folder = (arguments.programs or arguments.folder).resolve()
    programs = []
    while arguments.chips is None or len(programs) < arguments.chips:
        name = f'chip{len(programs)}'
        found = [program for program in (folder / f'{name}.elf', folder / name)
                 if program.is_file()]
        if not found and (arguments.chips or not programs):
            fail(2, f'there is neither {name}.elf nor {name} in {folder}')
        if not found:
            break
        programs.append(found[0])
    return programs


def describe_board(arguments, programs, components, work):
    """Writes the board to a JSON file and returns its path."""
    folder = arguments.folder.resolve()
    chips = []
    for number, program in enumerate(programs):
        image = folder / f'chip{number}.l3'
        chips.append({'program': str(program),
                      'l3': str(image) if image.exists() else None,
                      'l3_bytes': arguments.l3_bytes})
    if arguments.links:
        links = json.loads(arguments.links.read_text(encoding='utf-8'))
    else:
        links = tree(len(chips), arguments.group, arguments.bandwidth,
                     arguments.latency)
    file = work / 'board.json'
    board = {'chips': chips, 'links': links, 'buffer': arguments.buffer,
             'models': str(arguments.gvsoc.resolve() / 'models'),
             'components': str(components)}
    file.write_text(json.dumps(board, indent=1), encoding='utf-8')
    return file


def link_files(folder, work, count):
    """Links inputs into GVSoC's folder, where semihosting opens files."""
    for number in range(count):
        for ending in ('in', 'out'):
            name = f'chip{number}.{ending}'
            (work / name).unlink(missing_ok=True)
            if ending == 'out' or (folder / name).exists():
                (work / name).symlink_to((folder / name).resolve())
            else:
                (work / name).write_bytes(b'')
    (work / 'links.json').unlink(missing_ok=True)


def run(arguments, board, components, work):
    """Runs GVSoC; returns its exit code and the reports of the programs."""
    launcher = arguments.gvsoc.resolve() / 'bin/gvsoc'
    with launcher.open('rb') as file:
        is_script = b'python' in file.readline()
    # Uses the same Python, which has the packages.
    command = [*([sys.executable] if is_script else []), str(launcher),
               f'--target-dir={HERE}', f'--model-dir={components}',
               '--target=partita_board', f'--board={board}',
               f'--work-dir={work}', 'image', 'flash', 'run']
    # GVSoC starts other processes, so it gets its own process group, which can be ended as a whole.
    process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT,
                               start_new_session=True)
    ended = False

    def end(*_):
        nonlocal ended
        ended = True
        os.killpg(process.pid, signal.SIGKILL)

    for told in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(told, lambda number, _: (end(), sys.exit(128 + number)))
    if arguments.timeout:
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, arguments.timeout)
    reports = {}
    try:
        for line in process.stdout:
            text = line.decode(errors='replace')
            if text.startswith('{"chip": '):
                report = json.loads(text)
                reports[report['chip']] = report
            sys.stdout.write(text)
            sys.stdout.flush()
        code = process.wait()
    except BaseException:
        # Includes Ctrl-C, which a separate group doesn't get.
        if process.poll() is None:
            end()
        raise
    signal.setitimer(signal.ITIMER_REAL, 0)
    if ended:
        fail(TIME_IS_UP, f'not done after {arguments.timeout:g} s')
    return code, reports


def set_to_clock(chip):
    """Converts transfers of L3 to cycles of the chip's program."""
    if 'board' not in chip:
        del chip['l3']['transfers']
        return
    began, ended = chip.pop('board')
    ratio = chip['cycles'] / max(1, ended - began)
    for transfer in chip['l3']['transfers']:
        for end in ('start', 'end'):
            transfer[end] = round((transfer[end] - began) * ratio)


def read_counters(work, count, reports):
    """Combines the counts of the programs and of the components."""
    links = json.loads((work / 'links.json').read_text(encoding='utf-8'))
    chips = []
    for number in range(count):
        chip = reports.get(number, {'chip': number})
        for kind in ('l3', 'udma', 'dma', 'cluster'):
            file = work / f'chip{number}_{kind}.json'
            chip[kind] = json.loads(file.read_text(encoding='utf-8'))
        set_to_clock(chip)
        chips.append(chip)
    return {'ended': links['ended'], 'chips': chips, 'links': links['links']}


def fail(code, message):
    """Ends with a message and an exit code."""
    print(f'simulate.py: {message}', file=sys.stderr)
    sys.exit(code)


def main():
    """Runs what the command line says."""
    arguments = parse_arguments()
    if not (arguments.gvsoc / 'bin/gvsoc').exists():
        fail(NO_SIMULATOR, f'there is no bin/gvsoc in {arguments.gvsoc}')
    programs = find_programs(arguments)
    work = (arguments.work or arguments.folder / 'gvsoc').resolve()
    work.mkdir(parents=True, exist_ok=True)
    components = (arguments.components or work / 'components').resolve()
    compile_components(components, find_headers(arguments))
    board = describe_board(arguments, programs, components, work)
    link_files(arguments.folder, work, len(programs))
    code, reports = run(arguments, board, components, work)
    if not (work / 'links.json').exists():
        fail(code or 1, 'GVSoC ended without counting')
    counters = read_counters(work, len(programs), reports)
    if arguments.report:
        arguments.report.write_text(json.dumps(counters, indent=1) + '\n',
                                    encoding='utf-8')
    failed = [ended for ended in counters['ended'] if ended > 0]
    sys.exit(failed[0] if failed else code)


if __name__ == '__main__':
    main()
