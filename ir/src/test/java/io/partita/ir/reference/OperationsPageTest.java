package io.partita.ir.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.factor.FactorRules;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Writes docs/operations.md from the records of operations, their comments and samples. */
class OperationsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "operations.md");
  private static final Path OPERATIONS = Path.of("src/main/java/io/partita/ir/op");
  private static final Path FUNCTIONS = Path.of("src/main/java/io/partita/ir/function");
  private static final int DRAWS = 200;
  private static final List<Long> EXTENTS = List.of(2L, 3L, 4L, 6L);

  private final StringBuilder text = new StringBuilder();

  @Test
  void thePageIsUpToDate() throws IOException {
    text.append(
        """
        # Operations

        This page lists the operations of the intermediate representation, by family, as they are written in text form. It is generated from the code: a test compares it, and
        `mvn -q -pl :partita-ir -Dtest=OperationsPageTest -Dgolden.update=true test` writes it again. [Architecture](architecture.md) describes how they are used.

        An operation applies to operands with types and has attributes in braces: `%y = softmax(%x) {axis = 1} : f32[2,7]`. *Splits* is the factor rule: what the dimensions of operands and results
        have in common. A letter is an index by which devices may split the operation; a capital must stay whole; `sum b` says that a split of `b` leaves terms of a sum on the devices.
        The example and the splits of an operation belong together; the shapes are random.

        """);
    int operations = 0;
    for (Class<?> family : Op.class.getPermittedSubclasses()) {
      operations += family(family);
    }
    assertThat(operations).isGreaterThan(45);
    functions("Functions of one element", "UnaryFunction", Stream.of(UnaryFunction.values()));
    functions("Functions of two elements", "BinaryFunction", Stream.of(BinaryFunction.values()));
    functions("Reductions", "ReductionKind", Stream.of(ReductionKind.values()));
    GeneratedPage.assertMatches(PAGE, text.toString());
  }

  private int family(Class<?> family) throws IOException {
    Map<String, String> comments =
        SourceComments.ofTypes(OPERATIONS.resolve(family.getSimpleName() + ".java"));
    text.append("## ").append(family.getSimpleName()).append("\n\n");
    text.append(comments.get(family.getSimpleName())).append("\n\n");
    int count = 0;
    for (Class<? extends Op> operation : records(family)) {
      operation(operation, comments.getOrDefault(operation.getSimpleName(), ""));
      count++;
    }
    return count;
  }

  /** The records of a family in the order of its declaration. */
  private static List<Class<? extends Op>> records(Class<?> family) {
    if (family.isRecord()) {
      return List.of(family.asSubclass(Op.class));
    }
    return Arrays.stream(family.getPermittedSubclasses())
        .flatMap(member -> records(member).stream())
        .toList();
  }

  private void operation(Class<? extends Op> operation, String comment) {
    String attributes =
        Arrays.stream(operation.getRecordComponents())
            .map(OperationsPageTest::attribute)
            .collect(Collectors.joining(", "));
    text.append("### ").append(operation.getSimpleName()).append("\n\n");
    if (!comment.isEmpty()) {
      text.append(comment).append("\n\n");
    }
    text.append("- fields: ").append(attributes.isEmpty() ? "none" : attributes).append('\n');
    if (OpSamples.kinds().contains(operation)) {
      example(operation);
    }
    text.append('\n');
  }

  private static String attribute(RecordComponent component) {
    String type =
        component.getGenericType().getTypeName().replaceAll("[a-z][a-z.]*\\.(?=[A-Z])", "");
    return "`" + component.getName() + "` (" + type.replace('$', '.') + ")";
  }

  private void example(Class<? extends Op> operation) {
    List<OpSample> samples = new ArrayList<>();
    TreeSet<String> names = new TreeSet<>();
    for (int seed = 0; seed < DRAWS; seed++) {
      OpSample sample = OpSamples.draw(operation, new Draw(seed, EXTENTS));
      samples.add(sample);
      names.add("`" + sample.op().mnemonic() + "`");
    }
    OpSample shown = samples.stream().filter(OperationsPageTest::isPlain).findFirst().orElseThrow();
    if (names.size() <= 8) {
      text.append("- in text: ").append(String.join(", ", names)).append('\n');
    }
    text.append("- example: `").append(line(shown)).append("`\n");
    text.append("- splits: `").append(FactorRules.of(shown.op(), shown.operands())).append("`\n");
  }

  /** Whether all extents are numbers, and operands have dimensions. */
  private static boolean isPlain(OpSample sample) {
    return !line(sample).matches(".*[\\[,][a-z状].*")
        && sample.operands().stream().allMatch(type -> type.isStatic() && type.rank() > 0)
        && sample.op().resultTypes(sample.operands()).stream().allMatch(TensorType::isStatic);
  }

  /** The node of a sample in text form, with the types of its operands. */
  private static String line(OpSample sample) {
    GraphBuilder graph = new GraphBuilder("sample");
    List<Value> operands = new ArrayList<>();
    for (TensorType type : sample.operands()) {
      operands.add(graph.input("x" + operands.size(), type));
    }
    List<Value> results = graph.addNode(sample.op(), operands).results();
    for (int i = 0; i < results.size(); i++) {
      graph.output("y" + i, results.get(i));
    }
    String printed = PirPrinter.print(new Module(graph.finish(), List.of()));
    String line = printed.lines().skip(3).findFirst().orElseThrow().strip();
    for (int i = 0; i < operands.size(); i++) {
      line = line.replaceAll("%x" + i + "\\b(?!:)", "%x" + i + ": " + operands.get(i).type());
    }
    return line;
  }

  private void functions(String title, String source, Stream<? extends Enum<?>> functions)
      throws IOException {
    Map<String, String> comments = SourceComments.ofConstants(FUNCTIONS.resolve(source + ".java"));
    text.append("## ").append(title).append("\n\n");
    text.append(
        functions
            .map(
                function -> {
                  String comment = comments.getOrDefault(function.name(), "");
                  String name = "`" + function.name().toLowerCase(Locale.ROOT) + "`";
                  return comment.isEmpty() ? name : name + " (" + phrase(comment) + ")";
                })
            .collect(Collectors.joining(", ", "", ".\n\n")));
  }

  /** A sentence as a phrase within another one. */
  private static String phrase(String comment) {
    String text = comment.replaceAll("\\.$", "");
    return text.matches("[A-Z][a-z]+\\b.*")
        ? text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1)
        : text;
  }
}
