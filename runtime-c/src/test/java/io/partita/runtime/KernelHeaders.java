package io.partita.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The declarations in the headers of kernels. */
final class KernelHeaders {
  private static final Pattern KERNELS = Pattern.compile("\\bpartita_kernel\\s+([^;(*]+);");
  private static final Pattern MACRO =
      Pattern.compile("#define (PARTITA_DECLARE_\\w+)\\((\\w+)\\)((?:.*\\\\\\n)*.*)\\n");
  private static final Pattern USE = Pattern.compile("(?m)^(PARTITA_DECLARE_\\w+)\\((\\w+)\\);");
  private static final Pattern STRUCT = Pattern.compile("struct (\\w+) \\{([^}]*)\\};");
  private static final Pattern FIELD =
      Pattern.compile("(?:const )?(struct )?(\\w+) (\\*?)(\\w+)(\\[PARTITA_AXES])?");

  /** {@code PARTITA_AXES}. */
  private static final int AXES = 6;

  private final SortedSet<String> kernels = new TreeSet<>();
  private final Map<String, List<String>> structs = new LinkedHashMap<>();
  private final Map<String, List<String>> declarations = new LinkedHashMap<>();
  private final Map<String, String> files = new LinkedHashMap<>();

  private KernelHeaders() {}

  static KernelHeaders read() {
    KernelHeaders all = new KernelHeaders();
    try (Stream<Path> files = Files.list(CCompiler.MODULE.resolve("kernels"))) {
      for (Path file : files.filter(each -> each.toString().endsWith(".h")).sorted().toList()) {
        all.add(
            file.getFileName().toString(),
            Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", ""));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }

  private void add(String file, String header) {
    Map<String, MatchResult> macros = new LinkedHashMap<>();
    MACRO.matcher(header).results().forEach(macro -> macros.put(macro.group(1), macro));
    addKernels(header.replaceAll(MACRO.pattern(), ""));
    USE.matcher(header)
        .results()
        .forEach(
            use -> {
              MatchResult macro = macros.get(use.group(1));
              String body = macro.group(3).replace("\\\n", " ");
              addKernels(
                  body.replaceAll("(##)?\\b" + macro.group(2) + "\\b(##)?", use.group(2)) + ";");
            });
    STRUCT
        .matcher(header)
        .results()
        .forEach(
            each -> {
              structs.put(each.group(1), fields(each));
              declarations.put(each.group(1), declarations(each));
              files.put(each.group(1), file);
            });
  }

  private void addKernels(String text) {
    KERNELS
        .matcher(text)
        .results()
        .flatMap(declaration -> Stream.of(declaration.group(1).split(",")))
        .forEach(name -> kernels.add(name.strip()));
  }

  /** Returns the names of fields; elements of arrays have an index: {@code extents[5]}. */
  private List<String> fields(MatchResult struct) {
    List<String> fields = new ArrayList<>();
    FIELD
        .matcher(struct.group(2))
        .results()
        .forEach(
            field -> {
              String name = field.group(4);
              if (field.group(1) != null) {
                structs.get(field.group(2)).forEach(inner -> fields.add(name + "." + inner));
              } else if (field.group(5) != null) {
                for (int axis = 0; axis < AXES; axis++) {
                  fields.add(name + "[" + axis + "]");
                }
              } else {
                fields.add(name);
              }
            });
    return fields;
  }

  private static List<String> declarations(MatchResult struct) {
    return Stream.of(struct.group(2).split(";"))
        .map(field -> field.strip().replace("const ", ""))
        .filter(field -> !field.isEmpty())
        .toList();
  }

  /** Returns the declared fields of a struct, without const: {@code int32_t m}. */
  List<String> declarations(String struct) {
    return declarations.get(struct);
  }

  /** Returns the header that declares a struct. */
  String file(String struct) {
    return files.get(struct);
  }

  /** Returns all kernels by name. */
  SortedSet<String> kernels() {
    return kernels;
  }

  /**
   * Returns the names of the fields of a struct in order, with those of nested structs and arrays.
   */
  List<String> fields(String struct) {
    return structs.get(struct);
  }
}
