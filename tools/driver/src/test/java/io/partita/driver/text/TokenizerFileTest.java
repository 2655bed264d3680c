package io.partita.driver.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.ir.diagnostic.PartitaException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares with the ids and texts of the Python package {@code tokenizers}. */
class TokenizerFileTest {
  private static final Path FIXTURES = Path.of("../../tests/fixtures/tokenizers");
  @TempDir Path folder;

  private record Case(String text, List<Integer> ids, String decoded) {
    @SuppressWarnings("unchecked")
    static Case of(Map<?, ?> json) {
      return new Case(
          (String) json.get("text"), (List<Integer>) json.get("ids"), (String) json.get("decoded"));
    }
  }

  private static Map<String, Object> recorded(String name) throws IOException {
    return JSON.std.mapFrom(Files.readString(FIXTURES.resolve(name).resolve("cases.json")));
  }

  private static List<Case> cases(String name) throws IOException {
    List<Case> cases =
        ((List<?>) recorded(name).get("cases"))
            .stream().map(each -> Case.of((Map<?, ?>) each)).toList();
    assertThat(cases).hasSizeGreaterThan(8);
    return cases;
  }

  private static Tokens tokens(String name) {
    return TokenizerFile.read(FIXTURES.resolve(name).resolve("tokenizer.json"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "llama", "unigram", "bert"})
  void idsAndTextsAreThoseOfTheLibrary(String name) throws IOException {
    try (Tokens tokens = tokens(name)) {
      assertThat(tokens.size()).isEqualTo(recorded(name).get("size"));
      for (Case each : cases(name)) {
        assertThat(tokens.encode(each.text())).as(each.text()).isEqualTo(each.ids());
        assertThat(tokens.decode(each.ids())).as(each.text()).isEqualTo(each.decoded());
      }
    }
  }

  /** Tests that the pieces are whole characters and together the text that is decoded at once. */
  @ParameterizedTest
  @ValueSource(strings = {"gpt2", "llama", "unigram"})
  void textIsStreamedByWholeCharacters(String name) throws IOException {
    try (Tokens tokens = tokens(name)) {
      for (Case each : cases(name)) {
        for (int prompt : new int[] {1, 2, each.ids().size() / 2}) {
          List<Integer> known = each.ids().subList(0, Math.min(prompt, each.ids().size()));
          String before = tokens.decode(known);
          if (before.endsWith("\ufffd")) {
            continue;
          }
          TextStream stream = new TextStream(tokens, known);
          List<String> pieces = new ArrayList<>();
          each.ids()
              .subList(known.size(), each.ids().size())
              .forEach(id -> pieces.add(stream.add(id)));
          assertThat(pieces).noneMatch(piece -> piece.contains("\ufffd"));
          pieces.add(stream.end());
          assertThat(before + String.join("", pieces)).isEqualTo(each.decoded());
        }
      }
    }
  }

  @Test
  void anIncompleteCharacterIsReturnedAtTheEnd() {
    try (Tokens tokens = tokens("gpt2")) {
      List<Integer> flag = tokens.encode("🇨");
      TextStream stream = new TextStream(tokens, tokens.encode("a"));
      for (int id : flag.subList(0, flag.size() - 1)) {
        assertThat(stream.add(id)).isEmpty();
      }
      assertThat(stream.end()).isEqualTo("\ufffd");
    }
  }

  @Test
  void endsAreThoseOfTheConfigurationBesideTheFile() throws IOException {
    Path file = folder.resolve("tokenizer.json");
    Files.copy(FIXTURES.resolve("llama/tokenizer.json"), file);
    try (Tokens tokens = TokenizerFile.read(file)) {
      assertThat(StopTokens.configured(tokens)).isEmpty();
      Files.writeString(
          folder.resolve("tokenizer_config.json"), "{\"eos_token\": {\"content\": \"</s>\"}}");
      assertThat(StopTokens.configured(tokens)).containsExactly(2);
      Files.writeString(folder.resolve("generation_config.json"), "{\"eos_token_id\": [7, 2]}");
      assertThat(StopTokens.configured(tokens)).containsExactly(2, 7);
      assertThat(StopTokens.named("<tool>", tokens)).isEqualTo(640);
      assertThat(StopTokens.named("17", tokens)).isEqualTo(17);
      assertThatThrownBy(() -> StopTokens.named("</ende>", tokens))
          .isInstanceOf(PartitaException.class)
          .hasMessageContainingAll("P6010", "--stop </ende>", "no such token");
      Files.writeString(folder.resolve("generation_config.json"), "{\"eos_token_id\": ");
      assertThatThrownBy(() -> StopTokens.configured(tokens))
          .hasMessageContainingAll("P6010", "generation_config.json");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{\"model\": 5}",
        "{\"model\": {\"type\": \"BPE\"}}",
        "{\"model\": {\"type\": \"Other\", \"vocab\": {\"a\": 0}}}",
        "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a b\"]}}",
        "{\"version\": \"1.0\", \"model\": {\"type\": \"Unigram\", \"vocab\": [[\"a\"]]}}"
      })
  void otherFilesAreRefused(String text) throws IOException {
    Path file = folder.resolve("tokenizer.json");
    Files.writeString(file, text);
    assertThatThrownBy(() -> TokenizerFile.read(file).close())
        .isInstanceOf(PartitaException.class)
        .hasMessageContainingAll("P6010", file.toString());
  }
}
