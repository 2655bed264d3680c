package io.partita.backend.metalium.simulator;

import java.util.Map;

/**
 * Two simulated Wormhole chips that are both on PCIe and joined by Ethernet, as the runtime's
 * driver finds them beside the simulator's library: {@code cluster_descriptor.yaml}.
 */
final class SimulatedPair {
  static final int CHIPS = 2;

  /** The name that the driver looks for in the folder of the library. */
  static final String FILE = "cluster_descriptor.yaml";

  /**
   * The links are those that the simulator has with two chips, from channels 8 and 9 of the first
   * one to 0 and 1 of the second one. Each chip is on a board of its own, since the runtime tells
   * chips on PCIe apart by their boards. No core is harvested.
   */
  static final String DESCRIPTION =
      """
      arch: {0: wormhole_b0, 1: wormhole_b0}
      chips: {0: [0, 0, 0, 0], 1: [1, 0, 0, 0]}
      chip_unique_ids: {0: 1, 1: 2}
      ethernet_connections:
        - [{chip: 0, chan: 8}, {chip: 1, chan: 0}]
        - [{chip: 0, chan: 9}, {chip: 1, chan: 1}]
      ethernet_connections_to_remote_devices: []
      chips_with_mmio: [{0: 0}, {1: 1}]
      harvesting:
        0: CORES
        1: CORES
      chip_to_boardtype: {0: n300, 1: n300}
      boards:
        - [{board_id: 72058994491072686}, {board_type: n300}, {chips: [0]}]
        - [{board_id: 72058994491072687}, {board_type: n300}, {chips: [1]}]
      """
          .replace(
              "CORES",
              "{noc_translation: true, harvest_mask: 0, dram_harvesting_mask: 0,"
                  + " eth_harvesting_mask: 0, pcie_harvesting_mask: 0, l2cpu_harvesting_mask: 0}");

  /**
   * Cores of Ethernet run only what the runtime gives them, the routers of its fabric: those don't
   * get on beside the base firmware that the simulator starts otherwise.
   */
  static final Map<String, String> SETTINGS = Map.of("TTSIM_ETH_FW_ROUTING", "0");

  private SimulatedPair() {}
}
