package io.partita.ir.text;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.propagate.LayoutDerivation;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.antlr.v4.runtime.Token;

/**
 * Infers the layouts of a module while its text is parsed, and compares the written types and
 * layouts with the inferred ones. Without a mesh there are only types.
 */
final class LayoutChecker {
  private static final int MAX_DIGITS = 9;

  /** The largest total size of distinct layouts; ten thousand layouts on 64 devices have less. */
  private static final int MAX_PARTS = 1 << 20;

  private final Locator locator;
  private final TypeReader types;
  private final Optional<Mesh> mesh;
  private final LayoutDerivation derivation;
  private final Map<String, Layout> inputs = new HashMap<>();

  /** Equal layouts are shared, because one on many devices is larger than its text. */
  private final Map<Layout, Layout> known = new HashMap<>();

  private int parts;

  /**
   * @param tree the mesh, or null if there is none
   */
  LayoutChecker(Locator locator, TypeReader types, PirSyntaxParser.MeshContext tree) {
    this.locator = locator;
    this.types = types;
    this.mesh = Optional.ofNullable(tree).map(this::mesh);
    this.derivation = mesh.map(LayoutDerivation::new).orElse(null);
  }

  private Mesh mesh(PirSyntaxParser.MeshContext tree) {
    List<MeshAxis> axes = new ArrayList<>();
    for (PirSyntaxParser.AxisContext axis : tree.axis()) {
      String size = axis.INTEGER().getText();
      if (size.length() > MAX_DIGITS) {
        throw locator.error(TextCode.LIMIT, axis.stop, "a smaller mesh", "");
      }
      axes.add(new MeshAxis(axis.word().getText(), Integer.parseInt(size)));
    }
    try {
      return new Mesh(axes);
    } catch (PartitaException e) {
      throw at(tree.start, e.diagnostics().getFirst());
    }
  }

  private PartitaException at(Token place, Diagnostic wrong) {
    return locator.error(TextCode.LAYOUT, place, wrong.expected(), wrong.found(), wrong.remedy());
  }

  private void requireNone(Token place, List<Diagnostic> wrong) {
    if (!wrong.isEmpty()) {
      throw at(place, wrong.getFirst());
    }
  }

  Optional<Placement> placement() {
    return mesh.map(devices -> new Placement(devices, inputs));
  }

  /** Reads the layout of an input, which is not inferred. */
  void input(Value input, PirSyntaxParser.TypeContext written) {
    Layout layout = layout(written, input.type());
    if (layout != null) {
      requireNone(written.start, derivation.input(input, layout));
      if (!layout.varying().isEmpty()) {
        throw locator.error(
            TextCode.LAYOUT,
            written.start,
            "an input that is whole, split or partial",
            "one that varies over " + String.join(", ", layout.varying()),
            "");
      }
      inputs.put(input.name(), layout);
    }
  }

  void node(Node node, Token mnemonic) {
    if (derivation != null) {
      requireNone(mnemonic, derivation.add(node));
    }
  }

  /** Checks that the type and the layout of {@code value} are as written. */
  void require(Value value, PirSyntaxParser.TypeContext written) {
    TensorType type = types.type(written);
    Layout layout = layout(written, type);
    if (!type.equals(value.type()) || layout != null && !layout.equals(derived(value))) {
      throw locator.error(
          TextCode.TYPE,
          written.start,
          print(value.type(), derivation == null ? null : derived(value)),
          print(type, layout),
          "write the derived type");
    }
  }

  /** Like {@link #require}, and checks that the value is neither partial nor varying. */
  void output(Value value, PirSyntaxParser.TypeContext written) {
    require(value, written);
    if (derivation != null && !derived(value).isJoined()) {
      throw locator.error(
          TextCode.LAYOUT,
          written.start,
          "an output that is whole or split",
          print(value.type(), derived(value)),
          derived(value).varying().isEmpty()
              ? "add a sync"
              : "end the variation with settle, and add a sync");
    }
  }

  /** Checks that the input and the output of a state have the same layout. */
  void state(Token place, Value before, Value after) {
    boolean isSame = derivation == null || derived(before).equals(derived(after));
    if (!isSame || !before.type().equals(after.type())) {
      Layout in = isSame ? null : derived(before);
      Layout out = isSame ? null : derived(after);
      throw locator.error(
          TextCode.STATE,
          place,
          "an output of the input's type " + print(before.type(), in),
          print(after.type(), out),
          "");
    }
  }

  /** Parses an attribute with a layout of the only operand of the node. */
  Layout attribute(Token place, String text, List<Value> operands) {
    if (mesh.isEmpty()) {
      throw withoutMesh(place);
    } else if (operands.size() != 1) {
      throw locator.error(TextCode.OPERANDS, place, "1 operand", "" + operands.size(), "");
    }
    Mesh devices = mesh.get();
    return once(place, () -> Layout.parse(text, devices, operands.getFirst().type().shape()));
  }

  private Layout once(Token place, Supplier<Layout> reader) {
    Layout layout;
    try {
      layout = reader.get();
    } catch (PartitaException e) {
      throw at(place, e.diagnostics().getFirst());
    }
    Layout before = known.putIfAbsent(layout, layout);
    if (before != null) {
      return before;
    }
    parts += layout.splits().stream().mapToInt(split -> split.cuts().size()).sum();
    if (parts > MAX_PARTS) {
      throw locator.error(
          TextCode.LIMIT,
          place,
          "different layouts of " + MAX_PARTS + " parts together",
          "more",
          "");
    }
    return layout;
  }

  private PartitaException withoutMesh(Token place) {
    return locator.error(
        TextCode.LAYOUT,
        place,
        "a mesh before layouts",
        "none",
        "write a mesh, such as mesh(x=4), before the graph");
  }

  private Layout derived(Value value) {
    return derivation.layout(value).orElseThrow();
  }

  /** Returns the placement; null without a mesh. */
  private Layout layout(PirSyntaxParser.TypeContext tree, TensorType type) {
    boolean isWritten =
        tree.partial() != null
            || tree.varying() != null
            || tree.at() != null
            || tree.extent().stream().anyMatch(extent -> extent.split() != null);
    if (mesh.isEmpty()) {
      if (isWritten) {
        throw withoutMesh(tree.start);
      }
      return null;
    } else if (!isWritten) {
      return Layout.replicated(mesh.get(), type.rank());
    }
    Mesh devices = mesh.get();
    return once(tree.start, () -> ShardedType.parse(tree.getText(), devices).layout());
  }

  /** Parses the mesh. */
  Mesh mesh() {
    return mesh.orElseThrow();
  }

  /** Parses a type, with its layout if there is a mesh. */
  ShardedType sharded(PirSyntaxParser.TypeContext tree) {
    TensorType type = types.type(tree);
    return new ShardedType(type, layout(tree, type));
  }

  private static String print(TensorType type, Layout layout) {
    return layout == null || layout.isReplicated()
        ? PirPrinter.print(type)
        : new ShardedType(type, layout).toString();
  }
}
