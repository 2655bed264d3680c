package io.partita.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The functions of an object for Siracusa, as objdump prints them: it doesn't know instructions of
 * XpulpV2.
 *
 * @param functions by name
 * @param needed the symbols of other objects
 */
record Disassembly(Map<String, Function> functions, Set<String> needed) {
  private static final Pattern FUNCTION = Pattern.compile("[0-9a-f]+ <([^.].*)>:");
  private static final Pattern INSTRUCTION =
      Pattern.compile("\\s*([0-9a-f]+):\\s+([0-9a-f]+)\\s+(\\S+)\\s*(.*)");
  private static final Pattern RELOCATION =
      Pattern.compile("\\s+[0-9a-f]+: R_RISCV_\\w+\\s+(\\S+)");
  private static final Pattern UNDEFINED = Pattern.compile("\\s+U (\\S+)");

  /** The opcode and function of lp.setup, and the bits that have them. */
  private static final int SETUP = 0x407b;

  private static final int SETUP_BITS = 0x707f;
  private static final int LENGTH = 20;

  /**
   * @param name as objdump knows it: {@code .4byte} for one of XpulpV2
   */
  record Instruction(int address, int bytes, int code, String name) {
    boolean isOfXpulp() {
      return name.equals(".4byte");
    }

    boolean isLoop() {
      return (code & SETUP_BITS) == SETUP;
    }

    /** The bytes that a hardware loop repeats, which begin behind this instruction. */
    int loopBytes() {
      return 2 * (code >>> LENGTH);
    }

    boolean jumps() {
      return name.matches("b\\w+|j\\w*|ret|call|tail");
    }
  }

  /**
   * @param names the functions and data that it refers to
   */
  record Function(List<Instruction> instructions, Set<String> names) {}

  static Disassembly of(CCompiler compiler, Path object) {
    Map<String, Function> functions = new LinkedHashMap<>();
    Function last = new Function(new ArrayList<>(), new TreeSet<>());
    for (String line : print(tool(compiler, "objdump"), "-dr", object)) {
      Matcher function = FUNCTION.matcher(line);
      Matcher instruction = INSTRUCTION.matcher(line);
      Matcher relocation = RELOCATION.matcher(line);
      if (function.matches()) {
        last = new Function(new ArrayList<>(), new TreeSet<>());
        functions.put(function.group(1), last);
      } else if (relocation.matches()) {
        last.names.add(relocation.group(1));
      } else if (instruction.matches()) {
        last.instructions.add(
            new Instruction(
                Integer.parseInt(instruction.group(1), 16),
                instruction.group(2).length() / 2,
                Integer.parseUnsignedInt(instruction.group(2), 16),
                instruction.group(3)));
      }
    }
    Set<String> needed = new TreeSet<>();
    for (String line : print(tool(compiler, "nm"), "-u", object)) {
      Matcher undefined = UNDEFINED.matcher(line);
      if (undefined.matches()) {
        needed.add(undefined.group(1));
      }
    }
    return new Disassembly(functions, needed);
  }

  private static Path tool(CCompiler compiler, String name) {
    Path program = compiler.program();
    return program.resolveSibling(program.getFileName().toString().replaceFirst("gcc$", name));
  }

  private static List<String> print(Path tool, String option, Path object) {
    try {
      Process process =
          new ProcessBuilder(tool.toString(), option, object.toString())
              .redirectErrorStream(true)
              .start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new AssertionError(text);
      }
      return text.lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
