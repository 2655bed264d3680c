package io.partita.backend.siracusa;

import io.partita.ir.file.EmittedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
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
 * The runtime's sources that a program needs: its headers, what these include, the {@code .c} files
 * that belong to them, and all ports. {@code gemm.h} belongs to {@code gemm_f32.c} and all others
 * whose names begin so.
 */
final class RuntimeSources {
  private static final String ROOT = "/io/partita/runtime/";
  private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"([^\"]+)\"");

  /** Text by path. */
  private static final SortedMap<String, String> ALL = read();

  private RuntimeSources() {}

  /** Paths in the order of their names, {@code kernels/gemm.h}. */
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
    return ALL.keySet().stream()
        .filter(path -> path.matches(Pattern.quote(stem) + "(_\\w+)?(\\.\\w+)?\\.c"));
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

  private static SortedMap<String, String> read() {
    URL root = RuntimeSources.class.getResource(ROOT + "hal/hal.h");
    try {
      URI uri = root.toURI();
      if (!uri.getScheme().equals("jar")) {
        return read(Path.of(uri).getParent().getParent());
      }
      Path jar = Path.of(URI.create(uri.getSchemeSpecificPart().split("!")[0]));
      try (FileSystem files = FileSystems.newFileSystem(jar)) {
        return read(files.getPath(ROOT));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException e) {
      throw new IllegalStateException("the runtime's sources are not packaged: " + root, e);
    }
  }

  private static SortedMap<String, String> read(Path root) throws IOException {
    SortedMap<String, String> texts = new TreeMap<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        texts.put(root.relativize(file).toString(), Files.readString(file));
      }
    }
    return texts;
  }
}
