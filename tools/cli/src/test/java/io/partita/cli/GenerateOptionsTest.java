package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Options of generate for tokens, prompts, random choices and ends, on one compiled decoder. */
class GenerateOptionsTest {
  private static final String TEXT = "ROMEO:\nThe sense the state of the state of the state.\n";
  private static final Path VOCABULARY = Invocation.SHAKESPEARE.resolve("vocab.json");

  @TempDir static Path folder;
  private static Path program;
  private static Path tokenizer;

  @BeforeAll
  static void compile() throws IOException {
    program = folder.resolve("program");
    Invocation compile =
        Invocation.of(
            "compile", Invocation.DECODER, "--target=java", "--dim=past=128", "-o", program);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    tokenizer = folder.resolve("tokenizer.json");
    Map<String, Integer> vocabulary = new LinkedHashMap<>();
    ((String) JSON.std.mapFrom(Files.readString(VOCABULARY)).get("chars"))
        .codePoints()
        .forEach(each -> vocabulary.put(Character.toString(each), vocabulary.size()));
    Map<String, Object> model = Map.of("type", "BPE", "vocab", vocabulary, "merges", List.of());
    Map<String, Object> file =
        Map.of("version", "1.0", "model", model, "decoder", Map.of("type", "Fuse"));
    Files.writeString(tokenizer, JSON.std.asString(file));
  }

  private static Invocation generate(Object... arguments) {
    List<Object> all = new ArrayList<>(List.of("generate", program, "--tokens=47"));
    all.addAll(List.of(arguments));
    return Invocation.of(all.toArray());
  }

  private static Invocation few(int tokens) {
    return Invocation.of(
        "generate", program, "--tokens", tokens, "--vocab", VOCABULARY, "--prompt=ROMEO:");
  }

  @Test
  void aTokenizerFileGivesTheTextOfTheVocabulary() {
    Invocation generate = generate("--tokenizer", tokenizer, "--prompt=ROMEO:");
    assertThat(generate.out()).isEqualToNormalizingNewlines(TEXT);
    assertThat(generate.err()).matches("(?s)47 tokens, .* a second, the first after .* s\\s*");
    assertThat(few(1).err()).startsWith("1 token, ");
    assertThat(few(0).err().strip()).isEqualTo("no token");
  }

  @Test
  void aPromptIsReadFromAFileOrStandardInput() throws IOException {
    Path prompt = folder.resolve("prompt.txt");
    Files.writeString(prompt, "ROMEO:");
    assertThat(generate("--vocab", VOCABULARY, "--prompt-file", prompt).out())
        .isEqualToNormalizingNewlines(TEXT);
    InputStream before = System.in;
    try {
      System.setIn(new ByteArrayInputStream("ROMEO:".getBytes(StandardCharsets.UTF_8)));
      assertThat(generate("--vocab", VOCABULARY, "--prompt-file=-").out())
          .isEqualToNormalizingNewlines(TEXT);
    } finally {
      System.setIn(before);
    }
    Files.write(prompt, new byte[] {'R', (byte) 0xff});
    Invocation malformed = generate("--vocab", VOCABULARY, "--prompt-file", prompt);
    assertThat(malformed.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(malformed.err()).contains("P6005", "aren't UTF-8");
  }

  @Test
  void aBinaryFileIsNoVocabulary() {
    Invocation binary = generate("--vocab", Invocation.DECODER, "--prompt=ROMEO:");
    assertThat(binary.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(binary.err())
        .contains("the vocabulary", "found:     no text in UTF-8", "in one of these forms");
  }

  /** Tests files that never end. */
  @Test
  @Timeout(60)
  void aDeviceIsNoVocabulary() {
    Path device = Path.of("/dev/zero");
    assumeThat(device).exists();
    for (String option : List.of("--vocab", "--tokenizer")) {
      assertThat(generate(option, device, "--prompt=ROMEO:").err())
          .contains("error P6005", "a pipe or a device");
    }
    assertThat(
            Invocation.of(
                    "evaluate",
                    Invocation.DECODER,
                    "--data=none.npz",
                    "--devices=2",
                    "--sync=int4",
                    "--calibration",
                    device)
                .err())
        .contains("a pipe or a device");
  }

  @Test
  void aStopTokenEndsTheText() {
    Invocation stopped =
        generate("--tokenizer", tokenizer, "--prompt=ROMEO:", "--stop=.", "--json");
    assertThat(stopped.json())
        .containsEntry("text", "ROMEO:\nThe sense the state of the state of the state")
        .containsEntry("end", "stop")
        .containsEntry("added", 46)
        .containsEntry("promptTokens", 6);
  }

  @Test
  void aConfigurationNamesTheEndUnlessItIsIgnored() throws IOException {
    Path configuration = folder.resolve("generation_config.json");
    Files.writeString(configuration, "{\"eos_token_id\": 0}");
    try {
      Invocation ended = generate("--tokenizer", tokenizer, "--prompt=ROMEO: T");
      assertThat(ended.err()).contains("; ended by the model");
      Invocation ignored = generate("--tokenizer", tokenizer, "--prompt=ROMEO: T", "--ignore-eos");
      assertThat(ignored.err()).contains("47 tokens").doesNotContain("ended");
    } finally {
      Files.delete(configuration);
    }
  }

  @Test
  void aSeedGivesTheSameTextAgain() {
    Map<String, Object> first =
        generate("--vocab", VOCABULARY, "--prompt=ROMEO:", "--temperature=0.9", "--json").json();
    Object seed = first.get("seed");
    assertThat(first.get("text")).isNotEqualTo(TEXT.strip());
    Map<String, Object> again =
        generate(
                "--vocab",
                VOCABULARY,
                "--prompt=ROMEO:",
                "--temperature=0.9",
                "--seed=" + seed,
                "--json")
            .json();
    assertThat(again.get("text")).isEqualTo(first.get("text"));
    Invocation single =
        generate("--vocab", VOCABULARY, "--prompt=ROMEO:", "--temperature=2", "--top-k=1");
    assertThat(single.out()).isEqualToNormalizingNewlines(TEXT);
  }

  @ParameterizedTest
  @CsvSource({
    "--temperature=-1, --temperature takes a number of 0 to 100",
    "--temperature=NaN, --temperature takes a number of 0 to 100",
    "--top-p=0, --top-p takes a number of more than 0",
    "--top-k=-1, --top-k takes a number of 0",
    "--top-k=5, give --temperature too",
    "--seed=5, give --temperature too",
  })
  void senselessOptionsAreRefused(String option, String message) {
    Invocation generate = generate("--vocab", VOCABULARY, "--prompt=R", option);
    assertThat(generate.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(generate.err()).contains(message);
  }

  @Test
  void aTokenizerWithMoreTokensThanLogitsIsRefused() {
    Path larger = Invocation.ROOT.resolve("tests/fixtures/tokenizers/gpt2/tokenizer.json");
    Invocation generate = generate("--tokenizer", larger, "--prompt=ROMEO:");
    assertThat(generate.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(generate.err()).contains("P6010", "65 tokens", "513 tokens");
  }
}
