"""GVSoC's target partita_board: Siracusa chips, joined by links.

GVSoC's own generator imports this module; simulate.py runs it. The file that
--board names is a JSON object:

  chips   a list; of each its "program" (an ELF file), "l3" (a file of L3's
          contents, or null) and "l3_bytes"
  links   a list; of each the chips "from" and "to", its "bandwidth" in bytes
          per second and its "latency" in seconds
  buffer  messages that may leave for a chip before it expects them, of each
          sender
  models, components  the folders of GVSoC's components and of our own

Each component writes what it counted into the working directory: the links to
links.json, and of chip K the HyperRAM to chipK_l3.json, the cluster's DMA in
L2 to chipK_dma.json, the uDMA in L2 to chipK_udma.json, and all that the
cluster reads and writes in L2 to chipK_cluster.json.
"""

import json
import pathlib
import re
import subprocess

import gvsoc.runner
import gvsoc.systree
from pulp.chips.siracusa.pulp_open import Pulp_open
from vp.clock_domain import Clock_domain

SOC_HERTZ = 500_000_000

# Settings of the clock generators, in the format of the model's register conf1.
CLUSTER_500_MHZ = '0x01E905F5'
PERIPHERY_400_MHZ = '0x067005f5'

# The resolution of the links' events: one byte at 0.5 GB/s.
LINK_HERTZ = 500_000_000

WINDOW_BASE = 0x3000_0000
WINDOW_BYTES = 0x1000
L2_BASE = 0x1C00_0000
L2_BYTES = 2 * 1024 * 1024


class Links(gvsoc.systree.Component):
    """The links and the controllers at their ends (links.cpp)."""

    def __init__(self, parent, name, board):
        super().__init__(parent, name)
        self.set_component('partita.links')
        self.add_properties({
            'chips': len(board['chips']),
            'buffer': board['buffer'],
            'report': 'links.json',
            'links': [{
                'from': link['from'],
                'to': link['to'],
                'bytes_per_cycle': float(link['bandwidth'] / LINK_HERTZ),
                'latency': round(link['latency'] * LINK_HERTZ),
            } for link in board['links']],
        })


class Hyperram(gvsoc.systree.Component):
    """L3 of one chip (hyperram.cpp)."""

    def __init__(self, parent, name, size, image):
        super().__init__(parent, name)
        self.set_component('partita.hyperram')
        self.add_properties({
            'size': size,
            'image': image or '',
            'report': f'{name}.json',
        })


class Meter(gvsoc.systree.Component):
    """Counts what is read and written in L2 through one port (meter.cpp)."""

    def __init__(self, parent, name, report, deletes_writes=False):
        super().__init__(parent, name)
        self.set_component('partita.meter')
        self.add_properties({
            'base': L2_BASE,
            'size': L2_BYTES,
            'report': report,
            'deletes_writes': deletes_writes,
        })

    def interpose(self, master, port):
        """Sits between a port of a sibling and the port it is bound to."""
        for binding in self.parent.bindings:
            if binding[0] is master and binding[1] == port:
                binding[0:2] = [self, 'output']
        self.parent.bind(master, port, self, 'input')


class CoreLibrary:
    """Where cores of a chip of its own are loaded from.

    All cores of a library wait for the same floating-point units, those of
    several chips too. A copy of the library has units of its own.
    """

    def __init__(self, board, name):
        self.models = pathlib.Path(board['models'])
        self.folder = pathlib.Path(board['components']) / 'partita'
        self.name = name

    def use_for(self, core):
        """Loads a core from this library."""
        component = core.component or gvsoc.systree.get_generated_component(
            core.sources, core.c_flags).name
        source = self.models / (component.replace('.', '/') + '.so')
        copy = self.folder / f'{self.name}.so'
        if (not copy.exists()
                or copy.stat().st_mtime < source.stat().st_mtime):
            subprocess.run(['strip', '-g', '-o', copy, source], check=True)
        core.set_component(f'partita.{self.name}')


class Siracusa(Pulp_open):
    """A chip at 500/500/400 MHz, metered, with a window to the links."""

    def __init__(self, parent, name, program, library):
        super().__init__(parent, name, None)
        soc = self.get_component('soc')
        soc.get_component('loader').add_property('binary', [program])
        self._set_clocks(soc)
        self._open_window(soc)
        cluster = self.get_component('cluster')
        self._meter(soc, cluster)
        # Its ports are those of GVSoC's converter (l1_port.cpp).
        port = cluster.get_component('l1').get_component('ext2loc')
        port.set_component('partita.l1_port')
        for name, component in cluster.components.items():
            if re.fullmatch(r'pe\d+', name):
                library.use_for(component)

    def _set_clocks(self, soc):
        domain = self.get_component('soc_clock_domain')
        domain.add_property('frequency', SOC_HERTZ)
        setting = 'regmap/conf1/reset'
        cluster = soc.get_component('fll_cluster')
        cluster.add_property(setting, CLUSTER_500_MHZ)
        periphery = soc.get_component('fll_periph')
        periphery.add_property(setting, PERIPHERY_400_MHZ)

    def _open_window(self, soc):
        crossbar = soc.get_component('axi_ico')
        crossbar.add_mapping('links', base=WINDOW_BASE, size=WINDOW_BYTES,
                             remove_offset=WINDOW_BASE)
        soc.bind(crossbar, 'links', soc, 'links')
        self.bind(soc, 'links', self, 'links')
        self.bind(self, 'from_links', soc, 'soc_input')

    def _meter(self, soc, cluster):
        udma = Meter(soc, 'udma_meter', f'{self.name}_udma.json',
                     deletes_writes=True)
        udma.interpose(soc.get_component('udma'), 'l2_itf')
        dma = Meter(cluster, 'dma_meter', f'{self.name}_dma.json')
        dma.interpose(cluster.get_component('dma'), 'ext_itf')
        whole = Meter(cluster, 'soc_meter', f'{self.name}_cluster.json')
        whole.interpose(cluster.get_component('cluster_ico'), 'soc')


class Board(gvsoc.systree.Component):
    """All chips and the links between them."""

    def __init__(self, parent, name, parser, options):
        super().__init__(parent, name, options=options)
        parser.add_argument('--board', required=True,
                            help='a JSON file: chips and links')
        arguments, _ = parser.parse_known_args()
        with open(arguments.board, encoding='utf-8') as file:
            board = json.load(file)
        links = Links(self, 'links', board)
        clock = Clock_domain(self, 'link_clock', frequency=LINK_HERTZ)
        self.bind(clock, 'out', links, 'clock')
        for number, description in enumerate(board['chips']):
            chip = Siracusa(self, f'chip{number}', description['program'],
                            CoreLibrary(board, f'cores_{number}'))
            ram = Hyperram(self, f'chip{number}_l3',
                           description['l3_bytes'], description['l3'])
            self.bind(chip, 'hyper0_cs0_data', ram, 'input')
            self.bind(chip, 'links', links, f'registers_{number}')
            self.bind(links, f'memory_{number}', chip, 'from_links')


class Target(gvsoc.runner.Target):
    """The target class that GVSoC's generator looks for in this module."""

    gapy_description = 'Siracusa chips joined by links'

    def __init__(self, parser, options):
        super().__init__(parser, options, model=Board)
