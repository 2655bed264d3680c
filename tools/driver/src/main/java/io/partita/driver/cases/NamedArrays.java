package io.partita.driver.cases;

import io.partita.driver.DriverCode;
import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The arrays of a NumPy archive, as inputs of a program. */
public final class NamedArrays {
  /** An input that a program wants. */
  public record Wanted(String name, TensorType type) {}

  private final Path file;
  private final RecordedRun run;

  private NamedArrays(Path file, RecordedRun run) {
    this.file = file;
    this.run = run;
  }

  public static NamedArrays read(Path file) {
    List<RecordedArray> arrays = new ArrayList<>();
    Npz.read(file).forEach((name, data) -> arrays.add(new RecordedArray(name, data)));
    return new NamedArrays(file, new RecordedRun("", arrays, List.of()));
  }

  /**
   * The arrays in the order and of the types that are wanted: taken by name, or where names differ
   * by order; converted where the values stay the same.
   *
   * @throws PartitaException when one is missing or doesn't fit
   */
  public List<Tensor> fit(List<Wanted> wanted) {
    Map<String, Tensor> arrays = run.inputsFor(wanted.stream().map(Wanted::name).toList());
    List<Tensor> tensors = new ArrayList<>();
    for (Wanted input : wanted) {
      Tensor tensor = RecordedRun.fit(input.name(), arrays.get(input.name()), input.type());
      if (!tensor.type().equals(input.type())) {
        throw new PartitaException(
            DriverCode.CASE_MISMATCH,
            file + ", input '" + input.name() + "'",
            input.type().toString(),
            tensor.type().toString(),
            "give the shape that the program was compiled for");
      }
      tensors.add(tensor);
    }
    return tensors;
  }
}
