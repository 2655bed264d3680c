package io.partita.backend.siracusa;

import io.partita.backend.emitted.ResourceFolder;
import io.partita.ir.file.EmittedFile;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The runtime's sources that a program needs: its headers, the headers that these include, the
 * corresponding {@code .c} files, and all ports. {@code gemm.h} corresponds to all {@code .c} files
 * whose names begin with {@code gemm}, such as {@code gemm_f32.c}.
 */
final class RuntimeSources {
  private static final String ROOT = "/io/partita/runtime/";
  private static final String BOARD = "/io/partita/gvsoc/";
  private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"([^\"]+)\"");

  /** Text by path. */
  private static final SortedMap<String, String> ALL = ResourceFolder.read(ROOT, "hal/hal.h");

  private RuntimeSources() {}

  /** The paths in alphabetical order, such as {@code kernels/gemm.h}. */
  static List<String> needed(Collection<String> headers) {
    SortedMap<String, Boolean> needed = new TreeMap<>();
    Deque<String> open = new ArrayDeque<>(headers);
    ALL.keySet().stream().filter(path -> path.startsWith("ports/")).forEach(open::add);
    while (!open.isEmpty()) {
      String path = open.remove();
      if (needed.putIfAbsent(path, true) != null) {
        continue;
      }
      if (path.endsWith(".h")) {
        sourcesOf(path).forEach(open::add);
      }
      Matcher include = INCLUDE.matcher(text(path));
      while (include.find()) {
        open.add(Path.of(path).resolveSibling(include.group(1)).normalize().toString());
      }
    }
    return List.copyOf(needed.keySet());
  }

  private static Stream<String> sourcesOf(String header) {
    String stem = header.substring(0, header.length() - 2);
    Pattern source = Pattern.compile(Pattern.quote(stem) + "(_\\w+)?(\\.\\w+)?\\.c");
    return ALL.keySet().stream().filter(source.asMatchPredicate());
  }

  private static String text(String path) {
    String text = ALL.get(path);
    if (text == null) {
      throw new IllegalArgumentException("the runtime has no " + path);
    }
    return text;
  }

  static List<EmittedFile> files(List<String> paths) {
    List<EmittedFile> files = new ArrayList<>();
    paths.forEach(path -> files.add(EmittedFile.text("runtime/" + path, text(path))));
    return files;
  }

  /** The board of Siracusa chips for GVSoC. */
  static List<EmittedFile> board() {
    List<EmittedFile> files = new ArrayList<>();
    ResourceFolder.read(BOARD, "simulate.py")
        .forEach((path, text) -> files.add(EmittedFile.text("runtime/gvsoc/" + path, text)));
    return files;
  }
}
