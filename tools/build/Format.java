import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks ({@code check}) or rewrites ({@code write}) the format of every Java file below the
 * working directory. Files older than the last clean check are not read again. Run by the root pom.
 */
final class Format {
  private static final Path STAMP = Path.of("target", "format-checked");

  void main(String[] arguments) throws IOException {
    boolean write = arguments[0].equals("write");
    Instant start = Instant.now();
    FileTime checked =
        Files.exists(STAMP) ? Files.getLastModifiedTime(STAMP) : FileTime.from(Instant.EPOCH);
    List<String> findings =
        sources().parallelStream()
            .filter(file -> modified(file).compareTo(checked) >= 0)
            .map(file -> finding(file, write))
            .filter(finding -> !finding.isEmpty())
            .toList();
    findings.forEach(System.err::println);
    if (write) {
      return;
    }
    if (!findings.isEmpty()) {
      System.err.println("to fix the format: mvn -q -N -Pformat");
      System.exit(1);
    }
    Files.writeString(STAMP, "");
    Files.setLastModifiedTime(STAMP, FileTime.from(start));
  }

  /** What is wrong with the file, or the empty string. */
  private static String finding(Path file, boolean write) {
    try {
      String text = Files.readString(file);
      Formatter formatter = new Formatter(JavaFormatterOptions.defaultOptions());
      String formatted =
          formatter.formatSource(
              RemoveUnusedImports.removeUnusedImports(
                  ImportOrderer.reorderImports(text, JavaFormatterOptions.Style.GOOGLE)));
      if (formatted.equals(text)) {
        return "";
      }
      if (write) {
        Files.writeString(file, formatted);
        return "formatted " + file;
      }
      return file + ":" + firstDifference(text, formatted) + ": not formatted";
    } catch (FormatterException e) {
      return file + ": does not parse: " + e.getMessage();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int firstDifference(String text, String formatted) {
    String[] have = text.split("\n", -1);
    String[] want = formatted.split("\n", -1);
    int line = 0;
    while (line < Math.min(have.length, want.length) && have[line].equals(want[line])) {
      line++;
    }
    return line + 1;
  }

  private static FileTime modified(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    Files.walkFileTree(
        Path.of(""),
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            boolean skipped =
                folder.startsWith("out") // what the README's commands write
                    || name.equals("target") && !folder.toString().contains("src" + File.separator)
                    || name.equals("resources")
                    || name.startsWith(".");
            return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(".java")) {
              sources.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    sources.sort(null);
    return sources;
  }
}
