package io.partita.benchmarks.paper;

import java.util.List;

/** Made-up measurements. */
final class Examples {
  static final Run ONE =
      new Run(
          1,
          2_160_000,
          550_000,
          new Run.Breakdown(600_000, 300_000, 1_500_000, 0),
          new Run.Moved(4_000_000, 2_000_512, 2_000_512, 2_000_000, 0),
          new Run.Energy(1.12e-4, 8e-6, 2e-4, 0));

  static final Run EIGHT =
      new Run(
          8,
          102_000,
          41_000,
          new Run.Breakdown(50_000, 20_000, 5_000, 25_000),
          new Run.Moved(4_000_000, 4_096, 512, 0, 57_344),
          new Run.Energy(1.36e-4, 8e-6, 4e-7, 2e-5));

  private static final Run DECODER =
      new Run(
          8,
          6_300_000,
          1_400_000,
          new Run.Breakdown(1_500_000, 500_000, 3_600_000, 400_000),
          new Run.Moved(40_000_000, 36_000_000, 4_500_000, 35_000_000, 900_000),
          new Run.Energy(1e-4, 2e-4, 3.6e-3, 1e-4));

  static final Measurements ALL =
      new Measurements(
          List.of(
              new KernelRun(Goals.GEMM, 40, 1000, 100, 250_000, 200_000),
              new KernelRun(Goals.GEMV, 1, 500, 1000, 100_000, 90_000),
              new KernelRun(Goals.REQUANTIZED_GEMV, 1, 500, 1000, 70_000, 60_000),
              new KernelRun(Goals.FLOAT_GEMM, 96, 96, 96, 310_000, 293_904)),
          List.of(new ElementsRun("softmax of f32", 16, 250, 12_000, 10_000)),
          List.of(
              new BlockRun(Workload.AUTOREGRESSIVE, "tensor", ONE),
              new BlockRun(Workload.AUTOREGRESSIVE, "tensor", EIGHT)),
          List.of(new Misfit(Workload.MOBILEBERT, 1, "L2 has room for 2 B; the block takes 3 B")),
          List.of(
              new ModelRun(
                  Goals.DECODER,
                  8,
                  8,
                  false,
                  ModelRun.RESERVED,
                  20_000_000,
                  16_400_000,
                  DECODER,
                  6_060_000),
              new ModelRun(Goals.SCALED, 8, 4, true, 96, 0, 8_200_000, DECODER, 0)),
          List.of(
              new PeerRun("half", true, false, 1000, 500),
              new PeerRun("slow", true, false, 1000, 900),
              new PeerRun("missing", true, false, 1000, 0),
              new PeerRun("float", false, false, 1000, 600),
              new PeerRun("kernel", false, true, 1000, 1100)));

  private Examples() {}
}
