package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** The declared types of graph inputs, with the dimensions that the user binds. */
final class GraphInputs {
  private final ImportOptions options;
  private final Consumer<Diagnostic> report;
  private final SortedSet<String> symbols = new TreeSet<>();
  private final Map<String, Dim> bound = new HashMap<>();

  GraphInputs(ImportOptions options, Consumer<Diagnostic> report) {
    this.options = options;
    this.report = report;
  }

  /** All symbols of the declared shapes. */
  SortedSet<String> symbols() {
    return symbols;
  }

  /**
   * The type of each input whose type is supported; the others are reported.
   *
   * @param shapes the shapes that bound values and the user give, by input
   */
  Map<String, TensorType> types(List<ValueInfoProto> inputs, Map<String, Shape> shapes) {
    Map<String, TensorType> declared = new TreeMap<>();
    for (ValueInfoProto input : inputs) {
      declare(input, shapes.get(input.getName())).ifPresent(t -> declared.put(input.getName(), t));
    }
    options.dims().forEach(this::bind);
    shapes.forEach(
        (input, shape) -> {
          if (declared.containsKey(input)) {
            bind(input, declared.get(input).shape(), shape);
          }
        });
    Map<String, TensorType> types = new TreeMap<>();
    declared.forEach(
        (input, type) -> checked(input, type).ifPresent(checked -> types.put(input, checked)));
    return types;
  }

  private Optional<TensorType> declare(ValueInfoProto input, Shape given) {
    TypeProto type = input.getType();
    String where = "input \"" + input.getName() + "\"";
    if (!type.hasTensorType()) {
      String kind =
          switch (type.getValueCase()) {
            case SEQUENCE_TYPE -> "a sequence";
            case MAP_TYPE -> "a map";
            case OPTIONAL_TYPE -> "an optional";
            case SPARSE_TENSOR_TYPE -> "a sparse tensor";
            case OPAQUE_TYPE, VALUE_NOT_SET, TENSOR_TYPE -> "no type";
          };
      unsupported(where, "a tensor", kind, "export the model with tensor inputs");
      return Optional.empty();
    }
    int number = type.getTensorType().getElemType();
    Optional<ElementType> element = OnnxElements.element(number);
    if (element.isEmpty()) {
      unsupported(
          where,
          OnnxElements.supported(),
          OnnxElements.name(number),
          "export the model with another element type");
      return Optional.empty();
    }
    if (!type.getTensorType().hasShape()) {
      if (given == null) {
        unsupported(where, "a shape", "none", "export the model with ranks of its inputs");
        return Optional.empty();
      }
      return Optional.of(new TensorType(element.get(), given));
    }
    return shape(where, input.getName(), type.getTensorType().getShape())
        .map(shape -> new TensorType(element.get(), shape));
  }

  private Optional<Shape> shape(String where, String input, TensorShapeProto proto) {
    if (proto.getDimCount() > 64) {
      unsupported(
          where, "at most 64 dimensions", Integer.toString(proto.getDimCount()), "check the model");
      return Optional.empty();
    }
    List<Dim> dims = new ArrayList<>();
    for (TensorShapeProto.Dimension dimension : proto.getDimList()) {
      if (dimension.hasDimValue()) {
        if (dimension.getDimValue() < 0) {
          unsupported(
              where,
              "extents of 0 or more",
              Long.toString(dimension.getDimValue()),
              "give dynamic dimensions a name, not a negative extent");
          return Optional.empty();
        }
        dims.add(Dim.of(dimension.getDimValue()));
      } else {
        Dim dim = symbolic(dimension.getDimParam(), input + "_dim" + dims.size());
        symbols.addAll(dim.symbols());
        dims.add(dim);
      }
    }
    return Optional.of(new Shape(dims));
  }

  static Dim symbolic(String parameter, String otherwise) {
    String name = parameter.strip();
    if (name.isEmpty() || name.equals("?")) {
      return Dim.symbol(DimExpression.symbol(otherwise));
    }
    return DimExpression.parse(name).orElseGet(() -> Dim.symbol(DimExpression.symbol(name)));
  }

  private void unsupported(String where, String expected, String found, String remedy) {
    report.accept(new Diagnostic(ImportCode.INPUT_TYPE, where, expected, found, remedy));
  }

  private void bind(String name, long extent) {
    String symbol = symbols.contains(name) ? name : DimExpression.symbol(name);
    if (!symbols.contains(symbol) || extent < 0) {
      String known =
          symbols.isEmpty()
              ? "the model has static shapes: leave --dim out"
              : "its dimensions are " + String.join(", ", symbols);
      report.accept(
          new Diagnostic(
              ImportCode.UNKNOWN_DIMENSION,
              "--dim " + name + "=" + extent,
              extent < 0 ? "an extent of 0 or more" : "a dimension of the model's inputs",
              extent < 0 ? Long.toString(extent) : name,
              known));
      return;
    }
    bound.put(symbol, Dim.of(extent));
  }

  /** Solves the declared extents that are one open symbol, times a number plus a number. */
  private void bind(String input, Shape declared, Shape given) {
    if (declared.rank() != given.rank()) {
      mismatch(input, declared, given);
      return;
    }
    try {
      solve(declared, given);
      if (!declared.bind(bound).equals(given)) {
        mismatch(input, declared.bind(bound), given);
      }
    } catch (ArithmeticException overflow) {
      mismatch(input, declared, given);
    }
  }

  private void solve(Shape declared, Shape given) {
    for (int axis = 0; axis < declared.rank(); axis++) {
      Dim open = declared.dim(axis).bind(bound);
      if (open.symbols().size() == 1) {
        String symbol = open.symbols().first();
        Dim rest = open.bind(Map.of(symbol, Dim.ZERO));
        Dim factor = open.bind(Map.of(symbol, Dim.ONE)).minus(rest);
        Dim solution = given.dim(axis).minus(rest).dividedExactlyBy(factor);
        if (solution != null && solution.isStatic() && solution.value() >= 0) {
          bound.put(symbol, solution);
        }
      }
    }
  }

  private void mismatch(String input, Shape declared, Shape given) {
    report.accept(
        new Diagnostic(
            ImportCode.INPUT_VALUE,
            "input \"" + input + "\"",
            "a shape that fits " + declared,
            given.toString(),
            "bind a value of the declared shape"));
  }

  private Optional<TensorType> checked(String input, TensorType declared) {
    TensorType type = declared;
    try {
      type = declared.bind(bound);
      for (Dim dim : type.shape()) {
        if (dim.isStatic() && dim.value() < 0) {
          unsupported(
              "input \"" + input + "\"",
              "extents of 0 or more",
              type.shape().toString(),
              "bind larger dimensions");
          return Optional.empty();
        }
      }
      if (type.isStatic()) {
        Math.multiplyExact(type.shape().elements(), 8);
      }
      return Optional.of(type);
    } catch (ArithmeticException overflow) {
      unsupported(
          "input \"" + input + "\"",
          "fewer than 2^60 elements",
          type.shape().toString(),
          "bind smaller dimensions");
      return Optional.empty();
    }
  }
}
