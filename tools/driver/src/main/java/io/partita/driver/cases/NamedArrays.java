package io.partita.driver.cases;

import io.partita.driver.DriverCode;
import io.partita.driver.npz.Npz;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Matches the arrays of a NumPy archive to the inputs of a program. */
public final class NamedArrays {
  /** An input of a program. */
  public record Wanted(String name, TensorType type) {}

  /** Prefixes of names that only number the arrays: NumPy's for unnamed ones, and of test cases. */
  private static final List<String> NUMBERED = List.of("arr_", "input_");

  private final String source;
  private final RecordedRun run;

  private NamedArrays(String source, RecordedRun run) {
    this.source = source;
    this.run = run;
  }

  public static NamedArrays read(Path file) {
    return read(List.of(file));
  }

  /** The arrays of several archives; the first one of each name. */
  public static NamedArrays read(List<Path> files) {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    files.forEach(file -> Npz.read(file).forEach(arrays::putIfAbsent));
    return of(files.stream().map(Path::toString).collect(Collectors.joining(", ")), arrays);
  }

  /**
   * The arrays of a file that was read.
   *
   * @param source the file, for diagnostics
   */
  public static NamedArrays of(String source, Map<String, Tensor> arrays) {
    List<RecordedArray> all = new ArrayList<>();
    arrays.forEach((name, data) -> all.add(new RecordedArray(name, data)));
    return new NamedArrays(source, new RecordedRun("", all, List.of()));
  }

  /**
   * Returns the arrays in the order and types of the inputs: by name, or by order if the names only
   * number them ({@code arr_0}, {@code arr_1}, as {@code numpy.savez} calls unnamed arrays, or
   * {@code input_0}, {@code input_1}). Converts types if the values stay the same.
   *
   * @throws PartitaException if one is missing or doesn't fit
   */
  public List<Tensor> fit(List<Wanted> wanted) {
    Map<String, Tensor> arrays = byName();
    Optional<String> prefix = numbering(wanted);
    if (prefix.isPresent()) {
      if (arrays.size() != wanted.size()) {
        throw mismatch(
            source,
            "an array for each input, in this order: " + names(wanted),
            arrays.isEmpty() ? "none" : arrays.size() + ", without names",
            "give one array for each input, in this order, or name them:" + example(wanted));
      }
      List<Tensor> inOrder =
          IntStream.range(0, wanted.size()).mapToObj(i -> arrays.get(prefix.get() + i)).toList();
      return IntStream.range(0, wanted.size())
          .mapToObj(i -> fit(wanted.get(i), inOrder.get(i)))
          .toList();
    }
    requireNames(wanted);
    return wanted.stream().map(input -> fit(input, arrays.get(input.name()))).toList();
  }

  /**
   * Requires an array of the name of each input.
   *
   * @throws PartitaException if one is missing
   */
  public void requireNames(List<Wanted> wanted) {
    Map<String, Tensor> arrays = byName();
    List<Wanted> missing =
        wanted.stream().filter(input -> !arrays.containsKey(input.name())).toList();
    if (!missing.isEmpty()) {
      List<String> left = unused(wanted);
      String meant =
          missing.stream()
              .flatMap(
                  input ->
                      NearestName.of(input.name(), left).stream()
                          .map(near -> "rename '" + near + "' to '" + input.name() + "'"))
              .collect(Collectors.joining(", "));
      throw mismatch(
          source,
          "an array for each input of the program: " + names(wanted),
          "none named " + names(missing) + "; the arrays are " + String.join(", ", arrays.keySet()),
          meant.isEmpty() ? "name the arrays as the inputs:" + example(wanted) : meant);
    }
  }

  /**
   * Refuses arrays for states, since the program starts with an empty cache. Arrays without
   * elements are accepted.
   *
   * @param states the names of the model's inputs that became state
   */
  public void verifyNoState(Collection<String> states) {
    Set<String> kept = Set.copyOf(states);
    List<String> given =
        run.inputs().stream()
            .filter(array -> kept.contains(array.name()) && array.data().size() > 0)
            .map(RecordedArray::name)
            .toList();
    if (!given.isEmpty()) {
      throw new PartitaException(
          DriverCode.STATE_GIVEN,
          source,
          "arrays for inputs only; the program keeps its cache as state, and starts with an empty one",
          String.join(", ", given),
          "leave these arrays out to start with an empty cache; or compile the model with"
              + " --passes simplify,raise, so that the cache stays an input");
    }
  }

  /** The names of unused arrays. */
  public List<String> unused(List<Wanted> wanted) {
    Set<String> names = wanted.stream().map(Wanted::name).collect(Collectors.toSet());
    return numbering(wanted).isPresent()
        ? List.of()
        : run.inputs().stream()
            .map(RecordedArray::name)
            .filter(name -> !names.contains(name))
            .toList();
  }

  /** A note about unused arrays, if any. */
  public Optional<Diagnostic> noteUnused(List<Wanted> wanted) {
    List<String> unused = unused(wanted);
    return unused.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Diagnostic(
                DriverCode.UNUSED_ARRAYS,
                source,
                "arrays for the program's inputs: " + names(wanted),
                String.join(", ", unused),
                "leave them out, or correct misspelt names"));
  }

  /** The prefix of the arrays' names if they are numbers from 0, and not the inputs' own names. */
  private Optional<String> numbering(List<Wanted> wanted) {
    Set<String> names = byName().keySet();
    if (wanted.stream().map(Wanted::name).anyMatch(names::contains)) {
      return Optional.empty();
    }
    return NUMBERED.stream()
        .filter(
            prefix -> IntStream.range(0, names.size()).allMatch(i -> names.contains(prefix + i)))
        .findFirst();
  }

  private Map<String, Tensor> byName() {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    run.inputs().forEach(array -> arrays.put(array.name(), array.data()));
    return arrays;
  }

  private static String names(List<Wanted> wanted) {
    return wanted.stream().map(Wanted::name).collect(Collectors.joining(", "));
  }

  private static String example(List<Wanted> wanted) {
    return " numpy.savez('in.npz', **{'" + wanted.getFirst().name() + "': array, ...})";
  }

  private static PartitaException mismatch(
      String where, String expected, String found, String remedy) {
    return new PartitaException(DriverCode.CASE_MISMATCH, where, expected, found, remedy);
  }

  /**
   * Matches arrays to inputs, by the inputs' names. An input takes the array of its name; or that
   * of its name with {@code present} in place of {@code past} or {@code past_key_values}, as
   * exporters name the outputs of a decoder's first step; or the only remaining array of its type,
   * if it is the only input of that type without an array.
   *
   * @throws PartitaException if an array of an input's name doesn't fit
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

  /**
   * Returns an array in the element type of an input, if the values stay the same.
   *
   * @throws PartitaException if they don't
   */
  public static Tensor converted(Wanted input, Tensor array) {
    return RecordedRun.converted(input.name(), array, input.type());
  }

  private Tensor fit(Wanted input, Tensor array) {
    Tensor tensor = RecordedRun.fit(input.name(), array, input.type());
    if (!tensor.type().equals(input.type())) {
      throw mismatch(
          source + ", input '" + input.name() + "'",
          input.type().toString(),
          tensor.type().toString(),
          "give the shape that the program was compiled for");
    }
    return tensor;
  }
}
