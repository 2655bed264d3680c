package io.partita.golden;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A folder of committed files, with which emitted files are compared byte by byte. By default all
 * files except weights, checksums and the data of reports are compared.
 */
public final class GoldenFolder {
  /** The system property that requests rewriting of goldens. */
  public static final String UPDATE = "golden.update";

  private static final List<PathMatcher> BINARY =
      Stream.of("**.weights", "**.l2", "**.l3", "checksums.txt", "report.json")
          .map(GoldenFolder::glob)
          .toList();
  private static final int CONTEXT = 3;
  private static final int MAX_LINES = 120;

  private final Path folder;
  private final List<PathMatcher> includes;
  private final boolean update;

  private GoldenFolder(Path folder, List<PathMatcher> includes, boolean update) {
    this.folder = folder;
    this.includes = includes;
    this.update = update;
  }

  /**
   * A folder whose files {@link #assertMatches} rewrites if {@code -Dgolden.update=true} is given.
   */
  public static GoldenFolder of(Path folder) {
    return new GoldenFolder(folder, List.of(), Boolean.getBoolean(UPDATE));
  }

  /**
   * Compares only files that match one of the patterns; none for all.
   *
   * @param patterns globs of paths in the folder, such as {@code **.java} or {@code chip*.c}
   */
  public GoldenFolder including(List<String> patterns) {
    return new GoldenFolder(folder, patterns.stream().map(GoldenFolder::glob).toList(), update);
  }

  /** Whether {@link #assertMatches} rewrites. */
  public GoldenFolder updating(boolean isUpdating) {
    return new GoldenFolder(folder, includes, isUpdating);
  }

  private static PathMatcher glob(String pattern) {
    return FileSystems.getDefault().getPathMatcher("glob:" + pattern);
  }

  /**
   * Fails if the files of an emitted folder differ from the committed ones, or rewrites these.
   *
   * @throws AssertionError with a unified diff
   */
  public void assertMatches(Path emitted) {
    if (update) {
      update(emitted);
      return;
    }
    String difference = difference(emitted);
    if (!difference.isEmpty()) {
      throw new AssertionError(difference);
    }
  }

  /** A unified diff from the committed files to the emitted ones; empty if they are equal. */
  public String difference(Path emitted) {
    SortedMap<String, Path> expected = files(folder);
    SortedMap<String, Path> actual = files(emitted);
    SortedSet<String> names = new TreeSet<>(expected.keySet());
    names.addAll(actual.keySet());
    if (names.isEmpty()) {
      return "no file to compare in " + emitted;
    }
    List<String> changed = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    for (String name : names) {
      List<String> diff = difference(name, expected.get(name), actual.get(name));
      if (!diff.isEmpty()) {
        changed.add(name);
        lines.addAll(diff);
      }
    }
    if (changed.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    text.append(changed.size())
        .append(changed.size() == 1 ? " file differs" : " files differ")
        .append(" from the goldens in ")
        .append(folder)
        .append("; -D" + UPDATE + "=true accepts what was emitted\n");
    lines.stream().limit(MAX_LINES).forEach(line -> text.append(line).append('\n'));
    if (lines.size() > MAX_LINES) {
      text.append("... ").append(lines.size() - MAX_LINES).append(" more lines of differences\n");
      text.append("files: ").append(String.join(", ", changed)).append('\n');
    }
    return text.toString();
  }

  private static List<String> difference(String name, Path expected, Path actual) {
    if (expected != null && actual != null && areEqual(expected, actual)) {
      return List.of();
    }
    List<String> before = lines(expected);
    List<String> after = lines(actual);
    List<String> diff =
        UnifiedDiffUtils.generateUnifiedDiff(
            expected == null ? "/dev/null" : "golden/" + name,
            actual == null ? "/dev/null" : "emitted/" + name,
            before,
            DiffUtils.diff(before, after),
            CONTEXT);
    return diff.isEmpty() ? List.of(name + ": other line ends, or an empty file") : diff;
  }

  private static boolean areEqual(Path one, Path other) {
    try {
      return Files.mismatch(one, other) < 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> lines(Path file) {
    try {
      // Never fails, for any bytes.
      return file == null
          ? List.of()
          : new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Replaces the committed files by those of an emitted folder. Files that don't match stay.
   *
   * @return the paths of files that were written or deleted
   */
  public List<String> update(Path emitted) {
    SortedMap<String, Path> expected = files(folder);
    SortedMap<String, Path> actual = files(emitted);
    List<String> changed = new ArrayList<>();
    try {
      for (String name : actual.keySet()) {
        Path golden = expected.get(name);
        if (golden == null || !areEqual(golden, actual.get(name))) {
          Path target = folder.resolve(name);
          Files.createDirectories(target.getParent());
          Files.write(target, Files.readAllBytes(actual.get(name)));
          changed.add(name);
        }
      }
      for (String name : expected.keySet()) {
        if (!actual.containsKey(name)) {
          Files.delete(expected.get(name));
          changed.add(name);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return changed;
  }

  /** The files to compare, by their paths separated by {@code /}. */
  private SortedMap<String, Path> files(Path root) {
    SortedMap<String, Path> files = new TreeMap<>();
    if (!Files.isDirectory(root)) {
      return files;
    }
    try (Stream<Path> all = Files.walk(root)) {
      for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
        Path relative = root.relativize(file);
        if (isCompared(relative)) {
          files.put(relative.toString().replace('\\', '/'), file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  private boolean isCompared(Path relative) {
    return BINARY.stream().noneMatch(pattern -> pattern.matches(relative))
        && (includes.isEmpty() || includes.stream().anyMatch(glob -> glob.matches(relative)));
  }
}
