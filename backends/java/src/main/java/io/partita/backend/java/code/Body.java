package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The statements of a method; JDK classes named in a line are imported. */
final class Body {
  private static final Map<String, ClassName> IMPORTS =
      Map.ofEntries(
          imported("java.io", "IOException"),
          imported("java.net", "ServerSocket"),
          imported("java.nio", "Buffer"),
          imported("java.nio", "ByteBuffer"),
          imported("java.nio", "ByteOrder"),
          imported("java.nio", "DoubleBuffer"),
          imported("java.nio", "FloatBuffer"),
          imported("java.nio", "IntBuffer"),
          imported("java.nio", "LongBuffer"),
          imported("java.nio", "ShortBuffer"),
          imported("java.nio.channels", "FileChannel"),
          imported("java.nio.file", "Path"),
          imported("java.util", "Arrays"),
          imported("java.util.zip", "CRC32C"));
  private static final Pattern NAMED = Pattern.compile("(?<![\\w.\"])[A-Z]\\w+");

  private final CodeBlock.Builder code = CodeBlock.builder();
  private final SequencedSet<String> needed = new LinkedHashSet<>();
  private int characters;

  private static Map.Entry<String, ClassName> imported(String packageName, String name) {
    return Map.entry(name, ClassName.get(packageName, name));
  }

  static ClassName classNamed(String name) {
    return IMPORTS.get(name);
  }

  /** Adds a statement, and the semicolon. */
  Body line(String statement) {
    add(statement + ";\n");
    return this;
  }

  /** Adds a statement with a trailing comment, unless the comment is empty. */
  Body line(String statement, String comment) {
    add(statement + ";");
    code.add("$L\n", comment.isEmpty() ? "" : " // " + Comments.clean(comment));
    return this;
  }

  /** Begins a block: {@code for (…)} and the like. */
  Body open(String header) {
    add(header.isEmpty() ? "{\n" : header + " {\n");
    code.indent();
    return this;
  }

  Body close() {
    code.unindent();
    add("}\n");
    return this;
  }

  Body close(int blocks) {
    for (int i = 0; i < blocks; i++) {
      close();
    }
    return this;
  }

  /** Ends a block and begins the next one, such as {@code else}. */
  Body next(String header) {
    code.unindent();
    add("} " + header + " {\n");
    code.indent();
    return this;
  }

  Body comment(String text) {
    code.add("$L\n", "// " + Comments.clean(text));
    return this;
  }

  /** Adds lines of Java, indented according to their braces. */
  Body text(String lines) {
    for (String line : lines.strip().split("\n")) {
      String bare = line.strip();
      if (bare.startsWith("}")) {
        code.unindent();
      }
      add(bare + "\n");
      if (bare.endsWith("{")) {
        code.indent();
      }
    }
    return this;
  }

  /** Says that these statements use a local variable, which their method has to declare. */
  void needs(String declaration) {
    needed.add(declaration);
  }

  /** The declarations of local variables that these statements use, in the order of use. */
  SequencedSet<String> needed() {
    return needed;
  }

  /** Adds the statements of another body. */
  Body append(Body other) {
    code.add(other.code.build());
    characters += other.characters;
    return this;
  }

  private void add(String text) {
    characters += text.length();
    List<Object> arguments = new ArrayList<>();
    StringBuilder format = new StringBuilder();
    Matcher matcher = NAMED.matcher(text);
    int done = 0;
    while (matcher.find()) {
      ClassName name = IMPORTS.get(matcher.group());
      if (name != null) {
        format.append(text.substring(done, matcher.start()).replace("$", "$$")).append("$T");
        arguments.add(name);
        done = matcher.end();
      }
    }
    format.append(text.substring(done).replace("$", "$$"));
    code.add(format.toString(), arguments.toArray());
  }

  /** The number of characters, an upper bound for the bytes of bytecode. */
  int characters() {
    return characters;
  }

  CodeBlock build() {
    return code.build();
  }
}
