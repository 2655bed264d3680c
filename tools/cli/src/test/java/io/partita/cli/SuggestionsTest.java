package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the options that diagnostics suggest work when appended to the command. */
class SuggestionsTest {
  private static final Path FIXTURES = Invocation.ROOT.resolve("tests/fixtures");
  private static final Path PROMPT =
      Invocation.ROOT.resolve("tests/models/tiny-shakespeare-prompt/network.onnx");
  private static final Path VOCABULARY = Invocation.SHAKESPEARE.resolve("vocab.json");

  /** An option with its value, or a call of a pass. */
  private static final Pattern OPTION =
      Pattern.compile(
          "--(?:dim|bind|kv-capacity|chunk|devices|strategy|plan|set)"
              + " [^\\s,;:]+(?:,-?\\d+)*(?::chips=\\d+)?|kv-state\\(capacity=\\d+\\)");

  private static final Pattern REMOVED = Pattern.compile("leave (.+?) out|in place of ([^;]+)");

  @TempDir Path scratch;

  /** Returns the suggestions of a diagnostic. */
  private record Suggestion(List<String> added, List<String> removed) {
    static Suggestion of(Invocation refused, String code) {
      Matcher fix =
          Pattern.compile(" " + code + ": [^\\n]*\\n(?:  (?!fix)[^\\n]*\\n)*  fix: +([^\\n]*)")
              .matcher(refused.err());
      assertThat(fix.find()).as(refused.err()).isTrue();
      String text = fix.group(1);
      List<String> removed = new ArrayList<>();
      Matcher removal = REMOVED.matcher(text);
      while (removal.find()) {
        removed.addAll(options(removal.group(removal.group(1) != null ? 1 : 2)));
      }
      List<String> added = options(REMOVED.matcher(text).replaceAll(""));
      assertThat(added.size() + removed.size()).as(text).isPositive();
      return new Suggestion(added, removed);
    }

    private static List<String> options(String text) {
      return OPTION.matcher(text).results().map(MatchResult::group).toList();
    }

    List<String> pasted(List<String> command) {
      List<String> pasted = new ArrayList<>();
      for (int i = 0; i < command.size(); i++) {
        String word = command.get(i);
        String option = i + 1 < command.size() ? word + " " + command.get(i + 1) : word;
        if (removed.contains(option) || isReplaced(option)) {
          i++;
        } else {
          pasted.add(withPass(word));
        }
      }
      added.stream()
          .filter(option -> option.startsWith("--"))
          .forEach(option -> pasted.addAll(List.of(option.split(" ", 2))));
      return pasted;
    }

    /** Whether a dimension gets another value. */
    private boolean isReplaced(String option) {
      String name = option.substring(0, option.indexOf('=') + 1);
      return name.startsWith("--dim ") && added.stream().anyMatch(each -> each.startsWith(name));
    }

    private String withPass(String word) {
      return added.stream()
          .filter(option -> !option.startsWith("--"))
          .reduce(word, (text, pass) -> text.replaceFirst("kv-state\\(.*?\\)", pass));
    }
  }

  private List<String> command(Path model, String options) {
    List<String> command =
        new ArrayList<>(List.of("compile", model.toString(), "--target", "java", "-o", "OUT"));
    command.addAll(options.isBlank() ? List.of() : Arrays.asList(options.split(" ")));
    return command;
  }

  private Invocation run(List<String> command) {
    return Invocation.of(
        command.stream()
            .map(word -> word.equals("OUT") ? scratch.resolve("out").toString() : word)
            .toArray());
  }

