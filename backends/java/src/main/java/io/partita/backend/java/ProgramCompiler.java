package io.partita.backend.java;

import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * Compiles emitted sources in memory, with all warnings as errors. One instance compiles many
 * programs in sequence, and is much faster from the second one on.
 */
public final class ProgramCompiler implements AutoCloseable {
  private static final List<String> OPTIONS =
      List.of("-proc:none", "-Xlint:all", "-Werror", "-encoding", "UTF-8");

  private final List<String> options;
  private final JavaCompiler compiler;
  private final StandardJavaFileManager files;

  /**
   * Compiles for the running Java. Emitted sources need release 17 only; but javac reads the
   * classes of another release anew for each program.
   *
   * @throws PartitaException P5102 if this Java has no compiler
   */
  public ProgramCompiler() {
    this(OPTIONS);
  }

  private ProgramCompiler(List<String> options) {
    this.options = options;
    compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new PartitaException(
          ProgramCode.NO_PROGRAM,
          "",
          "a JDK, whose compiler compiles emitted programs",
          "a Java runtime without a compiler",
          "run Partita on a JDK");
    }
    files = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);
    useNoLibraries();
  }

  /** Emitted programs have no dependencies; javac would look for each package in Partita's own. */
  private void useNoLibraries() {
    try {
      files.setLocation(StandardLocation.CLASS_PATH, List.of());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Compiles for the oldest release that emitted sources are for. */
  static ProgramCompiler forRelease17() {
    return new ProgramCompiler(
        Stream.concat(Stream.of("--release", "17"), OPTIONS.stream()).toList());
  }

  /**
   * Returns the bytes of the classes by name.
   *
   * @throws PartitaException P5005 if the source doesn't compile
   */
  public Map<String, byte[]> compile(String className, String source) {
    return compile(new TreeMap<>(Map.of(className, source)));
  }

  /**
   * Compiles several sources together.
   *
   * @param sources by qualified class name
   */
  public Map<String, byte[]> compile(SortedMap<String, String> sources) {
    DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
    Map<String, ByteArrayOutputStream> classes = new TreeMap<>();
    JavaFileManager manager = new ClassCollector(files, classes);
    List<Source> units =
        sources.entrySet().stream()
            .map(source -> new Source(source.getKey(), source.getValue()))
            .toList();
    JavaCompiler.CompilationTask task =
        compiler.getTask(null, manager, diagnostics, options, null, units);
    if (!task.call()) {
      throw new PartitaException(
          BackendCode.EMITTED_SOURCE,
          sources.firstKey(),
          "Java that compiles without warnings",
          diagnostics.getDiagnostics().stream()
              .filter(d -> d.getKind() != Diagnostic.Kind.NOTE)
              .limit(3)
              .map(d -> "line " + d.getLineNumber() + ": " + d.getMessage(Locale.ROOT))
              .collect(Collectors.joining("; ")),
          "");
    }
    Map<String, byte[]> bytes = new TreeMap<>();
    classes.forEach((name, out) -> bytes.put(name, out.toByteArray()));
    return bytes;
  }

  @Override
  public void close() {
    try {
      files.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String className, String text) {
      super(URI.create("string:///" + className.replace('.', '/') + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class ClassCollector extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> classes;

    ClassCollector(JavaFileManager files, Map<String, ByteArrayOutputStream> classes) {
      super(files);
      this.classes = classes;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
      URI uri = URI.create("bytes:///" + className.replace('.', '/') + ".class");
      return new SimpleJavaFileObject(uri, kind) {
        @Override
        public OutputStream openOutputStream() {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          classes.put(className, out);
          return out;
        }
      };
    }
  }
}
