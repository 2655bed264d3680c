package io.partita.driver.cases;

import io.partita.driver.DriverCode;
import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The arrays of a NumPy archive, as inputs of a program. */
public final class NamedArrays {
  /** An input that a program wants. */
  public record Wanted(String name, TensorType type) {}

  private final String source;
  private final RecordedRun run;

  private NamedArrays(String source, RecordedRun run) {
    this.source = source;
    this.run = run;
  }

  public static NamedArrays read(Path file) {
    return read(List.of(file));
  }

  /** The arrays of several archives; of those with the same name, the first. */
  public static NamedArrays read(List<Path> files) {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    files.forEach(file -> Npz.read(file).forEach(arrays::putIfAbsent));
    List<RecordedArray> all = new ArrayList<>();
    arrays.forEach((name, data) -> all.add(new RecordedArray(name, data)));
    String source = files.stream().map(Path::toString).collect(Collectors.joining(", "));
    return new NamedArrays(source, new RecordedRun("", all, List.of()));
  }

  /**
   * The arrays in the order and of the types that are wanted: taken by name, or where names differ
   * by order; converted where the values stay the same.
   *
   * @throws PartitaException when one is missing or doesn't fit
   */
  public List<Tensor> fit(List<Wanted> wanted) {
    Map<String, Tensor> arrays = run.inputsFor(wanted.stream().map(Wanted::name).toList());
    return wanted.stream().map(input -> fit(input, arrays.get(input.name()))).toList();
  }

  /**
   * The arrays for those of the inputs that have one, by the inputs' names. An input takes the
   * array of its name; or, as exporters name what a decoder's first step gives to the later ones,
   * {@code present} in the place of {@code past} or {@code past_key_values}; or the only array of
   * its type that is left, when it is the only input of that type without one.
   *
   * @throws PartitaException when an array of an input's name doesn't fit
   */
  public Map<String, Tensor> matching(List<Wanted> wanted) {
    Map<String, Tensor> left = new LinkedHashMap<>();
    run.inputs().forEach(array -> left.put(array.name(), array.data()));
    Map<String, Tensor> matched = new LinkedHashMap<>();
    List<Wanted> missing = new ArrayList<>();
    for (Wanted input : wanted) {
      Optional<String> name =
          Stream.of(
                  input.name(),
                  input.name().replace("past_key_values", "present"),
                  input.name().replace("past", "present"))
              .filter(left::containsKey)
              .findFirst();
      name.ifPresentOrElse(
          found -> matched.put(input.name(), fit(input, left.remove(found))),
          () -> missing.add(input));
    }
    for (Wanted input : missing) {
      List<Tensor> alike =
          left.values().stream().filter(data -> data.type().equals(input.type())).toList();
      boolean isOnly = missing.stream().filter(of -> of.type().equals(input.type())).count() == 1;
      if (isOnly && alike.size() == 1) {
        matched.put(input.name(), alike.getFirst());
      }
    }
    return matched;
  }

  private Tensor fit(Wanted input, Tensor array) {
    Tensor tensor = RecordedRun.fit(input.name(), array, input.type());
    if (!tensor.type().equals(input.type())) {
      throw new PartitaException(
          DriverCode.CASE_MISMATCH,
          source + ", input '" + input.name() + "'",
          input.type().toString(),
          tensor.type().toString(),
          "give the shape that the program was compiled for");
    }
    return tensor;
  }
}
