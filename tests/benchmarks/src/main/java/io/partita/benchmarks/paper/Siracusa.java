package io.partita.benchmarks.paper;

import io.partita.ir.target.TargetLibrary;

/** Figures of the chip that rooflines and loads are computed with; see targets/siracusa.target. */
final class Siracusa {
  /** The cores of a chip's cluster. */
  static final int CORES = 8;

  /** Cycles a second. */
  static final double HERTZ = 500e6;

  /** Bytes of L3 a cycle: 400 MB/s. */
  static final double L3_RATE = 0.8;

  /** Joules for a byte between L3 and L2: the paper's section V-A. */
  static final double L3_JOULES = 100e-12;

  /** Products of bytes a cycle that eight cores can issue in blocks of 4 by 4. */
  static final double PRODUCTS = 21.3;

  /** Products of floats a cycle of four units, each of which two cores share. */
  static final double FLOAT_PRODUCTS = 4;

  /** Bytes a cycle from L2 to L1 that a long transfer of the DMA reaches. */
  static final double DMA_RATE = 7.97;

  /** Bytes a cycle of a link, in each direction. */
  static final double LINK_RATE = 1;

  /** Cycles until a byte has passed a link. */
  static final double LINK_LATENCY = 100;

  /** Cycles of a chip for each message that it sends or receives. */
  static final double MESSAGE = TargetLibrary.find("siracusa").devices().getFirst().messageCycles();

  private Siracusa() {}

  static double milliseconds(double cycles) {
    return cycles / HERTZ * 1e3;
  }
}
