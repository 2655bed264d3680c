package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the emulated Tenstorrent chip with programs for it. */
@Tag("thorough")
@ExtendWith(WithCppCompiler.class)
class MetaliumHostTest {
  @ParameterizedTest
  @CsvSource({
    "bf16, 2048, 2048, late",
    "bf16, 2048, 2048, early",
    "f32, 4096, 4096, late",
    "f32, 4096, 4096, early",
    "bf8_b, 2048, 1088, late",
    "bf8_b, 2048, 1088, early"
  })
  void kernelsAsUsersWriteThemMultiplyMatrices(
      String format, int pageBytes, int rightBytes, String transfers, MetaliumPrograms programs) {
    assertThat(programs.run(programs.product(pageBytes, rightBytes), format, transfers))
        .isEqualTo(new MetaliumPrograms.Run(0, "within its bound\n"));
  }

  /** 1.5 is 96 steps of 2^-6 with a sign, and 96 the same steps of 1. */
  @Test
  void blocksShareAnExponent(MetaliumPrograms programs) {
    assertThat(programs.run(programs.program("formats")))
        .isEqualTo(
            new MetaliumPrograms.Run(0, "0 differ; exponents 127 133, elements 0xe0 0x60\n"));
  }

  @ParameterizedTest
  @CsvSource({"bf16, 36", "f32, 49"})
  void operationsComputeTheirDefinitions(String format, int operations, MetaliumPrograms programs) {
    assertThat(programs.run(programs.program("operations"), format))
        .isEqualTo(
            new MetaliumPrograms.Run(0, "0 of %d operations differ\n".formatted(operations)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "multicast"})
  void correctProgramsEnd(String program, MetaliumPrograms programs) {
    assertThat(programs.run(programs.program("misuse"), program))
        .isEqualTo(new MetaliumPrograms.Run(0, "done\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "overrun | reader | cb_push_back: 2 pages of circular buffer 0, of which 1 are reserved",
        "capacity | reader | cb_reserve_back: 3 pages of circular buffer 0, which has 2",
        "wrap | reader | cb_reserve_back: pages 1 to 3 of circular buffer 0 cross its end, which is after 2",
        "unawaited | compute | cb_pop_front: 1 pages of circular buffer 0, of which 0 were awaited",
        "unknown | reader | cb_reserve_back: the program has no circular buffer 7",
        "producers | compute | cb_reserve_back: circular buffer 0 belongs to the reader kernel 'data' of core (0, 0)",
        "misaligned | reader | noc_async_read: from 0x30 to 0x40000100, which differ modulo 32",
        "outside | reader | noc_async_read: bytes 0x40180100 to 0x40180140 are outside L1",
        "barrier | reader | ends with 1 reads and 0 writes in flight: a barrier is missing",
        "recipients | reader | noc_async_write_multicast: 4 cores, but the range has 3 others",
        "argument | reader | runtime argument 5 of 1",
        "registers | compute | matmul_tiles: destination register 8 of 8",
        "unacquired | compute | copy_tile: the destination registers aren't acquired",
        "init | compute | mul_tiles: the matrix engine is set up for another operation; call its *_init first",
        "function | compute | exp_tile: the vector engine is set up for nothing; call exp_tile_init first",
        "empty | compute | exp_tile: nothing was written to destination register 0",
        "tile | compute | copy_tile: tile 1 of circular buffer 0, of which 1 were awaited",
        "format | compute | copy_tile: circular buffer 2 has another format than its source register: reconfig_data_format is missing",
        "unreserved | compute | pack_tile: tile 0 of circular buffer 16, of which 0 are reserved",
        "startup | compute | add_init before compute_kernel_hw_startup",
        "processor | reader | tile_regs_acquire in a kernel that moves data"
      },
      quoteCharacter = '"')
  void brokenRulesAreReported(
      String program, String processor, String message, MetaliumPrograms programs) {
    String kernel = processor.equals("reader") ? "data" : "math";
    assertThat(programs.run(programs.program("misuse"), program))
        .isEqualTo(
            new MetaliumPrograms.Run(
                70,
                "metalium-host: %s kernel '%s' of core (0, 0): %s\n"
                    .formatted(processor, kernel, message)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "deadlock | reader kernel 'data' of core (0, 0) waits for room for 1 pages in circular buffer 0, of whose 2 pages 2 are full"
            + " | compute kernel 'math' of core (0, 0) waits for 1 pages of circular buffer 1, which holds 0",
        "semaphore | reader kernel 'data' of core (0, 0) waits for semaphore 1 to become 2, which is 0"
            + " | reader kernel 'data' of core (1, 0) waits for semaphore 1 to become 2, which is 0"
      },
      quoteCharacter = '"')
  void deadlocksNameWhoWaitsForWhat(
      String program, String one, String other, MetaliumPrograms programs) {
    MetaliumPrograms.Run run = programs.run(programs.program("misuse"), program);
    assertThat(run.code()).isEqualTo(70);
    assertThat(run.output().lines())
        .startsWith("metalium-host: deadlock")
        .contains("  " + one, "  " + other)
        .hasSize(3);
  }

  /** Chips may be several programs ahead, and transfers may be late or early. */
  @ParameterizedTest
  @ValueSource(strings = {"late", "early"})
  void packetsArriveInOrder(String transfers, MetaliumPrograms programs) {
    assertThat(programs.run(programs.program("mesh"), "relay", transfers))
        .isEqualTo(new MetaliumPrograms.Run(0, "done\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "header | the header is that of a packet which hasn't left: noc_async_writes_flushed is missing",
        "hops | 3 hops on the link from chip 0 to chip 1: there are 2 chips",
        "size | 40 bytes from 0x40000100 on: packets have at most 4096, and sizes and addresses are multiples of 16",
        "payload | 8192 bytes from 0x40000100 on: packets have at most 4096, and sizes and addresses are multiples of 16",
        "closed | the connection to the link from chip 0 to chip 1 isn't open"
      },
      quoteCharacter = '"')
  void brokenRulesOfLinksAreReported(String program, String message, MetaliumPrograms programs) {
    MetaliumPrograms.Run run = programs.run(programs.program("mesh"), program, "late");
    assertThat(run.code()).isEqualTo(70);
    assertThat(run.output())
        .isEqualTo(
            "metalium-host: writer kernel 'send' of core (0, 0) of chip 0:"
                + " fabric_unicast_noc_fused_unicast_with_atomic_inc: "
                + message
                + "\n");
  }

  @Test
  void connectionsAreClosed(MetaliumPrograms programs) {
    assertThat(programs.run(programs.program("mesh"), "open", "late").output())
        .endsWith("ends with an open connection to the link from chip 0 to chip 1\n");
  }

  @Test
  void deadlocksAcrossChipsNameTheChip(MetaliumPrograms programs) {
    assertThat(programs.run(programs.program("mesh"), "deadlock", "late"))
        .isEqualTo(
            new MetaliumPrograms.Run(
                70,
                """
                metalium-host: deadlock
                  reader kernel 'receive' of core (0, 0) of chip 2 waits for global semaphore 1 to become at least 2, which is 1
                """));
  }
}
