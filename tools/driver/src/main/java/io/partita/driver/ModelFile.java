package io.partita.driver;

import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirFile;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model read from a file.
 *
 * @param file the file
 * @param module the model
 */
public record ModelFile(Path file, Module module) {
  private static final String AS_IN = "write it as in: --bind shape=2,3,4";

  /**
   * Reads an ONNX model, or a module in text form when the name ends in {@code .pir}.
   *
   * @param dims extents of dynamic dimensions, by name
   * @param values values of inputs that determine shapes, by name, as comma-separated numbers
   * @throws PartitaException if the file isn't a model, or can't be imported
   */
  public static ModelFile read(Path file, Map<String, Long> dims, Map<String, String> values) {
    if (PirFile.isPir(file)) {
      return new ModelFile(file, PirFile.read(file));
    }
    OnnxModel model = OnnxModel.read(file);
    return new ModelFile(file, explained(model, dims, values).orThrow());
  }

  /**
   * The file of a model, followed by its weights files in alphabetical order.
   *
   * @throws PartitaException if the file can't be read or isn't a model
   */
  public static List<Path> parts(Path file) {
    List<Path> parts = new ArrayList<>(List.of(file));
    if (!PirFile.isPir(file)) {
      parts.addAll(OnnxModel.read(file).dataFiles());
    } else if (Files.exists(PirFile.weights(file))) {
      parts.add(PirFile.weights(file));
    }
    return parts;
  }

  /** Like {@link #examine}; diagnostics of misfit extents name ones that fit. */
  public static ImportResult explained(
      OnnxModel model, Map<String, Long> dims, Map<String, String> values) {
    ImportResult imported = examine(model, dims, values);
    return dims.isEmpty() ? imported : InvalidExtents.of(model, values, dims).explain(imported);
  }

  /** Imports an ONNX model as far as possible. */
  public static ImportResult examine(
      OnnxModel model, Map<String, Long> dims, Map<String, String> values) {
    return examine(model, dims, values, Map.of());
  }

  /**
   * Imports an ONNX model as far as possible.
   *
   * @param shapes shapes of inputs that override the declared ones
   */
  static ImportResult examine(
      OnnxModel model,
      Map<String, Long> dims,
      Map<String, String> values,
      Map<String, Shape> shapes) {
    ImportOptions options = ImportOptions.NONE;
    for (Map.Entry<String, Shape> shape : shapes.entrySet()) {
      options = options.withShape(shape.getKey(), shape.getValue());
    }
    return examine(model, dims, values, options);
  }

  /**
   * Imports an ONNX model as far as possible.
   *
   * @param given further options of the import
   */
  public static ImportResult examine(
      OnnxModel model, Map<String, Long> dims, Map<String, String> values, ImportOptions given) {
    ImportOptions options = given.choosingNumbers(DefaultExtents::hasRows);
    for (Map.Entry<String, Long> dim : dims.entrySet()) {
      options = options.withDim(dim.getKey(), dim.getValue());
    }
    for (Map.Entry<String, String> value : values.entrySet()) {
      TensorType declared =
          Optional.ofNullable(model.inputTypes().get(value.getKey()))
              .orElseThrow(
                  () ->
                      badBinding(
                          value.getKey(),
                          "an input of the model: " + String.join(", ", model.inputNames()),
                          value.getKey(),
                          NearestName.remedy(value.getKey(), model.inputNames())));
      options =
          options.withValue(value.getKey(), parse(value.getKey(), value.getValue(), declared));
    }
    return new OnnxImporter(options).examine(model);
  }

  private static Tensor parse(String input, String text, TensorType declared) {
    String[] parts = text.isBlank() ? new String[0] : text.split(",");
    double[] numbers = new double[parts.length];
    try {
      for (int i = 0; i < parts.length; i++) {
        numbers[i] = Double.parseDouble(parts[i].strip());
      }
    } catch (NumberFormatException notANumber) {
      throw badBinding(input, "comma-separated numbers", text, AS_IN);
    }
    if (declared.rank() > 1 || declared.rank() == 0 && parts.length != 1) {
      throw badBinding(
          input, "a scalar or a vector as the model declares it", declared.toString(), AS_IN);
    }
    Shape shape = declared.rank() == 0 ? Shape.SCALAR : Shape.of(parts.length);
    return Tensor.ofDoubles(new TensorType(declared.element(), shape), numbers);
  }

  private static PartitaException badBinding(
      String input, String expected, String found, String remedy) {
    return new PartitaException(DriverCode.BAD_BINDING, "--bind " + input, expected, found, remedy);
  }
}
