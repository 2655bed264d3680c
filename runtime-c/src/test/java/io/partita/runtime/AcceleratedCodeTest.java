package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.runtime.CCompiler.Build;
import io.partita.runtime.Disassembly.Function;
import io.partita.runtime.Disassembly.Instruction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The machine code of kernels for Siracusa. */
@Tag("thorough")
@ExtendWith(WithCrossCompiler.class)
class AcceleratedCodeTest {
  /** A core's own instruction cache. */
  private static final int CACHE = 512;

  /** {@code accelerated*.c} compare each kernel that has XpulpV2 instructions, or calls them. */
  @Test
  void allAcceleratedKernelsAreComparedWithTheirPortableForm(CCompiler compiler) {
    List<Disassembly> kernels = kernels(compiler);
    List<String> accelerated =
        KernelHeaders.read().kernels().stream()
            .filter(kernel -> isAccelerated(kernel, kernels, kernels, new HashSet<>()))
            .toList();
    assertThat(accelerated).hasSizeGreaterThan(50);
    List<Path> tests =
        Stream.of("accelerated.c", "accelerated_products.c")
            .map(CCompiler.MODULE.resolve("src/test/c")::resolve)
            .toList();
    Set<String> compared =
        compiler.objects(Build.SIRACUSA, tests).stream()
            .flatMap(object -> Disassembly.of(compiler, object).needed().stream())
            .collect(Collectors.toSet());
    assertThat(compared).containsAll(accelerated);
    assertThat(compared)
        .containsAll(
            accelerated.stream().map(name -> name.replace("partita", "portable")).toList());
  }

  private static List<Disassembly> kernels(CCompiler compiler) {
    return compiler.objects(Build.SIRACUSA, CCompiler.sources("kernels")).stream()
        .map(object -> Disassembly.of(compiler, object))
        .toList();
  }

  /**
   * @param near the object that refers to the function, and may have a static one of this name
   */
  private static boolean isAccelerated(
      String name, List<Disassembly> near, List<Disassembly> kernels, Set<Function> seen) {
    for (Disassembly object : near) {
      Function function = object.functions().get(name);
      if (function != null) {
        return seen.add(function)
            && (function.instructions().stream().anyMatch(Instruction::isOfXpulp)
                || function.names().stream()
                    .anyMatch(each -> isAccelerated(each, List.of(object), kernels, seen)));
      }
    }
    return near != kernels && isAccelerated(name, kernels, kernels, seen);
  }

  /** Hardware loops begin behind lp.setup; instructions of four bytes fill what they repeat. */
  @Test
  void hardwareLoopsFitTheInstructionCacheOfACore(CCompiler compiler) {
    List<String> wrong = new ArrayList<>();
    int loops = 0;
    for (Disassembly object : kernels(compiler)) {
      for (Map.Entry<String, Function> function : object.functions().entrySet()) {
        List<Instruction> instructions = function.getValue().instructions();
        for (int i = 0; i < instructions.size(); i++) {
          Instruction setup = instructions.get(i);
          if (!setup.isLoop()) {
            continue;
          }
          loops++;
          int count = setup.loopBytes() / 4;
          List<Instruction> body =
              instructions.subList(i + 1, Math.min(instructions.size(), i + 1 + count));
          if (setup.loopBytes() > CACHE
              || body.size() < count
              || body.stream().anyMatch(each -> each.bytes() != 4 || each.jumps())) {
            wrong.add(function.getKey() + ": " + setup);
          }
        }
      }
    }
    assertThat(loops).isGreaterThan(20);
    assertThat(wrong).isEmpty();
  }

  /** The assembler checks the length of a loop where it ends. */
  @Test
  void allHardwareLoopsHaveAnEnd() throws IOException {
    Pattern setup = Pattern.compile("lp\\.setup (\\d), ");
    Pattern end = Pattern.compile("lp\\.end (\\d)\\b");
    List<Path> files = CCompiler.files("kernels", "[ch]");
    assertThat(files).isNotEmpty();
    for (Path file : files) {
      String text = Files.readString(file);
      List<String> begun = setup.matcher(text).results().map(each -> each.group(1)).toList();
      List<String> ended = end.matcher(text).results().map(each -> each.group(1)).toList();
      assertThat(ended).as(file.toString()).containsExactlyInAnyOrderElementsOf(begun);
    }
  }
}
