package io.partita.driver.cases;

import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.frontend.onnx.TensorFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.NearestFile;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A model with recorded inputs and outputs. Two layouts are known: the ONNX project's ({@code
 * model.onnx}, {@code test_data_set_N/input_I.pb} and {@code output_I.pb}), and {@code
 * network.onnx} with {@code inputs.npz} and {@code outputs.npz}.
 *
 * @param name the folder as given by the user
 */
public record TestCase(String name, Path model, List<Path> dataSets) {
  public TestCase {
    dataSets = List.copyOf(dataSets);
  }

  /**
   * Returns the case in a folder, or all cases below it in alphabetical order.
   *
   * @throws PartitaException if there is none
   */
  public static List<TestCase> find(Path folder) {
    List<TestCase> cases = new ArrayList<>();
    collect(folder, cases);
    if (cases.isEmpty()) {
      throw new PartitaException(
          DriverCode.NOT_A_CASE,
          folder.toString(),
          "a folder with model.onnx and test_data_set_*, or with network.onnx, inputs.npz and"
              + " outputs.npz",
          Files.isDirectory(folder) ? "a folder without them" : "no folder",
          NearestFile.remedy(
              folder, "name the folder of a test case, or a folder above test cases"));
    }
    return cases;
  }

  private static void collect(Path folder, List<TestCase> cases) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    Path network = folder.resolve("network.onnx");
    Path model = folder.resolve("model.onnx");
    if (Files.exists(network) && Files.exists(folder.resolve("inputs.npz"))) {
      cases.add(new TestCase(folder.toString(), network, List.of(folder)));
      return;
    }
    List<Path> folders = foldersIn(folder);
    if (Files.exists(model)) {
      List<Path> sets =
          folders.stream()
              .filter(set -> set.getFileName().toString().startsWith("test_data_set_"))
              .toList();
      if (!sets.isEmpty()) {
        cases.add(new TestCase(folder.toString(), model, sets));
        return;
      }
    }
    folders.forEach(inner -> collect(inner, cases));
  }

  private static List<Path> foldersIn(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.filter(Files::isDirectory).sorted().toList();
    } catch (IOException unreadable) {
      throw OutputFile.failure(folder, unreadable);
    }
  }

  /** Reads the recorded runs. */
  List<RecordedRun> runs() {
    return dataSets.stream().map(TestCase::read).toList();
  }

  private static RecordedRun read(Path set) {
    if (Files.exists(set.resolve("inputs.npz"))) {
      return new RecordedRun(
          "", archive(set.resolve("inputs.npz")), archive(set.resolve("outputs.npz")));
    }
    return new RecordedRun(set.getFileName().toString(), files(set, "input"), files(set, "output"));
  }

  private static List<RecordedArray> archive(Path file) {
    List<RecordedArray> arrays = new ArrayList<>();
    for (Map.Entry<String, Tensor> array : Npz.read(file).entrySet()) {
      arrays.add(new RecordedArray(array.getKey(), array.getValue()));
    }
    return arrays;
  }

  /** {@code input_0.pb}, {@code input_1.pb} and so on: their numbers are the model's order. */
  private static List<RecordedArray> files(Path set, String kind) {
    List<RecordedArray> arrays = new ArrayList<>();
    for (int i = 0; Files.exists(set.resolve(kind + "_" + i + ".pb")); i++) {
      TensorFile file = TensorFile.read(set.resolve(kind + "_" + i + ".pb"));
      arrays.add(new RecordedArray(file.name(), file.tensor()));
    }
    return arrays;
  }
}
