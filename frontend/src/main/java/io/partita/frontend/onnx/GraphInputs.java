package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.TensorShapeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.NearestName;
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

/** The types of graph inputs: declared types with the dimensions that the user binds. */
final class GraphInputs {
  private final ImportOptions options;
  private final DimensionEquations equations;
  private final Consumer<Diagnostic> report;
  private final SortedSet<String> symbols = new TreeSet<>();
  private final SortedSet<String> imageSizes = new TreeSet<>();
  private final SortedSet<String> expressions = new TreeSet<>();
  private final Map<String, Dim> bound = new HashMap<>();

  /**
   * @param equations the constraints of extents, to which the declared symbols are added
   */
  GraphInputs(ImportOptions options, DimensionEquations equations, Consumer<Diagnostic> report) {
    this.options = options;
    this.equations = equations;
    this.report = report;
  }

  /** Returns all symbols of the declared shapes. */
  SortedSet<String> symbols() {
    return symbols;
  }

  /**
   * Returns the symbols of heights and widths of images: the last two of at least four dimensions.
   */
  SortedSet<String> imageSizes() {
    return imageSizes;
  }

  /**
   * Returns the types of inputs, and reports unsupported ones.
   *
   * @param shapes the shapes of bound values and those that the user gives, by input
   */
  Map<String, TensorType> types(List<ValueInfoProto> inputs, Map<String, Shape> shapes) {
    Map<String, TensorType> declared = new TreeMap<>();
    for (ValueInfoProto input : inputs) {
      declare(input, shapes.get(input.getName())).ifPresent(t -> declared.put(input.getName(), t));
    }
    options.dims().forEach(this::bind);
    Map<String, TensorType> asDeclared = Map.copyOf(declared);
    shapes.forEach((input, shape) -> bind(input, declared, shape.bind(bound)));
    shapes.forEach((input, shape) -> solve(asDeclared.get(input), shape));
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
        unsupported(where, "a shape", "none", "export the model with ranks for its inputs");
        return Optional.empty();
      }
      return Optional.of(new TensorType(element.get(), given));
    }
    Optional<Shape> shape = shape(where, input.getName(), type.getTensorType().getShape());
    shape
        .filter(dims -> dims.rank() >= 4 && element.get().isFloat())
        .map(dims -> dims.range(dims.rank() - 2, dims.rank()))
        .ifPresent(size -> size.forEach(dim -> imageSizes.addAll(dim.symbols())));
    return shape.map(dims -> new TensorType(element.get(), dims));
  }

  /** Whether a dimension is declared as a number. As in ONNX Runtime, -1 isn't one: it may vary. */
  static boolean isNumber(TensorShapeProto.Dimension dimension) {
    return dimension.hasDimValue() && dimension.getDimValue() != -1;
  }

  private Optional<Shape> shape(String where, String input, TensorShapeProto proto) {
    if (proto.getDimCount() > 64) {
      unsupported(
          where, "at most 64 dimensions", Integer.toString(proto.getDimCount()), "check the model");
      return Optional.empty();
    }
    List<Dim> dims = new ArrayList<>();
    for (TensorShapeProto.Dimension dimension : proto.getDimList()) {
      if (isNumber(dimension)) {
        if (dimension.getDimValue() < 0) {
          unsupported(
              where,
              "extents of 0 or more",
              Long.toString(dimension.getDimValue()),
              "name dynamic dimensions instead of giving them negative extents");
          return Optional.empty();
        }
        dims.add(Dim.of(dimension.getDimValue()));
      } else {
        String place = DimExpression.symbol(input + "_dim" + dims.size());
        Dim dim = symbolic(dimension.getDimParam(), place);
        symbols.addAll(dim.symbols());
        dim.symbols().forEach(equations::declare);
        dims.add(dim.isSymbol() ? dim : expression(dim, place));
      }
    }
    return Optional.of(new Shape(dims));
  }

  /**
   * Returns the extent of an axis with a declared expression, which users may bind by input and
   * axis.
   */
  private Dim expression(Dim declared, String place) {
    if (declared.isStatic()) {
      return declared;
    }
    expressions.add(place);
    return options.dims().containsKey(place)
        ? Dim.symbol(place)
        : equations.expression(declared, place);
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
    if (!symbols.contains(symbol) && !expressions.contains(symbol) || extent < 0) {
      String option = "--dim " + name + "=" + extent;
      String remedy =
          NearestName.of(name, symbols)
              .filter(nearest -> extent >= 0)
              .map(nearest -> "write --dim " + nearest + "=" + extent + " in place of " + option)
              .orElse("leave " + option + " out");
      String known =
          symbols.isEmpty()
              ? ": the model has static shapes"
              : "; the model's dimensions are " + String.join(", ", symbols);
      report.accept(
          new Diagnostic(
              ImportCode.UNKNOWN_DIMENSION,
              option,
              extent < 0 ? "an extent of 0 or more" : "a dimension of the model's inputs",
              extent < 0 ? Long.toString(extent) : name,
              remedy + known));
      return;
    }
    bound.put(symbol, Dim.of(extent));
  }

  /**
   * Applies a given shape of an input. It must match the declared numbers and the extents of
   * symbols in other inputs; a declared expression need not hold.
   */
  private void bind(String input, Map<String, TensorType> declared, Shape given) {
    if (!declared.containsKey(input)) {
      return;
    }
    TensorType type = declared.get(input);
    Shape shape = type.shape();
    boolean fits = shape.rank() == given.rank();
    for (int axis = 0; fits && axis < shape.rank(); axis++) {
      Dim dim = shape.dim(axis);
      if (dim.isSymbol()) {
        bound.putIfAbsent(dim.toString(), given.dim(axis));
      }
      fits = dim.bind(bound).equals(given.dim(axis)) || !dim.isStatic() && !dim.isSymbol();
    }
    if (fits) {
      declared.put(input, type.with(given));
    } else {
      mismatch(input, shape.bind(bound), given);
    }
  }

  /** Solves for the symbol of a linear expression with one open symbol. */
  private void solve(TensorType declared, Shape given) {
    if (declared == null || declared.rank() != given.rank()) {
      return;
    }
    for (int axis = 0; axis < given.rank(); axis++) {
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

  /** Returns an extent with bound symbols substituted. */
  Dim bound(Dim dim) {
    return dim.bind(bound);
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

  private Dim known(Dim declared) {
    return equations.resolve(declared.bind(bound)).bind(bound);
  }

  private Optional<TensorType> checked(String input, TensorType declared) {
    TensorType type = declared;
    try {
      type = declared.with(new Shape(declared.shape().dims().stream().map(this::known).toList()));
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
