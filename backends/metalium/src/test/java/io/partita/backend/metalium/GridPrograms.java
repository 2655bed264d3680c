package io.partita.backend.metalium;

import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.Unit;
import io.partita.passes.program.localize.Localization;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Programs for grids of cores, and the blocks in which these compute. */
final class GridPrograms {
  private static final Pattern BLOCKS =
      Pattern.compile(
          "\\.blocks = \\{\\.columns = (\\d+),\\s+\\.rows = (\\d+),\\s+\\.width = (\\d+),"
              + "\\s+\\.height = (\\d+)(?:,\\s+\\.shared = \\{([\\d, ]*)\\})?");

  private GridPrograms() {}

  /** An N150 with a part of its cores. */
  static TargetDescription target(int columns, int rows, long bytesOfCore) {
    return TargetChange.set(
        TargetChange.onGrid(TargetLibrary.find("n150"), columns, rows),
        Map.of("l1", new Quantity((double) bytesOfCore * columns * rows, Unit.B)));
  }

  static EmittedMetalium emit(Module module, TargetDescription target) {
    return new MetaliumBackend(target).emit(Localization.of(module, 1), Optional.empty());
  }

  static EmulatedProgram build(EmittedMetalium emitted, Path scratch) {
    Path folder = scratch.resolve("program");
    OutputFolder.write(emitted.files(), folder, path -> false);
    return EmulatedProgram.build(folder, emitted.description().whole());
  }

  /** The emulation's main program. */
  static String host(EmittedMetalium emitted) throws IOException {
    for (EmittedFile file : emitted.files()) {
      if (file.path().equals("emulation.cpp")) {
        return file.text();
      }
    }
    throw new AssertionError("no host program");
  }

  /** The columns, rows, width and height of the blocks of each launch, and what cores share. */
  static List<List<String>> blocks(EmittedMetalium emitted) throws IOException {
    return BLOCKS
        .matcher(host(emitted))
        .results()
        .map(
            result ->
                IntStream.rangeClosed(1, 5)
                    .mapToObj(group -> Objects.requireNonNullElse(result.group(group), ""))
                    .toList())
        .toList();
  }
}