  private void assertSuggestionWorks(List<String> command, String code) {
    Invocation refused = run(command);
    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(ExitCode.USER_ERROR);
    List<String> pasted = Suggestion.of(refused, code).pasted(command);
    Invocation mended = run(pasted);
    assertThat(mended.exitCode()).as(pasted + "\n" + mended.err()).isEqualTo(ExitCode.DONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          P2005 | bert/ts_sdpa_dynamic  | --dim seq=1000
          P3202 | gpt2/ts_sdpa_dynamic  | --dim seq=33
          P2006 | microsoft/group_query_attention_decode |
          P2010 | bert/ts_sdpa_dynamic  | --dim sec=8
          P4012 | gpt2/ts_sdpa_kv       | --kv-capacity 5000
          P6008 | gpt2/ts_sdpa_kv       | --kv-capacity 0
          P6019 | gpt2/ts_sdpa_kv       | --dim total=34 --dim past=32
          P6017 | gpt2/ts_sdpa_kv       | --devices 2 --strategy tensor=4
          P4301 | gpt2/ts_sdpa_kv       | --devices 0
          P6021 | bert/ts_sdpa_dynamic  | --chunk 4
          """)
  void suggestionsForModelsWork(String code, String model, String options) {
    Path file = FIXTURES.resolve(model).resolve("network.onnx");
    assertSuggestionWorks(command(file, options == null ? "" : options), code);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          P3202 | gpt2/dynamo_sdpa_dynamic | --dim batch=2 --dim seq=64
          P2006 | microsoft/group_query_attention_decode_shared_buffer |
          P2010 | bert/ts_sdpa_dynamic  | --dim seq=8 --dim elephants=8
          P2010 | bert/ts_eager_static  | --dim seq=8
          P4012 | gpt2/ts_sdpa_kv       | --dim total=40
          P4012 | gpt2/dynamo_eager_kv  | --kv-capacity 33
          P6008 | gpt2/ts_sdpa_kv       | --dim past=0
          P6008 | bert/ts_sdpa_dynamic  | --kv-capacity 8 --plan siracusa:chips=2
          P6019 | gpt2/ts_sdpa_kv       | --kv-capacity 16 --dim past=32
          P6019 | gpt2/ts_sdpa_kv       | --dim past=32 --passes simplify,raise,simplify,kv-state(capacity=16)
          P6017 | gpt2/ts_sdpa_kv       | --strategy tensor
          P6021 | gpt2/ts_sdpa_kv       | --chunk 4
          """)
  void moreSuggestionsForModelsWork(String code, String model, String options) {
    suggestionsForModelsWork(code, model, options);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          P6021 | --chunk 4 --dim sequence_length=2
          P6021 | --chunk 4 --passes simplify,raise --dim past=8
          P6019 | --kv-capacity 16 --passes simplify,raise,kv-state(capacity=8)
          """)
  void suggestionsForDecodersOfPromptsWork(String code, String options) {
    assertSuggestionWorks(command(PROMPT, options), code);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("P4403, l2=180KiB")
  void suggestedMemoriesAreLargeEnough(String code, String memory) {
    String decoder = Invocation.DECODER.toString();
    assertSuggestionWorks(
        List.of(
            "compile",
            decoder,
            "--target",
            "siracusa",
            "--kv-capacity",
            "256",
            "--set",
            memory,
            "-o",
            "OUT"),
        code);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("P4402, l1=300")
  void suggestedL1IsLargeEnough(String code, String memory) {
    suggestedMemoriesAreLargeEnough(code, memory);
  }

  @Tag("thorough")
  @Test
  void suggestionsForFewerDevicesWork() {
    Path file = FIXTURES.resolve("gpt2/ts_sdpa_kv/network.onnx");
    assertSuggestionWorks(command(file, "--devices 4 --plan wifi-laptops:laptops=2"), "P4301");
  }

  @Tag("exhaustive")
  @Test
  void suggestionsForAutomaticDevicesWork() {
    Path file = FIXTURES.resolve("gpt2/ts_sdpa_kv/network.onnx");
    assertSuggestionWorks(command(file, "--devices auto"), "P4301");
  }

  /** A model of the shared data with an open image size. */
  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(strings = {"--dim height=100", "--dim height=100 --dim width=100"})
  void suggestionsForImagesWork(String options) {
    Path vit = Invocation.ROOT.resolve("../shared/user-models/vit_cls/network.onnx");
    assumeThat(vit).exists();
    assertSuggestionWorks(command(vit, options), "P2005");
  }

  /** Tests that the numbers in notes can be given. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          P6013 | bert/ts_sdpa_dynamic
          P6018 | bert/ts_sdpa_dynamic
          P6018 | llama/ts_sdpa_dynamic
          P6018 | gpt2/ts_sdpa_dynamic
          P6014 | gpt2/ts_sdpa_kv
          """)
  void chosenNumbersCanBeGiven(String code, String model) {
    Path file = FIXTURES.resolve(model).resolve("network.onnx");
    List<String> command = command(file, "");
    Invocation noted = run(command);
    assertThat(noted.exitCode()).as(noted.err()).isEqualTo(ExitCode.DONE);
    List<String> added = Suggestion.of(noted, code).added();
    Invocation chosen = run(Suggestion.of(noted, code).pasted(command));
    assertThat(chosen.exitCode()).as(chosen.err()).isEqualTo(ExitCode.DONE);
    assertThat(chosen.out()).isEqualTo(noted.out());
    assertThat(chosen.err()).doesNotContain("choose it with " + added.getFirst());
  }

  private static List<String> generate(String tokens) {
    String vocabulary = VOCABULARY.toString();
    return List.of(
        "generate", "OUT", "--prompt", "ROMEO:", "--vocab", vocabulary, "--tokens", tokens);
  }

  @Test
  void suggestedCapacitiesFitThePrompt() {
    List<String> command = command(PROMPT, "--kv-capacity 4");
    assertThat(run(command).exitCode()).isEqualTo(ExitCode.DONE);
    List<String> generate = generate("3");
    Invocation refused = run(generate);
    assertThat(refused.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run(Suggestion.of(refused, "P6022").pasted(command)).exitCode()).isZero();
    Invocation mended = run(generate);
    assertThat(mended.exitCode()).as(mended.err()).isZero();
    assertThat(mended.err()).doesNotContain("P6015", "P6022");
  }

  /** Tests that the table of positions bounds the capacity. */
  @Tag("thorough")
  @Test
  void suggestedCapacitiesFitTheModel(@TempDir Path folder) throws IOException {
    Path gpt2 = FIXTURES.resolve("gpt2/ts_sdpa_kv/network.onnx");
    Path words = folder.resolve("vocab.json");
    Files.writeString(words, "{\"chars\": \"0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVW\"}");
    List<String> command = command(gpt2, "--kv-capacity 8");
    assertThat(run(command).exitCode()).isEqualTo(ExitCode.DONE);
    List<String> generate =
        List.of(
            "generate", "OUT", "--prompt", "0123", "--vocab", words.toString(), "--tokens", "40");
    Invocation full = run(generate);
    assertThat(full.err()).contains("--kv-capacity 32");
    assertThat(run(Suggestion.of(full, "P6015").pasted(command)).exitCode()).isZero();
    assertThat(run(generate).err()).contains("ask for --tokens 29, as the model ends there");
    List<String> fewer = new ArrayList<>(generate);
    fewer.set(fewer.size() - 1, "29");
    assertThat(run(fewer).err()).doesNotContain("P6015");
    fewer.set(3, "0".repeat(33));
    assertThat(run(fewer).err()).contains("P6022", "give a prompt of at most 32 tokens");
  }

  @Test
  void fullCachesSuggestACapacity() {
    List<String> command = command(PROMPT, "--kv-capacity 8");
    assertThat(run(command).exitCode()).isEqualTo(ExitCode.DONE);
    List<String> generate = generate("9");
    Invocation full = run(generate);
    assertThat(full.exitCode()).isZero();
    assertThat(run(Suggestion.of(full, "P6015").pasted(command)).exitCode()).isZero();
    assertThat(run(generate).err()).doesNotContain("P6015");
  }

  @ParameterizedTest
  @CsvSource({
    "--target sircusa, did you mean 'siracusa'?",
    "--target siracusa --set chip=4, did you mean 'chips'?",
    "--target siracusa --set prefech=off, did you mean 'prefetch'?",
    "--target siracusa --devices 2 --strategy tenser=2, did you mean 'tensor'?",
    "--target siracusa --devices 2 --strategy tenser, did you mean 'tensor'?",
    "--target siracusa --devices 2 --strategy norm=rot, did you mean 'norm=root'?",
  })
  void misspelledNamesAreSuggested(String options, String suggestion) {
    List<String> command = new ArrayList<>(List.of("compile", Invocation.DECODER.toString()));
    command.addAll(List.of(options.split(" ")));
    command.addAll(List.of("--dim", "past=16", "-o", scratch.resolve("out").toString()));
    Invocation refused = Invocation.of(command.toArray());
    assertThat(refused.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(refused.err()).contains(suggestion);
  }
}
